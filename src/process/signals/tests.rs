use super::*;

#[test]
fn every_signal_is_of_one_class() {
    let by_process = |signal| Received::new(signal, false);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        assert_eq!(by_process(signal).class, SignalClass::End);
    }
    for signal in [Signal::TSTP, Signal::TTIN, Signal::TTOU] {
        assert_eq!(by_process(signal).class, SignalClass::StopJob);
    }
    assert_eq!(by_process(Signal::CONT).class, SignalClass::Continue);
    assert_eq!(by_process(Signal::CHLD).class, SignalClass::Child);
    for signal in [Signal::WINCH, Signal::PIPE, Signal::ALRM] {
        assert_eq!(by_process(signal).class, SignalClass::Inform);
    }
    assert_eq!(Received::new(Signal::ALRM, true).class, SignalClass::End);
}

#[test]
fn the_terminal_sends_some_signals() {
    for signal in [
        Signal::INT,
        Signal::HUP,
        Signal::TSTP,
        Signal::CONT,
        Signal::WINCH,
    ] {
        assert!(Received::new(signal, true).by_terminal, "{signal}");
        assert!(!Received::new(signal, false).by_terminal, "{signal}");
    }
    for signal in [Signal::TERM, Signal::ALRM, Signal::CHLD, Signal::PIPE] {
        assert!(!Received::new(signal, true).by_terminal, "{signal}");
    }
}
