//! Variables of all scripts of a command, and the values that each may have.
//!
//! The order of commands does not count: a variable may hold what it has in backoff's environment, or what any
//! assignment in any script gives it. So the values are a list that is never too short: a value more costs a retry at
//! worst, while one that is missing may hide an option that sends data. Only of additions, which make a new value of
//! the earlier one (`+=`, `name=${name#word}`), not each combination is tried (see `additions`).
//!
//! A frame holds the arguments and the environment that a script gets from the program that runs it.

mod additions;
mod arguments;
mod assignments;
mod chain;
mod directories;
mod frame;
mod functions;
mod inherited;
mod reads;
pub(crate) mod value;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::chain::{Chain, Found, Link};
pub(crate) use self::frame::{Frame, Inherited};
use self::functions::{FunctionArguments, FunctionCall};
pub(crate) use self::value::MOST_VALUES;
use self::value::{Value, add_new, summary};
use super::Surroundings;
use super::expansion::atoms::Atom;
use super::syntax::RawWord;
use super::text::{Doubt, Symbols, unknown, unknown_words};
use super::word::Word;

/// Limit on the symbols of a value, or of a word that is expanded: a longer one is not looked at, and counts as
/// unknown.
pub(crate) const LONGEST_TEXT: usize = 1 << 16;

/// A word that gives values to a variable: the right side of an assignment, a word of a loop, or the like.
#[derive(Debug)]
struct AssignedWord {
    word: RawWord,
    assigning: Assigning,
    /// The frame of the script with the assignment.
    frame: Rc<Frame>,
}

/// Characters at which a shell may split words, as scripts set `IFS`; each variant allows more than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Separators {
    Blanks,
    /// Some of the blanks, such as `IFS=$'\n\t'` in the strict mode of many scripts, or all of them, or none (`IFS=`).
    SomeBlanks,
    Any,
}

/// The values that a variable may have before a script adds to it.
struct Starts {
    inherited: Vec<Value>,
    /// Those by an assignment in a script, or by unknown code.
    assigned: Vec<Value>,
}

/// The directory of a script file.
struct DirectoryOfScript {
    path: String,
    /// `cd` is followed from here. Not from one that is probably known by another name, as `dir/..` is: in a script
    /// there, `cd dir` would find the same script in `dir/../dir/..`, and so on.
    is_start: bool,
}

/// How a word gives values to a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Assigning {
    /// `name=word`
    Whole,
    /// Each word that it becomes: `for name in word`.
    Words,
    /// `name+=(words)` or `name+=" words"`
    Adds,
    /// `name=("${name[@]}" words)` or `name="$name words"`
    Repeats,
    /// `name=${name:-word}`, or `name=$name`
    Defaults,
    /// `name=${name#word}`, `name=${name/old/new}`
    Cuts,
}

impl Assigning {
    /// Returns true if the new value is made of the earlier one, even if nothing is added ([`Assigning::Cuts`]).
    fn changes_earlier_value(self) -> bool {
        self.adds_words() || matches!(self, Assigning::Defaults | Assigning::Cuts)
    }

    /// Returns true if the new value has further words beside the earlier ones.
    fn adds_words(self) -> bool {
        matches!(self, Assigning::Adds | Assigning::Repeats)
    }
}

/// The changes that scripts make to a variable.
#[derive(Debug, Default)]
struct ScriptVariable {
    /// The words that are assigned, or of which an addition makes a value, in the order in which they were read.
    assigned: Vec<AssignedWord>,
    /// Further values that the variable may hold.
    others: BTreeSet<OtherValue>,
}

/// A value of a variable that is not assigned as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum OtherValue {
    /// A number: arithmetic sets it.
    Number,
    /// Any words, which in quotes are trusted to be no option.
    Trusted,
    /// An argument of the script or of a function, of which only counts if it may be an option.
    Argument,
    /// A value that is made of the assigned ones, by `+=` or `declare -u`. It is an option if one of them is.
    Changed,
    /// Any value, an option as well if scripts split words at other signs than blanks.
    OptionBehindSign,
    /// Any value, an option as well, even in quotes. But there it is one word.
    Option,
}

