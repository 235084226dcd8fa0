//! Starting the command: what `execvp(3)` does, with everything as backoff was given it.
//!
//! Linux: `clone(2)` with the parent's memory and the parent waiting until exec, as posix_spawn
//! does it: no page is copied, and exec's own errno is simply there afterwards. All signals are
//! blocked until the last moment. Between unblocking and exec the child must not stop, as the
//! parent is waiting for it: what would stop it (or dump the shared memory) is recorded by a handler,
//! which exec removes, and is sent again afterwards. Elsewhere: `fork(2)` and a pipe for the errno.

pub(crate) mod child;
pub(crate) mod child_stdio;
mod in_child;
pub(crate) mod place;
pub(crate) mod program;

#[cfg(portable)]
#[path = "fork.rs"]
mod imp;
#[cfg(not(portable))]
#[path = "vfork.rs"]
mod imp;
