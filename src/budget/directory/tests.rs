use super::*;
use proptest::prelude::*;

#[test]
fn plain_names_stay_readable() {
    assert_eq!(file_name("api"), "api.budget");
    assert_eq!(file_name("api.example.org"), "api.example.org.budget");
    assert_eq!(file_name("../etc/passwd"), "%2E.%2Fetc%2Fpasswd.budget");
    assert_eq!(file_name("caf\u{e9}"), "caf\u{e9}.budget");
}

proptest! {
    #[test]
    fn no_name_leaves_the_directory(name in ".{1,100}") {
        let name = file_name(&name);
        prop_assert!(!name.starts_with('.') && !name.contains(['/', '\0', '\n']));
    }

    #[test]
    fn different_names_have_different_files(a in "[a./%~A]{1,4}", b in "[a./%~A]{1,4}") {
        prop_assert_eq!(a == b, file_name(&a) == file_name(&b));
    }
}