/// Expands words. Values of variables need expansions, and these need values: by this trait, `scope` calls the module
/// `expansion`, which imports it. `frame` is that of the script in which the words stand. If there would be too many
/// results, unknown ones stand for them. Only the result of `loop_values` may be empty.
pub(crate) trait Expand {
    /// Returns the lists of words that a command may consist of: one for each combination of the values that its
    /// variables may have.
    fn commands(&self, scope: &Scope<'_>, words: &[RawWord], frame: &Frame) -> Vec<Vec<Word>>;

    /// Returns the values that an assignment with this right side may give to a variable, one for each combination of
    /// the values in it. The word is not split, but those of an array are: `name=(...)` gives a single list of words.
    fn assigned(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value>;

    /// Returns the values that a loop over this word may give to its variable.
    fn loop_values(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Value>;

    /// Returns the parts of a word before it is split into words at blanks: one list for each combination of values.
    fn atoms(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Vec<Atom>>;

    /// Returns the texts that a word may be where it is not split, one for each combination of values: on the right of
    /// an assignment, in quotes, or as an input.
    fn texts(&self, scope: &Scope<'_>, word: &RawWord, frame: &Frame) -> Vec<Symbols>;
}

/// The variables, arguments and functions of all scripts.
pub(crate) struct Scope<'s> {
    pub(crate) expand: &'s dyn Expand,
    surroundings: &'s dyn Surroundings,
    variables: BTreeMap<String, ScriptVariable>,
    /// Unknown code runs, which may set any variable.
    has_unknown_code: bool,
    /// The characters at which shells split words.
    pub(crate) separators: Separators,
    /// `set` or `shift` changes `$1`, so that the arguments of all scripts and functions are unknown.
    changes_arguments: bool,
    /// A literal word that begins with `-` may become `$1`. An unknown argument is then not trusted, even in quotes.
    may_pass_options: bool,
    /// Commands that may call a function, or set the arguments by `set`.
    function_calls: Vec<FunctionCall>,
    /// The arguments of `function_calls`, as they are expanded only when a script uses `$1`.
    function_arguments: RefCell<FunctionArguments>,
    /// Names of functions in scripts; empty for one with an unknown name, which may be any.
    functions: BTreeSet<String>,
    /// Those of `functions` that may do more with their arguments than print them.
    using_functions: BTreeSet<String>,
    /// Directories to which `cd` may go, some of them below others; without `.` in them.
    directories: Vec<String>,
    /// Those of script files, in which `cd` may begin.
    directories_of_scripts: Vec<DirectoryOfScript>,
    /// `cd` may go to any other directory, too.
    has_unknown_directory: bool,
    /// Values of variables that were found before. Whatever may give a variable a further value has to clear them.
    cached_values: RefCell<BTreeMap<(String, Inherited), Vec<Value>>>,
    /// Variables whose values are being found now.
    chain: RefCell<Chain>,
}

impl<'s> Scope<'s> {
    /// Returns the scope of a command before any of its scripts was read: only the environment has values.
    pub(crate) fn new(expand: &'s dyn Expand, surroundings: &'s dyn Surroundings) -> Scope<'s> {
        Scope {
            expand,
            surroundings,
            variables: BTreeMap::new(),
            has_unknown_code: false,
            separators: Separators::Blanks,
            changes_arguments: false,
            may_pass_options: false,
            function_calls: Vec::new(),
            function_arguments: RefCell::default(),
            functions: BTreeSet::new(),
            using_functions: BTreeSet::new(),
            directories: Vec::new(),
            directories_of_scripts: Vec::new(),
            has_unknown_directory: false,
            cached_values: RefCell::default(),
            chain: RefCell::default(),
        }
    }

    /// Allows for code that cannot be read, and may assign: from now on, each variable may have any value beside its
    /// own. It is up to the caller to have earlier commands read again: arguments of functions that were found before
    /// stay until then.
    pub(crate) fn allow_unknown_code(&mut self) {
        self.has_unknown_code = true;
        self.cached_values.borrow_mut().clear();
    }

    pub(crate) fn has_unknown_code(&self) -> bool {
        self.has_unknown_code
    }

    /// Returns the values that a parameter may have, at least one: a variable, an argument such as `1`, or all
    /// arguments (`@`, `*`). Keeps those of a variable, as scripts use it often, unless some of them are missing
    /// ([`Found::Part`]). A variable that needs its own value (`A=$A:x`) has a single one meanwhile: the one that an
    /// addition changes just then, or any words; then an `AnyPart` joins its values if one of them may hold an option.
    /// One at the end of a long chain of variables, or behind many circles, is not looked up, and may be an option.
    /// `frame` is that of the script that uses it.
    pub(crate) fn values(&self, name: &str, frame: &Frame) -> Vec<Value> {
        if name.chars().all(|c| c.is_ascii_digit()) || name == "@" || name == "*" {
            return self.arguments(name, frame);
        }
        // Nothing else of the frame matters: assigned words are expanded in the frames of their own scripts.
        let key = (name.to_owned(), frame.environment);
        if let Some(values) = self.cached_values.borrow().get(&key) {
            return values.clone();
        }
        let link = self.chain.borrow_mut().begin(name);
        match link {
            Link::New => {}
            // Any words are enough here: the search that has begun for this variable returns its other values, too.
            Link::Circle => {
                if let Some(held) = self.chain.borrow().held(name) {
                    return vec![held];
                }
                self.chain.borrow_mut().note_changed(name);
                return vec![Value::Text(unknown(Doubt::AnyWords))];
            }
            Link::TooFar => return vec![Value::Text(unknown(Doubt::AnyPart))],
        }
        let mut values = self.values_of_variable(name, frame);
        // `x=-` and `x=("${x}d")`, or `x="a -d"` and `for x in $x`.
        let is_changed = self.chain.borrow_mut().take_changed(name);
        if is_changed && values.iter().any(Value::may_split_into_option) {
            add_new(&mut values, Value::Text(unknown(Doubt::AnyPart)));
        }
        if self.chain.borrow_mut().end() == Found::All {
            self.cached_values.borrow_mut().insert(key, values.clone());
        }
        values
    }

    /// Returns the values that a variable may have by an assignment in any script or in the environment, each once.
    /// If its additions ([`Assigning::changes_earlier_value`]) make too many, or ones that cannot be told, unknown
    /// values stand for all. `frame` tells how much of the environment the script has that uses the variable.
    fn values_of_variable(&self, name: &str, frame: &Frame) -> Vec<Value> {
        let inherited = self.inherited(name, frame).into_iter().map(Value::Text);
        let mut starts = Starts {
            inherited: inherited.collect(),
            assigned: Vec::new(),
        };
        let mut additions = Vec::new();
        if let Some(variable) = self.variables.get(name) {
            let words = variable.assigned.iter();
            additions.extend(words.filter(|assigned| assigned.assigning.changes_earlier_value()));
            starts.assigned = self.values_without_additions(variable);
        }
        if self.has_unknown_code {
            add_new(&mut starts.assigned, Value::Text(unknown(Doubt::AnyWords)));
        }
        if let Some(values) = self.values_with_additions(name, &starts, &additions) {
            return values;
        }
        // Too many, or one that cannot be told: the summary returns only unknown values. The one that is pushed keeps
        // them from counting as harmless. The added words may bring an option, also behind a blank, as the result may
        // be split or cut later.
        let mut values = [starts.assigned, starts.inherited].concat();
        for AssignedWord { word, frame, .. } in additions {
            values.extend(self.expand.assigned(self, word, frame));
        }
        let may_hold_option = values.iter().any(Value::may_split_into_option);
        values.push(Value::Text(unknown_words(may_hold_option)));
        summary(&values)
    }

    /// Returns the values that scripts assign to a variable, each once, or unknown ones that stand for too many.
    /// Additions are left out: they are made to these values later. If there are more values than the limit, it only
    /// matters whether all are plain words, which of them mention a client, and whether one may be an option: so beyond
    /// it, further plain words are left out, and the search ends once an option is among the values.
    fn values_without_additions(&self, variable: &ScriptVariable) -> Vec<Value> {
        let mut values = Vec::new();
        for assigned in &variable.assigned {
            let AssignedWord { word, frame, .. } = assigned;
            let assigned_values = match assigned.assigning {
                Assigning::Whole => self.expand.assigned(self, word, frame),
                Assigning::Words => self.expand.loop_values(self, word, frame),
                Assigning::Adds | Assigning::Repeats | Assigning::Defaults | Assigning::Cuts => {
                    Vec::new()
                }
            };
            for value in assigned_values {
                // Beyond the limit, a further plain word changes nothing, while any other value does.
                let may_matter = !value.is_plain_word() || value.mentions_client();
                if values.len() <= MOST_VALUES || may_matter {
                    add_new(&mut values, value);
                }
            }
            let is_decided = values.iter().any(Value::may_hold_option);
            if values.len() > MOST_VALUES && is_decided {
                break;
            }
        }
        for other in &variable.others {
            let doubt = self.doubt_of_other(*other);
            add_new(&mut values, Value::Text(unknown(doubt)));
        }
        let is_changed = variable.others.contains(&OtherValue::Changed);
        if is_changed && values.iter().any(Value::may_hold_option) {
            add_new(&mut values, Value::Text(unknown(Doubt::AnyPart)));
        }
        if values.len() > MOST_VALUES {
            return summary(&values);
        }
        values
    }

    /// Returns what the unknown part may be that stands for a value of this kind.
    fn doubt_of_other(&self, other: OtherValue) -> Doubt {
        match other {
            OtherValue::Number => Doubt::HarmlessPart,
            OtherValue::Trusted | OtherValue::Changed => Doubt::AnyWords,
            OtherValue::Argument => self.doubt_of_arguments(),
            OtherValue::OptionBehindSign if self.separators < Separators::Any => Doubt::AnyWords,
            OtherValue::OptionBehindSign | OtherValue::Option => Doubt::AnyPart,
        }
    }

    /// Returns true if a script may define a function of this name. A function of an unknown name may have any.
    pub(crate) fn may_be_function(&self, name: &str) -> bool {
        self.functions.contains(name) || self.functions.contains("")
    }

    /// Returns the definition of a function that bash has exported to the environment (`export -f`), as a script that
    /// can be read; None if there is no such function. It is taken from backoff's environment, whatever a script has of
    /// that.
    pub(crate) fn exported_function(&self, name: &str) -> Option<String> {
        // Bash exports it as `() { commands; }`.
        let body = self.surroundings.variable(&format!("BASH_FUNC_{name}%%"))?;
        Some(format!("{name} {body}"))
    }
}
