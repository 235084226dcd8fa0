//! Retry budgets and cool-off, kept in a directory.

use std::fs;
#[cfg(feature = "redis")]
use std::io::Read as _;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::common::ledger::{CoolOff, PAGE, counted as total, file_of, ledger};
use crate::common::process::state;
use crate::common::words::Words;
use crate::common::{Live, PATIENCE, Shown, backoff, eventually, executable, path_with_backoff, run, shell, within};

/// A directory for stores.
fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A run that shares the budget "api" in this directory and waits next to nothing between attempts.
fn sharing(dir: &TempDir, args: impl Words) -> Shown {
    run!("--store {} --budget api -b 1ms -m 1ms {..}", store(dir), args)
}

fn store(dir: &TempDir) -> String {
    within(dir, "store")
}

fn file(dir: &TempDir) -> String {
    within(dir, "store/api.budget")
}

fn counted(dir: &TempDir) -> (u64, u64) {
    total(&ledger(file(dir)))
}

#[test]
fn a_spent_budget_makes_a_transient_failure_final() {
    let dir = dir();
    // Ten attempts are always allowed, and nine retries are more than a tenth of them.
    sharing(&dir, "-n 50 -- sh -c 'exit 7'")
        .expect_code(7)
        .expect_stderr("gave up after 10 attempts in ")
        .expect_stderr(
            "exit 7 (budget \"api\" exhausted: 9 of 10 attempts in 10m were retries); raise --budget-ratio to allow more\n",
        );
    sharing(&dir, "-n 50 -- false")
        .expect_code(1)
        .expect_stderr("gave up after 1 attempt in ");
    sharing(&dir, "-n 50 --exhausted-exit 75 -- false").expect_code(75);
    assert_eq!(counted(&dir), (12, 9));
}

#[test]
fn the_ratio_is_of_all_attempts() {
    let dir = dir();
    let with = |command: &str| sharing(&dir, words!("--budget-min 0 --budget-ratio 50% -n 9 -- {}", command));
    for _ in 0..4 {
        with("true").expect_code(0).expect_silence();
    }
    // 0 of 5, 1 of 6, 2 of 7, 3 of 8, 4 of 9 are less than a half; 5 of 10 are not.
    with("false")
        .expect_stderr("gave up after 6 attempts")
        .expect_stderr("5 of 10 attempts");
    assert_eq!(counted(&dir), (10, 5));
    with("true").expect_silence();
    // 5 of 11 and the one that begins.
    with("false").expect_stderr("gave up after 3 attempts");
}

#[test]
fn a_minimum_is_always_allowed() {
    for (min, attempts) in [("0", 2), ("1", 2), ("3", 3), ("20", 20)] {
        sharing(&dir(), words!("--budget-min {} -n 50 -- false", min))
            .expect_stderr(&format!("gave up after {attempts} attempt"));
    }
    let none = "--budget-min 0 --budget-ratio 0 -n 50 -- false";
    sharing(&dir(), none).expect_stderr("gave up after 1 attempt");
    let all = "--budget-min 0 --budget-ratio 100% -n 50 -- false";
    sharing(&dir(), all).expect_stderr("gave up after 50 attempts");
}

#[test]
fn attempts_leave_the_window() {
    let dir = dir();
    let within = |window: &str, most: &str| {
        let options = "--budget-min 2 --budget-ratio 0 --budget-window";
        sharing(&dir, words!("{..} {} -n {} -- false", options, window, most)).stderr
    };
    assert!(within("20s", "50").contains("gave up after 2 attempts in "));
    assert!(within("20s", "50").contains("gave up after 1 attempt in "));
    // Each look is an attempt, too, which has to leave the window before the next one.
    eventually("a retry is allowed again", || {
        std::thread::sleep(Duration::from_secs(1));
        within("500ms", "2").contains("gave up after 2 attempts in ")
    });
}

#[test]
fn a_longer_window_sees_what_a_shorter_one_has_counted() {
    let dir = dir();
    sharing(&dir, "--budget-window 1h -- true");
    sharing(&dir, "--budget-window 30s -- true");
    assert_eq!(counted(&dir), (2, 0));
    sharing(&dir, "--budget-min 3 -n 5 -- false").expect_stderr("1 of 4");
}

