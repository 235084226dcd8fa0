//! Finds the few lines of a long text in which one of many expressions may match, sooner than an engine for all of
//! them, whose states do not fit into the fastest cache.
//!
//! Each match of an expression holds one of some literals. Of each literal, three neighbouring bytes, a *gram*, are
//! looked for: each gram of the text is looked up in a table of bits, and where its bit is set, the literals that have
//! it are compared. Those literals and grams are taken that are rarest in a sample of the text.
//! If they are not rare, a line needs one of a second set as well, from another part of the expression.
//!
//! `patterns` chooses the literals, only for presets, by the sample that the scanner has gathered while the sieve
//! searched; then the scanner calls it for each block, and the engine only sees the lines that it returns.

use std::collections::HashMap;
use std::ops::Range;
use std::slice;

use memchr::{memchr, memrchr};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind, Look};

/// Bytes of a gram: the shortest literals that decide, such as `503`, have as many.
const GRAM: usize = 3;

/// Bytes of the text that are loaded at once, and the grams that lie in them.
const WORD: usize = 8;
const GRAMS_OF_WORD: usize = WORD + 1 - GRAM;

/// Makes both cases of a letter the same. A few other bytes become the same as well, which only costs time.
const CASE: u64 = 0x2020_2020_2020_2020;

/// Bits of a gram's hash. A table with one bit for each takes 32 KiB, and stays in the cache beside the text.
const HASH_BITS: u32 = 18;
const HASHES: usize = 1 << HASH_BITS;
const ENTRY: usize = u32::BITS as usize;

/// Longest literal, and most literals, that a sequence may begin with: beyond these, they are not rarer.
const LONGEST: usize = 32;
const MOST_OF_SEQUENCE: usize = 250;

/// Approximate cost of the search of a line, if the comparison of a literal costs 1.
const LINE_COST: u32 = 4;

/// The literals to look for.
#[derive(Debug)]
pub(crate) struct Grams {
    /// A bit for each hash, which is set if a gram with this hash is looked for.
    table: Box<[u32; HASHES / ENTRY]>,
    /// The literals by their gram, and the sets that each is in.
    literals: HashMap<u32, Vec<(Literal, Sets)>>,
}

/// A text in lowercase, which is looked for in any case.
#[derive(Debug, PartialEq, Eq)]
struct Literal {
    text: Vec<u8>,
    /// The index of its gram.
    gram: usize,
    /// Counts only at the beginning of a line.
    begins_line: bool,
}

/// Sets of literals, or those of which a line holds a literal. A line needs a literal of the first and of the second
/// set of one expression, a branch of a pattern. The n-th of all has bit n modulo 64 in both fields: two that share a
/// bit only let more lines through.
#[derive(Debug, Clone, Copy, Default)]
struct Sets {
    first: u64,
    second: u64,
}

/// Literals of which each match of an expression holds one, and how often their grams occur in the sample.
#[derive(Debug, Default)]
struct Needed {
    literals: Vec<Literal>,
    occurrences: u32,
}

/// How often each gram occurs in a sample, by its hash.
struct Counts(Vec<u32>);

impl Grams {
    /// Chooses the literals for expressions as `Pattern::for_literals` returns them (case is ignored, and no match
    /// holds a `\n`), by a sample of what will be searched. Returns None if that is no help: if an expression may match
    /// without a literal, or most of the sample would be found.
    pub(crate) fn new(expressions: impl Iterator<Item = Hir>, sample: &[u8]) -> Option<Self> {
        let counts = Counts::of(sample);
        let mut grams = Self {
            table: Box::new([0; HASHES / ENTRY]),
            literals: HashMap::new(),
        };
        let mut bit = 1;
        for expression in expressions {
            let branches = match expression.kind() {
                HirKind::Alternation(branches) => branches,
                _ => slice::from_ref(&expression),
            };
            for branch in branches {
                grams.add_branch(branch, &counts, bit)?;
                bit = bit.rotate_left(1);
            }
        }
        let found: usize = grams.lines(sample).iter().map(|line| line.len()).sum();
        if found > sample.len() / 2 {
            return None;
        }
        Some(grams)
    }

