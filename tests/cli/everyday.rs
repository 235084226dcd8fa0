//! Lines as people would write them, for tasks that many have: each is run as it stands in docs/recipes.md, with
//! stand-ins for the programs that it names. No wait is waited for: USR1 ends it once it was told.

use std::fs::{File, read_to_string};
use std::os::unix::process::ExitStatusExt;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{BIN, eventually, executable, path_with_backoff, shell, within};

/// A task, and what becomes of its line.
struct Task {
    line: &'static str,
    /// Scripts, by their names on PATH or, with a slash, in the working directory.
    stand_ins: &'static [(&'static str, &'static str)],
    /// Besides PATH.
    variables: &'static [(&'static str, &'static str)],
    /// Parts of messages, in order.
    says: &'static [&'static str],
    prints: &'static str,
    /// As a shell shows it.
    status: i32,
}

const TASK: Task = Task {
    line: "",
    stand_ins: &[],
    variables: &[],
    says: &[],
    prints: "",
    status: 0,
};

/// Fails until the third attempt.
const THIRD: &str = "[ $BACKOFF_ATTEMPT = 3 ]";
/// Succeeds twice.
const TWICE: &str = "[ $BACKOFF_ATTEMPT -lt 3 ]";

const TASKS: &[Task] = &[
    Task {
        line: "backoff -n unlimited -- passwd",
        stand_ins: &[("passwd", "[ $BACKOFF_ATTEMPT = 7 ]")],
        says: &["attempt 6 failed: exit 1 ", "succeeded on attempt 7 "],
        ..TASK
    },
    Task {
        line: "backoff -n unlimited --reset-after 1m -- ./server",
        stand_ins: &[("./server", "[ $BACKOFF_ATTEMPT = 7 ] || kill -SEGV $$")],
        says: &["attempt 6 failed: killed by SIGSEGV ", "succeeded on attempt 7 "],
        ..TASK
    },
    Task {
        line: "backoff -n 15 --every 20s -- apk add git",
        stand_ins: &[("apk", "[ \"$*\" = 'add git' ] && exit 99")],
        says: &[
            "attempt 1 of 15 failed: exit 99 after ",
            "; retrying in 20s\n",
            "attempt 14 of 15 failed",
            "; retrying in 20s\n",
            "gave up after 15 attempts in ",
            ": exit 99 (attempt limit reached); raise --attempts to allow more\n",
        ],
        status: 99,
        ..TASK
    },
    Task {
        line: "backoff --delays 20s,40s -n 3 -- ./gradlew build",
        stand_ins: &[("./gradlew", THIRD)],
        says: &[
            "attempt 1 of 3 failed",
            "; retrying in 20s\n",
            "attempt 2 of 3 failed",
            "; retrying in 40s\n",
            "succeeded on attempt 3 of 3 ",
        ],
        ..TASK
    },
    Task {
        line: r#"backoff --every 5s -d 10m --success-if 'jq -e ".state == \"done\""' -- api get job"#,
        stand_ins: &[
            ("api", "[ $BACKOFF_ATTEMPT = 3 ] && echo done || echo queued"),
            ("jq", "grep -q done"),
        ],
        says: &[
            "attempt 1 failed: --success-if says no (exit 0) after ",
            "; retrying in 5s\n",
            "succeeded on attempt 3 ",
        ],
        prints: "queued\nqueued\ndone\n",
        ..TASK
    },
    Task {
        line: "backoff -e 1,127 -- task deploy",
        stand_ins: &[(
            "task",
            "case $BACKOFF_ATTEMPT in 1) exit 1;; 2) exit 127;; *) exit 2;; esac",
        )],
        says: &[
            "attempt 1 of 5 failed: exit 1 ",
            "attempt 2 of 5 failed: exit 127 ",
            "gave up after 3 attempts in ",
            ": exit 2 (permanent: no retry rule matches)",
        ],
        status: 2,
        ..TASK
    },
    Task {
        line: r#"backoff --every 5s -d 10m --fail-match "$ID" -- list-jobs"#,
        stand_ins: &[("list-jobs", "[ $BACKOFF_ATTEMPT = 3 ] || echo job-7; echo job-8")],
        variables: &[("ID", "job-7")],
        says: &[
            "attempt 1 failed: matched \"job-7\" (exit 0; --fail-match) after ",
            "; retrying in 5s\n",
            "succeeded on attempt 3 ",
        ],
        prints: "job-7\njob-8\njob-7\njob-8\njob-8\n",
        ..TASK
    },
    Task {
        line: "backoff --every 2s -d 5m -- ssh -o ConnectTimeout=2 host true",
        stand_ins: &[("ssh", "[ $BACKOFF_ATTEMPT = 9 ] || exit 255")],
        says: &[
            "attempt 8 failed: exit 255 after ",
            "; retrying in 2s\n",
            "succeeded on attempt 9 ",
        ],
        ..TASK
    },
    Task {
        line: "backoff --every 10s -d 2m -- curl -fsS URL",
        stand_ins: &[("curl", "[ $BACKOFF_ATTEMPT = 9 ] || exit 7; echo page")],
        says: &[
            "attempt 8 failed: exit 7 after ",
            "; retrying in 10s\n",
            "succeeded on attempt 9 ",
        ],
        prints: "page\n",
        ..TASK
    },
    Task {
        line: "backoff --every 1s -d 1m -- pg_isready -q && ./migrate",
        stand_ins: &[
            ("pg_isready", "[ $BACKOFF_ATTEMPT = 9 ] || exit 2"),
            ("./migrate", "echo migrated"),
        ],
        says: &[
            "attempt 8 failed: exit 2 after ",
            "; retrying in 1s\n",
            "succeeded on attempt 9 ",
        ],
        prints: "migrated\n",
        ..TASK
    },
    Task {
        line: "backoff --every 1s -d 1m --until failure -- nc -z host 5432",
        stand_ins: &[("nc", TWICE)],
        says: &[
            "attempt 1 succeeded after ",
            "; running it again in 1s\n",
            "the failure came on attempt 3 after ",
            ": exit 1\n",
        ],
        ..TASK
    },
    Task {
        line: "backoff --until never --every 5s --log-file run.log -- worker",
        stand_ins: &[(
            "worker",
            "case $BACKOFF_ATTEMPT in 1) ;; 2) exit 3;; *) kill $PPID; exec sleep 30;; esac",
        )],
        says: &[
            "attempt 1 succeeded after ",
            "; running it again in 5s\n",
            "attempt 2 failed: exit 3 after ",
            "; retrying in 5s\n",
        ],
        status: 143,
        ..TASK
    },
    Task {
        line: "backoff --until never -b 1s -- kubectl port-forward svc/x 8080:80",
        stand_ins: &[(
            "kubectl",
            "[ $BACKOFF_ATTEMPT -lt 7 ] || { kill -INT $PPID; trap - INT; exec sleep 30; }",
        )],
        says: &[
            "attempt 1 succeeded after ",
            "attempt 6 succeeded after ",
            "; running it again in ",
        ],
        status: 130,
        ..TASK
    },
    Task {
        line: "backoff --until failure -n 100 -- pytest -x tests/test_x.py",
        stand_ins: &[("pytest", "[ $BACKOFF_ATTEMPT -lt 12 ]")],
        says: &[
            "attempt 1 of 100 succeeded after ",
            "; running it again in 0s\n",
            "the failure came on attempt 12 of 100 after ",
            ": exit 1\n",
        ],
        ..TASK
    },
    Task {
        line: "backoff --until failure -n 100 -- pytest -x tests/test_x.py",
        stand_ins: &[("pytest", "true")],
        says: &[
            "gave up after 100 attempts in ",
            ": no failure came (attempt limit reached); raise --attempts to allow more\n",
        ],
        status: 1,
        ..TASK
    },
    Task {
        line: r#"backoff --before-retry '[ "$BACKOFF_EXIT" != 75 ] || sleep 60' -- sync"#,
        stand_ins: &[
            ("sync", "case $BACKOFF_ATTEMPT in 1) exit 75;; 2) exit 1;; esac"),
            ("sleep", "echo paused $1"),
        ],
        says: &[
            "attempt 1 of 5 failed: exit 75 ",
            "paused 60\n",
            "attempt 2 of 5 failed: exit 1 ",
            "succeeded on attempt 3 of 5 ",
        ],
        ..TASK
    },
    Task {
        line: "backoff --every 2s -d 2m --fail-match 'starting|unhealthy' -- docker compose ps",
        stand_ins: &[(
            "docker",
            "case $BACKOFF_ATTEMPT in 1) echo 'web Up (health: starting)';; 2) echo 'web Up (unhealthy)';; \
             *) echo 'web Up (healthy)';; esac",
        )],
        says: &[
            "attempt 1 failed: matched \"starting\" (exit 0; --fail-match) after ",
            "; retrying in 2s\n",
            "attempt 2 failed: matched \"unhealthy\" ",
            "succeeded on attempt 3 ",
        ],
        prints: "web Up (health: starting)\nweb Up (unhealthy)\nweb Up (healthy)\n",
        ..TASK
    },
    Task {
        line: "backoff --success-if 'sha256sum -c --quiet file.sha256' -- curl -fsSO URL",
        stand_ins: &[
            (
                "curl",
                "echo part $BACKOFF_ATTEMPT >file; echo part 2 | sha256sum | sed s/-/file/ >file.sha256",
            ),
            ("sha256sum", "PATH=${PATH#*:} exec sha256sum \"$@\" 2>/dev/null"),
        ],
        says: &[
            "attempt 1 of 5 failed: --success-if says no (exit 0) after ",
            "succeeded on attempt 2 of 5 ",
        ],
        ..TASK
    },
    Task {
        line: r#"backoff --for curl -- bash -c 'set -e; curl -fsS -d "$DATA" URL | jq .id'"#,
        stand_ins: &[("curl", "exit 56"), ("jq", "exit 56")],
        says: &[
            "gave up after 1 attempt in ",
            "(it may have taken effect, and is not idempotent: curl -d without an Idempotency-Key header)\n",
        ],
        status: 56,
        ..TASK
    },
    Task {
        line: "backoff -t 30s,1m,2m -- fetch",
        stand_ins: &[("fetch", THIRD)],
        variables: &[("BACKOFF_VERBOSE", "2")],
        says: &["timeout = 30s,1m,2m (--timeout)\n", "succeeded on attempt 3 of 5 "],
        ..TASK
    },
    Task {
        line: "backoff -t 30s -e timeout -- fetch",
        stand_ins: &[("fetch", "exit 7")],
        says: &[
            "gave up after 1 attempt in ",
            ": exit 7 (permanent: no retry rule matches)\n",
        ],
        status: 7,
        ..TASK
    },
    Task {
        line: "backoff --success-exit 0,24=0 -- rsync -a src/ host:dst/ && next",
        stand_ins: &[
            ("rsync", "[ $BACKOFF_ATTEMPT = 2 ] || exit 12; exit 24"),
            ("next", "echo next"),
        ],
        says: &["attempt 1 of 5 failed: exit 12 ", "succeeded on attempt 2 of 5 "],
        prints: "next\n",
        ..TASK
    },
    Task {
        line: "backoff --success-exit 0,1=0 --success-match 'created|already exists' -- create thing",
        stand_ins: &[(
            "create",
            "[ $BACKOFF_ATTEMPT = 2 ] || { echo no answer; exit 1; }; echo thing already exists; exit 1",
        )],
        says: &[
            "attempt 1 of 5 failed: no line matches --success-match ",
            "succeeded on attempt 2 of 5 ",
        ],
        prints: "no answer\nthing already exists\n",
        ..TASK
    },
    Task {
        line: "backoff --success-exit 0,2 -- terraform plan -detailed-exitcode",
        stand_ins: &[("terraform", "[ $BACKOFF_ATTEMPT = 2 ] || exit 1; exit 2")],
        says: &["attempt 1 of 5 failed: exit 1 ", "succeeded on attempt 2 of 5 "],
        status: 2,
        ..TASK
    },
    Task {
        line: "backoff --stop-after 10m -- terraform apply -auto-approve",
        stand_ins: &[("terraform", "[ $BACKOFF_ATTEMPT = 7 ]")],
        variables: &[("BACKOFF_MAX_DELAY", "1s")],
        says: &["attempt 6 failed: exit 1 ", "succeeded on attempt 7 "],
        ..TASK
    },
];

