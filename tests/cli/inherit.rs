//! The command inherits its environment unchanged: the wrapper is transparent.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::common::process::{children_of, is_alive};
use crate::common::{
    BIN, IS_PORTABLE, Live, Shown, backoff, clean, detached, eventually, executable, run, shell, wait_for, within,
};

/// Runs a script of bash with W empty and with W being backoff: both must show the same.
#[track_caller]
fn same_as_bare(script: &str) -> Shown {
    let bare = run(shell(script).env("W", ""));
    let wrapped = run(shell(script).env("W", "backoff -q -n 1 --"));
    assert_eq!(
        (&wrapped.stdout, wrapped.status),
        (&bare.stdout, bare.status),
        "{script}"
    );
    bare
}

#[test]
fn signal_mask_and_dispositions() {
    for prefix in [
        "",
        "trap '' HUP INT USR1 PIPE TSTP; ",
        "trap 'echo x' TERM; ",
        "trap '' QUIT CHLD; ",
    ] {
        let shown = same_as_bare(&format!("{prefix} $W grep ^Sig /proc/self/status | grep -v SigQ"));
        assert!(shown.stdout.contains("SigIgn"), "{shown:?}");
    }
    let blocked = "perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(1, 12, 17, 15)); exec @ARGV'";
    same_as_bare(&format!("{blocked} $W grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"));
}

#[test]
fn the_second_attempt_gets_the_same() {
    let script = "trap '' USR2; backoff -q -n 3 -b 1ms -- sh -c 'grep -E \"^Sig(Blk|Ign)\" /proc/self/status; exit 1'";
    let shown = run(&mut shell(script));
    let lines: Vec<_> = shown.stdout.lines().collect();
    assert_eq!((lines[0], lines[1]), (lines[2], lines[3]));
    assert_eq!((lines[0], lines[1]), (lines[4], lines[5]));
}

#[test]
fn sigpipe_is_the_callers() {
    same_as_bare("trap '' PIPE; $W bash -c 'sleep 0.1; echo x; echo $? >&2' 2>&1 | true");
    same_as_bare("$W sh -c 'yes' | head -n 1; echo ${PIPESTATUS[0]}");
}

#[test]
fn descriptors_are_the_callers_and_none_of_ours() {
    same_as_bare("exec 5</etc/passwd 7>/dev/null; $W bash -c 'for f in /proc/$$/fd/*; do echo ${f##*/}; done'");
    same_as_bare("exec 9<<<secret; $W cat <&9; $W head -c 3 /dev/fd/9 9<<<again");
    // On every attempt.
    let shown = run(&mut shell(
        "exec 5</etc/passwd; backoff -q -n 2 -b 1ms -- bash -c 'for f in /proc/$$/fd/*; do echo ${f##*/}; done; exit 1'",
    ));
    let lines: Vec<_> = shown.stdout.lines().collect();
    let (first, second) = lines.split_at(lines.len() / 2);
    assert_eq!(first, second);
}

#[test]
fn closed_standard_descriptors_stay_closed() {
    for closed in ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 2>&-", "1>&- 2>&-"] {
        same_as_bare(&format!(
            "exec 3>&1; $W bash -c 'for f in /proc/$$/fd/*; do echo ${{f##*/}}; done >&3' {closed}"
        ));
    }
    same_as_bare("$W sh -c 'echo lost' 1>&-; echo $?");
    // All three, and backoff has something to say, and there is nowhere to say it.
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let script =
        format!("backoff -b 1ms -n 3 -- sh -c 'echo $BACKOFF_ATTEMPT >>{log}; exit 6' 0<&- 1>&- 2>&-; echo $? >>{log}");
    run(&mut shell(&script));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "1\n2\n3\n6\n");
}

#[test]
fn messages_into_nowhere_change_nothing() {
    for nowhere in ["2>/dev/full", "2>&-", "2> >(exec true)"] {
        let shown = run(&mut shell(&format!(
            "backoff -b 1ms -n 3 -- sh -c 'echo $BACKOFF_ATTEMPT; exit 6' {nowhere}; echo $?"
        )));
        assert_eq!(shown.stdout, "1\n2\n3\n6\n", "{nowhere}");
    }
}

#[test]
fn umask_limits_priority_directory() {
    same_as_bare("umask 027; $W sh -c umask");
    same_as_bare("ulimit -S -n 77; ulimit -c 0; ulimit -S -s 4096; $W cat /proc/self/limits");
    same_as_bare("nice -n 7 $W nice");
    same_as_bare(
        "cd /usr; $W pwd; d=$(mktemp -d); cd $d; rmdir $d; $W sh -c 'readlink /proc/self/cwd | grep -o deleted'",
    );
    same_as_bare("$W grep -E '^(NoNewPrivs|Cap|Uid|Gid|Groups|Seccomp|Cpus_allowed|Mems)' /proc/self/status");
    same_as_bare("$W cat /proc/self/timerslack_ns /proc/self/oom_score_adj /proc/self/personality");
}

