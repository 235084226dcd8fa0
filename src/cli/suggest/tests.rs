use super::*;
use crate::cli::table::OPTIONS;

#[test]
fn a_foreign_name_is_answered_with_an_option() {
    for (names, tip) in FOREIGN {
        let option = tip.split([' ', ',']).next().unwrap();
        assert!(OPTIONS.iter().any(|opt| opt.long == option), "{tip}");
        for name in names.split(' ') {
            assert!(
                OPTIONS.iter().all(|opt| opt.long != name),
                "--{name} is an option"
            );
            assert_eq!(foreign(name), Some(tip), "--{name} stands there twice");
        }
    }
}

#[test]
fn a_slip_is_one_letter() {
    let known = ["max-delay", "timeout", "for", "pty", "attempts"];
    let near = |name| one_slip_away(name, known.into_iter());
    for (slip, meant) in [
        ("MAX_DELY", "max-delay"),
        ("TIMEOUTS", "timeout"),
        ("ATTEMTPS", "attempts"),
        ("MAXDELAY", "max-delay"),
        ("Timeout", "timeout"),
        ("PYT", "pty"),
        ("FRO", "for"),
        ("For", "for"),
    ] {
        assert_eq!(near(slip), Some(meant));
    }
    for other in [
        "MIN_DELAY",
        "TIME",
        "FORT",
        "FOO",
        "OR",
        "TTY",
        "RETRIES",
        "",
    ] {
        assert_eq!(near(other), None, "{other}");
    }
}
