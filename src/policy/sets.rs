//! Sets of exit codes, for options such as `--retry-exit` and for rules.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::outcome::End;
use super::signal::{Signal, names};
use crate::text::tip;

/// Ends of an attempt: exit codes as a shell shows them (128+N for a death by signal N), and timeouts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeSet {
    /// One bit per code: 0 to 127, 128 to 255.
    codes: [u128; 2],
    timeout: bool,
}

impl CodeSet {
    pub fn of(code: u8) -> CodeSet {
        let mut set = CodeSet::default();
        set.add(code..=code);
        set
    }

    pub fn add(&mut self, codes: RangeInclusive<u8>) {
        for code in codes {
            self.codes[usize::from(code >> 7)] |= 1 << (code & 127);
        }
    }

    pub fn union(self, other: CodeSet) -> CodeSet {
        CodeSet {
            codes: [
                self.codes[0] | other.codes[0],
                self.codes[1] | other.codes[1],
            ],
            timeout: self.timeout || other.timeout,
        }
    }

    pub fn contains(&self, code: u8) -> bool {
        self.codes[usize::from(code >> 7)] & (1 << (code & 127)) != 0
    }

    pub fn contains_timeout(&self) -> bool {
        self.timeout
    }

    /// Returns true if the end's code is in the set. An end without a code is in it if the set has `timeout`. Such an
    /// end is a timeout or [`End::Unended`], for which no caller cares about the answer.
    pub fn contains_end(&self, end: &End) -> bool {
        end.code().map_or(self.timeout, |code| self.contains(code))
    }
}

impl FromStr for CodeSet {
    type Err = String;

    /// Parses a mix of `7`, `1,2,75`, `100-110`, `SIGKILL` and `timeout`. A signal stands for the code of a death by
    /// it. The error completes a sentence that begins with the text.
    fn from_str(text: &str) -> Result<CodeSet, String> {
        let mut set = CodeSet::default();
        for part in text.split(',').map(str::trim) {
            if part == "timeout" {
                set.timeout = true;
            } else {
                set.add(range(part).map_err(|problem| {
                    let tip = tip(part, ["timeout"].into_iter().chain(names()));
                    format!(
                        "is not a list of exit codes such as 1,2,100-110 ({part:?} {problem}){tip}"
                    )
                })?);
            }
        }
        Ok(set)
    }
}

/// Parses a code, a range or a signal.
fn range(part: &str) -> Result<RangeInclusive<u8>, &'static str> {
    if let Some(code) = one_code(part) {
        return Ok(code..=code);
    }
    let ends = part.split_once('-');
    match ends.map(|(first, last)| (one_code(first.trim()), one_code(last.trim()))) {
        Some((Some(first), Some(last))) if first <= last => Ok(first..=last),
        Some((Some(_), Some(_))) => Err("runs backwards"),
        _ if part.is_empty() => Err("is empty"),
        _ => Err("is neither a number from 0 to 255 nor a signal"),
    }
}

/// Parses a code or a signal. A number is always a code: 15 is 15, and TERM is 143.
fn one_code(text: &str) -> Option<u8> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    text.parse().ok().map(Signal::shell_status)
}

/// Formats as a list that the parser accepts, unless the set is empty: `1,2,100-110,timeout`. Three or more codes in a
/// row become a range.
impl fmt::Display for CodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut codes = (0..=u8::MAX).filter(|code| self.contains(*code)).peekable();
        let mut comma = "";
        while let Some(first) = codes.next() {
            let mut last = first;
            // Cannot overflow, because no code follows 255.
            while let Some(next) = codes.next_if(|next| *next == last + 1) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        if self.timeout {
            write!(f, "{comma}timeout")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let timeout: CodeSet = "timeout".parse().unwrap();
        assert_eq!(timeout.union(CodeSet::of(7)).to_string(), "7,timeout");
    }

    #[test]
    fn a_list_of_codes_is_read() {
        for (text, shown) in [
            ("1, 100-102,75", "1,75,100-102"),
            ("SIGKILL,timeout,term", "137,143,timeout"),
            ("HUP-TERM", "129-143"),
        ] {
            assert_eq!(
                text.parse().map(|set: CodeSet| set.to_string()),
                Ok(shown.into())
            );
        }
        for text in "256;1,,2;5-3;-1;1-;a;1,2,;+1;１;1-2-3;99999999999999999999;".split(';') {
            assert!(text.parse::<CodeSet>().is_err(), "{text:?}");
        }
    }
}
