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
fn an_unmarked_signal_of_a_failed_write_is_not_taken_for_a_process() {
    let own = std::process::id().cast_signed();
    for senders in [Senders::Marked, Senders::Unmarked] {
        for signal in [Signal::PIPE, Signal::XFSZ] {
            assert!(is_of_write(signal, own, senders) && is_of_write(signal, 0, senders));
            let by_other = is_of_write(signal, own + 1, senders);
            assert_eq!(by_other, senders == Senders::Unmarked);
        }
        assert!(!is_of_write(Signal::TERM, own, senders));
    }
}
