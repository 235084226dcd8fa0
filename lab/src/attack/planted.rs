//! Links, pipes and files of others where backoff writes its report and its log, keeps a budget, and looks for its
//! configuration. Nobody else's file changes, nothing hangs, and the command runs.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use serde_json::Value;

use super::numbered::{Numbered, starts};
use super::outcome::{Outcome, ensure};
use super::round::{Round, Shown};

const SECRET: &str = "hunter2 is the password of the victim\n";
const NOBODY: u32 = 65534;

/// What backoff is to use.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Target {
    Report,
    Log,
    Store,
    Budget,
    Config,
}

/// The directory that it is in.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Own,
    /// As /tmp.
    Sticky,
    /// Of another user; only root can make one.
    Theirs,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Plant {
    Link,
    LinkToNothing,
    LinkToItself,
    LinkToDevice,
    HardLink,
    Pipe,
    Directory,
    Socket,
    FileOfOther,
    Unreadable,
}

const TARGETS: &[Target] = &[
    Target::Report,
    Target::Log,
    Target::Store,
    Target::Budget,
    Target::Config,
];
const PLANTS: &[Plant] = &[
    Plant::Link,
    Plant::LinkToNothing,
    Plant::LinkToItself,
    Plant::LinkToDevice,
    Plant::HardLink,
    Plant::Pipe,
    Plant::Directory,
    Plant::Socket,
    Plant::FileOfOther,
    Plant::Unreadable,
];

struct Scene {
    target: Target,
    place: Place,
    plant: Plant,
    /// What backoff is given.
    path: PathBuf,
    victim: PathBuf,
    before: Facts,
}

/// What of a file may not change.
#[derive(PartialEq, Debug)]
struct Facts {
    bytes: Vec<u8>,
    mode: u32,
    owner: u32,
    number: u64,
}

impl Facts {
    fn of(path: &Path) -> std::io::Result<Facts> {
        let facts = fs::metadata(path)?;
        Ok(Facts {
            bytes: fs::read(path)?,
            mode: facts.mode(),
            owner: facts.uid(),
            number: facts.ino(),
        })
    }
}

pub fn play(round: &mut Round) -> Outcome {
    let scene = build(round)?;
    round.story.push(format!(
        "{:?} in place of {:?}, in a place {:?}",
        scene.plant, scene.target, scene.place
    ));
    let command = Numbered::default();
    let path = scene.path.display();
    let option = match scene.target {
        Target::Report => format!("--report {path}"),
        Target::Log => format!("--log-file {path}"),
        Target::Store => format!("--budget b --store {path} --store-timeout 10s"),
        Target::Budget => format!(
            "--budget b --store {} --store-timeout 10s",
            scene.path.with_file_name("").display()
        ),
        Target::Config => format!("--config {path}"),
    };
    let mut words = round.options(&format!("-n 2 -b 1ms {option}"));
    words.extend(command.words(round));
    let mut line = round.backoff(&words);
    if scene.target == Target::Config {
        line.env_remove("BACKOFF_NO_CONFIG");
    }
    let shown = round.run(&mut line, None)?;
    let refused = scene.target == Target::Config && shown.code() == Some(125);
    if refused {
        let lines = shown.stderr.lines().count();
        ensure!(
            lines == 1 && starts(round).is_empty(),
            "refused with {lines} lines, or late\n{shown}"
        );
    } else {
        ensure!(shown.code() == Some(0), "a status that is not the command's\n{shown}");
        command.expect_stream(round, &shown.stdout)?;
    }
    expect_victim(&scene, &shown)?;
    expect_said(&scene, &shown)?;
    expect_nothing_more(&scene, &shown)
}

