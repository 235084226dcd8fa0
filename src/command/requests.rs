//! May the command run twice? Requests of curl and wget in it that are not idempotent.
//!
//! A request that is sent twice may order or pay twice, so that it counts as one that sends unless the words prove that
//! it does not. A fixed Idempotency-Key makes it harmless: by it, the server knows the second request as the first.
//!
//! A guessed call is one of an unknown program, which may be curl or wget. Unknown code is code that cannot be read,
//! and may call them.

use std::collections::BTreeMap;
use std::fmt;

use super::Surroundings;
use super::calls::{Call, Calls, Certainty, Location, UnknownCode};
use super::http::{RequestFacts, Suspicion};

/// Everything in a command that may send a request.
#[derive(Debug)]
pub(crate) struct Requests {
    calls: Vec<Call>,
    unknown: Vec<UnknownCode>,
    /// The clients whose names stand anywhere in the command or its scripts, even outside of calls.
    mentioned: Vec<&'static str>,
}

/// A request that is not idempotent, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The client and the option or word that is to blame (`curl -d`), or the unknown code.
    what: String,
    location: Location,
    risk: Risk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Risk {
    /// A request of a client that sends something, or whose options are partly in a file that is not read (`-K`).
    Sends,
    /// A request with a word that is unknown, and may be an option that sends.
    MaySend,
    /// Unknown code, which may call a client.
    MayCall,
}

/// A call, and the facts about its request.
struct JudgedCall<'c> {
    call: &'c Call,
    request: RequestFacts,
}

/// How much has to speak for a call of the client before doubts count: a word that may be an option, a guessed call,
/// unknown code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    /// The user has named the client: `--for curl`.
    Named,
    /// `--for auto`: the command or a script has to mention the client.
    Auto,
}

impl Requests {
    /// Finds the calls of curl and wget in a command and in all its scripts, which are read through `surroundings`.
    pub(crate) fn find(command: &[&str], surroundings: &dyn Surroundings) -> Requests {
        let calls = Calls::find(command, surroundings);
        Requests {
            calls: calls.found,
            unknown: calls.unknown,
            mentioned: calls.mentioned,
        }
    }

    /// Returns the first request of this client that certainly sends something, without a fixed key. Doubts, guessed
    /// calls and unknown code do not count: they are too common to trouble a user who has not asked for the judgement.
    /// Returns None if there is no such request.
    fn sending(&self, client: &str) -> Option<Finding> {
        for JudgedCall { call, request } in self.judged_calls(client) {
            if let (Certainty::Named, Some(option)) = (call.certainty, request.sends) {
                return Some(Finding {
                    what: format!("{client} {option}"),
                    location: call.location.clone(),
                    risk: Risk::Sends,
                });
            }
        }
        None
    }

    /// Returns the first request of this client that sends something or may do so, or else unknown code, which may call
    /// the client; None if the command may run twice. A guessed call counts like any other. With `--for auto`, doubts
    /// count only if the command or a script mentions the client at all.
    pub(crate) fn first_unsafe(&self, client: &str, selection: Selection) -> Option<Finding> {
        let is_expected = selection == Selection::Named || self.mentioned.contains(&client);
        if !is_expected {
            return self.sending(client);
        }
        for JudgedCall { call, request } in self.judged_calls(client) {
            let (word, risk) = match (request.sends, request.may_send) {
                (Some(option), _) => (option, Risk::Sends),
                // Files of `-K` and the like are not read: the message speaks as of an option that sends.
                (None, Some(Suspicion::Hides(option))) => (option, Risk::Sends),
                (None, Some(Suspicion::MayBeOption(word))) => (word, Risk::MaySend),
                (None, None) => continue,
            };
            return Some(Finding {
                what: format!("{client} {word}"),
                location: call.location.clone(),
                risk,
            });
        }
        let unknown = self.unknown.first()?;
        Some(Finding {
            what: unknown.what.clone(),
            location: unknown.location.clone(),
            risk: Risk::MayCall,
        })
    }

    /// Returns the calls of a client with the facts about their requests, without those that a fixed Idempotency-Key
    /// makes harmless. If a call may have several keys, or none, by the values of variables, none of them is fixed, and
    /// all its variants are judged.
    fn judged_calls(&self, client: &str) -> Vec<JudgedCall<'_>> {
        let mut judged_calls = Vec::new();
        // By the ID of the call, which is the same for all values of its variables; None for different keys, or none.
        let mut keys: BTreeMap<usize, Option<String>> = BTreeMap::new();
        for call in self.calls.iter().filter(|call| call.client.name == client) {
            let request = call.client.request_facts(&call.words);
            let key = keys.entry(call.id).or_insert_with(|| request.key.clone());
            if *key != request.key {
                *key = None;
            }
            judged_calls.push(JudgedCall { call, request });
        }
        judged_calls.retain(|judged| keys.get(&judged.call.id).is_none_or(Option::is_none));
        judged_calls
    }
}

impl Finding {
    /// Returns what was found, and where it stands, for messages: `curl -d in the script of sh -c`.
    fn seen(&self) -> String {
        match &self.location {
            Location::Command => self.what.clone(),
            Location::Script(text) => format!("{} in {text}", self.what),
        }
    }
}

impl fmt::Display for Finding {
    /// Writes what was found, and why it must not be sent twice, as the reason in a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let risk = match self.risk {
            Risk::Sends => "without a fixed Idempotency-Key header",
            Risk::MaySend => "may send data without a fixed Idempotency-Key header",
            Risk::MayCall => "is not known and may send a request",
        };
        write!(f, "{} {risk}", self.seen())
    }
}
