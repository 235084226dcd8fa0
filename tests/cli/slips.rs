//! Slips and guesses: what was meant is said.

use crate::common::{backoff, ran, run, shell};

#[track_caller]
fn told(words: &str, hint: &str) {
    let shown = run!("{..} -- echo started", words).expect_code(125).expect_stderr(hint);
    assert!(
        shown.stdout.is_empty() && shown.stderr.lines().count() == 1,
        "{shown:?}"
    );
}

#[test]
fn a_slip_in_a_word_of_a_list_is_told() {
    for (words, meant) in [
        ("-j ful", "full"),
        ("-j decorelated", "decorrelated"),
        ("-j FULL", "full"),
        ("-g linaer", "linear"),
        ("-g exp", "exponential"),
        ("-p googel", "google"),
        ("--for crul", "curl"),
        ("--for curl,shs", "ssh"),
        ("--for apt-gte", "apt-get"),
        ("--for atuo", "auto"),
        ("--until succes", "success"),
        ("--match-on stduot", "stdout"),
        ("--stdin reply", "replay"),
        ("--stdout finl", "final"),
        ("--stderr faliure", "failure"),
        ("--idempotent yse", "yes"),
        ("--nested wanr", "warn"),
        ("--log-format jsno", "json"),
        ("--color alwas", "always"),
        ("--progress nevr", "never"),
        ("--generate complete-bsh", "complete-bash"),
        ("--cool-off=skpi --budget a", "skip"),
        ("-n unlimted", "unlimited"),
        ("-s TREM", "TERM"),
        ("-s sigitn", "INT"),
        ("-e HUP,TREM", "TERM"),
        ("--stop-exit 1,timout", "timeout"),
        ("-e tempfial", "tempfail"),
        ("--exhausted-exit tempfial", "tempfail"),
    ] {
        told(words, &format!("did you mean {meant:?}?"));
    }
    for words in [
        "-j 3",
        "-g cubic",
        "--nested never",
        "--for nosuchthing",
        "-s 99",
        "-p mine",
    ] {
        let shown = run!("{..} -- echo started", words).expect_code(125);
        assert!(!shown.stderr.contains("did you mean"), "{shown:?}");
    }
    // Of a policy of the user's own as well, and from every source.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "[policy.nightly]\nbase = 1\n").unwrap();
    let mut command = backoff(["--config", file.to_str().unwrap(), "-p", "nightyl", "true"]);
    run(command.env_remove("BACKOFF_CONFIG")).expect_stderr("did you mean \"nightly\"?");
    run(backoff("-- true").env("BACKOFF_JITTER", "ful"))
        .expect_stderr("BACKOFF_JITTER: \"ful\" is not one of none, full");
    std::fs::write(&file, "[defaults]\nstdout = 'finl'\n").unwrap();
    let mut command = backoff(["--config", file.to_str().unwrap(), "true"]);
    run(command.env_remove("BACKOFF_CONFIG")).expect_stderr("config.toml:2:10: \"finl\" is not one of stream, final");
}

#[test]
fn what_other_tools_call_an_option_is_known() {
    for (words, meant) in [
        ("--interval 5", "use --every"),
        ("--sleep=5", "use --every"),
        ("--wait 5", "use --every"),
        ("--delay 5", "use --every"),
        ("--dry-run", "use --plan"),
        ("--until-success", "use --attempts unlimited"),
        ("--forever", "use --attempts unlimited"),
        ("--until-fail", "use --until failure"),
        ("--always", "use --until never"),
        ("--max-time 30", "use --deadline, or timeout for each attempt"),
        ("--exponential", "use --growth"),
        ("--no-jitter", "use --jitter"),
        ("--max-wait 9", "use --max-delay"),
        ("--min-delay 9", "use --base"),
        ("--multiplier 2", "use --factor"),
        ("--retry-on 5", "use --retry-exit"),
        ("--silent", "use --quiet"),
        ("--debug", "use --verbose"),
        ("--json", "use --log-format json"),
        ("--on-error x", "use --on-retry, or on-give-up at the end"),
        ("--retries 3", "use --attempts, which counts the first one, too"),
        ("--max-retries=3", "use --attempts, which counts the first one, too"),
        ("--max-dely 3", "a similar argument exists: '--max-delay'"),
        ("--attempt 3", "a similar argument exists: '--attempts'"),
        ("--hepl", "a similar argument exists: '--help'"),
    ] {
        told(words, &format!("; tip: {meant}\n"));
    }
    for (words, says) in [
        ("--for list", "did you mean --list-presets?"),
        ("-n -1", "is negative; try 3, or \"unlimited\" for no limit"),
        (
            "--hook-output=1 --on-retry true",
            "is one byte, or on? try --hook-output, or a size",
        ),
    ] {
        told(words, says);
    }
    run!("help")
        .expect_code(127)
        .expect_stderr("; for help, try backoff --help\n");
    let line = "--retry-match 3 looks for an expression in the output; to retry 3 times, use -n 4\n";
    run!("-r 3 -- false").expect_code(1).expect_stderr(line);
    run!("-r 3 -- true").expect_code(0).expect_silence();
    told(
        "--verbose=2",
        "unexpected value '2' for '--verbose...' found; no more were expected\n",
    );
    for words in ["-x", "--no-such-thing-at-all"] {
        told(
            words,
            &format!("; tip: to pass '{words}' as a value, use '-- {words}'\n"),
        );
    }
}