fn build(round: &mut Round) -> Outcome<Scene> {
    let is_root = geteuid().is_root();
    let target = round.pick(TARGETS);
    let plant = round.pick(PLANTS);
    let place = if is_root {
        round.pick(&[Place::Own, Place::Sticky, Place::Theirs])
    } else {
        round.pick(&[Place::Own, Place::Sticky])
    };
    // What a budget is in has to be one's own anyway.
    let place = if target == Target::Budget { Place::Own } else { place };
    let dir = round.dir().join("place");
    fs::create_dir(&dir)?;
    let mode = if place == Place::Sticky { 0o1777 } else { 0o700 };
    fs::set_permissions(&dir, fs::Permissions::from_mode(mode))?;
    let victim = round.dir().join("victim");
    fs::write(&victim, SECRET)?;
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o640))?;
    let path = dir.join(if target == Target::Budget { "b.budget" } else { "target" });
    put(plant, &path, &victim)?;
    if is_root && place != Place::Own {
        // A hard link is the victim itself.
        if plant != Plant::HardLink {
            lchown(&path, Some(NOBODY), Some(NOBODY))?;
        }
        if place == Place::Theirs {
            chown(&dir, Some(NOBODY), Some(NOBODY))?;
        }
    }
    Ok(Scene {
        target,
        place,
        plant,
        before: Facts::of(&victim)?,
        path,
        victim,
    })
}

fn put(plant: Plant, path: &Path, victim: &Path) -> Outcome {
    match plant {
        Plant::Link => symlink(victim, path)?,
        Plant::LinkToNothing => symlink(victim.with_file_name("nothing"), path)?,
        Plant::LinkToItself => symlink(path, path)?,
        Plant::LinkToDevice => symlink("/dev/full", path)?,
        Plant::HardLink => fs::hard_link(victim, path)?,
        Plant::Pipe => mkfifo(path, Mode::from_bits_truncate(0o666))?,
        Plant::Directory => fs::create_dir(path)?,
        Plant::Socket => drop(UnixListener::bind(path)?),
        Plant::FileOfOther => {
            fs::write(path, SECRET)?;
            if geteuid().is_root() {
                chown(path, Some(NOBODY), Some(NOBODY))?;
            }
        }
        Plant::Unreadable => {
            fs::write(path, "")?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o000))?;
        }
    }
    Ok(())
}

fn expect_victim(scene: &Scene, shown: &Shown) -> Outcome {
    let after = Facts::of(&scene.victim)?;
    // What the user's own links and names lead to is written, as by `>` and `>>`.
    let is_own = match scene.plant {
        Plant::Link => scene.place == Place::Own,
        Plant::HardLink => true,
        _ => false,
    };
    let appended = after.bytes.starts_with(&scene.before.bytes) && after.number == scene.before.number;
    let is_right = after == scene.before
        || is_own
            && match scene.target {
                Target::Log => appended,
                Target::Report => scene.plant == Plant::Link && is_report(&scene.victim),
                _ => false,
            };
    let same_rights = (after.mode, after.owner) == (scene.before.mode, scene.before.owner);
    ensure!(
        is_right && same_rights,
        "the victim was {:?} and is {after:?}\n{shown}",
        scene.before
    );
    let nothing = scene.victim.with_file_name("nothing");
    ensure!(
        scene.place == Place::Own || !nothing.exists(),
        "a link of another user was followed to a new file\n{shown}"
    );
    Ok(())
}

/// Whoever is not given what he asked for is told so, and not what is in the files of others.
fn expect_said(scene: &Scene, shown: &Shown) -> Outcome {
    let is_done = match scene.target {
        Target::Report => is_report(&scene.path),
        // One who reads it may have been there.
        Target::Log => !shown.stderr.contains("attempt"),
        _ => true,
    };
    let is_said = shown.stderr.contains("warning");
    ensure!(is_done || is_said, "nothing was written, and nobody is told\n{shown}");
    ensure!(
        shown.stderr.matches("warning").count() <= 1,
        "more than one warning\n{shown}"
    );
    if scene.target != Target::Config {
        ensure!(
            !shown.stderr.contains("hunter2"),
            "the victim's secret is shown\n{shown}"
        );
    }
    Ok(())
}

fn is_report(path: &Path) -> bool {
    // A pipe would be waited for.
    let is_file = fs::metadata(path).is_ok_and(|facts| facts.is_file());
    is_file && fs::read(path).is_ok_and(|text| serde_json::from_slice::<Value>(&text).is_ok())
}

fn expect_nothing_more(scene: &Scene, shown: &Shown) -> Outcome {
    let Some(dir) = scene.path.parent() else { return Ok(()) };
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let known = ["target", "b.budget"].contains(&name.as_str()) || name.starts_with("b.budget.bad-");
        ensure!(known, "{name} is left\n{shown}");
    }
    Ok(())
}
