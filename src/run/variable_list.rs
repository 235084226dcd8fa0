//! The variables of one program, in the form of an environment: `NAME=VALUE` and a NUL for each. A usual list takes no
//! memory from the heap, which would lie on further pages: each page that is written after `fork` costs a fault, as the
//! child shares it.

use std::fmt::Display;
use std::io::Write;
use std::ops::Range;

use smallvec::SmallVec;

#[derive(Debug, Default)]
pub(crate) struct VariableList {
    /// The entries, one after the other. A replaced one stays here, but is not listed.
    text: SmallVec<[u8; 512]>,
    /// The entries that count, in the order in which they were set.
    listed: SmallVec<[Entry; 12]>,
}

/// The place of an entry in [`VariableList::text`].
#[derive(Debug, Clone, Copy)]
struct Entry {
    begin: usize,
    /// The position of `=`.
    name_end: usize,
    /// The position of the NUL.
    end: usize,
}

impl Entry {
    fn name(self) -> Range<usize> {
        self.begin..self.name_end
    }

    fn value(self) -> Range<usize> {
        self.name_end + 1..self.end
    }

    fn with_nul(self) -> Range<usize> {
        self.begin..self.end + 1
    }
}

impl VariableList {
    /// Sets a variable, replacing any value under the same name. The variable is empty if the value contains a NUL,
    /// which no environment can hold.
    pub(crate) fn set(&mut self, name: &str, value: impl Display) {
        let entry = self.begin_entry(name);
        // Writing to a vector does not fail.
        let _ = write!(self.text, "{value}");
        self.end_entry(entry);
    }

    /// Removes the variable of this name, and writes the name of its new entry, with `=`. The name must contain neither
    /// `=` nor NUL. Returns the entry, whose value is still empty: the caller appends it to `text`, and calls
    /// [`VariableList::end_entry`] before it begins another.
    fn begin_entry(&mut self, name: &str) -> Entry {
        let text = self.text.as_slice();
        self.listed
            .retain(|entry| text[entry.name()] != *name.as_bytes());
        let begin = self.text.len();
        self.text.extend_from_slice(name.as_bytes());
        let name_end = self.text.len();
        self.text.push(b'=');
        Entry {
            begin,
            name_end,
            end: self.text.len(),
        }
    }

    /// Ends the entry whose value was just appended, and lists it. Drops a value that contains a NUL, as the rest of it
    /// would begin another entry.
    fn end_entry(&mut self, mut entry: Entry) {
        let value_begin = entry.value().start;
        if self.text[value_begin..].contains(&0) {
            self.text.truncate(value_begin);
        }
        entry.end = self.text.len();
        self.text.push(0);
        self.listed.push(entry);
    }

    /// Returns true if the variable is set, be it empty.
    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        let text = self.text.as_slice();
        self.listed.iter().any(|entry| text[entry.name()] == *name)
    }

    /// Returns all entries, `NAME=VALUE` with the NUL, in the order in which they were set.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &[u8]> {
        self.listed.iter().map(|entry| &self.text[entry.with_nul()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &VariableList) -> Vec<&str> {
        list.entries()
            .map(|entry| str::from_utf8(entry).unwrap().strip_suffix('\0').unwrap())
            .collect()
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

    #[test]
    fn a_list_holds_any_number_of_any_length() {
        let mut list = VariableList::default();
        let names: Vec<String> = (0..100).map(|number| format!("N{number}")).collect();
        for name in &names {
            list.set(name, "x".repeat(1000));
        }
        assert_eq!(list.entries().count(), 100);
        assert!(entries(&list).iter().all(|entry| entry.len() > 1000));
    }
}