#[test]
fn a_long_name_after_one_dash_is_told() {
    for (words, word, meant) in [
        ("-timeout 3", "-timeout", "timeout"),
        ("-timeout=3", "-timeout=3", "timeout"),
        ("-attempts 3", "-attempts", "attempts"),
        ("-n 2 -base 3", "-base", "base"),
        ("-retry-match x", "-retry-match", "retry-match"),
        ("-verbose", "-verbose", "verbose"),
        ("-version", "-version", "version"),
        ("-quiet", "-quiet", "quiet"),
        ("-until failure", "-until", "until"),
    ] {
        told(
            words,
            &format!("unexpected argument '{word}' found; tip: a similar argument exists: '--{meant}'\n"),
        );
    }
    // Letters and values that are no such name, and what is the command's own.
    told("-timeouts 3", "--timeout: \"imeouts\" is not a duration");
    let shown = run!("-Z java -attempts").expect_code(125);
    assert!(!shown.stderr.contains("similar"), "{shown:?}");
    run!("-t5 -qn1 -timeo -- true").expect_code(125);
    for words in [
        "-t5 -vn 1 -retry -- true",
        "-n 1 echo -timeout 3",
        "--label -timeout -- true",
    ] {
        run!("{..}", words).expect_code(0);
    }
}

#[test]
fn what_is_wrong_with_a_duration_is_told_in_plain_words() {
    for (words, says) in [
        (
            "--spread=x",
            "--spread: \"x\" is neither a duration nor a percentage; try 1s or 25%\n",
        ),
        (
            "--spread 250%",
            "--spread: \"250%\" is out of range; it must be from 0% to 100%\n",
        ),
        (
            "-j additive --spread 25%",
            "is not a duration (\"%\" is not understood); try 500ms, 2s",
        ),
        (
            "-t 0.0000000001",
            "is not a duration (it is less than 1ns); try 500ms, 2s",
        ),
        ("-b x", "is not a duration (a number is missing); try 500ms, 2s"),
        ("-b 1x", "is not a duration (there is no unit \"x\"); try 500ms, 2s"),
        ("-b '1m 5'", "is not a duration (a unit is missing); try 500ms, 2s"),
        ("-b 1_s", "is not a duration (\"_\" is not understood); try 500ms, 2s"),
        ("-b 1m,", "is not a duration (\",\" is not understood); try 500ms, 2s"),
    ] {
        told(words, says);
    }
    let shown = run(backoff("-j additive -- true").env("BACKOFF_SPREAD", "x")).expect_code(125);
    assert!(
        shown.stderr.contains("BACKOFF_SPREAD: \"x\" is neither a duration nor"),
        "{shown:?}"
    );
}

#[test]
fn numbers_that_cannot_be_are_told_as_they_are() {
    told(
        "-n 99999999999999999999",
        "is out of range; it must be at most 18446744073709551615, or \"unlimited\"",
    );
    told("-n 0", "it must be at least 1, or \"unlimited\"");
    told(
        "--seed 99999999999999999999",
        "is out of range; it must be at most 18446744073709551615",
    );
    told(
        "--budget-ratio 10",
        "\"10\" is above 1, which is 100%; did you mean 10%?",
    );
    told("--budget-ratio 33.3", "did you mean 33.3%?");
    told("-j proportional --spread 25", "did you mean 25%?");
    told("--budget-ratio 101", "is out of range; it must be from 0% to 100%");
    told("--budget-ratio -1", "is out of range; it must be from 0% to 100%");
    run!("--budget-ratio 1 -- true").expect_code(0).expect_silence();
}

