//! The patterns of a run, and what the scanners of its streams share: the limits on one call of an engine, and the
//! engine, the sieve and the grams, each of which is built here when a scanner first asks for it. Nothing is searched
//! here: the scanner calls what it gets.

use std::hash::RandomState;
use std::sync::{Arc, OnceLock};

use super::engine::Engine;
use super::grams::Grams;
use super::pattern::Pattern;
use super::sieve::Sieve;

/// Limit on the places ([`Pattern::places`]) of all patterns of a run, and so on the time of each call of an engine.
pub(crate) const MOST_PLACES: usize = 5_000;

/// Bytes times places that one call of an engine may search, some ten nanoseconds each at worst.
const STEP: usize = 4_000_000;

/// Least and most bytes of a call: fewer would cost more for the call than for its search, and with more, signals would
/// wait.
const LEAST_CALL: usize = 1 << 10;
pub(super) const MOST_CALL: usize = 64 << 10;

/// Least bytes of a window, whatever the patterns: only matches up to an eighth of it are sure to be found.
const LEAST_WINDOW: usize = 8 << 10;

/// Bytes of a stream that are searched with the sieve alone: about as many as the sieve searches while the engine is
/// built.
const SIEVED_BYTES: usize = 256 << 10;

/// The patterns of a run, known by index, and what its streams share. A stream is one of the outputs of one attempt.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    pub list: Vec<Pattern>,
    /// The engine for all patterns, which is built when it is first needed. None if it would be too large.
    first: OnceLock<Option<Engine>>,
    /// Built when it is first needed. None if it would be too large.
    sieve: OnceLock<Option<Arc<Sieve>>>,
    /// Finds the lines for the engine. Built when it is first needed. None if it would be no help.
    grams: OnceLock<Option<Arc<Grams>>>,
    /// Leading bytes of each stream that the sieve searches in place of an engine; 0 without patterns of presets.
    pub(super) sieved_bytes: usize,
    /// Limits on the bytes of one call of an engine: a block of whole lines, and a window of one line.
    pub(super) block: usize,
    pub(super) window: usize,
}

impl Patterns {
    /// Returns the patterns of a run. No engine is built yet, as most runs print nothing. The larger all patterns are
    /// together, the fewer bytes one call of an engine may search, so that signals are heard soon.
    pub fn new(list: Vec<Pattern>) -> Self {
        let places = list
            .iter()
            .map(Pattern::places)
            .fold(1, usize::saturating_add);
        let block = (STEP / places).clamp(LEAST_CALL, MOST_CALL);
        if !list.is_empty() {
            // Engines need hash maps, which are seeded with random numbers. If the system has none, this panics now,
            // before the command starts.
            let _ = RandomState::new();
        }
        // Only patterns of presets have lists.
        let sieved_bytes = if list.iter().any(|pattern| pattern.lists().is_some()) {
            SIEVED_BYTES
        } else {
            0
        };
        Self {
            list,
            first: OnceLock::new(),
            sieve: OnceLock::new(),
            grams: OnceLock::new(),
            sieved_bytes,
            block,
            window: block.max(LEAST_WINDOW),
        }
    }

    /// Returns the sieve, which is built at the first call. It serves for the first bytes of each stream in place of
    /// the engine, and later in each line that the engine finds, to choose the patterns to try. Returns None without
    /// patterns of presets, as an engine for others is soon built, and if the sieve would be too large: then all open
    /// patterns are tried.
    pub(super) fn sieve(&self) -> Option<Arc<Sieve>> {
        if self.sieved_bytes == 0 {
            return None;
        }
        let sieve = || Sieve::new(&self.list).map(Arc::new);
        self.sieve.get_or_init(sieve).clone()
    }

    /// Returns what finds the lines with literals of the patterns. The first call chooses the literals, by its sample
    /// of the output. Returns None without patterns of presets, as smaller engines find literals themselves, if a
    /// pattern may match without any, and if most lines would be found.
    pub(super) fn grams(&self, sample: &[u8]) -> Option<Arc<Grams>> {
        if self.sieved_bytes == 0 {
            return None;
        }
        let choose = || {
            let expressions = self.list.iter().map(Pattern::for_literals);
            Grams::new(expressions, sample).map(Arc::new)
        };
        self.grams.get_or_init(choose).clone()
    }

    /// Returns an engine for the open patterns: those for which `open` is true, by index. The one for all patterns is
    /// built once and copied to each stream; any other is built for its caller. None as for [`Engine::new`].
    pub(super) fn engine(&self, open: &[bool]) -> Option<Engine> {
        let pairs = self.list.iter().zip(open).filter(|(_, is_open)| **is_open);
        let patterns: Vec<&Pattern> = pairs.map(|(pattern, _)| pattern).collect();
        if open.contains(&false) {
            return Engine::new(&patterns);
        }
        // All streams begin with this engine. A clone has its own lazy automaton.
        self.first.get_or_init(|| Engine::new(&patterns)).clone()
    }
}
