use proptest::prelude::*;

use super::*;

fn read(options: &[&'static Spec], words: &[OsString]) -> Option<CommandLine> {
    let matches = parser(options.iter().map(|opt| arg(opt))).try_get_matches_from(words);
    matches
        .ok()
        .map(|mut matches| command_line(&mut matches, options))
}

#[test]
fn the_parser_is_sound() {
    parser(OPTIONS.iter().map(|opt| arg(opt))).debug_assert();
}

/// Words of a command line: options in every spelling, values, mistakes.
fn word() -> impl Strategy<Value = String> {
    let opt = || (0..OPTIONS.len()).prop_map(|index| OPTIONS[index]);
    let shorts: Vec<char> = OPTIONS
        .iter()
        .filter_map(|opt| opt.short)
        .chain(['h', 'Z'])
        .collect();
    prop_oneof![
        4 => opt().prop_map(|opt| format!("--{}", opt.long)),
        2 => (opt(), "[a-z0-9=-]{0,3}").prop_map(|(opt, value)| format!("--{}={value}", opt.long)),
        1 => (opt(), 1usize..4).prop_map(|(opt, left)| format!("--{}", &opt.long[..opt.long.len() - left])),
        1 => opt().prop_map(|opt| format!("--{}s", opt.long)),
        4 => proptest::collection::vec(proptest::sample::select(shorts), 1..4)
            .prop_map(|letters| format!("-{}", letters.iter().collect::<String>())),
        4 => "[a-z0-9]{1,3}",
        1 => proptest::sample::select(vec!["--", "-", "", "-5", "--no-such", "\u{e9}"])
            .prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn options_that_do_not_occur_need_not_be_declared(words in proptest::collection::vec(word(), 0..8)) {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        if let Ok(Used { options: few, .. }) = options_used(&words) {
            let all: Vec<&Spec> = few.iter().copied().chain(OPTIONS.iter().copied().filter(|opt| !few.contains(opt))).collect();
            prop_assert_eq!(format!("{:?}", read(&few, &words)), format!("{:?}", read(&all, &words)));
        }
    }
}
