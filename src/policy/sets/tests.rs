use super::*;
use crate::policy::test_samples::codes;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_code_set_is_a_set(ranges in prop::collection::vec((any::<u8>(), any::<u8>()), 0..6), probe in any::<u8>()) {
        let mut set = CodeSet::default();
        for (first, last) in &ranges {
            set.add(*first..=*last);
        }
        prop_assert_eq!(set.contains(probe), ranges.iter().any(|(a, b)| (a..=b).contains(&&probe)));
    }
}

#[test]
fn a_code_set_is_shown_as_it_is_written() {
    for (codes, shown) in [
        (&[][..], ""),
        (&[7], "7"),
        (&[0, 1], "0,1"),
        (&[1, 3, 4, 5, 4, 9, 200, 200], "1,3-5,9,200"),
        (&[253, 254, 255], "253-255"),
    ] {
        let set = codes.iter().fold(CodeSet::default(), |set, code| {
            set.union(CodeSet::of(*code))
        });
        assert_eq!(set.to_string(), shown);
    }
    assert_eq!(codes("timeout").union(codes("7")).to_string(), "7,timeout");
}
