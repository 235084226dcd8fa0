//! Information on processes from `/proc`, or from `ps` on systems without it.

use super::eventually;

#[cfg(target_os = "linux")]
mod procfs;
#[cfg(target_os = "linux")]
pub use procfs::*;

#[cfg(not(target_os = "linux"))]
mod ps;
#[cfg(not(target_os = "linux"))]
pub use ps::*;

/// Returns true if the process exists and is not a zombie.
pub fn is_alive(pid: i32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

/// Waits until a process has a child `sleep`, and returns the child's PID.
#[track_caller]
pub fn sleeping_child(parent: i32) -> i32 {
    let mut child = None;
    eventually("a child", || {
        child = children_of(parent)
            .into_iter()
            .find(|pid| is_named(*pid, "sleep"));
        child.is_some()
    });
    child.unwrap()
}

fn descendants_of(pid: i32) -> Vec<i32> {
    let below = |child| [vec![child], descendants_of(child)].concat();
    children_of(pid).into_iter().flat_map(below).collect()
}

/// Returns the number of stopped descendants.
pub fn stopped_below(root: i32) -> usize {
    let is_stopped = |pid: &i32| state(*pid) == Some('T');
    descendants_of(root)
        .iter()
        .filter(|pid| is_stopped(pid))
        .count()
}

/// Returns true if all children of backoff are zombies, as while it waits for the rest of an attempt.
pub fn has_ended_children_only(backoff: i32) -> bool {
    let children = children_of(backoff);
    !children.is_empty() && children.iter().all(|child| state(*child) == Some('Z'))
}

/// Returns the number of live descendants with this name.
pub fn descendants_named(root: i32, name: &str) -> usize {
    let is_it = |pid: &i32| is_named(*pid, name) && is_alive(*pid);
    descendants_of(root).iter().filter(|pid| is_it(pid)).count()
}

/// Returns true if at least one descendant has this name, and all descendants of this name sleep.
pub fn sleeps_below(root: i32, name: &str) -> bool {
    let mut named = descendants_of(root);
    named.retain(|pid| is_named(*pid, name));
    !named.is_empty() && named.iter().all(|pid| state(*pid) == Some('S'))
}
