//! `--version`.

/// Whose standard library for C is linked in.
const LIBC: &str = if cfg!(target_env = "musl") {
    "musl"
} else if cfg!(target_env = "gnu") {
    "glibc"
} else {
    "the system's"
};

const LINKED: &str = if cfg!(target_feature = "crt-static") {
    "static"
} else {
    "dynamic"
};

/// The first line is for programs: a name and a version. The others are for reports of defects.
pub(super) fn text() -> String {
    let features: Vec<&str> = [
        ("redis", cfg!(feature = "redis")),
        ("fuzzing", cfg!(feature = "fuzzing")),
        ("portable", cfg!(portable)),
    ]
    .into_iter()
    .filter_map(|(name, is_on)| is_on.then_some(name))
    .collect();
    let features = match features.as_slice() {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    format!(
        "backoff {}\ntarget: {}\nlibc: {LIBC}, {LINKED}\nfeatures: {features}\n",
        env!("CARGO_PKG_VERSION"),
        env!("BUILD_TARGET")
    )
}