#[test]
fn timer_slack_is_the_callers_after_a_wait_too() {
    let shown = run!("-q -n 3 -b 5ms -j none -- sh -c 'cat /proc/self/timerslack_ns; exit 1'");
    let bare = run(clean("cat").arg("/proc/self/timerslack_ns")).stdout;
    assert_eq!(shown.stdout, bare.repeat(3));
    // One that the caller set (PR_SET_TIMERSLACK is 29), too.
    let script = "cat /proc/self/timerslack_ns; exit 1";
    let set = words!("-e 'syscall(157, 29, 77777, 0, 0, 0); exec @ARGV' {}", *BIN);
    let mut perl = clean("perl");
    perl.args(set)
        .args(["-q", "-n", "2", "-b", "5ms", "-j", "none", "--", "sh", "-c", script]);
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_eq!(run(&mut perl).stdout, "77777\n77777\n");
    }
}

#[test]
fn environment_is_the_callers_and_the_documented_variables() {
    let script =
        "env -i A=1 'B=two words' 'odd name=x' $'C=bad\\xff\\nline' EMPTY= PATH=\"$PATH\" $W cat /proc/self/environ";
    let sorted = |text: &str| {
        let mut entries: Vec<String> = text.split('\0').map(str::to_owned).collect();
        entries.sort();
        entries
    };
    let bare = run(shell(script).env("W", ""));
    let wrapped = run(shell(script).env("W", "backoff --"));
    let (own, rest): (Vec<_>, Vec<_>) = sorted(&wrapped.stdout)
        .into_iter()
        .partition(|entry| entry.starts_with("BACKOFF_"));
    assert_eq!(rest, sorted(&bare.stdout));
    let names: Vec<_> = own.iter().map(|entry| entry.split('=').next().unwrap()).collect();
    let expected = [
        "ATTEMPT",
        "ATTEMPT_LIMIT",
        "DEPTH",
        "ELAPSED",
        "PREVIOUS_EXIT",
        "RAN_MS",
        "REASON",
        "ROOT_ID",
        "RUN_ID",
    ]
    .map(|name| format!("BACKOFF_{name}"));
    assert_eq!(names, expected);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn entries_without_an_equals_sign_survive() {
    // env(1) cannot make one; the kernel hands on whatever execve (number 59) was given.
    let source = "my $e = pack('p p p Q', 'NOEQUALS', '=odd', 'A=1', 0); my @a = @ARGV; \
                  my $v = pack('p' x @a . 'Q', @a, 0); syscall(59, $a[0], $v, $e);";
    let bare = run(clean("perl").args(["-e", source, "/bin/cat", "/proc/self/environ"]));
    assert_eq!(bare.stdout, "NOEQUALS\0=odd\0A=1\0");
    let wrapped = run(clean("perl").args(["-e", source, *BIN, "/bin/cat", "/proc/self/environ"]));
    assert!(wrapped.stdout.starts_with(&bare.stdout), "{wrapped:?}");
}

#[test]
fn the_variables_of_an_attempt() {
    let script = "echo \"$BACKOFF_ATTEMPT/$BACKOFF_ATTEMPT_LIMIT [$BACKOFF_PREVIOUS_EXIT] $BACKOFF_DEPTH $BACKOFF_RUN_ID $BACKOFF_ELAPSED\"; \
                  case $BACKOFF_ATTEMPT in 1) exit 7;; 2) kill -KILL $$;; 3) sleep 9;; esac";
    let shown = run!("-b 1ms -t 1s -- sh -c {}", script).expect_code(0);
    let lines: Vec<Vec<&str>> = shown.stdout.lines().map(|line| line.split(' ').collect()).collect();
    let column = |i: usize| lines.iter().map(|line| line[i]).collect::<Vec<_>>();
    assert_eq!(column(0), ["1/5", "2/5", "3/5", "4/5"]);
    assert_eq!(column(1), ["[]", "[7]", "[137]", "[124]"]);
    assert_eq!(column(2), ["1"; 4]);
    let id = lines[0][3];
    assert_eq!(column(3), [id; 4]);
    assert!(
        id.len() == 36 && id.as_bytes()[14] == b'4' && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'),
        "{id}"
    );
    let elapsed: Vec<f64> = column(4).iter().map(|text| text.parse().unwrap()).collect();
    assert!(
        elapsed[0] == 0.0 && elapsed.is_sorted() && elapsed[3] >= 0.3,
        "{elapsed:?}"
    );
    let other = run!(r#"-n unlimited -- sh -c 'echo "[$BACKOFF_ATTEMPT_LIMIT] $BACKOFF_RUN_ID"'"#);
    assert!(
        other.stdout.starts_with("[] ") && !other.stdout.contains(id),
        "{other:?}"
    );
    // The same seed makes the same waits, not the same run.
    let with_seed = || run!("--seed 1 -- sh -c 'echo $BACKOFF_RUN_ID'").stdout;
    assert_ne!(with_seed(), with_seed());
}

#[test]
fn variables_that_name_backoffs_process_name_the_commands() {
    let script = "exec sh -c 'LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1 exec backoff -q -n 2 -b 1ms -- \
                  sh -c \"echo \\$((LISTEN_PID == \\$\\$)) \\$((WATCHDOG_PID == \\$\\$)) \\$LISTEN_FDS; exit 1\"'";
    assert_eq!(run(&mut shell(script)).stdout, "1 1 1\n1 1 1\n");
    let other = run(backoff("-- sh -c 'echo $LISTEN_PID'").env("LISTEN_PID", "1"));
    assert_eq!(other.stdout, "1\n");
}

#[test]
fn c_locale_is_set_where_asked_for() {
    let run_with = |args: &str| run(backoff(args).env("LC_ALL", "de_DE.UTF-8")).stdout;
    assert_eq!(run_with("-- sh -c 'echo $LC_ALL'"), "de_DE.UTF-8\n");
    assert_eq!(run_with("--c-locale -- sh -c 'echo $LC_ALL'"), "C.UTF-8\n");
}

#[test]
fn argv_is_exact() {
    let odd = ["", " ", "a\nb", "*", "$HOME", "--", "-n", "--help", "\\"];
    let shown = run(backoff("-- printf '[%s]'").args(odd));
    assert_eq!(shown.stdout, odd.map(|word| format!("[{word}]")).concat());
    let bytes = OsStr::from_bytes(b"\xff\xfe \x01");
    let child = backoff("printf %s")
        .arg(bytes)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = wait_for("printf", child.id(), || child.wait_with_output());
    assert_eq!(output.unwrap().stdout, bytes.as_bytes());
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join(OsStr::from_bytes(b"pro\xffgram"));
    std::os::unix::fs::symlink("/bin/true", &program).unwrap();
    run(backoff("--").arg(&program)).expect_code(0);
    assert_eq!(run!("bash -c 'echo $0' 'as typed'").stdout, "as typed\n");
    // argv[0] is the word as typed, not the file that was found.
    assert_eq!(
        run(&mut shell("backoff cat /proc/self/cmdline | tr '\\0' ' '")).stdout,
        "cat /proc/self/cmdline "
    );
}

#[test]
fn path_is_searched_as_the_shell_does() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (denied, good) = (dir.path().join("denied"), dir.path().join("good"));
    for (folder, mode) in [(&denied, 0o644), (&good, 0o755)] {
        std::fs::create_dir(folder).unwrap();
        let tool = folder.join("tool");
        executable(tool.to_str().unwrap(), "#!/bin/sh\necho good\n");
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let at = |path: String| run(backoff("-q -- tool").env("PATH", path).current_dir(&good));
    let (denied, good) = (denied.display(), good.display());
    assert_eq!(at(format!("{denied}:{good}")).stdout, "good\n");
    assert_eq!(at(format!("{denied}:/nowhere")).code(), Some(126));
    assert_eq!(at("/nowhere".into()).code(), Some(127));
    // An empty entry is the working directory; without one it is not searched.
    assert_eq!(at("/nowhere:".into()).stdout, "good\n");
    // Unset, it is the system's default.
    assert_eq!(run(backoff("-- echo found").env_remove("PATH")).stdout, "found\n");
}

#[test]
fn session_and_parent() {
    // The command is backoff's own child, in the caller's session.
    same_as_bare(
        "$W sh -c 'test $(cut -d\" \" -f6 /proc/$$/stat) = $(cut -d\" \" -f6 /proc/self/stat) && echo same session'",
    );
    let shown = run(&mut shell("backoff -- sh -c 'cat /proc/$PPID/comm'"));
    assert_eq!(shown.stdout, "backoff\n");
    // Without a terminal it leads a group of its own.
    let shown = run(&mut detached(words!(
        "-- sh -c {}",
        "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leads"
    )));
    assert_eq!(shown.stdout, "leads\n");
}

#[test]
fn standard_input_is_shared_and_never_read_ahead() {
    // A system without `tee(2)` has to read ahead.
    if !*IS_PORTABLE {
        let shown = run(&mut shell(
            "(echo a; echo b) | { backoff -- head -c 2; cat; }; seq 3 | while read x; do backoff -- true; echo $x; done",
        ));
        assert_eq!(shown.stdout, "a\nb\n1\n2\n3\n");
    }
    let shown = run(shell(
        "seq 1 100 >f; { backoff -- sh -c 'read x; echo $x'; backoff -- sh -c 'read x; echo $x'; } <f; rm f",
    )
    .current_dir(tempfile::tempdir().unwrap().path()));
    assert_eq!(shown.stdout, "1\n2\n");
    let shown = run(&mut shell(
        "head -c 8000000 /dev/urandom | tee >(cksum >&2) | backoff -- cat | cksum",
    ));
    assert_eq!(shown.stdout, shown.stderr);
}

#[test]
fn flags_of_shared_descriptions_are_left_alone() {
    same_as_bare("$W grep flags /proc/self/fdinfo/0 /proc/self/fdinfo/1; grep flags /proc/self/fdinfo/1");
}

#[test]
fn a_daemon_or_background_child_is_left_alone_and_not_waited_for() {
    let script = "backoff -- sh -c 'sleep 60 >/dev/null 2>&1 & echo $!'; backoff -- sh -c 'setsid sleep 60 & echo $!' | head -n 1";
    let began = std::time::Instant::now();
    let mut live = Live::start(&mut shell(script));
    let daemons: Vec<i32> = [live.line(), live.line()]
        .iter()
        .map(|line| line.parse().unwrap())
        .collect();
    eventually("backoff ends", || live.child.try_wait().unwrap().is_some());
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    for daemon in daemons {
        assert!(is_alive(daemon));
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(daemon), nix::sys::signal::Signal::SIGKILL).unwrap();
    }
}

#[test]
fn other_peoples_children_are_not_taken_for_the_command() {
    // The shell's background child becomes backoff's by exec.
    let shown = run(&mut shell(
        "(exit 9) & sleep 0.05 & exec backoff -n 1 -- sh -c 'sleep 0.2; exit 4'",
    ));
    shown.expect_code(4);
}

#[test]
fn no_zombie_is_left_between_attempts() {
    let script = "backoff -q -n 4 -b 20ms -j none -- sh -c 'cat /proc/$PPID/task/$PPID/children; echo; exit 1'";
    for line in run(&mut shell(script)).stdout.lines().filter(|line| !line.is_empty()) {
        assert_eq!(line.split_whitespace().count(), 1, "{line}");
    }
}

#[test]
fn nothing_is_held_during_a_wait() {
    let mut live = Live::start(&mut backoff(
        "-q -b 30s -m 30s -n 2 -- sh -c 'set -- /proc/$$/fd/*; echo $#; exit 1'",
    ));
    let of_the_command: usize = live.line().parse().unwrap();
    let proc = format!("/proc/{}", live.pid());
    eventually("no child", || children_of(live.pid()).is_empty());
    assert_eq!(std::fs::read_dir(format!("{proc}/task")).unwrap().count(), 1);
    // The caller's descriptors, and both ends of the signal pipe; the command also counted the directory it read.
    assert_eq!(
        std::fs::read_dir(format!("{proc}/fd")).unwrap().count(),
        of_the_command + 1
    );
    live.signal(nix::sys::signal::Signal::SIGTERM);
    live.finish();
}

#[test]
fn few_descriptors_are_enough_and_none_leaks() {
    let [few, some] = [8, 15];
    let shown = run(&mut shell(&format!(
        "(ulimit -n {few}; backoff -q -n 200 -b 0 -m 0 -- false </dev/null; echo $?); ulimit -n {some}; : | backoff -q -n 200 -b 0 -m 0 -r x --stdout final --retry-if 'exit 0' -- false; echo ${{PIPESTATUS[1]}}",
    )));
    assert_eq!(shown.stdout, "1\n1\n");
}

#[test]
fn little_memory_is_enough() {
    run(&mut shell("ulimit -v 65536; backoff -q -n 3 -b 1ms -- sh -c 'exit 5'")).expect_code(5);
}

#[test]
fn an_odd_environment_does_not_matter() {
    let long = "x".repeat(50_000);
    run(backoff("-- true")
        .env("LANG", &long)
        .env("COLUMNS", "90000000000000")
        .env("LINES", "-1")
        .env("TERM", ""))
    .expect_code(0)
    .expect_silence();
}
