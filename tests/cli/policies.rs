//! The waits that the binary shows and keeps: growth, jitter, policies, caps.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::common::pty::Terminal;
use crate::common::{Shown, backoff, probe, ran, run, within};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

// --- what --plan shows -------------------------------------------------------------------------

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    retry: u64,
    least: Duration,
    mean: Duration,
    most: Duration,
    total: Duration,
    total_most: Duration,
    totals: [Duration; 2],
}

/// What `--plan --log-format json` prints, exact to the nanosecond.
#[track_caller]
fn rows(shown: Shown) -> Vec<Row> {
    let shown = shown.expect_code(0).expect_silence();
    let rows: Vec<Row> = shown.stdout.split("{\"retry\":").skip(1).map(row).collect();
    let (mut total, mut total_most) = (Duration::ZERO, Duration::ZERO);
    for (row, retry) in rows.iter().zip(1..) {
        total = total.saturating_add(row.mean);
        total_most = total_most.saturating_add(row.most);
        assert_eq!(row.total_most, total_most, "{rows:#?}");
        assert_eq!((row.retry, row.total), (retry, total), "{rows:#?}");
        assert!(row.least <= row.mean && row.mean <= row.most, "{rows:#?}");
        assert!(row.totals[0] <= row.totals[1], "{rows:#?}");
    }
    rows
}

/// Of `2,"min_s":2,"mean_s":2.5,...}`. The numbers have more digits than a float.
fn row(object: &str) -> Row {
    let value = |name: &str| {
        let (_, rest) = object.split_once(&format!("\"{name}\":")).expect(name);
        let number = rest.split([',', '}']).next().unwrap();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        Duration::new(whole.parse().unwrap(), format!("{fraction:0<9}").parse().unwrap())
    };
    Row {
        retry: object.split(',').next().unwrap().parse().unwrap(),
        least: value("min_s"),
        mean: value("mean_s"),
        most: value("max_s"),
        total: value("total_s"),
        total_most: value("total_max_s"),
        totals: [value("total_p5_s"), value("total_p95_s")],
    }
}

/// The plan of these options, which stand in one string.
#[track_caller]
fn plan(options: &str) -> Vec<Row> {
    rows(run!("{..} --plan --log-format json", options))
}

#[track_caller]
fn plan_with(variables: &[(&str, &str)], options: &str) -> Vec<Row> {
    let mut command = backoff(words!("{..} --plan --log-format json", options));
    rows(run(command.envs(variables.iter().copied())))
}

/// Waits without randomness, in milliseconds.
#[track_caller]
fn expect_exactly(rows: &[Row], waits: &[u64]) {
    let expected: Vec<_> = waits.iter().map(|wait| [ms(*wait); 3]).collect();
    let shown: Vec<_> = rows.iter().map(|row| [row.least, row.mean, row.most]).collect();
    assert_eq!(shown, expected);
}

/// Least, mean and most of each wait, in milliseconds.
#[track_caller]
fn expect_ranges(rows: &[Row], ranges: &[(u64, u64, u64)]) {
    let shown: Vec<_> = rows.iter().map(|row| (row.least, row.mean, row.most)).collect();
    let expected: Vec<_> = ranges
        .iter()
        .map(|(least, mean, most)| (ms(*least), ms(*mean), ms(*most)))
        .collect();
    assert_eq!(shown, expected);
}

#[track_caller]
fn expect_usage_error(options: &str, parts: &[&str]) {
    let shown = run!("{..} --plan", options).expect_code(125);
    assert_eq!(shown.stdout, "");
    assert!(
        parts.iter().all(|part| shown.stderr.contains(part)),
        "no {parts:?} in {shown:?}"
    );
}

#[test]
fn exponential_backoff_up_to_its_cap() {
    let waits = [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000];
    expect_exactly(&plan("-b 100ms -f 2 -m 10s -j none -n 10"), &waits);
    expect_exactly(
        &plan("--base 0.1 --max-delay 10 --jitter none --growth exponential --attempts 10"),
        &waits,
    );
    expect_exactly(&plan("-b 1s -f 1.5 -j none -n 5"), &[1000, 1500, 2250, 3375]);
    expect_exactly(&plan("-b 1s -f 1 -j none -n 4"), &[1000; 3]);
}

#[test]
fn every_growth() {
    expect_exactly(
        &plan("-g linear -j none -b 1s -m 4s -n 7"),
        &[1000, 2000, 3000, 4000, 4000, 4000],
    );
    expect_exactly(
        &plan("-g fibonacci -j none -b 1s -m 20s -n 10"),
        &[1000, 1000, 2000, 3000, 5000, 8000, 13_000, 20_000, 20_000],
    );
    expect_exactly(&plan("-g constant -j none -b 2s -n 5"), &[2000; 4]);
    expect_exactly(&plan("-g exponential -j none"), &[500, 1000, 2000, 4000]);
    expect_usage_error("-g quadratic", &["--growth", "quadratic"]);
}

