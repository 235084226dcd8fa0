//! A search, made in steps, each of which ends soon whatever the expression and the text are. What one call can search in
//! that time at worst is searched by the fastest engine there is; the rest by engines that can be interrupted (`walk.rs`,
//! `threads.rs`).

use std::ops::Range;

use memchr::{memchr, memrchr};
use regex_automata::Input;
use regex_automata::hybrid::dfa::Cache;
use regex_automata::meta::Regex;

use super::fuel::{self, Fuel};
use super::pattern::Pattern;
use super::threads::Threads;
use super::walk::{Search, Walk};

/// Where fewer bytes than this can be searched in one call, calls are not worth it: by a lazy automaton, or by the bytes of
/// a literal.
const SHORTEST_PIECE: [usize; 2] = [4 << 10, 512];

/// Where a search in a text stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress {
    /// What comes before is done with.
    from: usize,
    /// The looser form is looked for from there on.
    walk: Option<Walk>,
    /// The true one is looked for in this line, which the looser form has pointed out.
    line: Option<(Range<usize>, Threads)>,
}

/// What is searched.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    span: Range<usize>,
    /// It is one of many blocks of whole lines.
    pub(super) is_much: bool,
}

impl<'a> Text<'a> {
    /// Whole lines, without the last `\n`.
    pub(super) fn of_lines(bytes: &'a [u8], is_much: bool) -> Text<'a> {
        let span = 0..bytes.len();
        Text { bytes, span, is_much }
    }

    /// A span of one line.
    pub(super) fn of_window(bytes: &'a [u8], span: Range<usize>) -> Text<'a> {
        let is_much = false;
        Text { bytes, span, is_much }
    }
}

impl Pattern {
    /// Goes on looking for the first match in a text, in the first line that has one. `states` are for this
    /// pattern's searches alone.
    pub(super) fn search(
        &self,
        progress: &mut Progress,
        text: &Text<'_>,
        states: &mut Option<Cache>,
        fuel: &mut Fuel,
    ) -> Search<Range<usize>> {
        if progress.from == 0 && progress.walk.is_none() && progress.line.is_none() {
            progress.from = text.span.start;
            if text.is_much && self.excludes(text.bytes, fuel) {
                return Search::Nothing;
            }
        }
        loop {
            if progress.line.is_none() {
                match self.point_out(progress, text, states, fuel) {
                    Search::Found(at) => {
                        if let Some(found) = self.look_at_line(progress, text, at, fuel) {
                            return Search::Found(found);
                        }
                    }
                    Search::Nothing => return Search::Nothing,
                    Search::Unfinished => return Search::Unfinished,
                }
            }
            if let Some((line, threads)) = &mut progress.line {
                let Some(automaton) = self.threads() else {
                    return Search::Nothing;
                };
                let (begin, end) = (line.start, line.end.min(text.span.end));
                match threads.go_on(automaton, &text.bytes[line.clone()], end - begin, fuel) {
                    Search::Found(found) => return Search::Found(begin + found.start..begin + found.end),
                    Search::Nothing => progress.line = None,
                    Search::Unfinished => return Search::Unfinished,
                }
            }
        }
    }

    /// Whether there is no match in these whole lines, as far as that is known soon.
    fn excludes(&self, block: &[u8], fuel: &mut Fuel) -> bool {
        if self.is_without_lanes() {
            fuel.spend_all();
        }
        fuel.spend_on_bytes(block.len());
        self.lanes().is_some_and(|lanes| !lanes.may_match(block))
    }

    /// A place in the next line that the looser form matches in.
    fn point_out(
        &self,
        progress: &mut Progress,
        text: &Text<'_>,
        states: &mut Option<Cache>,
        fuel: &mut Fuel,
    ) -> Search<usize> {
        let end = text.span.end;
        while progress.walk.is_none() && progress.from <= end {
            let Some(piece) = self.piece(text, progress.from) else {
                let Some(walker) = self.walker() else {
                    return Search::Found(progress.from);
                };
                let states = states.get_or_insert_with(|| walker.new_states());
                let Some(walk) = walker.begin(states, text.bytes, progress.from) else {
                    return Search::Found(progress.from);
                };
                progress.walk = Some(walk);
                break;
            };
            if !fuel.try_spend(fuel::cost(piece - progress.from, self.places())) {
                return Search::Unfinished;
            }
            fuel.spend_on_bytes(piece - progress.from);
            let input = Input::new(text.bytes).range(progress.from..piece).earliest(true);
            if let Some(found) = self.loose().and_then(|loose| loose.search_half(&input)) {
                return Search::Found(found.offset());
            }
            progress.from = piece + 1;
        }
        let Some(walk) = &mut progress.walk else {
            return Search::Nothing;
        };
        match (self.walker(), states) {
            (Some(walker), Some(states)) => walker.go_on(states, walk, text.bytes, end, fuel),
            _ => Search::Nothing,
        }
    }

    /// The end of what can be searched from here on in one step. `None` if that is not even the next line.
    fn piece(&self, text: &Text<'_>, from: usize) -> Option<usize> {
        let rest = &text.bytes[from..text.span.end];
        let most = fuel::most_at_once(self.places());
        if rest.len() <= most {
            Some(text.span.end)
        } else if most < SHORTEST_PIECE[usize::from(self.loose().is_some_and(Regex::is_accelerated))] {
            None
        } else {
            memrchr(b'\n', &rest[..most]).map(|at| from + at)
        }
    }

    /// Looks for the true form in the line with this place in it, or begins to: then, or if there is no match, the search
    /// goes on.
    fn look_at_line(
        &self,
        progress: &mut Progress,
        text: &Text<'_>,
        at: usize,
        fuel: &mut Fuel,
    ) -> Option<Range<usize>> {
        let Text { bytes, span, .. } = text;
        let begin = memrchr(b'\n', &bytes[..at]).map_or(0, |at| at + 1);
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |more| at + more);
        let line = begin..begin + without_cr(&bytes[begin..end]).len();
        let span = begin.max(span.start)..line.end.min(span.end);
        progress.walk = None;
        progress.from = end + 1;
        if span.len() > fuel::most_at_once(self.places()) {
            let threads = Threads::new(self.threads()?, span.start - begin);
            progress.line = Some((line, threads));
            return None;
        }
        fuel.spend(fuel::cost(span.len(), self.places()));
        if self.is_without_exact() {
            fuel.spend_all();
        }
        let input = Input::new(&bytes[line]).span(span.start - begin..span.end - begin);
        let found = self.exact()?.find(input)?;
        Some(begin + found.start()..begin + found.end())
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
