use super::*;

#[test]
fn names_and_numbers_are_read_as_kill_reads_them() {
    for text in ["TERM", "SIGTERM", "term", "sigterm", "15"] {
        assert_eq!(text.parse(), Ok(Signal::TERM), "{text}");
    }
    assert_eq!("CLD".parse(), Ok(Signal::CHLD));
    for text in [
        "",
        "0",
        "65",
        "-1",
        "+9",
        "TERMM",
        "RTMIN+99",
        "RTMAX-99",
        "RTMIN-1",
        "RTMIN1",
        "RTMAX+1",
        "RTMIN+-1",
        "SIG",
        "１５",
        "4294967311",
    ] {
        assert_eq!(text.parse::<Signal>(), Err(()), "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn real_time_signals_have_names() {
    // Also with musl, which reserves 34.
    assert_eq!("RTMIN+1".parse::<Signal>().map(Signal::number), Ok(35));
    assert_eq!("SIGRTMAX".parse::<Signal>().map(Signal::number), Ok(64));
    assert_eq!("RTMAX-2".parse::<Signal>().map(Signal::number), Ok(62));
    assert_eq!("RTMIN+3".parse::<Signal>().unwrap().to_string(), "SIGRTMIN+3");
}

#[test]
fn every_number_survives_its_name() {
    for number in 1..=highest() {
        let Some(signal) = Signal::from_number(number) else {
            continue;
        };
        let shown = signal.to_string();
        if !shown.contains(' ') {
            assert_eq!(shown.parse(), Ok(signal), "{shown}");
        }
    }
}
