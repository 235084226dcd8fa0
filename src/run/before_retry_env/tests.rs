use proptest::prelude::*;

use super::*;

fn shown(extra_env: &ExtraEnv) -> Vec<String> {
    let show = |(name, value): &(String, OsString)| format!("{name}={}", value.display());
    extra_env.0.iter().map(show).collect()
}

#[test]
fn lines_are_variables_and_the_last_of_a_name_counts() {
    let mut extra_env = ExtraEnv::default();
    assert_eq!(extra_env.add(b""), None);
    assert_eq!(extra_env.add(b"A=1\n\nB=a = 'b' #\n_c2=\nA= 2 "), None);
    assert_eq!(shown(&extra_env), ["B=a = 'b' #", "_c2=", "A= 2 "]);
    assert_eq!(extra_env.add(b"B=3\n"), None);
    assert_eq!(shown(&extra_env), ["_c2=", "A= 2 ", "B=3"]);
}

#[test]
fn a_bad_line_is_ignored_and_the_others_are_taken() {
    for (line, why) in [
        (&b"export A=1"[..], "is not a name"),
        (b"=1", "is not a name"),
        (b"1A=1", "is not a name"),
        (b"\xff=1", "is not a name"),
        (b"# \x1b[31m", "not KEY=VALUE"),
        (b"BACKOFF_ATTEMPT=9", "backoff's own"),
        (b"A=a\0b", "NUL"),
    ] {
        let mut extra_env = ExtraEnv::default();
        let warning = extra_env
            .add(&[b"X=1\n", line, b"\nY=2\n"].concat())
            .unwrap();
        assert!(
            warning.starts_with("ignored line 2 of $BACKOFF_ENV: ") && warning.contains(why),
            "{warning}"
        );
        assert_eq!(shown(&extra_env), ["X=1", "Y=2"]);
    }
}

#[test]
fn one_file_and_all_variables_have_a_limit() {
    let too_large =
        |lines: &str| Some(format!("ignored line {lines} of $BACKOFF_ENV: {TOO_LARGE}"));
    let mut extra_env = ExtraEnv::default();
    let half = "x".repeat(LIMIT / 2);
    let file = format!("A={half}\nB=1\nC={half}\n");
    assert_eq!(extra_env.add(file.as_bytes()), too_large("3"));
    let file = format!("D={half}\nE=2\nA=\nF={half}");
    assert_eq!(extra_env.add(file.as_bytes()), too_large("1 and 1 more"));
    let names: Vec<_> = extra_env.0.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["B", "E", "A"]);
}

proptest! {
    #[test]
    fn a_file_of_any_bytes_adds_no_nameless_variable(file in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut extra_env = ExtraEnv::default();
        let _ = extra_env.add(&file);
        prop_assert!(shown(&extra_env).iter().all(|line| !line.starts_with('=')));
    }
}
