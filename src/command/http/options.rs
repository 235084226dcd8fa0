//! The effect of the options of a client (curl or wget) on its request, and the values that they take. Without knowing
//! which options take the next word, a reader would take a value for an option, or the other way round.

/// The effect of an option on the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionRole {
    /// Names the method.
    Method,
    /// Makes the request a POST unless a method is given, or `-G` makes it a GET.
    Data,
    /// Makes the request a POST unless a method is given, even with `-G`.
    Form,
    /// Makes the request a PUT over HTTP. Over other protocols it may append.
    Upload,
    /// Works only over another protocol than HTTP, which an upload then probably uses: `-a` appends to a file.
    NotHttp,
    /// Puts data into the URL of a GET: `-G`.
    Get,
    /// Takes `-G` back.
    NoGet,
    Header,
    /// Reads further options, commands or URLs from elsewhere, or begins another request.
    Hides,
    /// Makes further requests: a redirect, a retry.
    Repeats,
    /// Prints no error messages.
    Silent,
    /// Prints error messages in spite of `Silent`.
    ShowsErrors,
    /// Does not change whether the request may be repeated.
    Plain,
}

/// How the names of an option in the tables are compared with a name in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Exact,
    /// Longer names count, too: `--data` stands for `--data-binary` as well.
    Beginning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// The option is an abbreviation that may stand for one with a value or for one without.
    MayBeValue,
}

/// The meaning of an option's name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meaning {
    pub(super) role: OptionRole,
    pub(super) takes: Takes,
}

/// A row in the table of a client: one option, or several of the same meaning.
#[derive(Debug)]
pub(super) struct ClientOption {
    names: &'static [&'static str],
    spelling: Spelling,
    meaning: Meaning,
}

/// Returns the row of an option with these names. A longer name is another option, while an abbreviation of a long name
/// is this one.
pub(super) const fn exactly(
    names: &'static [&'static str],
    takes: Takes,
    role: OptionRole,
) -> ClientOption {
    ClientOption {
        names,
        spelling: Spelling::Exact,
        meaning: Meaning { role, takes },
    }
}

/// Returns the row of all options with a value whose name begins with one of these: `--data` is `--data-binary`, too.
pub(super) const fn beginning(names: &'static [&'static str], role: OptionRole) -> ClientOption {
    ClientOption {
        names,
        spelling: Spelling::Beginning,
        meaning: Meaning {
            role,
            takes: Takes::Value,
        },
    }
}

/// An HTTP client. Options that stand in no table take no value and do not change the request.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// Options that matter here, and some that keep their name from counting as short for another (`--head` for
    /// `--header`). The first row that an abbreviation fits counts, so that the one that makes a call less safe has to
    /// stand before the other.
    pub(super) options: &'static [ClientOption],
    /// Long names of further options that take a value.
    pub(super) with_value: &'static [&'static str],
    /// Letters of further options that take a value.
    pub(super) letters_with_value: &'static str,
}

impl Client {
    /// Returns the effect of an option on the request, and if it takes a value. `option` is its name as it is given,
    /// without a value: `-d`, `--data`, or cut short (`--dat`). An option that stands in no table has no effect and
    /// takes no value.
    pub(super) fn meaning(&self, option: &str) -> Meaning {
        match long_name(option) {
            Some(long) => self.meaning_of_long(&long),
            None => self.meaning_of_letter(option),
        }
    }

    /// Returns the meaning of an option of one letter, such as `-d`. One that stands in no table takes no value and
    /// does not change the request.
    fn meaning_of_letter(&self, option: &str) -> Meaning {
        if let Some(row) = self.options.iter().find(|row| row.names.contains(&option)) {
            return row.meaning;
        }
        match option.chars().nth(1) {
            Some(letter) if self.letters_with_value.contains(letter) => plain(Takes::Value),
            _ => plain(Takes::Nothing),
        }
    }

    /// Returns the meaning of a long option. Both clients accept an unambiguous abbreviation of a name, so that a name
    /// that stands in no table may be short for one that does: then the option has the effect of the first row that
    /// fits, to be safe. It certainly takes a value only if the row says so and no name in `with_value` fits: else it
    /// may be short for more than one option. `long` begins with `--`, in small letters ([`long_name`]).
    fn meaning_of_long(&self, long: &str) -> Meaning {
        if let Some(row) = self.options.iter().find(|row| row.names.contains(&long)) {
            return row.meaning;
        }
        if self.with_value.contains(&long) {
            return plain(Takes::Value);
        }
        let may_take_value = self
            .with_value
            .iter()
            .any(|name| is_abbreviation(long, name));
        match self.options.iter().find(|row| row.may_be(long)) {
            Some(row) if may_take_value || row.meaning.takes == Takes::Nothing => Meaning {
                role: row.meaning.role,
                takes: Takes::MayBeValue,
            },
            Some(row) => row.meaning,
            None if may_take_value => plain(Takes::MayBeValue),
            None => plain(Takes::Nothing),
        }
    }
}

/// Returns the meaning of an option that does not change the request.
fn plain(takes: Takes) -> Meaning {
    Meaning {
        role: OptionRole::Plain,
        takes,
    }
}

impl ClientOption {
    /// Returns true if a long name may mean this option: as an abbreviation of one of its names, or as a longer name in
    /// a row made by [`beginning`].
    fn may_be(&self, long: &str) -> bool {
        let mut long_names = self.names.iter().filter(|name| name.starts_with("--"));
        long_names.any(|name| {
            let is_longer = self.spelling == Spelling::Beginning && long.starts_with(name);
            is_longer || is_abbreviation(long, name)
        })
    }
}

/// Returns the name of a long option as the tables spell it: in small letters, as old versions of curl ignore case, and
/// without `expand-`, as `--expand-data` is `--data` with variables. Returns None for the option of a letter (`-d`).
fn long_name(option: &str) -> Option<String> {
    option.strip_prefix("--")?;
    Some(option.to_ascii_lowercase().replacen("--expand-", "--", 1))
}

/// Returns true if `option` may be short for `name`, or is that name. An abbreviation of one letter, behind the two
/// dashes, would be ambiguous.
fn is_abbreviation(option: &str, name: &str) -> bool {
    option.len() > 3 && name.starts_with(option)
}
