//! Command lines in one string, split as a shell splits them, without expansion.

/// Words of a command line. A string is a line of words; each element of a list is one word.
pub trait Words {
    fn words(&self) -> Vec<String>;

    /// Returns the value as one word.
    fn word(&self) -> String;
}

impl Words for str {
    #[track_caller]
    fn words(&self) -> Vec<String> {
        shlex::split(self).unwrap_or_else(|| panic!("a quote is left open: {self}"))
    }

    fn word(&self) -> String {
        self.to_owned()
    }
}

impl Words for String {
    #[track_caller]
    fn words(&self) -> Vec<String> {
        self.as_str().words()
    }

    fn word(&self) -> String {
        self.clone()
    }
}

impl<T: Words> Words for [T] {
    fn words(&self) -> Vec<String> {
        self.iter().map(Words::word).collect()
    }

    #[track_caller]
    fn word(&self) -> String {
        panic!("a list is no word, but {{..}}: {:?}", self.words());
    }
}

impl<T: Words, const N: usize> Words for [T; N] {
    fn words(&self) -> Vec<String> {
        self.as_slice().words()
    }

    #[track_caller]
    fn word(&self) -> String {
        self.as_slice().word()
    }
}

impl<T: Words> Words for Vec<T> {
    fn words(&self) -> Vec<String> {
        self.as_slice().words()
    }

    #[track_caller]
    fn word(&self) -> String {
        self.as_slice().word()
    }
}

impl<T: Words + ?Sized> Words for &T {
    #[track_caller]
    fn words(&self) -> Vec<String> {
        (**self).words()
    }

    #[track_caller]
    fn word(&self) -> String {
        (**self).word()
    }
}

/// Splits a line, then fills in the values, which need no quotes.
#[track_caller]
pub fn fill(line: &str, values: &[&dyn Words]) -> Vec<String> {
    let mut values = values.iter();
    let mut next = || values.next().unwrap_or_else(|| panic!("a value is missing: {line}"));
    let mut words = Vec::new();
    for word in line.words() {
        if word == "{..}" {
            words.extend(next().words());
            continue;
        }
        let mut parts = word.split("{}");
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            filled += &next().word();
            filled += part;
        }
        words.push(filled);
    }
    assert!(values.next().is_none(), "a value is left over: {line}");
    words
}

/// Returns the words of a line: `words!("-n 2 {..} -- sh -c {}", options, script)`. `{}` is one word or a part of one;
/// `{..}` expands to all words of the value.
macro_rules! words {
    ($line:expr $(, $value:expr)* $(,)?) => {
        $crate::common::words::fill($line, &[$(&$value),*])
    };
}

/// Runs `backoff` with the words of a line to the end.
macro_rules! run {
    ($($line:tt)*) => {
        $crate::common::ran(words!($($line)*))
    };
}

#[test]
fn a_line_is_split_before_values_are_put_in() {
    let script = "echo 'a b'; exit $?";
    let words = words!(
        "-n 2 {..} {..} -- sh -c {} 'two words' --x={}",
        "-r 'a b'",
        [script],
        script,
        "y z"
    );
    let expected = [
        "-n",
        "2",
        "-r",
        "a b",
        script,
        "--",
        "sh",
        "-c",
        script,
        "two words",
        "--x=y z",
    ];
    assert_eq!(words, expected);
}
