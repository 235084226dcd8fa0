//! A service that speaks the Redis protocol (Redis 6 or later, Valkey), and holds budgets: limits on the retries of all
//! runs that share a name. Each step, a question about a budget, runs one script on its own connection, so that a
//! waiting run holds none.

pub(crate) mod address;
pub(crate) mod connection;
pub(super) mod tls;

use std::fmt;
use std::time::Duration;

use redis::{Cmd, ConnectionAddr, ConnectionInfo, RedisError, RedisResult, ServerErrorKind, cmd};

use serde::{Deserialize, Serialize};

use crate::policy::budget::{Answer, Counts, Question};
use crate::run::plan::SharedBudget;
use crate::text::describe_error;
use address::Address;
use connection::{Connection, Time};

/// `Ledger::answer` as a Lua script, which the server runs as one atomic step.
const SCRIPT: &str = include_str!("budget.lua");
/// The script's name in the server's cache.
const SCRIPT_SHA1: &str = "f3315d4c2d87fe9e7473a0909956644d2503aa35";
/// Limit on a cluster's redirections in one step.
const MOST_REDIRECTIONS: u32 = 3;

/// Problem of one server. It quotes no text of the server, as servers quote what they were sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerError {
    /// The server's address, without user and password.
    name: String,
    problem: String,
}

/// Formats as `redis://h:6379: refuses (NOAUTH)`.
impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.problem)
    }
}

/// The two ways to call the script.
struct ScriptCalls {
    by_hash: Cmd,
    /// For a server that does not know the script yet.
    by_text: Cmd,
}

/// A server that is to run the script.
struct ScriptTarget {
    server: ConnectionInfo,
    /// A cluster is moving the key to this server, which then wants `ASKING` before a command.
    is_moving: bool,
}

/// The answer of a cluster in place of a reply.
struct Redirection {
    to: ConnectionAddr,
    /// For one command only (`ASK`), as the key is being moved.
    is_moving: bool,
}

impl Address {
    /// Asks the server or, if that is a node of a cluster that does not hold the key, the node to which it redirects,
    /// with the same user and settings. All of them share `time.limit`, which counts from now on, whenever `time`
    /// began. Only a few redirections are followed, as servers could redirect in a circle. An error names the server
    /// that failed. The script may have run even so, if only its reply was late.
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        time: Time,
    ) -> Result<Answer, ServerError> {
        let calls = ScriptCalls {
            by_hash: call("EVALSHA", SCRIPT_SHA1, budget, question),
            by_text: call("EVAL", SCRIPT, budget, question),
        };
        let time = time.restarted();
        let mut target = ScriptTarget {
            server: self.server.clone(),
            is_moving: false,
        };
        let mut redirections = 0;
        loop {
            let failure = match self.evaluate(&target, &calls, time) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let redirection = match redirection(&failure, target.server.addr()) {
                Some(redirection) if redirections < MOST_REDIRECTIONS => redirection,
                _ => {
                    return Err(ServerError {
                        name: self.name_of(target.server.addr()),
                        problem: problem(&failure, time.limit),
                    });
                }
            };
            redirections += 1;
            target = ScriptTarget {
                server: target.server.set_addr(redirection.to),
                is_moving: redirection.is_moving,
            };
        }
    }

    /// Runs the script on one server, over a connection that ends with the call. Sends only the script's hash, and the
    /// text if the server does not know it yet, which then remembers it.
    fn evaluate(
        &self,
        target: &ScriptTarget,
        calls: &ScriptCalls,
        time: Time,
    ) -> RedisResult<Answer> {
        let mut connection = Connection::open(target.server.addr(), self.tls.as_ref(), time)?;
        log_in(&mut connection, &target.server)?;
        let reply = match run_script(&mut connection, target, &calls.by_hash) {
            Err(failure) if failure.kind() == ServerErrorKind::NoScript.into() => {
                run_script(&mut connection, target, &calls.by_text)?
            }
            other => other?,
        };
        Ok(answer(reply))
    }
}

/// Sends user, password and database, if the address has them, and waits until they are accepted: otherwise the script
/// would run as the default user, or in another database. A user without a password authenticates with an empty one,
/// and a password without a user is that of the default user.
fn log_in(connection: &mut Connection, server: &ConnectionInfo) -> RedisResult<()> {
    let settings = server.redis_settings();
    let user = settings.username();
    let password = settings.password();
    if user.is_some() || password.is_some() {
        connection.query::<()>(cmd("AUTH").arg(user).arg(password.unwrap_or_default()))?;
    }
    if settings.db() != 0 {
        connection.query::<()>(cmd("SELECT").arg(settings.db()))?;
    }
    Ok(())
}