#[test]
fn other_names_are_other_budgets() {
    let dir = dir();
    for name in [
        "a",
        "b",
        "../b",
        "/b",
        ".",
        "..",
        "a/b",
        "b\n\x1b[2J",
        "%",
        &"long".repeat(25),
    ] {
        run!("--store {} --budget {} -n 50 -b 1ms -m 1ms -- false", store(&dir), name)
            .expect_code(1)
            .expect_stderr("gave up after 10 attempts");
    }
    assert_eq!(fs::read_dir(store(&dir)).unwrap().count(), 10);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing beside the store");
    let shown = run!("--store {} --budget {} -- false", store(&dir), "b\n\x1b[2J");
    assert!(!shown.stderr.contains('\x1b'), "{shown:?}");
}

#[test]
fn a_name_has_up_to_a_hundred_bytes() {
    for (name, why) in [
        ("", "--budget: \"\" is empty"),
        (&*"n".repeat(101), "is longer than 100 bytes"),
    ] {
        run!("--budget {} -- true", name).expect_code(125).expect_stderr(why);
    }
}

#[test]
fn it_is_kept_where_state_is_kept() {
    let dir = dir();
    let home = dir.path().to_str().unwrap();
    for (variables, place) in [
        (vec![("XDG_STATE_HOME", within(&dir, "state"))], "state/backoff"),
        (vec![("HOME", home.to_owned())], ".local/state/backoff"),
        (
            vec![("XDG_STATE_HOME", "relative".into()), ("HOME", within(&dir, "home"))],
            "home/.local/state/backoff",
        ),
    ] {
        let mut command = backoff("--budget api -- true");
        command.env_remove("XDG_STATE_HOME").env_remove("HOME").envs(variables);
        run(&mut command).expect_code(0).expect_silence();
        let made = dir.path().join(place);
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o7777, 0o700);
        assert_eq!(fs::metadata(made.join("api.budget")).unwrap().mode() & 0o7777, 0o600);
    }
    let mut command = backoff("--budget api -- true");
    command.env_remove("XDG_STATE_HOME").env_remove("HOME");
    run(&mut command)
        .expect_code(0)
        .expect_stderr("neither XDG_STATE_HOME nor HOME is set");
}

