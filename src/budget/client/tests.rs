use super::*;
use proptest::prelude::*;

#[test]
fn what_is_no_password_is_shown() {
    for (store, shown) in [
        ("/var/lib/backoff", "/var/lib/backoff"),
        ("./a:b@c", "./a:b@c"),
        ("budgets/of:jane", "budgets/of:jane"),
        ("localhost:6379", "***"),
        ("http://host", "http://***"),
    ] {
        assert_eq!(redacted(store), shown);
    }
    #[cfg(feature = "redis")]
    for (store, shown) in [
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://u:p@h:6379/0", "redis://***@h:6379/0"),
        (
            "rediss://[::1]:7000/3?ca=/etc/ca.pem",
            "rediss://[::1]:7000/3?ca=/etc/ca.pem",
        ),
        (
            "redis+unix:///run/redis.sock?db=1",
            "redis+unix:///run/redis.sock?db=1",
        ),
        (
            "redis+unix:///run/redis.sock?user=u&pass=p",
            "redis+unix://***",
        ),
    ] {
        assert_eq!(redacted(store), shown);
    }
}

proptest! {
    #[test]
    fn no_password_is_shown(
        scheme in "redis://|rediss://|x://|redis:/|redis:|redis//",
        before in "|u:|:|u|h/0\\?pass=|h\\?ca=f&password=|h\\?|h#|h/|h:1:|,|h:",
        secret in "S[^@]{0,9}S",
        after in "|@h|@h:6379/0|@"
    ) {
        let store = format!("{scheme}{before}{secret}{after}");
        // Without a sign of a secret, the text is the name of a host or a file.
        prop_assume!(!before.is_empty() && before != "," && before != "u" || !after.is_empty());
        let shown = redacted(&store);
        prop_assert!(!shown.contains(&secret), "{} becomes {}", store, shown);
    }
}
