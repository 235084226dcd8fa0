//! Parses any reply of a Redis server: the parser does not panic, and an error can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use redis::{Parser, RedisResult, Value, from_redis_value};

fuzz_target!(|reply: &[u8]| {
    let result: RedisResult<(bool, u64, u64, u64, u64)> = Parser::new()
        .parse_value(reply)
        .and_then(Value::extract_error)
        .and_then(|value| Ok(from_redis_value(value)?));
    if let Err(failure) = result {
        let _ = (
            failure.code(),
            failure.detail(),
            failure.redirect_node(),
            failure.to_string(),
        );
    }
});
