//! Sifts many expressions by the literals that a line holds.
//!
//! An expression becomes a tree with its literals as leaves. In a line without `refused`, a branch that needs this word
//! is dropped, and the expression if each of its branches needs a word that is not there. The rest matches in this
//! line what the whole expression matches, but is small, so that it is built in a fraction of the time. One automaton
//! finds the literals of all expressions, whatever their case.
//!
//! `patterns` builds it, only for presets; the scanner calls it for each of the first lines of a stream, in place of
//! the engine, and later for each line that the engine finds, to choose the patterns to try.

use std::collections::HashMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::pattern::{
    Lists, Pattern, engine_for_line, ignoring_case, name_of_list, parse_known, with_lists,
};

/// Fewest bytes of a literal that is looked for, as a shorter one is in too many lines.
const SHORTEST: usize = 3;
/// Bytes of a longer literal that are looked for: its beginning is rare enough.
const LONGEST: usize = 12;

/// Most expressions that [`Built`] keeps, as each takes memory.
const MOST_KEPT: usize = 64;

/// All expressions, and an automaton for their literals.
#[derive(Debug)]
pub(super) struct Sieve {
    literals: AhoCorasick,
    /// One for each pattern.
    trees: Vec<Tree>,
    /// For each literal the patterns that it is in, sorted.
    patterns_of: Vec<Vec<usize>>,
    /// The patterns that may match in a line without any literal.
    without_literals: Vec<usize>,
}

/// An expression with its literals as leaves.
#[derive(Debug)]
struct Tree {
    top: Node,
    /// The numbers of its literals, sorted.
    literals: Vec<usize>,
    /// The expression is one of the program's own, and has to get both cases of each letter when it is built.
    ignores_case: bool,
}

#[derive(Debug)]
enum Node {
    /// Needs no literal.
    NeedsNothing(Hir),
    /// Needs the literal of this number.
    Literal(Hir, usize),
    /// A sequence: needs what all of its parts need.
    All(Vec<Node>),
    /// An alternation: needs what one of its branches needs.
    Any(Vec<Node>),
    /// A repetition of once or more, and the node of what is repeated: needs what this node needs.
    Repeated(Repetition, Box<Node>),
    /// A list that many expressions share.
    List(Arc<Node>),
}

/// Builds the trees, and numbers the literals in them.
#[derive(Default)]
struct TreeBuilder {
    /// The numbers of literals, in lowercase.
    numbers: HashMap<Vec<u8>, usize>,
    /// By name, as all patterns of a run get their lists from the same function.
    lists: HashMap<String, Arc<Node>>,
}

impl Sieve {
    /// Builds the trees of all patterns, and the automaton that finds their literals. Returns None if there are too
    /// many literals for one.
    pub(super) fn new(patterns: &[Pattern]) -> Option<Self> {
        let mut builder = TreeBuilder::default();
        let trees: Vec<Tree> = patterns
            .iter()
            .map(|pattern| builder.build_tree(pattern))
            .collect();
        let mut patterns_of = vec![Vec::new(); builder.numbers.len()];
        for (index, tree) in trees.iter().enumerate() {
            for literal in &tree.literals {
                patterns_of[*literal].push(index);
            }
        }
        let without_literals = (0..trees.len())
            .filter(|index| trees[*index].top.may_match(&[]))
            .collect();
        let mut texts: Vec<(Vec<u8>, usize)> = builder.numbers.into_iter().collect();
        // The automaton numbers the literals in this order.
        texts.sort_unstable_by_key(|(_, number)| *number);
        let literals = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            // This kind, without a prefilter, is built soonest.
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .prefilter(false)
            .build(texts.iter().map(|(text, _)| text))
            .ok()?;
        Some(Self {
            literals,
            trees,
            patterns_of,
            without_literals,
        })
    }