    /// Adds the literals of a branch of a pattern to the sets with this bit: those of its rarest part to the first, and
    /// those of the next rarest to the second if this pays off, else the same to both. Gaps separate the parts: what
    /// stands before a gap and behind it comes independently, so that one may be rare where the other is not. Returns
    /// None if the branch may match without a literal.
    fn add_branch(&mut self, branch: &Hir, counts: &Counts, bit: u64) -> Option<()> {
        let parts = match branch.kind() {
            HirKind::Concat(parts) => parts,
            _ => slice::from_ref(branch),
        };
        let sequences = parts.split(is_gap);
        let mut needed: Vec<Needed> = sequences
            .filter_map(|sequence| counts.needed_of_sequence(sequence))
            .collect();
        needed.sort_by_key(|needed| needed.occurrences);
        let mut rarest_first = needed.into_iter();
        let first = rarest_first.next()?;
        let of_first = Sets {
            first: bit,
            second: 0,
        };
        let of_second = Sets {
            first: 0,
            second: bit,
        };
        match rarest_first.next() {
            // Each occurrence of the second costs a comparison, but saves the search of most lines with the first.
            Some(second) if second.occurrences < first.occurrences.saturating_mul(LINE_COST) => {
                self.add(first, of_first);
                self.add(second, of_second);
            }
            // One set is enough.
            _ => self.add(first, of_first.with(of_second)),
        }
        Some(())
    }

    /// Adds literals to these sets, and sets the bits of their grams.
    fn add(&mut self, needed: Needed, sets: Sets) {
        for literal in needed.literals {
            let gram = gram_at(&literal.text, literal.gram);
            let hash = hash(gram);
            self.table[hash / ENTRY] |= 1 << (hash % ENTRY);
            let with_gram = self.literals.entry(gram).or_default();
            match with_gram.iter_mut().find(|(other, _)| *other == literal) {
                Some((_, other_sets)) => *other_sets = other_sets.with(sets),
                None => with_gram.push((literal, sets)),
            }
        }
    }

    /// Returns the lines in which an expression may match, without their endings. In any other line, none matches.
    pub(crate) fn lines<'a>(&self, text: &'a [u8]) -> Vec<&'a [u8]> {
        let mut lines = Vec::new();
        let mut line = 0..0;
        let mut held = Sets::default();
        let mut unread = 0;
        while let Some(found) = self.find(text, unread) {
            unread = found + 1;
            if found >= line.end {
                line = line_around(text, found);
                held = Sets::default();
            }
            held = held.with(self.sets_at(text, found));
            if held.first & held.second != 0 {
                // The rest of the line makes no difference any more.
                lines.push(&text[line.clone()]);
                unread = line.end;
            }
        }
        lines
    }

    /// Returns the index of the next gram from this byte on whose bit is set; None if there is none.
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut begin = from;
        while let Some(word) = text[begin..].first_chunk() {
            if self.has_gram_in(u64::from_le_bytes(*word) | CASE) {
                break;
            }
            begin += GRAMS_OF_WORD;
        }
        let end = (text.len() + 1).saturating_sub(GRAM);
        (begin..end).find(|index| self.has_gram(gram_at(text, *index)))
    }

    /// Returns true if the bit of one of the grams in these [`WORD`] bytes, the first of which is the lowest, is set.
    /// The caller has added [`CASE`]. All are looked up, as a branch for each would take longer.
    fn has_gram_in(&self, bytes: u64) -> bool {
        const { assert!(GRAMS_OF_WORD == 6) };
        self.has_gram(bytes as u32)
            | self.has_gram((bytes >> 8) as u32)
            | self.has_gram((bytes >> 16) as u32)
            | self.has_gram((bytes >> 24) as u32)
            | self.has_gram((bytes >> 32) as u32)
            | self.has_gram((bytes >> 40) as u32)
    }

    fn has_gram(&self, gram: u32) -> bool {
        let hash = hash(gram);
        self.table[hash / ENTRY] >> (hash % ENTRY) & 1 != 0
    }

    /// Returns the sets of the literals that the text has with their gram at this index; none if the gram only has the
    /// hash of one that is looked for, or stands in other text.
    fn sets_at(&self, text: &[u8], index: usize) -> Sets {
        let mut sets = Sets::default();
        if let Some(with_gram) = self.literals.get(&gram_at(text, index)) {
            for (literal, of_literal) in with_gram {
                if literal.stands_in(text, index) {
                    sets = sets.with(*of_literal);
                }
            }
        }
        sets
    }
}

impl Literal {
    /// Returns true if the text has this literal, with the literal's gram at this index.
    fn stands_in(&self, text: &[u8], gram_index: usize) -> bool {
        let Some(begin) = gram_index.checked_sub(self.gram) else {
            return false;
        };
        let Some(found) = text.get(begin..begin + self.text.len()) else {
            return false;
        };
        let is_in_place = !self.begins_line || begin == 0 || text[begin - 1] == b'\n';
        is_in_place && found.eq_ignore_ascii_case(&self.text)
    }
}

impl Sets {
    /// Returns the sets of both.
    fn with(self, other: Self) -> Self {
        Self {
            first: self.first | other.first,
            second: self.second | other.second,
        }
    }
}