#[test]
fn a_list_of_waits_repeats_its_last_entry() {
    expect_exactly(&plan("--delays 1s,5s,2s -j none -n 6"), &[1000, 5000, 2000, 2000, 2000]);
    expect_exactly(&plan("--delays 3 -j none -n 3"), &[3000, 3000]);
    expect_exactly(&plan("--delays 1s,5s -m 2s -j none -n 4"), &[1000, 2000, 2000]);
    // An entry above the default cap was asked for.
    expect_exactly(&plan("--delays 1s,2m -j none -n 4"), &[1000, 120_000, 120_000]);
    expect_usage_error("--delays 1s,2s --growth linear", &["--delays", "--growth"]);
    expect_usage_error("--delays 1s,,2s", &["--delays"]);
}

#[test]
fn every_jitter() {
    // e = 1s 2s 4s
    expect_exactly(&plan("-b 1s -j none -n 4"), &[1000, 2000, 4000]);
    expect_ranges(
        &plan("-b 1s -j full -n 4"),
        &[(0, 500, 1000), (0, 1000, 2000), (0, 2000, 4000)],
    );
    expect_ranges(
        &plan("-b 1s -j equal -n 4"),
        &[(500, 750, 1000), (1000, 1500, 2000), (2000, 3000, 4000)],
    );
    expect_ranges(
        &plan("-b 1s -j additive -n 4"),
        &[(1000, 1500, 2000), (2000, 2500, 3000), (4000, 4500, 5000)],
    );
    expect_ranges(
        &plan("-b 1s -j additive --spread 200ms -n 4"),
        &[(1000, 1100, 1200), (2000, 2100, 2200), (4000, 4100, 4200)],
    );
    expect_ranges(
        &plan("-b 1s -j proportional -n 4"),
        &[(750, 1000, 1250), (1500, 2000, 2500), (3000, 4000, 5000)],
    );
    expect_ranges(&plan("-b 1s -j proportional --spread 10% -n 2"), &[(900, 1000, 1100)]);
    expect_ranges(&plan("-b 1s -j proportional --spread 100% -n 2"), &[(0, 1000, 2000)]);
    expect_ranges(
        &plan("-b 1s -j slotted -n 5"),
        &[(0, 500, 1000), (0, 1500, 3000), (0, 3500, 7000), (0, 7500, 15_000)],
    );
    expect_usage_error("-j gaussian", &["--jitter", "gaussian"]);
}

#[test]
fn decorrelated_is_the_default_and_grows_from_its_own_waits() {
    // Each mean is that of a uniform choice in [base, 3 * the mean before].
    let start = [(500, 1000, 1500), (500, 1750, 4500), (500, 2875, 13_500)];
    expect_ranges(&plan("-n 4"), &start);
    expect_ranges(&plan("-j decorrelated -f 3 -n 4"), &start);
    assert_eq!(plan(""), plan("-b 500ms -m 30s -n 5 -j decorrelated -f 3"));
    expect_ranges(
        &plan("-j decorrelated -f 2 -b 1s -n 4"),
        &[(1000, 1500, 2000), (1000, 2000, 4000), (1000, 2500, 8000)],
    );
    // Where nothing grows, nothing is random.
    expect_exactly(&plan("-j decorrelated -f 1 -b 1s -n 4"), &[1000; 3]);
    expect_exactly(&plan("-b 2s -m 2s -n 4"), &[2000; 3]);
    let rows = plan("-n unlimited");
    assert!(
        rows.iter().all(|row| row.least == ms(500) && row.most <= s(30)),
        "{rows:#?}"
    );
    // Once at the cap it settles: a simulation of 200,000 chains says 4.54s for the fourth, 10.13s for the last.
    let near = |row: &Row, mean: Duration| row.mean.abs_diff(mean) < mean / 100;
    assert!(near(&rows[3], ms(4540)) && near(&rows[19], ms(10_130)), "{rows:#?}");
    assert_eq!(rows[19].most, s(30));
}

#[test]
fn growth_brings_full_jitter_and_a_list_is_exact() {
    assert_eq!(plan("-g exponential"), plan("-j full"));
    expect_ranges(&plan("-g linear -b 1s -n 3"), &[(0, 500, 1000), (0, 1000, 2000)]);
    expect_exactly(&plan("--delays 1s,3s -n 3"), &[1000, 3000]);
    expect_exactly(&plan("-p aws --delays 1s,3s -n 3"), &[1000, 3000]);
    expect_exactly(
        &plan_with(&[("BACKOFF_JITTER", "full")], "--delays 1s,3s -n 3"),
        &[1000, 3000],
    );
    let full = [(0, 500, 1000), (0, 1500, 3000)];
    expect_ranges(&plan("--delays 1s,3s -j full -n 3"), &full);
    expect_ranges(&plan_with(&[("BACKOFF_DELAYS", "1s,3s")], "-j full -n 3"), &full);
}

