use super::*;
use proptest::prelude::*;
use redis::{Value, from_redis_value, parse_redis_value};

proptest! {
    /// Asserts that any reply is an answer, or gets a message of printable text.
    #[test]
    fn any_reply_is_understood_or_explained(
        reply in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..100),
            r"-(MOVED|ASK|ERR)? ?[0-9]{0,6} ?[ -~\x1b]{0,40}\r\n".prop_map(String::into_bytes),
            r"\*5\r\n(:-?[0-9]{1,20}\r\n){4,6}".prop_map(String::into_bytes),
        ],
    ) {
        let value = parse_redis_value(&reply).and_then(Value::extract_error);
        if let Err(failure) = value.and_then(|value| answer(from_redis_value(value)?)) {
            let from = ConnectionAddr::Tcp("h".to_owned(), 1);
            let to = redirection(&failure, &from).map_or(String::new(), |it| it.to.to_string());
            let message = problem(&failure, Duration::ZERO) + &to;
            prop_assert!(message.chars().all(|c| matches!(c, ' '..='~')) && message.len() < 200, "{message:?}");
        }
    }
}