#[test]
fn without_a_budget_nothing_is_kept() {
    let dir = dir();
    run(backoff("-n 2 -b 1ms -- false").env("XDG_STATE_HOME", dir.path()));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// Asserts that a fault of the store is reported once, and that the run continues as without a budget.
#[track_caller]
fn goes_on_without(dir: &TempDir, why: &str) {
    let shown = sharing(dir, "-n 20 -- false")
        .expect_code(1)
        .expect_stderr(why)
        .expect_stderr("; going on without the budget \"api\"\n")
        .expect_stderr("gave up after 20 attempts");
    assert_eq!(shown.stderr.matches("warning").count(), 1, "{shown:?}");
    sharing(dir, "-q -- true").expect_code(0).expect_stderr(why);
}

#[test]
fn a_store_that_others_could_write_is_not_trusted() {
    let dir = dir();
    sharing(&dir, "-- true").expect_silence();
    let permit = |path: &str, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    permit(&store(&dir), 0o770);
    goes_on_without(&dir, "can be written by others (mode 0770)");
    permit(&store(&dir), 0o755);
    permit(&file(&dir), 0o602);
    goes_on_without(&dir, "can be written by others (mode 0602)");
    permit(&file(&dir), 0o600);
    sharing(&dir, "-- true").expect_silence();
    assert_eq!(counted(&dir), (2, 0));
}

#[test]
fn links_are_not_followed() {
    let dir = dir();
    let elsewhere = within(&dir, "elsewhere");
    fs::DirBuilder::new().mode(0o700).create(&elsewhere).unwrap();
    symlink(&elsewhere, store(&dir)).unwrap();
    goes_on_without(&dir, "symbolic links are not followed");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    fs::remove_file(store(&dir)).unwrap();
    fs::rename(&elsewhere, store(&dir)).unwrap();
    let precious = within(&dir, "precious");
    fs::write(&precious, "").unwrap();
    symlink(&precious, file(&dir)).unwrap();
    goes_on_without(&dir, "is a symbolic link");
    fs::remove_file(file(&dir)).unwrap();
    fs::hard_link(&precious, file(&dir)).unwrap();
    goes_on_without(&dir, "has 2 hard links");
    assert_eq!(fs::read(&precious).unwrap(), b"");
}

#[test]
fn what_is_no_file_is_no_store() {
    let dir = dir();
    fs::write(store(&dir), "a file").unwrap();
    goes_on_without(&dir, "is not a directory");
    fs::remove_file(store(&dir)).unwrap();
    fs::DirBuilder::new().mode(0o700).create(store(&dir)).unwrap();
    fs::create_dir(file(&dir)).unwrap();
    goes_on_without(&dir, "cannot open this file");
    fs::remove_dir(file(&dir)).unwrap();
    nix::unistd::mkfifo(Path::new(&file(&dir)), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    goes_on_without(&dir, "is not a regular file");
}

#[test]
fn a_store_that_cannot_be_made_is_no_store() {
    run!("--store /proc/none --budget api -- true")
        .expect_code(0)
        .expect_stderr("backoff: warning: /proc/none: cannot make this directory: ");
}

#[test]
fn a_damaged_or_foreign_file_is_set_aside() {
    let dir = dir();
    sharing(&dir, "-- true");
    // An update torn by a power loss.
    let mut torn = fs::read(file(&dir)).unwrap();
    torn.truncate(60);
    // Before there was a release, there were two copies of a record.
    let mut first_version = b"backoff state 1\n".to_vec();
    first_version.resize(2 * PAGE, 0);
    let foreign = [
        &b"my precious notes\n"[..],
        b"backoff state 5\n",
        &[255; 3 * PAGE],
        &torn,
        &first_version,
    ];
    for bytes in foreign {
        sharing(&dir, "-- true");
        fs::write(file(&dir), bytes).unwrap();
        let aside = "api.budget.bad";
        sharing(&dir, "-- true").expect_code(0).expect_stderr(&format!(
            "backoff: warning: {}: does not hold what backoff wrote; set aside as {aside}\n",
            file(&dir)
        ));
        assert_eq!(fs::read(within(&dir, &format!("store/{aside}"))).unwrap(), bytes);
        assert_eq!(counted(&dir), (1, 0));
        sharing(&dir, "-- true").expect_silence();
    }
}

#[test]
fn a_torn_update_starts_anew_and_says_so() {
    let dir = dir();
    for _ in 0..3 {
        sharing(&dir, "-- true");
    }
    assert_eq!(counted(&dir), (3, 0));
    let mut torn = fs::read(file(&dir)).unwrap();
    assert_eq!(torn.len(), PAGE);
    torn[60..160].copy_from_slice(&[0xaa; 100]);
    fs::write(file(&dir), torn).unwrap();
    sharing(&dir, "-- true")
        .expect_code(0)
        .expect_stderr("does not hold what backoff wrote; set aside as api.budget.bad\n");
    assert_eq!(counted(&dir), (1, 0));
    sharing(&dir, "-- true").expect_silence();
}

#[test]
fn a_clock_that_was_set_back_does_not_spend_a_budget_for_ever() {
    let dir = dir();
    sharing(&dir, "-n 50 -- false").expect_stderr("gave up after 10");
    // As if these attempts had been made a year from now.
    let year = 365 * 24 * 3600 * 1000;
    let mut ahead = ledger(file(&dir));
    for slot in &mut ahead.slots {
        slot.until += year;
    }
    fs::write(file(&dir), file_of(&ahead)).unwrap();
    // They count as of now.
    sharing(&dir, "-- false").expect_stderr("9 of 11 attempts");
    let latest = ledger(file(&dir)).slots.last().unwrap().until;
    assert!(latest < ahead.slots[0].until - year + 120_000, "{latest}");
}

#[test]
fn a_lock_that_is_not_released_is_waited_for_no_longer_than_asked() {
    let dir = dir();
    sharing(&dir, "-- true");
    let locked = fs::File::open(file(&dir)).unwrap();
    let locked = Flock::lock(locked, FlockArg::LockExclusive).unwrap();
    let began = Instant::now();
    sharing(&dir, "-- echo done")
        .expect_code(0)
        .expect_stderr("gives no answer within 250ms; going on without the budget \"api\"");
    assert!(began.elapsed() < Duration::from_secs(5));

    // During a wait it is waited for longer, and a signal is heard meanwhile.
    let mut command = backoff(words!(
        "--store {} --budget api -q -n 2 -b 3s -j none -- sh -c",
        store(&dir)
    ));
    command.arg("echo ready; exit 1");
    let mut waiting = Live::start(&mut command);
    waiting.expect_line("ready");
    let children = format!("/proc/{0}/task/{0}/children", waiting.pid());
    eventually("it waits for the lock", || {
        fs::read_to_string(&children).unwrap().is_empty() && threads(waiting.pid()) == 2
    });
    waiting.signal(Signal::SIGTERM);
    assert_eq!(waiting.finish().signal(), Some(15));

    // And a lock that is released in time is as good as none.
    let waiting = Live::start(&mut command);
    eventually("it waits for the lock", || threads(waiting.pid()) == 2);
    drop(locked);
    waiting.finish().expect_code(1).expect_silence();
    assert_eq!(counted(&dir), (3, 1));
}

#[test]
fn a_store_that_hangs_takes_up_one_thread_and_no_more_descriptors() {
    let dir = dir();
    sharing(&dir, "-- true");
    let locked = fs::File::open(file(&dir)).unwrap();
    let _locked = Flock::lock(locked, FlockArg::LockExclusive).unwrap();
    let script = format!(
        "ulimit -n 40; exec backoff -q --store {} --budget api -b 1us -m 1us -n 60 -r x -- \
         sh -c 'echo x; exit 3' >/dev/null",
        store(&dir)
    );
    run(&mut shell(&script))
        .expect_code(3)
        .expect_stderr("gives no answer within 250ms; going on without the budget \"api\"\n");
}

#[test]
fn a_record_that_may_not_be_written_wholly_stays_as_it_was() {
    let dir = dir();
    sharing(&dir, "-- true");
    let record = fs::read(file(&dir)).unwrap();
    let script = format!(
        "ulimit -f 1; exec backoff --store {} --budget api -b 1ms -n 1 -- sh -c 'exit 3'",
        store(&dir)
    );
    run(&mut shell(&script))
        .expect_code(3)
        .expect_stderr("File too large; going on without the budget \"api\"\n");
    assert!(fs::read(file(&dir)).unwrap() == record);
}

/// `--store-down deny`: no retry without an answer, and nothing else is different.
#[test]
fn a_store_that_cannot_be_used_denies_retries() {
    let dir = dir();
    fs::write(store(&dir), "a file").unwrap();
    let deny = |args: &str| sharing(&dir, words!("--store-down deny {..}", args));
    deny("-n 20 --exhausted-exit 75 -- false")
        .expect_code(75)
        .expect_stderr("; without the budget \"api\" no retry is made (--store-down deny)\n")
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("(the store of budget \"api\" gives no answer); use --store-down local to retry\n");
    let shown = deny("-n 20 --log-format json -- false");
    assert!(shown.stderr.contains("\"reason\":\"budget\""), "{shown:?}");
    // A cool-off that cannot be asked is none.
    assert_eq!(deny("--cool-off=skip -- echo out").expect_code(0).stdout, "out\n");
    // Once the store answers, what it says counts.
    fs::remove_file(store(&dir)).unwrap();
    deny("-n 3 -- false").expect_stderr("gave up after 3 attempts");
    assert_eq!(counted(&dir), (3, 2));
}

/// The lowest number that is free is the connection's; a message must not go there.
#[cfg(feature = "redis")]
#[test]
fn a_closed_standard_error_is_not_the_server() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", server.local_addr().unwrap());
    // It never answers, so that there is a warning.
    let script =
        format!("exec backoff --budget api --store {url} -n 2 -b 300ms -j none -- sh -c 'exit 7' <&- >&- 2>&-");
    let waiting = Live::start(&mut shell(&script));
    let (mut asked, mut heard) = (None, Vec::new());
    server.set_nonblocking(true).unwrap();
    eventually("a connection", || {
        asked = server.accept().ok();
        asked.is_some()
    });
    waiting.finish().expect_code(7);
    // backoff has ended, and with it its side of the connection.
    let mut asked = asked.unwrap().0;
    asked.set_nonblocking(false).unwrap();
    asked.set_read_timeout(Some(PATIENCE)).unwrap();
    asked.read_to_end(&mut heard).unwrap();
    let heard = String::from_utf8_lossy(&heard);
    assert!(heard.contains("EVALSHA") && !heard.contains("backoff: "), "{heard}");
}

fn threads(pid: i32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

#[test]
fn while_it_waits_it_holds_nothing_of_the_store() {
    let dir = dir();
    let mut command = backoff(words!(
        "--store {} --budget api -v -j none -b 1h -m 1h -- false",
        store(&dir)
    ));
    command.stderr(Stdio::piped());
    let waiting = Live::start(&mut command);
    eventually("it waits", || {
        let is_written = fs::metadata(file(&dir)).is_ok_and(|facts| facts.len() > 0);
        // Nobody writes just now.
        threads(waiting.pid()) == 1 && is_written && counted(&dir) == (2, 1)
    });
    let held = fs::read_dir(format!("/proc/{}/fd", waiting.pid())).unwrap();
    for fd in held {
        let path = fs::read_link(fd.unwrap().path()).unwrap_or_default();
        assert!(!path.starts_with(dir.path()), "{path:?}");
    }
    waiting.signal(Signal::SIGKILL);
    waiting.finish();
}

#[test]
fn runs_at_once_are_counted_exactly() {
    // A run whose answer came too late has gone on without the budget.
    let is_counted = (0..5).any(|_| runs_at_once());
    assert!(is_counted, "a machine that takes less than 250 ms for a step");
}

/// Returns false if the machine was too slow.
fn runs_at_once() -> bool {
    let dir = dir();
    // Every call leaves one byte.
    let script = "for i in $(seq 30); do backoff --store \"$STORE\" --budget api --budget-min 40 \
                  -n 9 -q -b 1ms -m 5ms -- sh -c 'printf x >>\"$LOG\"; exit 1' & done; wait";
    let log = within(&dir, "log");
    let shown = run(shell(script).env("STORE", store(&dir)).env("LOG", &log));
    if shown.stderr.contains("gives no answer within 250ms") {
        return false;
    }
    let calls = fs::metadata(&log).unwrap().len();
    let (attempts, retries) = counted(&dir);
    assert_eq!((attempts, attempts - retries), (calls, 30));
    // Every retry is allowed until there are 40 attempts; 9 retries are too many for any number of attempts up
    // to 69, and first attempts are never refused.
    assert!((40..70).contains(&calls), "{calls}");
    true
}

#[test]
fn killed_runs_leave_a_whole_file_and_no_lock() {
    let dir = dir();
    let script = "for i in $(seq 60); do backoff --store \"$STORE\" --budget api -n unlimited \
                  --budget-ratio 100% -q -b 10us -m 10us -- true & backoff --store \"$STORE\" --budget api \
                  --budget-ratio 100% -n unlimited -q -b 10us -m 10us -- false & p=$!; sleep 0.0$((RANDOM % 9)); kill -9 $p; done; \
                  wait 2>/dev/null";
    run(shell(script).env("STORE", store(&dir)));
    sharing(&dir, "-- true").expect_code(0).expect_silence();
    let left: Vec<_> = fs::read_dir(store(&dir)).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(counted(&dir).0 > 60);
}

#[test]
fn after_giving_up_the_next_run_waits() {
    let dir = dir();
    let give_up = "-j none -b 300ms -m 1h -n 1 -- false";
    let next = "--cool-off -- sh -c 'echo run'";
    sharing(&dir, next).expect_silence();
    sharing(&dir, give_up).expect_code(1);
    let began = Instant::now();
    let shown = sharing(&dir, next).expect_code(0);
    assert!(shown.stderr.starts_with("backoff: sh: waiting "), "{shown:?}");
    assert!(
        shown
            .stderr
            .ends_with(" before the first attempt: the last run of budget \"api\" gave up (--cool-off)\n"),
        "{shown:?}"
    );
    assert!(began.elapsed() > Duration::from_millis(100));
    // It succeeded.
    sharing(&dir, next).expect_silence();
}

/// A run that leaves an hour to wait.
fn give_up(dir: &TempDir, args: impl Words) -> Shown {
    sharing(dir, words!("-j none -b 1h -m 1h {..}", args))
}

/// Returns true if the next run would wait.
fn is_cooling(dir: &TempDir) -> bool {
    let shown = sharing(dir, "-m 2h --cool-off -d 1m -- echo run");
    if shown.stdout == "run\n" {
        return false;
    }
    shown
        .expect_code(124)
        .expect_stderr("backoff: echo: gave up before the first attempt: ")
        .expect_stderr("the last run of budget \"api\" gave up, and a wait of 1")
        .expect_stderr("would pass --deadline 1m");
    true
}

#[test]
fn only_a_transient_failure_cools_off() {
    for (args, cools) in [
        ("-n 1 -- false", true),
        ("-d 1s -- false", true),
        ("--stop-at-delay 1s -- false", true),
        ("--budget-min 0 --budget-ratio 0 -- false", true),
        ("-n 1 --stop-exit 1 -- false", false),
        ("-n 1 --nested once -- true", false),
        ("-n 1 -- true", false),
    ] {
        let dir = dir();
        give_up(&dir, args);
        assert_eq!(is_cooling(&dir), cools, "{args:?}");
        // Each run that is no transient failure clears it.
        give_up(&dir, "-n 1 -- false");
        give_up(&dir, args);
        assert_eq!(is_cooling(&dir), cools, "{args:?}");
    }
}

#[test]
fn a_run_whose_output_cannot_be_printed_leaves_a_wait_all_the_same() {
    let dir = dir();
    let options = format!(
        "--store '{}' --budget api -j none -b 1h -m 1h -n 1 --stdout final",
        store(&dir)
    );
    let script = format!("backoff {options} -- sh -c 'echo x; exit 1' >/dev/full");
    run(&mut shell(&script)).expect_code(125).expect_stderr("No space left");
    assert!(is_cooling(&dir));
}

#[test]
fn a_wait_that_was_asked_for_is_owed() {
    let dir = dir();
    sharing(&dir, "--retry-after -n 1 -- sh -c 'echo Retry-After: 60; exit 1'").expect_code(1);
    assert!(is_cooling(&dir));
}

#[test]
fn what_was_asked_for_keeps_nobody_waiting_for_ever() {
    let dir = dir();
    let asks = "--retry-after -- sh -c 'echo Retry-After: 99999999; exit 1'";
    sharing(&dir, asks)
        .expect_code(1)
        .expect_stderr("longer than --max-retry-after");
    // Five minutes, and a quarter more for the random part of each of the two.
    let left = &ledger(file(&dir)).cool_off.unwrap();
    assert!((300_000..=375_000).contains(&left.length), "{left:?}");
}

#[test]
fn what_others_left_is_waited_for_no_longer_than_this_run_would_wait() {
    let dir = dir();
    give_up(&dir, "-n 1 -- false");
    for (bounds, waits) in [
        ("", "5m"),
        ("--max-retry-after 10m", "10m"),
        ("-m 20m --max-retry-after 10m", "20m"),
        ("-m 100h", "59m"),
    ] {
        let shown = sharing(&dir, words!("{..} --seed 1 --cool-off -d 1m -- true", bounds)).expect_code(124);
        let wait = shown.stderr.split("a wait of ").nth(1).unwrap_or_default();
        let minutes = |text: &str| -> u64 {
            let (whole, hours) = text
                .split_once('m')
                .unwrap()
                .0
                .rsplit_once('h')
                .map_or((text.split_once('m').unwrap().0, 0), |(hours, minutes)| {
                    (minutes, hours.parse().unwrap())
                });
            hours * 60 + whole.parse::<u64>().unwrap()
        };
        let (least, wait) = (minutes(waits), minutes(wait));
        assert!((least..=least * 5 / 4 + 1).contains(&wait), "{bounds}: {shown:?}");
    }
}

#[test]
fn a_cool_off_that_nobody_left_is_set_aside() {
    let dir = dir();
    give_up(&dir, "-n 1 -- false");
    let mut huge = ledger(file(&dir));
    huge.cool_off = Some(CoolOff {
        until: u64::MAX,
        length: u64::MAX,
    });
    fs::write(file(&dir), file_of(&huge)).unwrap();
    sharing(&dir, "--cool-off -m 9999999h -- echo run")
        .expect_code(0)
        .expect_stderr("set aside as api.budget.bad");
    // Nor does a run that may wait for ever leave such a record.
    give_up(&dir, "-b 99999999h -m 99999999h -n 1 -- false");
    sharing(&dir, "--cool-off -m 99999999h -d 1m -- true")
        .expect_code(124)
        .expect_stderr("a wait of ");
}

#[test]
fn without_the_option_nobody_waits() {
    let dir = dir();
    give_up(&dir, "-n 1 -- false");
    sharing(&dir, "-n 1 -- echo run").expect_code(0).expect_silence();
}

#[test]
fn a_run_under_an_outer_one_leaves_the_cool_off_to_it() {
    let dir = dir();
    give_up(&dir, "-n 1 -- false");
    let mut inner = backoff(words!("--store {} --budget api --nested once -- false", store(&dir)));
    run(inner.env("BACKOFF_DEPTH", "1")).expect_code(1);
    assert!(is_cooling(&dir));
}

#[test]
fn a_signal_ends_a_cool_off() {
    let dir = dir();
    give_up(&dir, "-n 1 -- false");
    let mut command = backoff(words!("--store {} --budget api --cool-off -- true", store(&dir)));
    let waiting = Live::start(command.stderr(Stdio::null()));
    eventually("it has asked", || {
        threads(waiting.pid()) == 1 && state(waiting.pid()) == Some('S')
    });
    waiting.signal(Signal::SIGTERM);
    assert_eq!(waiting.finish().signal(), Some(15));
    assert_eq!(counted(&dir), (1, 0), "an attempt that was not made is not counted");
}

fn cool_off_left_by(dir: &TempDir) -> Option<Duration> {
    let cool_off = ledger(file(dir)).cool_off;
    cool_off.map(|cool_off| Duration::from_millis(cool_off.length))
}

#[test]
fn each_run_that_gives_up_leaves_a_longer_wait() {
    let secs = Duration::from_secs;
    let dir = dir();
    let waits = "-g exponential -j none -b 2s -m 10s --on-give-up true";
    let fails = |more: &str| {
        sharing(&dir, words!("{..} {..}", waits, more));
        cool_off_left_by(&dir)
    };
    for wait in [2, 4, 8, 10, 10] {
        assert_eq!(fails("-n 1 -- false"), Some(secs(wait)));
    }
    assert_eq!(fails("-n 1 -- true"), None);
    assert_eq!(fails("-n 1 -- false"), Some(secs(2)));
    // The cool-off is at least the Retry-After of the server.
    let asks = "-n 1 --retry-after --max-retry-after 7s -- sh -c 'echo Retry-After: 7; exit 1'";
    assert_eq!(fails(asks), Some(secs(7)));
    // A failure that time does not mend leaves no wait, but is one in the row.
    assert_eq!(fails("-n 1 --stop-exit 1 -- false"), None);
    assert_eq!(fails("-n 1 -- false"), Some(secs(10)));
}

#[test]
fn waits_with_any_jitter_grow_from_run_to_run() {
    for jitter in ["full", "equal", "decorrelated", "additive", "proportional"] {
        let dir = dir();
        let mut longest = Duration::ZERO;
        for _ in 0..20 {
            sharing(
                &dir,
                words!("-j {} -b 1s -m 1h -n 1 --on-give-up true -- false", jitter),
            );
            longest = longest.max(cool_off_left_by(&dir).unwrap_or_default());
        }
        assert!(longest > Duration::from_secs(60), "{jitter}: {longest:?}");
    }
}

#[test]
fn a_run_that_comes_too_early_skips() {
    let dir = dir();
    let skips = |args: &str| {
        sharing(
            &dir,
            words!("-m 2h --cool-off=skip {..} -- sh -c 'echo run; exit 3'", args),
        )
    };
    skips("-n 1").expect_code(3);
    give_up(&dir, "-n 1 -- false");
    let before = counted(&dir);
    skips("").expect_code(75).expect_silence();
    skips("--log-format json").expect_code(75).expect_silence();
    skips("--skipped-exit 0").expect_code(0).expect_silence();
    skips("--exhausted-exit 9 --skipped-exit 4").expect_code(4);
    let said = skips("-v").expect_code(75);
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.starts_with(
            "backoff: sh: not run: the last run of budget \"api\" gave up, and its cool-off lasts another "
        ) && said.stderr.ends_with(" (--cool-off=skip)\n"),
        "{said:?}"
    );
    let shown = skips("--report /dev/stdout -v --log-format json").expect_code(75);
    assert!(shown.stdout.contains("\"result\":\"skipped\""), "{shown:?}");
    assert!(shown.stderr.contains("\"event\":\"skipped\""), "{shown:?}");
    assert_eq!(counted(&dir), before);
    // Nothing is left, or nobody asks.
    sharing(&dir, "-- true").expect_code(0);
    skips("-n 1").expect_code(3);
}

/// A variable that was left somewhere makes no success of a command that was not run.
#[test]
fn a_skipped_run_is_no_success_unless_that_was_typed() {
    let shown = run(backoff("--budget api -- true").env("BACKOFF_SKIPPED_EXIT", "0"));
    shown
        .expect_code(125)
        .expect_stderr("BACKOFF_SKIPPED_EXIT: \"0\" is taken from the command line alone");
}

#[test]
fn whoever_is_told_hears_how_many_runs_have_failed() {
    let dir = dir();
    let runs = |command: &str| {
        let hook = "echo \"[$BACKOFF_FAILED_RUNS]\"";
        let shown = sharing(
            &dir,
            words!("-q -n 1 --stop-exit 2 --on-give-up {} -- {..}", hook, command),
        );
        shown.stderr.trim_end().to_owned()
    };
    assert_eq!(
        ["false", "sh -c 'exit 2'", "false", "true", "false"].map(runs),
        ["[1]", "[2]", "[3]", "", "[1]"]
    );
    // Without a budget nobody knows.
    run!("-q -n 1 --on-give-up 'echo \"[$BACKOFF_FAILED_RUNS]\"' -- false").expect_stderr("[]\n");
}

#[test]
fn a_cool_off_needs_a_name() {
    run!("--cool-off -- true")
        .expect_code(125)
        .expect_stderr("--budget NAME");
    // A variable may be set for all runs.
    run(backoff("-- true").env("BACKOFF_COOL_OFF", "1"))
        .expect_code(0)
        .expect_silence();
}

#[test]
fn an_address_with_a_slip_is_no_directory() {
    const SECRET: &str = "hunter22";
    let dir = dir();
    let run_with = |store: &str, by_variable: bool| {
        let mut command = backoff("-vv --budget api");
        command.current_dir(dir.path());
        if by_variable {
            command.env("BACKOFF_STORE", store);
        } else {
            command.args(["--store", store]);
        }
        run(command.args(["--", "true"]))
    };
    for store in [
        format!("redis//u:{SECRET}@h"),
        format!("redis//:{SECRET}@h:6379/0"),
        format!("REDISS//{SECRET}@h"),
        format!("redis+unix//tmp/socket?pass={SECRET}"),
        format!("redis/u:{SECRET}@h"),
        format!("redis//u:{SECRET}@h/://x"),
        format!("redis:/tmp/socket?pass={SECRET}"),
        format!("valkey//{SECRET}@h"),
        format!("//u:{SECRET}@h"),
        format!("u:{SECRET}@h"),
        format!("{SECRET}@h"),
        format!("u/{SECRET}@h"),
        "redis//localhost".into(),
        "//localhost:6379".into(),
        "localhost:6379".into(),
    ] {
        for by_variable in [false, true] {
            let shown = run_with(&store, by_variable).expect_code(125);
            assert!(!shown.stderr.contains(SECRET), "{store}: {shown:?}");
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no directory was made");
    // A text that begins like a path is a path, whatever its content.
    for store in [
        "./redis//jane@host",
        "redis",
        "budgets/of:jane",
        &within(&dir, "jane@host"),
    ] {
        run_with(store, false).expect_code(0);
        assert!(dir.path().join(store).join("api.budget").exists(), "{store}");
    }
}

#[test]
fn bad_values_are_named() {
    for (args, part) in [
        ("--budget-ratio 110%", "is out of range; it must be from 0% to 100%"),
        ("--budget-ratio 10", "did you mean 10%?"),
        ("--budget-min ten", "is not a whole number"),
        ("--budget-window 0", "is out of range; it must be at least 1ms; try 10m"),
        (
            "--store redis://h?timeout=0",
            "has a timeout that is out of range; it must be at least 1ms; try 250ms",
        ),
        ("--store ''", "is empty"),
        ("--store https://user:secret@host/", "is not a store; try a directory"),
    ] {
        let shown = run!("{..} -- true", args);
        let shown = shown
            .expect_code(125)
            .expect_stderr(part)
            .expect_stderr(args.split(' ').next().unwrap());
        assert!(!shown.stderr.contains("secret"), "{shown:?}");
    }
}

/// As docs/recipes.md has it.
#[test]
fn a_job_of_cron_comes_back_after_2_4_and_8_minutes() {
    let line = "backoff -n 1 -b 2m -g exponential -j none -m 1h --budget sync --cool-off=skip --skipped-exit 0 -- sync";
    assert!(include_str!("../../docs/recipes.md").contains(line));
    let dir = dir();
    executable(&within(&dir, "sync"), "#!/bin/sh\necho run\nexit 1\n");
    let path = format!("{}:{}", dir.path().display(), path_with_backoff());
    let record = within(&dir, "state/backoff/sync.budget");
    let job = || {
        let mut command = shell(line);
        run(command.env("PATH", &path).env("XDG_STATE_HOME", within(&dir, "state")))
    };
    for minutes in [2, 4, 8] {
        assert_eq!(job().expect_code(1).stdout, "run\n");
        let mut left = ledger(&record);
        assert_eq!(left.cool_off.unwrap().length, minutes * 60_000);
        // It came too early.
        assert_eq!(job().expect_code(0).expect_silence().stdout, "");
        // The time has passed.
        left.cool_off.as_mut().unwrap().until = 1;
        fs::write(&record, file_of(&left)).unwrap();
    }
}