#[test]
fn no_wait_is_above_the_cap_jitter_included() {
    expect_ranges(&plan("-b 1s -m 1500ms -j additive -n 2"), &[(1000, 1375, 1500)]);
    expect_exactly(&plan("-b 1s -m 1s -j additive -n 3"), &[1000, 1000]);
    expect_ranges(&plan("-b 800ms -m 1s -j proportional -f 1 -n 2"), &[(600, 800, 1000)]);
    expect_ranges(&plan("-b 8s -m 8s -j proportional -n 2"), &[(6000, 7500, 8000)]);
    // k of 0 .. 7 seconds, 4 at most: 0 1 2 3 4 4 4 4.
    expect_ranges(&plan("-b 1s -m 4s -j slotted -n 4")[2..], &[(0, 2750, 4000)]);
    for jitter in ["none", "full", "equal", "decorrelated", "additive", "proportional"] {
        let rows = plan(&format!("-j {jitter} -n 200"));
        assert_eq!(rows.last().unwrap().most, s(30), "{jitter}");
        assert!(rows.iter().all(|row| row.most <= s(30)), "{jitter}");
    }
    // The default cap is not for slots.
    assert_eq!(plan("-b 1s -j slotted -n 11").last().unwrap().most, s(1023));
}

#[test]
fn huge_values_saturate() {
    let rows = plan("-b 1s -f 1e300 -m 100000000000000000000000s -j none -n 5");
    assert_eq!(rows[0].most, s(1));
    assert!(rows[1..].iter().all(|row| row.most == Duration::MAX), "{rows:#?}");
    expect_exactly(&plan("-b 0 -f 1e300 -j none -n 4"), &[0; 3]);
}

#[test]
fn unlimited_attempts_show_twenty_retries() {
    for options in ["-n unlimited", "-n unlimited -j none", "-n unlimited -p sip", "-n 21"] {
        assert_eq!(plan(options).len(), 20, "{options}");
    }
    assert_eq!(plan("-n 1"), []);
    assert_eq!(plan("-n 40").len(), 39);
}

#[test]
fn a_plan_ends_at_stop_at_delay() {
    expect_exactly(&plan("-b 1s -j none -n 99 --stop-at-delay 4s"), &[1000, 2000]);
    expect_exactly(&plan("-b 1s -j none -n 99 --stop-at-delay 4001ms"), &[1000, 2000, 4000]);
    expect_exactly(&plan("-b 1s -j none -n 3 --stop-at-delay 9s"), &[1000, 2000]);
    assert_eq!(plan("-b 1s -j none -n 99 --stop-at-delay 1s"), []);
    // The un-jittered wait is what counts.
    expect_ranges(
        &plan("-b 1s -j full -n 99 --stop-at-delay 4s"),
        &[(0, 500, 1000), (0, 1000, 2000)],
    );
    // It may lie above the default cap, which then must not keep it from being reached.
    let waits = [1000, 2000, 4000, 8000, 16_000, 32_000];
    expect_exactly(&plan("-b 1s -j none -n 99 --stop-at-delay 1m"), &waits);
    expect_usage_error("--stop-at-delay 10s -m 5s", &["--stop-at-delay 10s", "--max-delay 5s"]);
}

#[test]
fn a_plan_ends_at_the_deadline() {
    expect_exactly(&plan("-b 1s -j none -n 99 -d 4s"), &[1000, 2000]);
    expect_exactly(&plan("-b 1s -j none -n 99 -d 7001ms"), &[1000, 2000, 4000]);
    // The mean total is what counts, and that passes before the first attempt.
    assert_eq!(plan("-b 1s -j full -n 9 -d 1s").len(), 1);
    assert_eq!(plan("-n 99 -d 3s").len(), 2);
    assert_eq!(plan("-n 99 -d 3s --initial-delay 1s").len(), 1);
    assert_eq!(plan("-n 99 -d 3s --splay 2s").len(), 1);
    // Without a bound on attempts, as far as it.
    assert_eq!(plan("-n unlimited --every 1s -d 30500ms").len(), 30);
}

#[test]
fn a_plan_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "ran");
    run!("--plan -- touch {}", file).expect_code(0);
    run!("--plot -- touch {}", file).expect_code(0);
    assert!(!std::path::Path::new(&file).exists());
}

/// The table, with one space between its cells.
fn table(options: &str) -> Vec<String> {
    let shown = run!("--plan {..}", options).expect_code(0).expect_silence();
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.stdout.lines().all(|line| line.len() <= 78));
    shown.stdout.lines().map(line).collect()
}

#[test]
fn a_plan_is_a_table_of_round_numbers() {
    let lines = table("-n 5");
    assert_eq!(lines[0], "retry least mean most mean total 90% of totals most total");
    assert!(lines[1].starts_with("1 500ms 1s 1.5s 1s "), "{lines:?}");
    assert!(lines[4].starts_with("4 500ms 4.52s 30s 10.1s "), "{lines:?}");
    assert_eq!(table("-j none -n 2")[1..], ["1 500ms 500ms 500ms 500ms 500ms 500ms"]);
    assert_eq!(
        table("-p ethernet -j none -n 2")[1],
        "1 51.2us 51.2us 51.2us 51.2us 51.2us 51.2us"
    );
    assert_eq!(table("--every 2m -n 3")[2], "2 2m 2m 2m 4m 4m 4m");
}

