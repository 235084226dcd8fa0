//! How much a step of a search may cost, so that signals are heard between two of them.

use regex_syntax::hir::{Class, Hir, HirKind};

/// What one step may cost: so many bytes, each looked at in so many places of an expression. The slowest engine takes some
/// 10 ns for one.
pub(super) const STEP: u64 = 2_000_000;

/// What one call of an engine may cost that cannot be interrupted.
const CALL: u64 = STEP / 2;

/// What a byte costs at least, and how many of them an automaton does in the time of one place.
const CHEAP: u64 = 16;

/// What is left to be spent in this step.
#[derive(Debug)]
pub(super) struct Fuel(u64);

impl Fuel {
    pub(super) fn new(cost: u64) -> Fuel {
        Fuel(cost)
    }

    /// Whether some is left.
    pub(super) fn is_left(&self) -> bool {
        self.0 > 0
    }

    /// Spends this, if it is left. In a new step it is, for what [`most_at_once`] allows.
    pub(super) fn try_spend(&mut self, cost: u64) -> bool {
        let is_enough = self.0 >= cost;
        if is_enough {
            self.spend(cost);
        }
        is_enough
    }

    pub(super) fn spend(&mut self, cost: u64) {
        self.0 = self.0.saturating_sub(cost);
    }

    /// For bytes over which an automaton only goes.
    pub(super) fn spend_on_bytes(&mut self, count: usize) {
        self.spend(count as u64 / CHEAP + 1);
    }

    /// For something that is built: nothing else is done in this step.
    pub(super) fn spend_all(&mut self) {
        self.0 = 0;
    }
}

/// How many bytes can be searched in one call, whatever they are, for an expression of so many places.
pub(super) fn most_at_once(places: u64) -> usize {
    let most = CALL.checked_div(places).and_then(|most| usize::try_from(most).ok());
    most.unwrap_or(usize::MAX)
}

/// What it costs to search so many bytes.
pub(super) fn cost(bytes: usize, places: u64) -> u64 {
    (bytes as u64).saturating_mul(places)
}

/// Some words take no more than this.
const WORDS: u64 = 2_000;

/// In how many places of an expression a search may be at once, at most; 0 where no text makes it slow, as an automaton for
/// words has no more states than they have letters.
pub(super) fn places(syntax: &Hir) -> u64 {
    let count = count(syntax);
    let is_words = syntax.properties().is_literal() || (syntax.properties().is_alternation_literal() && count <= WORDS);
    if is_words { 0 } else { count }
}

/// The nesting is limited by the parser, and so is the recursion.
fn count(syntax: &Hir) -> u64 {
    let of_all = |parts: &[Hir]| {
        let one_by_one = parts.iter().map(count);
        one_by_one.fold(parts.len() as u64, u64::saturating_add)
    };
    match syntax.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        // In each byte of a character of UTF-8.
        HirKind::Class(Class::Unicode(_)) => 4,
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            count(&repetition.sub).saturating_add(1).saturating_mul(copies.into())
        }
        HirKind::Capture(capture) => count(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => of_all(parts),
    }
}