    /// Returns the numbers of the literals in a text, in any case, sorted, each once. The trees are then asked what can
    /// match with these.
    pub(super) fn literals(&self, text: &[u8]) -> Vec<usize> {
        let found = self.literals.find_overlapping_iter(text);
        let mut numbers: Vec<usize> = found.map(|found| found.pattern().as_usize()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the patterns that may match in a line with these literals: those that have one of them, and those that
    /// need none. Sorted, each once. A few of them may need more literals than the line has.
    pub(super) fn patterns(&self, literals: &[usize]) -> Vec<usize> {
        let of_literals = literals
            .iter()
            .flat_map(|number| &self.patterns_of[*number]);
        let mut patterns: Vec<usize> = self
            .without_literals
            .iter()
            .chain(of_literals)
            .copied()
            .collect();
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }
}

impl TreeBuilder {
    /// Builds the tree of a pattern, and numbers the literals that no earlier pattern has.
    fn build_tree(&mut self, pattern: &Pattern) -> Tree {
        let top = self.build_node(pattern.written(), pattern.lists());
        let mut literals = Vec::new();
        top.add_literals(&mut literals);
        literals.sort_unstable();
        literals.dedup();
        Tree {
            top,
            literals,
            // The parser has followed `(?i)` in an expression of the user.
            ignores_case: pattern.lists().is_some(),
        }
    }

    /// Builds the node of a part of an expression. `lists` has those that it may name; None for an expression of the
    /// user. An optional part (`x*`) needs no literal, nor does a class or an assertion.
    fn build_node(&mut self, hir: &Hir, lists: Option<Lists>) -> Node {
        match hir.kind() {
            HirKind::Literal(literal) => self.build_literal(hir.clone(), &literal.0),
            HirKind::Capture(group) => match (name_of_list(group), lists) {
                (Some(name), Some(lists)) => Node::List(self.shared_list(name, lists)),
                _ => self.build_node(&group.sub, lists),
            },
            HirKind::Concat(parts) => self.build_sequence(parts, lists),
            HirKind::Alternation(parts) => Node::Any(
                parts
                    .iter()
                    .map(|part| self.build_node(part, lists))
                    .collect(),
            ),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                let sub = self.build_node(&repetition.sub, lists);
                Node::Repeated(repetition.clone(), Box::new(sub))
            }
            _ => Node::NeedsNothing(match lists {
                Some(lists) => with_lists(hir, lists),
                None => hir.clone(),
            }),
        }
    }

    /// Returns the node of a list, which is built once for all expressions that name it: most of them share a few long
    /// lists.
    fn shared_list(&mut self, name: &str, lists: Lists) -> Arc<Node> {
        if let Some(node) = self.lists.get(name) {
            return Arc::clone(node);
        }
        let node = Arc::new(self.build_node(&parse_known(&lists(name)), Some(lists)));
        self.lists.insert(name.to_owned(), Arc::clone(&node));
        node
    }

    /// Returns the node of a literal, and gives its text a number, or takes the one that it has. `text` is what `hir`
    /// matches, in some case. A short literal is in too many lines to sift by it, and counts as needing nothing.
    fn build_literal(&mut self, hir: Hir, text: &[u8]) -> Node {
        if text.len() < SHORTEST {
            return Node::NeedsNothing(hir);
        }
        let text = text[..text.len().min(LONGEST)].to_ascii_lowercase();
        let next = self.numbers.len();
        Node::Literal(hir, *self.numbers.entry(text).or_insert(next))
    }

    /// Builds the node of a sequence. Neighbours that are literals are joined to one: in an expression that ignores
    /// case, each letter is a part of its own, and too short to sift by it. `lists` is as in `build_node`.
    fn build_sequence(&mut self, parts: &[Hir], lists: Option<Lists>) -> Node {
        let mut nodes = Vec::new();
        let mut remaining = parts;
        while !remaining.is_empty() {
            let letters: Vec<Vec<u8>> = remaining.iter().map_while(lowercase_literal).collect();
            if letters.is_empty() {
                nodes.push(self.build_node(&remaining[0], lists));
                remaining = &remaining[1..];
                continue;
            }
            let (joined, after) = remaining.split_at(letters.len());
            nodes.push(self.build_literal(Hir::concat(joined.to_vec()), &letters.concat()));
            remaining = after;
        }
        Node::All(nodes)
    }
}

impl Tree {
    /// Builds an engine for the part of the expression that may match in a line with these literals, which is smaller
    /// and built sooner. Returns None if no part may match, or if the engine would be too large.
    fn build(&self, literals: &[usize]) -> Option<Regex> {
        let part = self.top.part_that_may_match(literals)?;
        if self.ignores_case {
            engine_for_line(&ignoring_case(&part))
        } else {
            engine_for_line(&part)
        }
    }
}

impl Node {
    /// Appends the numbers of the literals in this node and below it. Some are appended twice, and none is sorted: the
    /// caller does that.
    fn add_literals(&self, numbers: &mut Vec<usize>) {
        match self {
            Self::NeedsNothing(_) => {}
            Self::Literal(_, number) => numbers.push(*number),
            Self::All(nodes) | Self::Any(nodes) => {
                nodes.iter().for_each(|node| node.add_literals(numbers));
            }
            Self::Repeated(_, node) => node.add_literals(numbers),
            Self::List(node) => node.add_literals(numbers),
        }
    }