#[test]
fn how_far_totals_lie_apart() {
    // One wait, uniform in [0, 10 s]: 0.5 s and 9.5 s. Two added up: 10 s * sqrt(0.1), and 20 s less that.
    let rows = plan("-b 10s -g constant -j full -n 3");
    let near = |found: Duration, seconds: f64| (found.as_secs_f64() - seconds).abs() < 0.4;
    assert!(
        near(rows[0].totals[0], 0.5) && near(rows[0].totals[1], 9.5),
        "{rows:#?}"
    );
    assert!(
        near(rows[1].totals[0], 3.16) && near(rows[1].totals[1], 16.84),
        "{rows:#?}"
    );
    assert_eq!(plan("-n 5"), plan("-n 5"));
    let rows = plan("-j none -n 5");
    assert!(rows.iter().all(|row| row.totals == [row.total; 2]), "{rows:#?}");
}

#[test]
fn a_plan_says_why_it_ends() {
    let last = |options: &str| table(options).pop().unwrap();
    assert_eq!(table("-n 1"), ["1 attempt: there is no retry to wait for"]);
    assert_eq!(run!("--plot -n 1").stdout, "1 attempt: there is no retry to wait for\n");
    assert_eq!(last("-n unlimited"), "and so on: attempts are unlimited");
    assert_eq!(last("-n 2000"), "and 999 more");
    assert_eq!(
        last("-n 99 -b 1s --stop-at-delay 4s"),
        "--stop-at-delay ends the run here"
    );
    assert_eq!(
        last("--every 1s -n 99 -d 4500ms"),
        "--deadline 4s500ms ends the run after 4 retries"
    );
    assert_eq!(
        last("--every 1s -n 99 -d 1500ms"),
        "--deadline 1s500ms ends the run after 1 retry"
    );
    assert_eq!(
        table("--every 2s -n 99 -d 1s"),
        ["--deadline 1s leaves no time for a retry"]
    );
    // Luck has a say. Means: 1 s, 2.75 s, 5.6 s, 10.2 s.
    let ends = last("-n 99 -d 10s");
    assert_eq!(ends, "--deadline 10s ends 90% of runs after 2 to 7 retries");
    // Also where most runs come to the last attempt.
    let ends = last("-n 5 -d 15s");
    assert_eq!(ends, "--deadline 15s ends 90% of runs after 3 to 4 retries");
    assert!(last("-n 5 -d 1h").starts_with("4 "));
}

#[test]
fn a_plan_is_drawn() {
    let bars = |options: &str| {
        let mut command = backoff(words!("--plan --plot {..}", options));
        let shown = run(command.env("LC_ALL", "C.UTF-8")).expect_code(0).expect_silence();
        assert!(
            shown.stdout.lines().all(|line| line.chars().count() < 80),
            "{}",
            shown.stdout
        );
        shown.stdout
    };
    let drawn = bars("--delays 1s,2s,4s -j none -n 4");
    let width = |line: &str| line.matches('█').count();
    let widths: Vec<usize> = drawn.lines().skip(1).map(width).collect();
    assert_eq!(widths, [17, 35, 69], "{drawn}");
    assert!(drawn.ends_with(" 4s\n"), "{drawn}");
    let drawn = bars("-b 1s -j full -n 2");
    let bar = drawn.lines().nth(1).unwrap();
    assert!(bar.starts_with("    1  ░░░") && bar.ends_with("░ 0s to 1s"), "{drawn}");
    assert_eq!(
        bar.find('┃').map(|at| bar[..at].chars().count()),
        Some(7 + 32),
        "{drawn}"
    );
    assert!(bars("-b 0 -j none").contains("    1   0s\n"));
    assert!(bars("-n unlimited").ends_with("and so on: attempts are unlimited\n"));
}

/// On a terminal, as wide as that is.
#[test]
fn a_plan_is_drawn_as_wide_as_the_terminal() {
    let drawn_on = |columns: usize, command: &str| {
        let script = format!("stty cols {columns}; {command}");
        Terminal::start("sh", ["-c", &script]).rest().replace("\r\n", "\n")
    };
    let drawn = drawn_on(200, "LC_ALL=C.UTF-8 backoff --plot -j none --every 1s -n 2");
    assert_eq!(drawn.matches('█').count(), 1 + 189, "{drawn}");
    for (columns, headed, row) in [
        (60, "retry  wait: # at least, . by chance, | mean", " 500ms to 30s"),
        (40, "retry  # least . chance | mean", " 500ms to 30s"),
        (26, "retry", " 30s"),
        (18, "retry", "."),
    ] {
        let drawn = drawn_on(columns, "LC_ALL=C backoff --plot");
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!((lines[0], lines.len()), (headed, 5), "{drawn}");
        assert!(lines[4].ends_with(row), "{drawn}");
        assert!(
            lines.iter().all(|line| line.chars().count() < columns),
            "{columns}: {drawn}"
        );
    }
}

