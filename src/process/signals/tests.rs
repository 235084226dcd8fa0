use super::*;

#[test]
fn every_signal_is_of_one_class() {
    let by_process = |signal| Received::new(signal, Origin::Process);
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
    let of_timer = Received::new(Signal::ALRM, Origin::Kernel);
    assert_eq!(of_timer.class, SignalClass::End);
}

#[test]
fn a_signal_of_a_failed_write_is_left_to_the_writer() {
    let own = std::process::id().cast_signed();
    for signal in [Signal::PIPE, Signal::XFSZ] {
        assert!(is_of_write(signal, false, own) && is_of_write(signal, true, 0));
        // A record that is about a child, too.
        assert!(is_of_write(signal, true, own + 1));
        assert!(!is_of_write(signal, false, own + 1));
    }
    assert!(!is_of_write(Signal::TERM, true, own));
}