/// Calls the script, and returns its reply; an error reply is an error. A server to which a cluster is moving the key
/// refuses calls about it, except the one after `ASKING`, so it is sent before each call.
fn run_script(
    connection: &mut Connection,
    target: &ScriptTarget,
    call: &Cmd,
) -> RedisResult<Reply> {
    if target.is_moving {
        connection.query::<()>(&cmd("ASKING"))?;
    }
    connection.query(call)
}

/// Returns a call of the script about a budget: `command` is EVAL with the script's text as `script`, or EVALSHA with
/// its hash. All state is in a single key, so that a cluster holds it on one server.
fn call(command: &str, script: &str, budget: &SharedBudget, question: Question) -> Cmd {
    let word = match question {
        Question::Attempt => "attempt",
        Question::Retry => "retry",
    };
    let limits = &budget.limits;
    let mut call = cmd(command);
    // The number of keys, and the key.
    call.arg(script)
        .arg(1)
        .arg(format!("backoff:budget:{}", budget.name));
    // In the order of ARGV in `budget.lua`.
    call.arg(limits.window.as_millis().to_string())
        .arg(limits.min)
        .arg(limits.ratio)
        .arg(word);
    call
}

/// Returns the target of a cluster's redirection (`MOVED`, `ASK`), which is an error reply of the server `from`; None
/// for any other error, or if the target is no host and port. An empty host, or `?`, means the host of the redirecting
/// server.
fn redirection(failure: &RedisError, from: &ConnectionAddr) -> Option<Redirection> {
    let (host, port) = failure.redirect_node()?.0.rsplit_once(':')?;
    let host = match (host, from) {
        ("" | "?", ConnectionAddr::Tcp(same, _)) => same,
        _ => host,
    };
    if !is_host(host) {
        return None;
    }
    Some(Redirection {
        to: ConnectionAddr::Tcp(host.to_owned(), port.parse().ok()?),
        is_moving: failure.kind() == ServerErrorKind::Ask.into(),
    })
}

/// Returns true for what may be the name or address of a host. The server that names it is untrusted, and messages show
/// the host, so that it must hold nothing else; a name has at most 253 bytes (RFC 1035).
fn is_host(host: &str) -> bool {
    let has_only_known = host
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
    (1..=253).contains(&host.len()) && has_only_known
}

/// The reply of the script: allowed, attempts, retries; see [`Answer`].
type Reply = (bool, u64, u64);

/// Returns the answer of a reply. The server is untrusted: what reads the numbers has to cope with any.
fn answer((allowed, attempts, retries): Reply) -> Answer {
    Answer {
        allowed,
        counts: Counts { attempts, retries },
    }
}

/// Returns the message for an error, without the server's name and without its text, which may quote a password; of an
/// error reply, only its code. `limit` is the server's time, for the message.
fn problem(failure: &RedisError, limit: Duration) -> String {
    if failure.is_timeout() {
        return format!("gives no answer within {}ms", limit.as_millis());
    }
    if failure.is_io_error() {
        return format!("cannot be reached: {}", describe_error(failure));
    }
    match failure.code() {
        // Letters and digits only, as a server's text reaches a terminal.
        Some(code) => {
            let code = code.replace(|c: char| !c.is_ascii_alphanumeric(), "");
            format!("refuses ({code:.20})")
        }
        None => "does not speak the protocol of Redis".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use redis::{Value, from_redis_value, parse_redis_value};

    proptest! {
        /// Asserts that any reply is an answer, or gets a message of printable text.
        #[test]
        fn any_reply_is_understood_or_explained(
            reply in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..100),
                r"-(MOVED|ASK|ERR)? ?[0-9]{0,6} ?[ -~\x1b]{0,40}\r\n".prop_map(String::into_bytes),
                r"\*3\r\n(:-?[0-9]{1,20}\r\n){2,4}".prop_map(String::into_bytes),
            ],
        ) {
            let value = parse_redis_value(&reply).and_then(Value::extract_error);
            if let Err(failure) = value.and_then(|value| Ok(from_redis_value::<Reply>(value)?)) {
                let from = ConnectionAddr::Tcp("h".to_owned(), 1);
                let to = redirection(&failure, &from).map_or(String::new(), |it| it.to.to_string());
                let message = problem(&failure, Duration::ZERO) + &to;
                prop_assert!(message.chars().all(|c| matches!(c, ' '..='~')) && message.len() < 200, "{message:?}");
            }
        }
    }
}
