//! Looking for the first match in a line in steps, where one search would take too long: all places that a match may be in
//! are followed side by side, byte by byte, the preferred ones first. It is slow, but it can be left and gone on with, and no
//! expression is too much for it.

use std::ops::Range;

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

use super::fuel::Fuel;
use super::walk::Search;

/// What is followed; `None` if it is larger than the limit, in bytes.
pub(super) fn automaton(syntax: &Hir, limit: Option<usize>) -> Option<NFA> {
    let config = Config::new()
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(limit);
    Compiler::new().configure(config).build_from_hir(syntax).ok()
}

/// A search.
#[derive(Debug, Clone)]
pub(super) struct Threads {
    now: Places,
    next: Places,
    /// Places still to be entered.
    entering: Vec<StateID>,
    at: usize,
    best: Option<Range<usize>>,
}

/// Places in the order in which they are preferred, each once, with the beginning of its match.
#[derive(Debug, Clone)]
struct Places {
    all: Vec<(StateID, usize)>,
    /// For each state where it may stand in `all`.
    index: Vec<u32>,
}

impl Threads {
    /// A search from here on.
    pub(super) fn new(automaton: &NFA, at: usize) -> Threads {
        let places = Places {
            all: Vec::new(),
            index: vec![0; automaton.states().len()],
        };
        Threads {
            now: places.clone(),
            next: places,
            entering: Vec::new(),
            at,
            best: None,
        }
    }

    /// Looks for the first match that ends by `end`.
    pub(super) fn go_on(&mut self, automaton: &NFA, line: &[u8], end: usize, fuel: &mut Fuel) -> Search<Range<usize>> {
        while self.at <= end && (self.best.is_none() || !self.now.all.is_empty()) {
            if !fuel.is_left() {
                return Search::Unfinished;
            }
            if self.best.is_none() {
                let begin = (automaton.start_anchored(), self.at);
                enter(automaton, &mut self.entering, &mut self.now, begin, line, self.at);
            }
            fuel.spend(1 + self.now.all.len() as u64);
            self.step(automaton, line, end);
        }
        self.best.take().map_or(Search::Nothing, Search::Found)
    }

    /// Takes the next byte.
    fn step(&mut self, automaton: &NFA, line: &[u8], end: usize) {
        for (place, begin) in self.now.all.drain(..) {
            let next = match automaton.state(place) {
                State::Match { .. } => {
                    self.best = Some(begin..self.at);
                    // The others are not preferred.
                    break;
                }
                _ if self.at == end => None,
                State::ByteRange { trans } => trans.matches(line, self.at).then_some(trans.next),
                State::Sparse(sparse) => sparse.matches(line, self.at),
                State::Dense(dense) => dense.matches(line, self.at),
                _ => None,
            };
            if let Some(next) = next {
                let next = (next, begin);
                enter(automaton, &mut self.entering, &mut self.next, next, line, self.at + 1);
            }
        }
        self.at += 1;
        std::mem::swap(&mut self.now, &mut self.next);
    }
}

impl Places {
    /// Whether it was not there.
    fn add(&mut self, place: StateID, begin: usize) -> bool {
        let index = &mut self.index[place.as_usize()];
        let known = self.all.get(*index as usize);
        if known.is_some_and(|known| known.0 == place) {
            return false;
        }
        // There are fewer places than states, and these are numbered by 32 bits.
        *index = self.all.len() as u32;
        self.all.push((place, begin));
        true
    }
}

/// Enters a place, and all that can be reached from there without a byte.
fn enter(
    automaton: &NFA,
    entering: &mut Vec<StateID>,
    places: &mut Places,
    (first, begin): (StateID, usize),
    line: &[u8],
    at: usize,
) {
    entering.push(first);
    while let Some(place) = entering.pop() {
        if !places.add(place, begin) {
            continue;
        }
        match automaton.state(place) {
            State::Look { look, next } if automaton.look_matcher().matches(*look, line, at) => entering.push(*next),
            State::Union { alternates } => entering.extend(alternates.iter().rev()),
            State::BinaryUnion { alt1, alt2 } => entering.extend([*alt2, *alt1]),
            State::Capture { next, .. } => entering.push(*next),
            _ => {}
        }
    }
}
