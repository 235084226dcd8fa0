//! Variables whose values need each other: `a=$b` needs those of `b`. In a circle (`a=$b`, `b=$a`), the search would
//! never end: so a variable that is needed again gets one value that stands for the others. A value that is found with
//! it lacks those, and is not kept, except for that variable itself.

use std::collections::{BTreeMap, BTreeSet};

use super::value::Value;

/// Limit on variables in a chain, as each is found by a recursive call.
const DEEPEST: usize = 16;
/// Limit on the results that are thrown away before the chain ends, as circles through many variables have very many.
const MOST_INCOMPLETE: usize = 64;

/// The variables whose values are being found now, each for the one before it.
#[derive(Debug, Default)]
pub(super) struct Chain {
    names: Vec<String>,
    /// Index in `names` of the first variable that it or a later one needs. The values found for those behind it lack
    /// its values.
    needed_again: Option<usize>,
    /// The value of a variable while a word is expanded that makes a new value of it.
    held: BTreeMap<String, Value>,
    /// Variables of the chain for which any words stood where their own values were needed.
    changed: BTreeSet<String>,
    /// Number of results that were not complete since the chain was empty.
    incomplete: usize,
}

/// Says if the values of a variable can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    New,
    /// They are being found already.
    Circle,
    /// A limit is reached.
    TooFar,
}

/// Says if the values that were found for a variable are all that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    All,
    /// Those of a variable that is earlier in the chain are missing. Must not be kept.
    Part,
}

impl Chain {
    /// Begins to find the values of a variable. After [`Link::New`], `end` has to follow; after any other, it must not.
    /// A circle is remembered until the search for its variable ends.
    pub(super) fn begin(&mut self, name: &str) -> Link {
        if let Some(index) = self.names.iter().position(|pending| pending == name) {
            let first = self.needed_again.map_or(index, |first| first.min(index));
            self.needed_again = Some(first);
            return Link::Circle;
        }
        if self.names.len() >= DEEPEST || self.incomplete > MOST_INCOMPLETE {
            return Link::TooFar;
        }
        self.names.push(name.to_owned());
        Link::New
    }

    /// Gives a variable of the chain this value until `let_go`, while a word is expanded that makes a new value of it
    /// (`"$name x"`, `${name#x}`).
    pub(super) fn hold(&mut self, name: &str, value: Value) {
        self.held.insert(name.to_owned(), value);
    }

    pub(super) fn let_go(&mut self, name: &str) {
        self.held.remove(name);
    }

    pub(super) fn held(&self, name: &str) -> Option<Value> {
        self.held.get(name).cloned()
    }

    /// Notes that a variable of the chain is made of its own values, for which any words stand.
    pub(super) fn note_changed(&mut self, name: &str) {
        self.changed.insert(name.to_owned());
    }

    /// Returns true if this was noted for a variable, and forgets it.
    pub(super) fn take_changed(&mut self, name: &str) -> bool {
        self.changed.remove(name)
    }

    /// Ends the search for the last variable that was begun, and tells if its values may be kept.
    pub(super) fn end(&mut self) -> Found {
        self.names.pop();
        let index = self.names.len();
        if self.needed_again.is_some_and(|first| first < index) {
            self.incomplete += 1;
            return Found::Part;
        }
        self.needed_again = None;
        if self.names.is_empty() {
            self.incomplete = 0;
        }
        Found::All
    }
}
