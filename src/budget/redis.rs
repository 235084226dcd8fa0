//! A service that speaks the Redis protocol (Redis 6 or later, Valkey). Each step runs one script on its own
//! connection, so that a waiting run holds none.

pub(crate) mod address;
mod connection;
mod tls;

use std::io;
use std::time::{Duration, Instant};

use crate::policy::budget::{Answer, Counts, LONGEST_COOL_OFF, Question};
use crate::run::plan::SharedBudget;
use crate::run::text::describe_error;
use address::{Address, server};
use connection::{Connection, Failure, Time, no_protocol};

/// `Ledger::answer` as a Lua script.
const SCRIPT: &str = include_str!("budget.lua");
/// The script's name in the server's cache.
const SCRIPT_SHA1: &str = "98f8e5bc7a4295559c00bc2b9e371d4313d4d312";
/// Redis computes in floats, which are exact up to this number; in milliseconds, 285,000 years.
const LARGEST: u64 = 1 << 53;
/// Limit on a cluster's redirections in one step.
const MOST_REDIRECTIONS: u32 = 3;

/// Asks the servers of a service until one answers; each has an equal share of the time. An error names each server
/// that failed, but quotes no server, as servers quote what they were sent.
pub(crate) fn ask(
    address: &Address,
    budget: &SharedBudget,
    question: Question,
    patience: Duration,
    now: fn() -> Instant,
) -> Result<Answer, String> {
    let step = Step {
        address,
        arguments: arguments(budget, question),
        share: patience / address.servers.len() as u32,
        now,
    };
    let mut failures = Vec::new();
    for server in &address.servers {
        match step.evaluate(server) {
            Ok(answer) => return Ok(answer),
            Err(why) => failures.push(why),
        }
    }
    Err(failures.join("; "))
}

/// Returns the script's single key, so that a cluster holds it on one server, and the script's arguments.
fn arguments(budget: &SharedBudget, question: Question) -> [String; 8] {
    let (word, length, earlier) = match question {
        Question::Attempt => ("attempt", Duration::ZERO, None),
        Question::Retry => ("retry", Duration::ZERO, None),
        Question::CoolOff => ("cool-off", Duration::ZERO, None),
        Question::GaveUp { cool_off, earlier } => ("gave-up", cool_off.min(LONGEST_COOL_OFF), earlier),
        Question::Succeeded => ("succeeded", Duration::ZERO, None),
    };
    [
        "1".to_owned(),
        format!("backoff:budget:{}", budget.name),
        budget.terms.window.as_millis().min(LARGEST.into()).to_string(),
        budget.terms.min.to_string(),
        budget.terms.ratio.to_string(),
        word.to_owned(),
        length.as_millis().to_string(),
        earlier.map_or("-1".to_owned(), |earlier| earlier.min(LARGEST).to_string()),
    ]
}

struct Step<'a> {
    address: &'a Address,
    arguments: [String; 8],
    /// The time for each server.
    share: Duration,
    now: fn() -> Instant,
}

impl Step<'_> {
    /// Runs the script on a server, or on the one to which it redirects. An error names the server that failed.
    fn evaluate(&self, first: &str) -> Result<Answer, String> {
        let time = Time::begin(self.share, self.now);
        let (mut server, mut asking) = (first.to_owned(), false);
        for _ in 0..=MOST_REDIRECTIONS {
            let failure = match self.evaluate_on(&server, asking, time) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match redirection(&failure, &server) {
                Some((other, is_ask)) => (server, asking) = (other, is_ask),
                None => {
                    return Err(format!(
                        "{}: {}",
                        self.address.shown(&server),
                        problem(&failure, self.share)
                    ));
                }
            }
        }
        Err(format!(
            "{}: redirects from server to server",
            self.address.shown(first)
        ))
    }

    fn evaluate_on(&self, server: &str, asking: bool, time: Time) -> Result<Answer, Failure> {
        let address = self.address;
        let mut connection = Connection::open(server, address.tls.as_ref(), time)?;
        // Sends the script after user and database are accepted: otherwise it would run as the default user, or in
        // another database.
        match (&*address.user, &*address.password) {
            ("", "") => {}
            ("", password) => connection.run(&["AUTH", password])?,
            // A user with an empty password authenticates, too.
            (user, password) => connection.run(&["AUTH", user, password])?,
        }
        if address.database != 0 {
            connection.run(&["SELECT", &address.database.to_string()])?;
        }
        let mut evaluate = |command, script| {
            if asking {
                connection.run(&["ASKING"])?;
            }
            let arguments = self.arguments.iter().map(String::as_str);
            connection.send(&[command, script].into_iter().chain(arguments).collect::<Vec<_>>())?;
            connection.numbers()
        };
        answer(&match evaluate("EVALSHA", SCRIPT_SHA1) {
            Err(Failure::Refused(text)) if text.starts_with("NOSCRIPT ") => evaluate("EVAL", SCRIPT)?,
            answered => answered?,
        })
    }
}