impl Counts {
    /// Counts the grams of a sample.
    fn of(sample: &[u8]) -> Self {
        let mut counts = vec![0; HASHES];
        for index in 0..(sample.len() + 1).saturating_sub(GRAM) {
            counts[hash(gram_at(sample, index))] += 1;
        }
        Self(counts)
    }

    /// Returns the rarest literals of which each match of an expression without groups holds one. Returns None if it
    /// may match without a literal that is as long as a gram: a class has none, nor has what may be absent.
    fn needed(&self, expression: &Hir) -> Option<Needed> {
        match expression.kind() {
            HirKind::Literal(literal) => self.needed_of_literal(&literal.0, false),
            HirKind::Concat(parts) => self.needed_of_sequence(parts),
            HirKind::Alternation(branches) => {
                needed_of_all(branches.iter().map(|branch| self.needed(branch)))
            }
            HirKind::Repetition(repetition) if repetition.min > 0 => self.needed(&repetition.sub),
            _ => None,
        }
    }

    /// Returns the rarest literals of a sequence of parts: those of one part, or of neighbours. None if no part needs
    /// one.
    fn needed_of_sequence(&self, parts: &[Hir]) -> Option<Needed> {
        let of_neighbours = (0..parts.len()).map(|first| self.needed_of_begin(&parts[first..]));
        let of_parts = parts.iter().map(|part| self.needed(part));
        of_neighbours
            .chain(of_parts)
            .flatten()
            .min_by_key(|needed| needed.occurrences)
    }

    /// Returns the literals that a sequence of at least one part begins with: `: time`, `:time`, `> time` and `>time`
    /// of `[:>] ?time`. Returns None if it may begin with anything, or if these are too many or one too short.
    fn needed_of_begin(&self, parts: &[Hir]) -> Option<Needed> {
        let begins_line = *parts[0].kind() == HirKind::Look(Look::StartCRLF);
        let begin = Extractor::new()
            .limit_literal_len(LONGEST)
            .limit_total(MOST_OF_SEQUENCE)
            .extract(&Hir::concat(parts.to_vec()));
        let literals = begin.literals()?.iter();
        needed_of_all(
            literals.map(|literal| self.needed_of_literal(literal.as_bytes(), begins_line)),
        )
    }

    /// Returns a literal with its rarest gram. Returns None if it is shorter than a gram.
    fn needed_of_literal(&self, text: &[u8], begins_line: bool) -> Option<Needed> {
        let grams = 0..(text.len() + 1).saturating_sub(GRAM);
        let count = |index: &usize| self.0[hash(gram_at(text, *index))];
        let rarest = grams.min_by_key(count)?;
        Some(Needed {
            literals: vec![Literal {
                text: text.to_vec(),
                gram: rarest,
                begins_line,
            }],
            occurrences: count(&rarest),
        })
    }
}

/// Returns what an alternation of these branches needs: a literal of any of them. Returns None if a branch needs none.
/// Without branches, nothing matches, and nothing is looked for.
fn needed_of_all(branches: impl Iterator<Item = Option<Needed>>) -> Option<Needed> {
    let mut all = Needed::default();
    for branch in branches {
        let needed = branch?;
        all.literals.extend(needed.literals);
        all.occurrences = all.occurrences.saturating_add(needed.occurrences);
    }
    Some(all)
}

/// Returns true if characters of a class, without a limit on their number, stand in the place of this part, as for `.*`
/// or `\d+`. The answer only decides which literals are looked for, not whether all lines are found.
fn is_gap(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Repetition(repetition) => {
            repetition.max.is_none() && matches!(repetition.sub.kind(), HirKind::Class(_))
        }
        _ => false,
    }
}

/// Returns the line that has this byte, or that it ends, without its ending.
fn line_around(text: &[u8], index: usize) -> Range<usize> {
    let begin = memrchr(b'\n', &text[..index]).map_or(0, |line_end| line_end + 1);
    let end = memchr(b'\n', &text[index..]).map_or(text.len(), |length| index + length);
    begin..end
}

/// Returns the gram at this index, the same for both cases of a letter.
fn gram_at(text: &[u8], index: usize) -> u32 {
    u32::from_le_bytes([text[index], text[index + 1], text[index + 2], 0]) | CASE as u32
}

/// Returns the hash of the gram in the lower three bytes, as in Knuth's multiplicative hashing: the product has no bit
/// of the fourth, and its high bits depend on all others.
fn hash(gram: u32) -> usize {
    const GOLDEN_RATIO: u32 = 0x9e37_79b1;
    (gram.wrapping_mul(GOLDEN_RATIO << 8) >> (u32::BITS - HASH_BITS)) as usize
}

#[cfg(test)]
mod tests;
