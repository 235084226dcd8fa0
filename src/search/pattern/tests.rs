//! No expression takes more memory than is said before it is built.

use proptest::prelude::*;

use super::*;

fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-z ]{1,20}",
        prop::sample::select(vec![
            r"\d",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
            ".",
            r"\p{L}",
            r"\b",
            "^",
            "$",
            "[a-z]",
            "[^x]",
            "é",
            "(?-u:\\w)",
        ])
        .prop_map(str::to_owned),
    ];
    let larger = leaf.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..8).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..8).prop_map(|parts| format!("({})", parts.join("|"))),
            inner.clone().prop_map(|part| format!("({part})+")),
            (inner, 0..4_u32, 0..9_u32).prop_map(|(part, least, more)| format!("({part}){{{least},{}}}", least + more)),
        ]
    });
    (any::<bool>(), larger).prop_map(|(any_case, text)| if any_case { format!("(?i){text}") } else { text })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn none_takes_more_than_is_said(text in expressions()) {
        let pattern = Pattern::parse(&text).unwrap();
        let most = pattern.most_size();
        match pattern.build() {
            Ok(size) => prop_assert!(size <= most, "{text}: {size} > {most}"),
            Err(why) => prop_assert!(most > MAY_WAIT, "{text}: {why}"),
        }
    }
}

#[test]
fn many_words_take_no_more_than_is_said() {
    let words = |count: usize, length: usize| {
        let word = |n: usize| format!("{n:0length$}").replace('0', "q");
        (0..count).map(word).collect::<Vec<_>>().join("|")
    };
    for (count, length) in [(2, 60), (10, 12), (60, 20), (300, 3), (300, 30), (3000, 10)] {
        for flags in ["", "(?i)"] {
            let pattern = Pattern::parse(&format!("{flags}{}", words(count, length))).unwrap();
            let (size, most) = (pattern.build().unwrap(), pattern.most_size());
            assert!(size <= most, "{flags} {count} {length}: {size} > {most}");
        }
    }
}