/// Where the terminal may not know UTF-8, it is not sent any.
#[test]
fn a_plan_is_drawn_in_ascii_where_the_locale_is() {
    for (variables, is_ascii) in [
        (&[][..], true),
        (&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")], true),
        (&[("LC_CTYPE", "POSIX"), ("LANG", "de_DE.UTF-8")], true),
        (&[("LANG", "de_DE.ISO-8859-1")], true),
        (&[("LC_ALL", ""), ("LC_CTYPE", "en_US.utf8"), ("LANG", "C")], false),
        (&[("LANG", "de_DE.UTF-8@euro")], false),
    ] {
        let mut command = backoff("--plot -b 1s -j full -n 2");
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        let drawn = run(command.envs(variables.iter().copied())).expect_code(0).stdout;
        assert_eq!(drawn.is_ascii(), is_ascii, "{variables:?}: {drawn}");
        assert_eq!(drawn.contains(".|."), is_ascii, "{drawn}");
    }
}

#[test]
fn a_plan_says_what_is_waited_first() {
    let lines = table("-d 5s --initial-delay 4s");
    assert_eq!(lines[0], "before the first attempt: 4s, which is part of --deadline");
    assert!(lines[1].starts_with("--deadline 5s ends 90% of runs"), "{lines:?}");
    let lines = table("-n 2 --initial-delay 4s --splay 2s");
    assert_eq!(lines[0], "before the first attempt: 4s to 6s");
    assert!(lines[1].starts_with("retry"), "{lines:?}");
    let drawn = run!("--plot -n 2 --splay 2s").stdout;
    assert!(
        drawn.starts_with("before the first attempt: 0s to 2s\nretry"),
        "{drawn}"
    );
}

// --- policies ----------------------------------------------------------------------------------

#[test]
fn policy_sip() {
    expect_exactly(&plan("-p sip"), &[500, 1000, 2000, 4000]);
    expect_exactly(&plan("-p sip -n 7"), &[500, 1000, 2000, 4000, 4000, 4000]);
}

#[test]
fn policy_google() {
    let rows = plan("-p google");
    let ranges: Vec<_> = (0..6).map(|n| 1000 << n).map(|e| (e, e + 500, e + 1000)).collect();
    expect_ranges(&rows[..6], &ranges);
    assert_eq!((rows[3].least, rows[3].most), (s(8), s(9)));
    // From 2^6 on exactly the maximum, and retries go on at it.
    expect_exactly(&rows[6..], &[64_000; 14]);
    let rows = plan("-p google -m 32s");
    expect_ranges(&rows[..5], &ranges[..5]);
    expect_exactly(&rows[5..], &[32_000; 15]);
}

#[test]
fn policy_ethernet() {
    let rows = plan("-p ethernet");
    assert_eq!(rows.len(), 15);
    let slot = Duration::from_nanos(51_200);
    for (row, failures) in rows.iter().zip(1_u32..) {
        let most = (1 << failures.min(10)) - 1;
        let expected = (Duration::ZERO, slot * most / 2, slot * most);
        assert_eq!((row.least, row.mean, row.most), expected, "after {failures}");
    }
    // Expected backoff: 3.5 slots, 511.5 slots.
    assert_eq!(rows[2].mean, Duration::from_nanos(179_200));
    assert_eq!(rows[9].mean, Duration::from_nanos(26_188_800));
    assert_eq!(rows[14].mean, rows[9].mean);
    assert_eq!(plan("-p ethernet -j slotted:3").last().unwrap().most, slot * 7);
}

#[test]
fn policy_aws() {
    expect_ranges(&plan("-p aws"), &[(0, 50, 100), (0, 100, 200)]);
    let rows = plan("-p aws -n 12");
    assert_eq!(rows[7].most, ms(12_800));
    assert!(
        rows[8..].iter().all(|row| row.most == s(20) && row.mean == s(10)),
        "{rows:#?}"
    );
}

#[test]
fn policy_clojure() {
    for options in ["-p clojure", "-p clojure -n 99", "-p clojure -n unlimited"] {
        expect_exactly(&plan(options), &[1000, 2000, 4000, 8000]);
    }
    expect_exactly(&plan("-p clojure -n 3"), &[1000, 2000]);
}

/// The waits of `(exponential-backoff time rate max)`: it sleeps `time`, then `rate` times as long, and so on; once that
/// would be `max` it makes the last call.
fn waits_of_the_macro(time: f64, rate: f64, max: f64) -> Vec<f64> {
    let waits = std::iter::successors(Some(time), |wait| Some(wait * rate));
    // A plan without a limit of attempts shows twenty.
    waits.take_while(|wait| *wait < max).take(20).collect()
}

#[test]
fn policy_clojure_waits_as_the_macro_does() {
    for time in [1.0, 100.0, 500.0, 1000.0, 15_000.0] {
        for rate in [1.5, 2.0, 10.0] {
            for max in [400.0, 10_000.0, 600_000.0] {
                let options = format!("-p clojure -b {time}ms -f {rate} --stop-at-delay {max}ms");
                let rows = plan(&options);
                let expected = waits_of_the_macro(time, rate, max);
                assert_eq!(rows.len(), expected.len(), "{options}");
                for (row, wait) in rows.iter().zip(expected) {
                    // The plan shows a few digits.
                    let wait = Duration::from_secs_f64(wait / 1000.0);
                    assert!(row.most.abs_diff(wait) <= wait / 100, "{options}: {row:?}, {wait:?}");
                }
            }
        }
    }
}

#[test]
fn explicit_options_win_over_the_policy() {
    expect_exactly(&plan("-p sip -b 1s"), &[1000, 2000, 4000, 4000]);
    expect_exactly(&plan("-b 1s -p sip"), &[1000, 2000, 4000, 4000]);
    expect_exactly(&plan("-p sip -m 2s"), &[500, 1000, 2000, 2000]);
    expect_exactly(&plan("-p sip -f 4 -n 4"), &[500, 2000, 4000]);
    expect_exactly(&plan("-p sip -g linear -n 4"), &[500, 1000, 1500]);
    expect_exactly(&plan("-p sip --delays 1s,3s -n 4"), &[1000, 3000, 3000]);
    expect_ranges(&plan("-p sip -j full -n 3"), &[(0, 250, 500), (0, 500, 1000)]);
    expect_ranges(&plan("-p ethernet -j equal -b 1s -n 2"), &[(500, 750, 1000)]);
    expect_ranges(
        &plan("-p ethernet -g linear -b 1s -n 3"),
        &[(0, 500, 1000), (0, 1000, 2000)],
    );
    expect_exactly(&plan("-p clojure --stop-at-delay 3s -n 9"), &[1000, 2000]);
    assert_eq!(plan("-p google -p sip"), plan("-p sip"));
    // A policy's base gives way to an explicit cap.
    expect_exactly(&plan("-p clojure -m 250ms -n 4"), &[250; 3]);
}

#[test]
fn a_policy_from_the_environment() {
    let sip = [("BACKOFF_POLICY", "sip")];
    assert_eq!(plan_with(&sip, ""), plan("-p sip"));
    expect_exactly(&plan_with(&sip, "-b 1s -n 3"), &[1000, 2000]);
    assert_eq!(plan_with(&sip, "-p google"), plan("-p google"));
    assert_eq!(plan_with(&[("BACKOFF_POLICY", "")], ""), plan(""));
    // Flag, variable, policy: in this order.
    let base = [("BACKOFF_BASE", "1s")];
    expect_exactly(&plan_with(&base, "-p sip -n 4"), &[1000, 2000, 4000]);
    expect_exactly(&plan_with(&base, "-p sip -n 4 -b 2s"), &[2000, 4000, 4000]);
    let shown = run(backoff("--plan").env("BACKOFF_POLICY", "sipp")).expect_code(125);
    shown.expect_stderr("BACKOFF_POLICY").expect_stderr("sipp");
    expect_usage_error("-p nothing", &["--policy", "nothing"]);
}

// --- real runs ---------------------------------------------------------------------------------

fn now() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    Duration::new(now.tv_sec() as u64, now.tv_nsec() as u32)
}

