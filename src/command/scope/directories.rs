//! Directories to which scripts go: script files with a relative path are looked for in each, as one may call a client
//! that sends data. In which of them a script is at a command is not followed.

use super::{DirectoryOfScript, Scope};

/// Limit on the directories to which scripts go, as a script file is looked for in each.
const MOST_DIRECTORIES: usize = 256;

impl Scope<'_> {
    /// Notes a directory to which a script goes with `cd`: script files are looked for there, too, in the one of this
    /// name in each directory to which scripts went before, and in each of those below this one, as a function may have
    /// gone there later. Returns true if it is new, so that scripts have to be read again. Too many count as an unknown
    /// one. The current directory (`.`) adds nothing. `..` stays as it is written.
    pub(crate) fn add_directory(&mut self, directory: &str) -> bool {
        let directory = without_dots(directory);
        if directory.is_empty() || self.directories.contains(&directory) {
            return false;
        }
        let mut added = vec![directory.clone()];
        for known in &self.directories {
            if !is_absolute(&directory) {
                added.push(format!("{known}/{directory}"));
            }
            if !is_absolute(known) {
                added.push(format!("{directory}/{known}"));
            }
        }
        let count = self.directories.len() + added.len();
        if !fits(count, self.directories_of_scripts.len()) {
            return self.allow_unknown_directory();
        }
        self.directories.extend(added);
        true
    }

    /// Notes the directory of a script file: many scripts go there first (`cd "$(dirname "$0")"`), and from there to
    /// the directories of `cd`, noted before or later. Returns true if it is new, so that scripts have to be read
    /// again. Beyond the limit it counts as an unknown one. `path` is the one by which the file was found, so that its
    /// directory is not looked for in those of `cd`.
    pub(crate) fn add_directory_of_script(&mut self, path: &str) -> bool {
        let path = without_dots(path);
        let Some((directory, _)) = path.rsplit_once('/') else {
            return false;
        };
        let known = &self.directories_of_scripts;
        if directory.is_empty() || known.iter().any(|known| known.path == directory) {
            return false;
        }
        if !fits(self.directories.len(), known.len() + 1) {
            return self.allow_unknown_directory();
        }
        let resolved = without_parents(directory);
        let is_other_name = |known: &DirectoryOfScript| without_parents(&known.path) == resolved;
        let is_start = !resolved.is_empty() && !known.iter().any(is_other_name);
        self.directories_of_scripts.push(DirectoryOfScript {
            path: directory.to_owned(),
            is_start,
        });
        true
    }

    /// Notes that a script goes to a directory that is not known. Returns true if this is new, so that scripts have to
    /// be read again.
    pub(crate) fn allow_unknown_directory(&mut self) -> bool {
        !std::mem::replace(&mut self.has_unknown_directory, true)
    }

    /// Returns true if this path may begin at a directory that is not known.
    pub(crate) fn may_be_in_unknown_directory(&self, path: &str) -> bool {
        self.has_unknown_directory && !is_absolute(path)
    }

    /// Returns the paths that the name of a file may mean: from backoff's directory, and from each to which a script
    /// may go, as it is not known which of them is the current one when the file is used. `~` is the home directory: a
    /// path that begins so is returned as it is written, and again with that directory. Unknown directories are left
    /// out: before a missing file is taken for harmless, ask [`Self::may_be_in_unknown_directory`], too. No path is
    /// looked up here; `name` itself is the first.
    pub(crate) fn possible_paths(&self, name: &str) -> Vec<String> {
        let mut paths = vec![name.to_owned()];
        if !is_absolute(name) {
            for directory in &self.directories {
                paths.push(format!("{directory}/{name}"));
            }
            for DirectoryOfScript { path, is_start } in &self.directories_of_scripts {
                paths.push(format!("{path}/{name}"));
                if *is_start {
                    let below = self.directories.iter().filter(|it| !is_absolute(it));
                    paths.extend(below.map(|directory| format!("{path}/{directory}/{name}")));
                }
            }
        }
        let home = self.surroundings.variable("HOME").unwrap_or_default();
        let at_home = paths.iter().filter_map(|path| {
            let below = path.strip_prefix("~/")?;
            Some(format!("{home}/{below}"))
        });
        let at_home: Vec<String> = at_home.collect();
        paths.extend(at_home);
        paths
    }
}

/// Returns true if so many directories are within the limit: each of `cd` counts for each of a script, and by itself.
fn fits(of_cd: usize, of_scripts: usize) -> bool {
    (of_cd + 1) * (of_scripts + 1) <= MOST_DIRECTORIES
}

/// Returns a path without each `.` and each `/` that leads nowhere: `a/b` for `./a/./b/`, and an empty text for `.`. A
/// directory of many names would be noted with each of them.
fn without_dots(path: &str) -> String {
    let names: Vec<&str> = path
        .split('/')
        .filter(|name| !matches!(*name, "" | "."))
        .collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

/// Returns a path without each `..` and the name before it. Through a symbolic link it may lead elsewhere.
fn without_parents(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match names.last() {
            Some(last) if name == ".." && !matches!(*last, "" | "..") => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names.join("/")
}

/// Returns true for a path that is the same in each directory: from the root, or from the home directory.
fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~'])
}