    /// Returns true if the expression of this node may match in a line with these literals and no others. `literals`
    /// are sorted numbers. False is certain.
    fn may_match(&self, literals: &[usize]) -> bool {
        match self {
            Self::NeedsNothing(_) => true,
            Self::Literal(_, number) => literals.binary_search(number).is_ok(),
            Self::All(nodes) => nodes.iter().all(|node| node.may_match(literals)),
            Self::Any(nodes) => nodes.iter().any(|node| node.may_match(literals)),
            Self::Repeated(_, node) => node.may_match(literals),
            Self::List(node) => node.may_match(literals),
        }
    }

    /// Returns the part of this node's expression that may match in a line with these literals: branches that need
    /// others are left out. Returns None if nothing is left, because each branch or a part of a sequence needs others.
    fn part_that_may_match(&self, literals: &[usize]) -> Option<Hir> {
        let part_of = |node: &Node| node.part_that_may_match(literals);
        match self {
            Self::NeedsNothing(hir) => Some(hir.clone()),
            Self::Literal(hir, _) if self.may_match(literals) => Some(hir.clone()),
            Self::Literal(..) => None,
            Self::All(nodes) => {
                // None if any part is None.
                let parts: Option<Vec<Hir>> = nodes.iter().map(part_of).collect();
                parts.map(Hir::concat)
            }
            Self::Any(nodes) => {
                let branches: Vec<Hir> = nodes.iter().filter_map(part_of).collect();
                if branches.is_empty() {
                    return None;
                }
                Some(Hir::alternation(branches))
            }
            Self::Repeated(repetition, node) => Some(Hir::repetition(Repetition {
                sub: Box::new(part_of(node)?),
                ..repetition.clone()
            })),
            Self::List(node) => part_of(node),
        }
    }
}

/// Returns the text in lowercase that an expression matches, if it is a literal, or a class of both cases of a letter,
/// as the parser makes of a letter if case is ignored. Returns None for any other expression, and for such a class of
/// Unicode: its letter is then not looked for, which only costs time.
fn lowercase_literal(hir: &Hir) -> Option<Vec<u8>> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Bytes(class)) => match class.ranges() {
            [upper, lower]
                if upper.start() == upper.end()
                    && lower.start() == lower.end()
                    && upper.start().is_ascii_uppercase()
                    && upper.start().to_ascii_lowercase() == lower.start() =>
            {
                Some(vec![lower.start()])
            }
            _ => None,
        },
        _ => None,
    }
}

/// The expressions that were built for the lines of one stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Built {
    /// The key is a pattern, and those of its literals that the line had.
    kept: HashMap<(usize, Vec<usize>), Option<Regex>>,
    /// How many were ever built, those that are no longer kept included.
    count: usize,
}

impl Built {
    /// Returns how many expressions were built so far: beyond some, an engine for all patterns is the better choice.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns an engine for the part of a pattern that may match in a line with these literals; None if no part can,
    /// or the engine would be too large. It is built unless one is kept for this pattern and those of its literals that
    /// the line has. If too many are kept, all of them are dropped before.
    pub(super) fn regex(
        &mut self,
        sieve: &Sieve,
        pattern: usize,
        literals: &[usize],
    ) -> Option<&Regex> {
        let tree = &sieve.trees[pattern];
        if !tree.top.may_match(literals) {
            return None;
        }
        // Literals of other patterns make no difference.
        let is_of_pattern = |number: &&usize| tree.literals.binary_search(number).is_ok();
        let own_literals = literals.iter().filter(is_of_pattern).copied().collect();
        let key = (pattern, own_literals);
        if self.kept.len() >= MOST_KEPT && !self.kept.contains_key(&key) {
            self.kept.clear();
        }
        let count = &mut self.count;
        let kept = self.kept.entry(key).or_insert_with_key(|key| {
            let (_, own_literals) = key;
            *count += 1;
            tree.build(own_literals)
        });
        kept.as_ref()
    }
}
