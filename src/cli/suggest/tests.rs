use super::*;
use crate::options::OPTIONS;

#[test]
fn a_foreign_name_is_answered_with_an_option() {
    for entry in &FOREIGN {
        for name in entry.names.split(' ') {
            assert!(
                OPTIONS.iter().all(|opt| opt.long != name),
                "--{name} is an option"
            );
            let found = foreign(name).map(|found| found.names);
            assert_eq!(found, Some(entry.names), "--{name} stands there twice");
        }
    }
}