/// A finished run of the probe.
#[derive(Debug)]
struct Stamped {
    shown: Shown,
    /// From the start of backoff to the first attempt.
    first: Duration,
    /// From the start of each attempt to the start of the next.
    gaps: Vec<Duration>,
}

/// Runs the probe under these options; each attempt exits with this code.
fn stamp(options: &str, code: &str) -> Stamped {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "stamps");
    let line = words!("{..} -- {} stamp {} {}", options, probe(), file, code);
    let began = now();
    let shown = ran(line);
    let stamps: Vec<Duration> = std::fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| Duration::from_nanos(line.parse().unwrap()))
        .collect();
    let gaps = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Stamped {
        shown,
        first: stamps[0] - began,
        gaps,
    }
}

/// Each gap holds its wait, and not much else.
#[track_caller]
fn expect_gaps(stamped: &Stamped, waits: &[u64]) {
    assert_eq!(stamped.gaps.len(), waits.len(), "{stamped:#?}");
    for (gap, wait) in stamped.gaps.iter().zip(waits) {
        assert!(ms(*wait) <= *gap && *gap < ms(wait + 1000), "{wait}ms: {stamped:#?}");
    }
}

/// The waits that were announced, as they were written.
fn announced(shown: &Shown) -> Vec<String> {
    shown
        .stderr
        .lines()
        .filter_map(|line| Some(line.split_once("; retrying in ")?.1.to_owned()))
        .collect()
}