fn tells_of_a_wait(line: &str) -> bool {
    let waits = line.contains("; retrying in ") || line.contains("; running it again in ");
    waits && !line.ends_with(" in 0s")
}

/// Runs the line, and ends every wait that it tells of. What it printed, what it said, and its status.
fn ended(task: &Task) -> (String, String, i32) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| within(&dir, name);
    std::fs::create_dir(at("bin")).unwrap();
    executable(
        &at("bin/backoff"),
        &format!("#!/bin/sh\necho $$ >pid\nexec {bin} \"$@\"\n", bin = *BIN),
    );
    for (name, script) in task.stand_ins {
        let path = if name.contains('/') {
            at(name)
        } else {
            at(&format!("bin/{name}"))
        };
        executable(&path, &format!("#!/bin/sh\ntrap '' USR1\n{script}\n"));
    }
    let mut command = shell(task.line);
    command
        .current_dir(dir.path())
        .env("PATH", format!("{}:{}", at("bin"), path_with_backoff()))
        .envs(task.variables.iter().copied())
        .stdout(File::create(at("out")).unwrap())
        .stderr(File::create(at("err")).unwrap());
    let mut child = command.spawn().unwrap();
    let said = || read_to_string(at("err")).unwrap() + &read_to_string(at("run.log")).unwrap_or_default();
    let (mut ended_waits, mut status) = (0, None);
    eventually("the end", || {
        status = child.try_wait().unwrap();
        let waits = said().lines().filter(|line| tells_of_a_wait(line)).count();
        if status.is_none() && waits > ended_waits {
            let pid = read_to_string(at("pid")).unwrap().trim().parse().unwrap();
            // It may just have ended.
            let _ = kill(Pid::from_raw(pid), Signal::SIGUSR1);
            ended_waits = waits;
        }
        status.is_some()
    });
    let status = status.unwrap();
    let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap();
    (read_to_string(at("out")).unwrap(), said(), status)
}

#[track_caller]
fn expect(task: &Task) {
    let (printed, said, status) = ended(task);
    let shown = format!("{}\nprinted: {printed}\nsaid: {said}\nstatus: {status}", task.line);
    assert_eq!((&*printed, status), (task.prints, task.status), "{shown}");
    let mut rest = &*said;
    for part in task.says {
        rest = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("no {part:?} in its place: {shown}"))
            .1;
    }
}

#[test]
fn every_line_does_its_task() {
    // Mostly they wait.
    std::thread::scope(|threads| {
        for task in TASKS {
            threads.spawn(|| expect(task));
        }
    });
}

#[test]
fn every_line_is_a_recipe() {
    let recipes = include_str!("../../docs/recipes.md");
    for Task { line, .. } in TASKS {
        assert!(recipes.lines().any(|recipe| recipe == *line), "{line}");
    }
}