/// Returns the target of a cluster's redirection (`MOVED SLOT HOST:PORT`), and true if it holds only once (`ASK`).
fn redirection(failure: &Failure, from: &str) -> Option<(String, bool)> {
    let Failure::Refused(text) = failure else { return None };
    let (code, rest) = text.split_once(' ')?;
    let node = rest.split_once(' ')?.1;
    matches!(code, "MOVED" | "ASK").then_some((server(node, Some(from))?, code == "ASK"))
}

/// Parses the script's result.
fn answer(numbers: &[u64]) -> Result<Answer, Failure> {
    match *numbers {
        // No run sets a longer cool-off.
        [allowed, attempts, retries, left, ref failed_runs @ ..] if Duration::from_millis(left) <= LONGEST_COOL_OFF => {
            Ok(Answer {
                allowed: allowed == 1,
                counts: Counts { attempts, retries },
                cool_off: Duration::from_millis(left),
                failed_runs: failed_runs.first().copied().unwrap_or(0),
            })
        }
        _ => Err(no_protocol()),
    }
}

const NOT_ALLOWED: &str = "does not let this user do it (NOPERM); see the manual for what it takes";
const FOREIGN: &str = "holds something else than backoff's under this name";

/// Prefixes of error replies, and the message for each.
#[rustfmt::skip]
const REFUSALS: &[(&str, &str)] = &[
    ("NOAUTH", "wants a password (NOAUTH)"),
    ("WRONGPASS", "refuses the user or the password (WRONGPASS)"),
    ("ERR AUTH ", "wants no password, or a user's name too"),
    ("ERR DB index ", "has no database of this number"),
    ("ERR SELECT ", "has no database of this number"),
    ("ERR The user executing the script ", NOT_ALLOWED),
    ("ERR max number of clients", "has reached its limit of clients (maxclients)"),
    ("ERR unknown command", "does not run scripts: EVAL is disabled or renamed"),
    ("NOPERM", NOT_ALLOWED),
    ("OOM", "is out of memory (OOM)"),
    ("READONLY", "is a read-only replica (READONLY)"),
    ("MISCONF", "takes no writes until it can save its data again (MISCONF)"),
    ("BUSY", "is busy with another script (BUSY)"),
    ("CLUSTERDOWN", "is part of a cluster that is down or incomplete (CLUSTERDOWN)"),
    ("MASTERDOWN", "is a replica without its master (MASTERDOWN)"),
    ("DENIED", "takes clients of its own machine alone until it has a password (DENIED)"),
    ("LOADING", "is still loading its data (LOADING)"),
    ("WRONGTYPE", FOREIGN),
    ("FOREIGN", FOREIGN),
];

fn problem(failure: &Failure, limit: Duration) -> String {
    match failure {
        Failure::Refused(text) => match REFUSALS.iter().find(|(known, _)| text.starts_with(known)) {
            Some((_, problem)) => (*problem).to_owned(),
            None => {
                let code = text.split(' ').next().unwrap_or_default();
                // Letters and digits only, as a server's text reaches a terminal.
                let code: String = code.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
                format!("refuses ({code})")
            }
        },
        Failure::Io(error) => match (error.kind(), tls::problem(error)) {
            (_, Some(problem)) => problem.to_owned(),
            (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, _) => {
                format!("gives no answer within {}ms", limit.as_millis())
            }
            (io::ErrorKind::UnexpectedEof, _) => "closes the connection".to_owned(),
            (io::ErrorKind::InvalidData, _) if error.get_ref().is_none() => {
                "does not speak the protocol of Redis".to_owned()
            }
            _ => format!("cannot be reached: {}", describe_error(error)),
        },
    }
}

/// Returns the numbers parsed from a server's replies to `commands` commands and one script, or the error message.
#[cfg(feature = "fuzzing")]
pub fn numbers(server: impl io::Read + io::Write + 'static, commands: usize) -> Result<Vec<u64>, String> {
    let mut connection = Connection::to(Box::new(server));
    let done = (0..commands).try_for_each(|_| connection.done());
    let numbers = done.and_then(|()| connection.numbers());
    numbers.map_err(|failure| {
        let _ = redirection(&failure, "h:1");
        problem(&failure, Duration::ZERO)
    })
}
