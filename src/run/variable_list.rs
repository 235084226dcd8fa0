//! The environment variables of one program.

use std::fmt::Display;

#[derive(Debug, Default)]
pub(crate) struct VariableList(Vec<(String, String)>);

impl VariableList {
    /// Sets a variable, replacing any earlier value. It is empty if the value contains a NUL, which no environment can
    /// hold.
    pub(crate) fn set(&mut self, name: &str, value: impl Display) {
        let mut value = value.to_string();
        if value.contains('\0') {
            value.clear();
        }
        self.0.retain(|(listed, _)| listed != name);
        self.0.push((name.to_owned(), value));
    }

    /// Returns true if the variable is set, even if empty.
    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        self.0.iter().any(|(listed, _)| listed.as_bytes() == name)
    }

    /// Returns all entries as `NAME=VALUE`, in the order in which they were set.
    pub(crate) fn entries(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| format!("{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &VariableList) -> Vec<String> {
        list.entries().collect()
    }

    #[test]
    fn the_last_value_of_a_name_counts() {
        let mut list = VariableList::default();
        list.set("A", 1);
        list.set("AB", "");
        list.set("A", "x=y");
        assert_eq!(entries(&list), ["AB=", "A=x=y"]);
        assert!(list.contains(b"AB"));
        assert!(!list.contains(b""));
    }

    #[test]
    fn a_value_with_a_nul_becomes_empty() {
        let mut list = VariableList::default();
        list.set("A", "x\0y");
        list.set("B", 2);
        assert_eq!(entries(&list), ["A=", "B=2"]);
    }
}
