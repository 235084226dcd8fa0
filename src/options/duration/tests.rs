use proptest::prelude::*;

use super::*;

#[test]
fn durations_as_people_write_them() {
    for (text, nanos) in [
        ("5", 5_000_000_000_u128),
        ("0.1", 100_000_000),
        (".5", 500_000_000),
        ("5.", 5_000_000_000),
        ("0", 0),
        ("0.000000000000000000000", 0),
        ("500ms", 500_000_000),
        ("1.5s", 1_500_000_000),
        ("0.25m", 15_000_000_000),
        ("1m 30s", 90_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("51.2us", 51_200),
        (" 2s ", 2_000_000_000),
        ("0.3333333333333333s", 333_333_333),
        ("0.66666666666666666666666666666666666666m", 40_000_000_000),
        ("0.1234567896s", 123_456_790),
        ("1.0000000005", 1_000_000_001),
        ("1.00000000049", 1_000_000_000),
        ("1.1234567891h", 4_044_444_440_760),
        ("0.00000000000001w", 6),
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
        "NaN",
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
        "1 5s",
        "1s 5",
        "1s bogus",
        "1s %",
        "0.0000000001s",
        "0.9ns",
        "0.0000000000001",
        "5M",
        "1y",
        "2yrs",
        "2 years",
        "1month",
        "99999999999999999999999999parsecs",
        "99999999999999999999999999s bogus",
    ] {
        let wrong = duration(text).expect_err(text);
        assert!(wrong.to_string().contains("500ms"), "{text:?}: {wrong}");
    }
    assert!(duration("5M").is_err_and(|wrong| wrong.to_string().contains("5m would be minutes")));
}

#[test]
fn a_duration_beyond_the_clock_saturates() {
    for text in [
        "999999999999999999999999",
        "99999999999999w",
        "99999999999999999999999999s",
    ] {
        assert_eq!(duration(text), Ok(Duration::MAX), "{text}");
    }
    assert_eq!(
        duration("18446744073709551615.999999999s"),
        Ok(Duration::MAX)
    );
}

proptest! {
    #[test]
    fn decimals_are_rounded(whole in 0u32.., decimals in "[0-9]{0,40}", unit in "(ns|us|ms|s|m|h|d|w)") {
        let scale = humantime::parse_duration(&format!("1{unit}")).unwrap().as_nanos() as f64;
        let text = format!("{whole}.{decimals}{unit}");
        let about = text.trim_end_matches(char::is_alphabetic).parse::<f64>().unwrap() * scale;
        match duration(&text) {
            Ok(read) => {
                let difference = (read.as_nanos() as f64 - about).abs();
                prop_assert!(difference <= 0.500001 + about * 1e-15, "{} {}", text, read.as_nanos());
            }
            Err(_) => prop_assert!(about > 0.0 && about < 1.0, "{}", text),
        }
    }

    #[test]
    fn whole_numbers_are_read_as_by_humantime(text in "[1-9][0-9]{0,5}(ns|us|ms|s|sec|m|min|h|hours|d|w)( ?[0-9]{1,5}(ns|us|ms|s|m|h|days)){0,2}") {
        prop_assert_eq!(duration(&text).ok(), humantime::parse_duration(&text).ok());
    }

    #[test]
    fn bare_seconds_agree_with_the_unit(number in "[0-9]{1,30}(\\.[0-9]{0,30})?") {
        prop_assert_eq!(duration(&number), duration(&format!("{number}s")));
    }
}