#[test]
fn a_dash_is_standard_output_from_every_source() {
    let dir = tempfile::tempdir().unwrap();
    let in_there = |words: &str| {
        let mut command = backoff(words);
        command.current_dir(dir.path());
        command
    };
    let shown = [
        run(&mut in_there("--report - -- true")),
        run(&mut in_there("--report=- -- true")),
        run(in_there("-- true").env("BACKOFF_REPORT", "-")),
    ];
    for shown in shown {
        let shown = shown.expect_code(0).expect_silence();
        assert!(
            shown.stdout.starts_with("{\"schema\":1,") && shown.stdout.ends_with("}\n"),
            "{shown:?}"
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    let help = run!("--help report").stdout;
    assert!(help.contains(". - is standard output."), "{help}");
}

#[test]
fn a_misspelt_variable_is_one_warning() {
    let command = |name: &str, words: &str| {
        let mut command = backoff(words);
        command.env(name, "2");
        command
    };
    for (name, meant) in [
        ("BACKOFF_MAX_DELY", "MAX_DELAY"),
        ("BACKOFF_ATTEMTPS", "ATTEMPTS"),
        ("BACKOFF_TIMEOUTS", "TIMEOUT"),
        ("BACKOFF_DEADLIN", "DEADLINE"),
        ("BACKOFF_MAXDELAY", "MAX_DELAY"),
        ("BACKOFF_Jitter", "JITTER"),
        ("BACKOFF_PYT", "PTY"),
        ("BACKOFF_FRO", "FOR"),
        ("BACKOFF_For", "FOR"),
        // Only within another run these are set by backoff.
        ("BACKOFF_DELAY", "DELAYS"),
        ("BACKOFF_ATTEMPT", "ATTEMPTS"),
    ] {
        let line = format!("backoff: warning: the variable {name:?} has no meaning; did you mean BACKOFF_{meant}?\n");
        for words in ["-- true", "-q -- true"] {
            let shown = run(&mut command(name, words)).expect_code(0);
            assert_eq!(shown.stderr, line);
        }
        let shown = run(&mut command(name, "-v -- true"));
        assert_eq!(shown.stderr.matches("no meaning").count(), 1, "{shown:?}");
        let shown = run(&mut command(name, "-n 3 -b 1ms -- false"));
        assert_eq!(shown.stderr.matches("no meaning").count(), 1, "{shown:?}");
        let shown = run(&mut command(name, "--log-format json -- true"));
        assert!(shown.stderr.contains("\"event\":\"warning\""), "{shown:?}");
    }
    // May be another program's, is unset, or has a meaning.
    for name in [
        "BACKOFF_MIN_DELAY",
        "BACKOFF_RETRIES",
        "BACKOFF_LIMIT",
        "BACKOFF_MAX",
        "BACKOFF_MODE",
        "BACKOFF_TTY",
        "BACKOFF_FOO",
        "BACKOFF_OR",
    ] {
        run(&mut command(name, "-- true")).expect_silence();
    }
    run(backoff("-- true").env("BACKOFF_MAX_DELY", "")).expect_silence();
    run(backoff("-- true").env("BACKOFF_MAX_DELAY", "2")).expect_silence();
}

/// `cargo run` and `cargo test` export what the build script sets.
#[test]
fn the_build_sets_no_variable_that_is_taken_for_an_option() {
    let version = ran("--version").stdout;
    let target = version.lines().find_map(|line| line.strip_prefix("target: ")).unwrap();
    let mut exported = std::env::vars().filter(|(_, value)| value == target);
    let is_ours = |name: &str| name.starts_with("BACKOFF_");
    assert_eq!(exported.find(|(name, _)| is_ours(name)), None);
}

#[test]
fn what_backoff_exports_is_not_misspelt() {
    let inner = "backoff -- true";
    let script = "backoff -n 2 -b 1ms --budget a --store $STORE --retry-if \"$INNER\" --on-retry \"$INNER\" \
                  --before-retry \"$INNER\" --on-give-up \"$INNER\" -- sh -c \"$INNER; backoff -- $INNER; exit 1\"";
    let dir = tempfile::tempdir().unwrap();
    let shown = run(shell(script).env("INNER", inner).env("STORE", dir.path())).expect_code(1);
    assert!(!shown.stderr.contains("meaning"), "{shown:?}");
    // The outermost run has said it.
    let shown = run(shell("backoff -- backoff -- backoff -- true").env("BACKOFF_MAX_DELY", "1")).expect_code(0);
    assert_eq!(shown.stderr.matches("no meaning").count(), 1, "{shown:?}");
    ran("-- true").expect_silence();
}

#[test]
fn a_base_above_the_cap_raises_it() {
    let plan = |words: &str, variables: &[(&str, &str)]| {
        let mut command = backoff(words!("--plan -j none -n 3 {..}", words));
        let shown = run(command.envs(variables.iter().copied())).expect_code(0);
        let row = shown.stdout.lines().nth(2).unwrap().to_owned();
        row.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(plan("-b 1m", &[]), "1m");
    assert_eq!(plan("", &[("BACKOFF_BASE", "1m")]), "1m");
    assert_eq!(plan("-b 1m", &[("BACKOFF_MAX_DELAY", "10s")]), "1m");
    assert_eq!(plan("-m 10s", &[("BACKOFF_BASE", "1m")]), "10s");
    assert_eq!(plan("-p sip -b 10s", &[]), "10s");
    assert_eq!(plan("-b 10s -m 20s", &[]), "20s");
    let line = "backoff: --base 1m is longer than the default --max-delay 30s, which is raised to 1m\n";
    run!("-v -b 1m -- true").expect_stderr(line);
    run!("-vv -b 1m -- true").expect_stderr("max-delay = 1m (the default 30s was too short)\n");
    run!("-b 1m -- true").expect_code(0).expect_silence();
    run(backoff("-v -b 1m -- true").env("BACKOFF_MAX_DELAY", "10s"))
        .expect_stderr("--base 1m is longer than BACKOFF_MAX_DELAY=10s, which is raised to 1m\n");
    let shown = run!("-v -b 10s -- true");
    assert!(!shown.stderr.contains("raised"), "{shown:?}");
}

#[test]
fn a_flag_never_loses_against_a_variable_or_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    // What each says alone is fine. The flag is obeyed, whichever of the two is larger.
    for (flag, option, value) in [
        ("-b 1m", "max-delay", "10s"),
        ("-m 10s", "base", "1m"),
        ("-m 10s", "stop-at-delay", "1m"),
        ("--stop-at-delay 1m", "max-delay", "10s"),
        ("-d 5s", "splay", "30s"),
        ("-d 5s", "initial-delay", "30s"),
        ("--every 1m", "max-delay", "10s"),
        ("--delays 1m", "max-delay", "10s"),
        ("--initial-delay 30s", "deadline", "5s"),
        ("--splay 30s", "deadline", "5s"),
        ("-j additive", "spread", "25%"),
        ("-j proportional", "spread", "1s"),
        ("-j full", "spread", "1s"),
    ] {
        let variable = format!("BACKOFF_{}", option.to_uppercase().replace('-', "_"));
        run(backoff(words!("{..} --plan", flag)).env(variable, value)).expect_code(0);
        std::fs::write(&file, format!("[defaults]\n{option} = '{value}'\n")).unwrap();
        let words = words!("{..} --config {} --plan", flag, file.to_str().unwrap());
        run(backoff(words).env_remove("BACKOFF_CONFIG")).expect_code(0);
    }
    let shown = run(backoff("-d 5s -- echo started").env("BACKOFF_SPLAY", "1h")).expect_code(0);
    assert_eq!(shown.stdout, "started\n");
    // A policy is weaker, too, and so is the file than a variable; the default takes the place of what gave way.
    let shown = run!("-vv -p google -j proportional -n 1 -- true").expect_code(0);
    assert!(
        shown.stderr.contains("spread = 25% (policy google says 1s)"),
        "{shown:?}"
    );
    std::fs::write(&file, "[defaults]\nspread = '25%'\n").unwrap();
    let mut command = backoff(words!("--config {} -- true", file.to_str().unwrap()));
    command.env_remove("BACKOFF_CONFIG").env("BACKOFF_JITTER", "additive");
    run(&mut command).expect_code(0).expect_silence();
    let shown = run(backoff("--initial-delay 20ms -- echo started").env("BACKOFF_DEADLINE", "10ms")).expect_code(0);
    assert_eq!(shown.stdout, "started\n");
    // What fits stays, and what is wrong in itself, or contradicts its like, is told.
    let with = |words: &str, variables: &[(&str, &str)]| run(backoff(words).envs(variables.iter().copied()));
    with("-vv -j additive -- true", &[("BACKOFF_SPREAD", "3s")]).expect_stderr("spread = 3s (BACKOFF_SPREAD)");
    with("-j additive -- true", &[("BACKOFF_SPREAD", "x")]).expect_code(125);
    with("-j additive --spread 25% -- true", &[]).expect_code(125);
    with("-- true", &[("BACKOFF_JITTER", "additive"), ("BACKOFF_SPREAD", "25%")]).expect_code(125);
    with("-- true", &[("BACKOFF_DEADLINE", "1s"), ("BACKOFF_SPLAY", "2s")]).expect_code(125);
    with("-d 1s --splay 2s -- true", &[]).expect_code(125);
}
