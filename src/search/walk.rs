//! Looking for the looser form of an expression in steps, where one search would take too long: a long line, or a large
//! expression. A lazy automaton, whose states are made as they are needed, is left in one of them and gone on with later.

use regex_automata::MatchKind;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Builder, Cache, Config, DFA};
use regex_automata::nfa::thompson::Compiler;
use regex_automata::nfa::thompson::Config as Nfa;
use regex_automata::util::start;
use regex_syntax::hir::Hir;

use super::fuel::Fuel;

/// The automaton, without its states.
#[derive(Debug, Clone)]
pub(super) struct Walker {
    automaton: DFA,
    /// A state is made of so many places at most.
    places: u64,
}

/// Where it has got to.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    state: LazyStateID,
    at: usize,
}

/// How a search ends, or a step of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Search<T> {
    Found(T),
    Nothing,
    /// The step is over: there is more to look at.
    Unfinished,
}

impl Walker {
    /// States take about so many bytes at most; then they are made anew.
    pub(super) fn new(syntax: &Hir, places: u64, states: usize) -> Option<Walker> {
        let nfa = Compiler::new()
            .configure(Nfa::new().utf8(false))
            .build_from_hir(syntax)
            .ok()?;
        let config = Config::new()
            // All that is asked is whether there is one.
            .match_kind(MatchKind::All)
            .cache_capacity(states)
            .skip_cache_capacity_check(true);
        let automaton = Builder::new().configure(config).build_from_nfa(nfa).ok()?;
        Some(Walker { automaton, places })
    }

    /// The states, for one search at a time.
    pub(super) fn new_states(&self) -> Cache {
        self.automaton.create_cache()
    }

    /// Begins at a place in a text.
    pub(super) fn begin(&self, states: &mut Cache, text: &[u8], at: usize) -> Option<Walk> {
        let before = at.checked_sub(1).map(|before| text[before]);
        let config = start::Config::new().look_behind(before);
        let state = self.automaton.start_state(states, &config).ok()?;
        Some(Walk { state, at })
    }

    /// Goes on up to `end`. Found is the end of a match, or a place in the line of one.
    pub(super) fn go_on(
        &self,
        states: &mut Cache,
        walk: &mut Walk,
        text: &[u8],
        end: usize,
        fuel: &mut Fuel,
    ) -> Search<usize> {
        if walk.state.is_dead() {
            return Search::Nothing;
        }
        while walk.at < end {
            if !fuel.is_left() {
                return Search::Unfinished;
            }
            let begun = walk.at;
            let unknown = self.over_known_states(states, walk, &text[..end]);
            fuel.spend_on_bytes(walk.at - begun);
            if !unknown {
                continue;
            }
            // To make a state takes about twice as long as to go through its places.
            fuel.spend(self.places.saturating_mul(2));
            match self.automaton.next_state(states, walk.state, text[walk.at]) {
                Ok(state) if state.is_dead() => return Search::Nothing,
                Ok(state) if !state.is_match() && !state.is_quit() => walk.state = state,
                // What cannot be judged here is judged by who asks.
                _ => return Search::Found(walk.at),
            }
            walk.at += 1;
        }
        let last = match text.get(end) {
            Some(byte) => self.automaton.next_state(states, walk.state, *byte),
            None => self.automaton.next_eoi_state(states, walk.state),
        };
        match last {
            Ok(state) if !state.is_match() && !state.is_quit() => Search::Nothing,
            _ => Search::Found(end),
        }
    }

    /// Goes on for as long as nothing has to be asked, or for a while. Whether something has to be.
    fn over_known_states(&self, states: &Cache, walk: &mut Walk, text: &[u8]) -> bool {
        /// In bytes.
        const WHILE: usize = 64 << 10;
        let upto = text.len().min(walk.at + WHILE);
        let (mut state, mut at) = (walk.state, walk.at);
        for byte in &text[at..upto] {
            let next = self.automaton.next_state_untagged(states, state, *byte);
            if next.is_tagged() {
                break;
            }
            state = next;
            at += 1;
        }
        let has_to_ask = at < upto;
        *walk = Walk { state, at };
        has_to_ask
    }
}
