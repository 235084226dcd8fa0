use super::*;
use crate::policy::sets::CodeSet;
use proptest::prelude::*;

#[test]
fn code_lists() {
    let set = codes("1, 100-102,75").unwrap();
    let held: Vec<u8> = (0..=255).filter(|c| set.contains(*c)).collect();
    assert_eq!(held, [1, 75, 100, 101, 102]);
    assert_eq!(
        codes("SIGKILL,timeout,term").unwrap().to_string(),
        "137,143,timeout"
    );
    for text in [
        "",
        "256",
        "1,,2",
        "5-3",
        "-1",
        "1-",
        "a",
        "1,2,",
        "+1",
        "１",
        "1-2-3",
        "99999999999999999999",
    ] {
        assert!(codes(text).is_err(), "{text:?}");
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
        let error = format!("is not a regular expression ({why})");
        assert_eq!(regex(text).unwrap_err().to_string(), error);
    }
}

proptest! {
    #[test]
    fn what_is_wrong_is_said_in_one_line(text in any::<String>(), near in "[-+]?[0-9]{0,40}[.]?[0-9]{0,40}[-0-9a-zA-Z+.,% \\n\u{1b}]{0,12}") {
        for text in [&text, &near] {
            let errors = [
                codes(text).err(), signal(text).err(), size(text).err(), factor(text).err(), percent(text).err(),
                attempts(text).err(), switch(text).err(), duration(text).err(),
                durations(text).err(), regex(text).err(),
            ];
            for problem in errors.into_iter().flatten() {
                let line = problem.to_string();
                prop_assert!(!line.contains(char::is_control), "{:?}", line);
            }
        }
    }

    #[test]
    fn codes_are_what_their_parts_say(text in "([0-9]{1,3}|[0-9]{1,2}-[12][0-9]{2}|(SIG)?TERM|HUP-TERM| 7 )(,([0-9]{1,3}|[0-9]{1,2}-[12][0-9]{2}|kill)){0,3}") {
        let parts: Parsed<Vec<CodeSet>> = text.split(',').map(codes).collect();
        match (codes(&text), parts) {
            (Ok(set), Ok(parts)) => for code in 0..=255 {
                prop_assert_eq!(set.contains(code), parts.iter().any(|part| part.contains(code)));
            },
            (Err(_), Err(_)) => {}
            (set, parts) => prop_assert!(false, "{:?}, but {:?}", set, parts),
        }
    }
}