#[test]
fn the_waits_are_kept() {
    let stamped = stamp("-j none -b 20ms -n 5", "7");
    expect_gaps(&stamped, &[20, 40, 80, 160]);
    assert_eq!(announced(&stamped.shown), ["20ms", "40ms", "80ms", "160ms"]);
    stamped
        .shown
        .expect_code(7)
        .expect_stderr("gave up after 5 attempts in ");
    expect_gaps(&stamp("-j none -b 20ms -m 50ms -n 5", "7"), &[20, 40, 50, 50]);
    expect_gaps(&stamp("-j none -b 20ms -g fibonacci -n 6", "7"), &[20, 20, 40, 60, 100]);
    expect_gaps(&stamp("-j none -b 20ms -g linear -n 4", "7"), &[20, 40, 60]);
    expect_gaps(&stamp("-j none -b 20ms -g constant -n 4", "7"), &[20, 20, 20]);
    expect_gaps(&stamp("-j none --delays 60ms,10ms -n 4", "7"), &[60, 10, 10]);
}

#[test]
fn jittered_waits_are_kept_within_their_bounds() {
    expect_gaps(&stamp("-j equal -b 40ms -n 4", "7"), &[20, 40, 80]);
    expect_gaps(&stamp("-j additive --spread 20ms -b 20ms -n 4", "7"), &[20, 40, 80]);
    expect_gaps(&stamp("-j proportional --spread 50% -b 40ms -n 4", "7"), &[20, 40, 80]);
    expect_gaps(&stamp("-j decorrelated -b 20ms -m 60ms -n 6", "7"), &[20; 5]);
    expect_gaps(&stamp("-j full -b 20ms -n 4", "7"), &[0; 3]);
    expect_gaps(&stamp("-p ethernet", "7"), &[0; 15]);
}

#[test]
fn clojure_with_small_numbers() {
    // 10 20 40 80, and 160 reaches the limit: five calls, the last one's failure is final.
    let stamped = stamp("-b 10ms -j none -n 99 --stop-at-delay 100ms", "7");
    expect_gaps(&stamped, &[10, 20, 40, 80]);
    let shown = stamped.shown.expect_code(7);
    let shown = shown.expect_stderr("gave up after 5 attempts in ");
    shown.expect_stderr("the next wait would reach --stop-at-delay");
    let stamped = stamp("-p clojure -b 10ms -n 99 --stop-at-delay 100ms", "7");
    expect_gaps(&stamped, &[10, 20, 40, 80]);
}

#[test]
fn a_wait_past_the_deadline_is_not_started() {
    // It may have to be built first.
    probe();
    let began = now();
    let stamped = stamp("-j none --delays 10ms,40s -n 9 -d 30s", "7");
    assert!(now() - began < s(10), "{stamped:#?}");
    expect_gaps(&stamped, &[10]);
    stamped
        .shown
        .expect_code(7)
        .expect_stderr("the next attempt would begin after --deadline");
}

#[test]
fn no_wait_is_fifty_attempts_at_once() {
    for options in [
        "-b 0 -n 50",
        "-b 0 -j none -n 50",
        "-b 0 -j slotted -n 50",
        "-m 0 -n 50",
        "--delays 0 -n 50",
    ] {
        let stamped = stamp(options, "7");
        assert_eq!(stamped.gaps.len(), 49, "{options}");
        assert!(stamped.gaps.iter().sum::<Duration>() < s(10), "{options}: {stamped:#?}");
        assert_eq!(announced(&stamped.shown), ["0s"; 49], "{options}");
    }
}

