use proptest::prelude::*;

use super::*;

#[test]
fn durations_as_people_write_them() {
    for (text, nanos) in [
        ("5", 5_000_000_000_u128),
        ("0.1", 100_000_000),
        (".5", 500_000_000),
        (".5m", 30_000_000_000),
        ("0.3333333333333333", 333_333_333),
        ("0", 0),
        ("500ms", 500_000_000),
        ("1.5s", 1_500_000_000),
        ("0.25m", 15_000_000_000),
        ("1m 30s", 90_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("51.2us", 51_200),
        (" 2s ", 2_000_000_000),
        ("10675199d", 922_337_193_600_000_000_000),
    ] {
        assert_eq!(duration(text).map(|d| d.as_nanos()), Ok(nanos), "{text:?}");
    }
}

#[test]
fn texts_that_are_no_duration() {
    for text in [
        "",
        " ",
        "-1",
        "-5s",
        "nan",
        "inf",
        "infinity",
        "1e3",
        "5 parsecs",
        "1..2",
        "1.2.3s",
        ".",
        "s",
        "1,5s",
        "٣s",
        "５",
        "0x10",
        "+5",
        "1s 5",
        "1s %",
        "0.9ns",
        "5M",
        "1y",
        "2yrs",
        "2 years",
        "1month",
        "99999999999999999999s",
        "1:30",
    ] {
        let problem = duration(text).expect_err(text);
        assert!(problem.contains("500ms"), "{text:?}: {problem}");
    }
    assert!(duration("5M").is_err_and(|problem| problem.contains("m is minutes")));
}

#[test]
fn sizes_and_shares() {
    for (text, bytes) in [
        ("64KiB", Ok(65536)),
        ("1.5k", Ok(1536)),
        ("10MB", Ok(10_000_000)),
        ("1 GiB", Ok(1 << 30)),
        ("3", Ok(3)),
        ("x", Err(())),
        ("1.2.3", Err(())),
        ("5Q", Err(())),
    ] {
        assert_eq!(size(text).map_err(|_| ()), bytes, "{text}");
    }
    for (text, share) in [
        ("25%", Some(0.25)),
        ("0.5", Some(0.5)),
        ("0", Some(0.0)),
        ("25", None),
        ("101%", None),
        ("-1", None),
        ("nan", None),
    ] {
        assert_eq!(percent(text).ok(), share, "{text}");
    }
}

#[test]
fn an_error_in_an_expression_is_one_line() {
    let nested = "(".repeat(300) + &")".repeat(300);
    for (text, why) in [
        ("connection (refused", "unclosed group"),
        ("*", "repetition operator missing expression"),
        ("\nerror: (", "unclosed group"),
        (r"\p{Nowhere}", "Unicode property not found"),
        (
            "[b-a]",
            "invalid character class range, the start must be <= the end",
        ),
        (
            &nested,
            "exceed the maximum number of nested parentheses/brackets (250)",
        ),
    ] {
        let problem = format!("is not a regular expression ({why})");
        assert_eq!(regex(text).unwrap_err(), problem);
    }
}

proptest! {
    #[test]
    fn what_is_wrong_is_said_in_one_line(
        text in any::<String>(),
        near in "[-+]?[0-9]{0,40}[.]?[0-9]{0,40}[-0-9a-zA-Z+.,% \\n\u{1b}]{0,12}",
    ) {
        for text in [&text, &near] {
            let errors = [
                text.parse::<CodeSet>().err(), signal(text).err(), size(text).err(), factor(text).err(), percent(text).err(),
                attempts(text).err(), switch(text).err(), duration(text).err(),
                durations(text).err(), regex(text).err(),
            ];
            for problem in errors.into_iter().flatten() {
                prop_assert!(!problem.contains(char::is_control), "{:?}", problem);
            }
        }
    }

    #[test]
    fn bare_seconds_agree_with_the_unit(number in "[1-9][0-9]{0,5}(\\.[0-9]{1,6})?") {
        prop_assert_eq!(duration(&number), duration(&format!("{number}s")));
    }
}