#[test]
fn a_seed_makes_waits_reproducible() {
    let waits = |options: &str| {
        let log = run!("--log-format json {..} -n 5 -- false", options).stderr;
        let waits: Vec<String> = log
            .lines()
            .filter_map(|line| line.split_once(r#""delay_s":"#))
            .map(|(_, wait)| wait.to_owned())
            .collect();
        assert_eq!(waits.len(), 4, "{options}: {log}");
        waits
    };
    for jitter in [
        "full",
        "equal",
        "additive --spread 50us",
        "proportional",
        "decorrelated",
        "slotted",
    ] {
        let with = |seed: &str| waits(&format!("-j {jitter} -b 100us -m 900us {seed}"));
        let first = with("--seed 1");
        assert_eq!(with("--seed 1"), first, "{jitter}");
        let others: Vec<_> = (2..8).map(|seed| with(&format!("--seed {seed}"))).collect();
        assert!(
            others.iter().filter(|other| **other != first).count() >= 5,
            "{jitter}: {first:?} {others:?}"
        );
        // From the operating system: never twice the same, or nearly never.
        let unseeded: Vec<_> = (0..6).map(|_| with("")).collect();
        assert!(
            unseeded.iter().any(|other| *other != unseeded[0]),
            "{jitter}: {unseeded:?}"
        );
    }
    assert_eq!(waits("-j none -b 1ms --seed 1"), waits("-j none -b 1ms --seed 2"));
}

#[test]
fn announced_waits_are_those_of_the_plan() {
    let shown = run!("-p sip -b 1ms -n 8 -m 16ms -- false");
    let planned: Vec<String> = plan("-p sip -b 1ms -n 8 -m 16ms")
        .iter()
        .map(|row| format!("{:?}", row.mean))
        .collect();
    assert_eq!(announced(&shown), planned);
    assert_eq!(planned, ["1ms", "2ms", "4ms", "8ms", "16ms", "16ms", "16ms"]);
}

#[test]
fn an_initial_delay_comes_before_the_first_attempt() {
    let stamped = stamp("--initial-delay 150ms -n 2 -j none -b 1ms", "7");
    assert!(ms(150) <= stamped.first && stamped.first < ms(1150), "{stamped:#?}");
    expect_gaps(&stamped, &[1]);
    assert!(stamp("-n 1", "7").first < s(1));
}

#[test]
fn a_splay_is_bounded_and_random() {
    let firsts: Vec<Duration> = (1..=6)
        .map(|seed| stamp(&format!("--splay 300ms --seed {seed}"), "0").first)
        .collect();
    assert!(firsts.iter().all(|first| *first < ms(1300)), "{firsts:?}");
    // Six in a row under a sixth of the width: once in 46,656 tries, and seeds do not change.
    assert!(firsts.iter().any(|first| *first >= ms(50)), "{firsts:?}");
    let stamped = stamp("--splay 50ms --initial-delay 100ms", "0");
    assert!(ms(100) <= stamped.first && stamped.first < ms(1150), "{stamped:#?}");
}

#[test]
fn a_long_attempt_starts_the_growth_and_the_count_again() {
    let dir = tempfile::tempdir().unwrap();
    let calls = within(&dir, "calls");
    // The second call runs for long.
    let script = "echo $BACKOFF_ATTEMPT; echo >>\"$0\"; test $(wc -l <\"$0\") != 2 || sleep 1.2; exit 7";
    let options = "-n 3 -b 10ms -j none --reset-after 1s";
    let shown = run!("{..} -- sh -c {} {}", options, script, calls)
        .expect_code(7)
        .expect_stderr("gave up after 4 attempts in ");
    assert_eq!(shown.stdout, "1\n2\n2\n3\n");
    assert_eq!(announced(&shown), ["10ms", "10ms", "20ms"]);
}

#[test]
fn consecutive_successes_a_base_apart() {
    let stamped = stamp("--consecutive 4 -b 30ms", "0");
    expect_gaps(&stamped, &[30, 30, 30]);
    stamped.shown.expect_code(0).expect_silence();
    // Good, bad, good, good.
    let script = "echo $BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT != 2";
    let shown = run!("--consecutive 2 -b 1ms -j none -- sh -c {}", script).expect_code(0);
    assert_eq!(shown.stdout, "1\n2\n3\n4\n");
    shown.expect_stderr("succeeded on attempt 4 of 5");
    // Good, bad, good: too few.
    let shown = run!("--consecutive 2 -n 3 -b 1ms -j none -- sh -c {}", script);
    shown.expect_code(1).expect_stderr("too few successes in a row");
}

#[test]
fn codes_are_counted_as_shells_count_them() {
    let dies = "kill -TERM $$";
    let twice = |options: &str| run!("-b 1ms -n 2 {..} -- sh -c {}", options, dies).stderr;
    for options in ["-e 143", "-e 100-150", "-e 1 -e 143", "--retry-exit 1,143"] {
        assert!(twice(options).contains("gave up after 2 attempts"), "{options}");
    }
    for options in ["-e 15", "-e 1,142", "--stop-exit 143", "--stop-exit 3 --stop-exit 143"] {
        let said = twice(options);
        assert!(said.contains("gave up after 1 attempt "), "{options}: {said}");
        assert!(said.contains(": killed by SIGTERM (permanent: "), "{options}: {said}");
    }
    // The command's own end is still that of the run.
    let shown = run!("--success-exit 143 -- sh -c {}", dies).expect_silence();
    assert_eq!(shown.signal(), Some(15));
    run!("-n 1 --success-exit 3,143 -- sh -c 'exit 143'")
        .expect_code(143)
        .expect_silence();
    // A time-out is backoff's own doing, whatever the command then died of.
    let shown = run!("-b 1ms -n 2 -t 50ms --stop-exit 143 -- sleep 30").expect_code(124);
    shown.expect_stderr("gave up after 2 attempts");
}

#[test]
fn codes_add_up() {
    let attempts = |options: &str, code: u8| {
        let script = format!("echo; exit {code}");
        run!("-q -b 1ms -n 2 {..} -- sh -c {}", options, script).stdout.len()
    };
    for (options, once, twice) in [
        ("-e 1 -e 7,8", [2, 9], [1, 7]),
        ("--stop-exit 1 --stop-exit 7", [1, 7], [2, 9]),
        ("--success-exit 1 --success-exit 7", [1, 7], [2, 0]),
    ] {
        assert_eq!(once.map(|code| attempts(options, code)), [1, 1], "{options}");
        assert_eq!(twice.map(|code| attempts(options, code)), [2, 2], "{options}");
    }
    // What is typed does not add to a variable.
    let shown = run(backoff("-b 1ms -n 2 -e 7 -- sh -c 'exit 9'").env("BACKOFF_RETRY_EXIT", "9"));
    shown.expect_code(9).expect_stderr("gave up after 1 attempt ");
}
