//! A service that speaks the Redis protocol (Redis 6 or later, Valkey). Each step runs one script on its own
//! connection, so that a waiting run holds none.

pub(crate) mod address;
pub(crate) mod connection;
mod tls;

use std::time::Duration;

use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, ServerErrorKind, cmd,
};

use super::StoreError;
use crate::policy::budget::{Answer, Counts, LONGEST_COOL_OFF, Question};
use crate::run::plan::SharedBudget;
use crate::text::describe_error;
use address::Address;
use connection::{Connection, Time};

/// `Ledger::answer` as a Lua script.
const SCRIPT: &str = include_str!("budget.lua");
/// The script's name in the server's cache.
const SCRIPT_SHA1: &str = "a6d390fd0a3327b7e9efe8eb44ab7dff51b23a68";
/// Beginnings of error replies and of errors of the connection, and the message for each. The first that fits counts.
const PROBLEMS: &str = include_str!("redis/problems.tsv");
/// Limit on a cluster's redirections in one step.
const MOST_REDIRECTIONS: u32 = 3;

impl Address {
    /// Asks the servers of a service until one answers; each has an equal share of the time. An error names each server
    /// that failed, but quotes no server, as servers quote what they were sent.
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        time: Time,
    ) -> Result<Answer, StoreError> {
        let calls = [("EVALSHA", SCRIPT_SHA1), ("EVAL", SCRIPT)];
        let calls = calls.map(|(command, script)| call(command, script, budget, question));
        let limit = time.limit / self.servers.len() as u32;
        let mut failures = Vec::new();
        for server in &self.servers {
            // A share begins when its server is asked: now (only `process` may call `Instant::now`).
            let began = time.began + time.began.elapsed();
            match self.evaluate(server, &calls, Time { began, limit }) {
                Ok(answer) => return Ok(answer),
                Err(why) => failures.push(why.to_string()),
            }
        }
        Err(failures.join("; ").into())
    }

    /// Runs the script on a server, or on the one to which it redirects. An error names the server that failed.
    fn evaluate(
        &self,
        first: &ConnectionInfo,
        calls: &[Cmd; 2],
        time: Time,
    ) -> Result<Answer, StoreError> {
        let (mut server, mut asking) = (first.clone(), false);
        let mut why = String::new();
        for _ in 0..=MOST_REDIRECTIONS {
            let failure = match self.evaluate_on(&server, asking, calls, time) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let name = self.name_of(server.addr());
            why = format!("{name}: {}", problem(&failure, time.limit));
            let Some((to, is_ask)) = redirection(&failure, server.addr()) else {
                break;
            };
            (server, asking) = (server.set_addr(to), is_ask);
        }
        Err(why.into())
    }

    /// Runs the script on one server. `asking` is needed if a cluster is moving the key to this server.
    fn evaluate_on(
        &self,
        server: &ConnectionInfo,
        asking: bool,
        calls: &[Cmd; 2],
        time: Time,
    ) -> RedisResult<Answer> {
        let mut connection = Connection::open(server.addr(), self.tls.as_ref(), time)?;
        let settings = server.redis_settings();
        let (user, password) = (settings.username(), settings.password());
        // Sends the script after user and database are accepted: otherwise it would run as the default user, or in
        // another database. A user with an empty password authenticates, too.
        if user.is_some() || password.is_some() {
            connection.query::<()>(cmd("AUTH").arg(user).arg(password.unwrap_or_default()))?;
        }
        if settings.db() != 0 {
            connection.query::<()>(cmd("SELECT").arg(settings.db()))?;
        }
        let mut evaluate = |call| {
            if asking {
                connection.query::<()>(&cmd("ASKING"))?;
            }
            connection.query(call)
        };
        let [by_hash, by_text] = calls;
        answer(match evaluate(by_hash) {
            Err(failure) if failure.kind() == ServerErrorKind::NoScript.into() => {
                evaluate(by_text)?
            }
            answered => answered?,
        })
    }
}

/// Returns a call of the script. It has a single key, so that a cluster holds it on one server.
fn call(command: &str, script: &str, budget: &SharedBudget, question: Question) -> Cmd {
    let (word, length, earlier) = match question {
        Question::Attempt => ("attempt", Duration::ZERO, None),
        Question::Retry => ("retry", Duration::ZERO, None),
        Question::CoolOff => ("cool-off", Duration::ZERO, None),
        Question::GaveUp { cool_off, earlier } => {
            ("gave-up", cool_off.min(LONGEST_COOL_OFF), earlier)
        }
        Question::Succeeded => ("succeeded", Duration::ZERO, None),
    };
    let (window, length) = (
        budget.limits.window.as_millis().to_string(),
        length.as_millis() as u64,
    );
    // The script takes -1 for None.
    let earlier = earlier.map_or(-1, |earlier| earlier as i64);
    let mut call = cmd(command);
    call.arg(script)
        .arg(1)
        .arg(format!("backoff:budget:{}", budget.name));
    call.arg((
        window,
        budget.limits.min,
        budget.limits.ratio,
        word,
        length,
        earlier,
    ));
    call
}

/// Returns the target of a cluster's redirection, and true if it is for one command only (`ASK`). An empty host,
/// or `?`, means the host of the redirecting server.
fn redirection(failure: &RedisError, from: &ConnectionAddr) -> Option<(ConnectionAddr, bool)> {
    let (host, port) = failure.redirect_node()?.0.rsplit_once(':')?;
    let host = match (host, from) {
        ("" | "?", ConnectionAddr::Tcp(same, _)) => same,
        _ => host,
    };
    // The server is untrusted, and messages show the host. A host name has at most 253 bytes.
    let is_host = host.len() <= 253
        && host
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
    let to = ConnectionAddr::Tcp(host.to_owned(), port.parse().ok()?);
    is_host.then_some((to, failure.kind() == ServerErrorKind::Ask.into()))
}

/// Checks the script's result: the fields of an answer, with the rest of the cool-off in milliseconds.
fn answer(
    (allowed, attempts, retries, left, failed_runs): (bool, u64, u64, u64, u64),
) -> RedisResult<Answer> {
    let cool_off = Duration::from_millis(left);
    if cool_off > LONGEST_COOL_OFF {
        return Err((
            ErrorKind::UnexpectedReturnType,
            "no run sets a longer cool-off",
        )
            .into());
    }
    Ok(Answer {
        allowed,
        counts: Counts { attempts, retries },
        cool_off,
        failed_runs,
    })
}

/// Returns the message for an error, without the server's name. `limit` is the server's share of the time.
fn problem(failure: &RedisError, limit: Duration) -> String {
    let text = match failure.code() {
        Some(code) => format!("{code} {}", failure.detail().unwrap_or_default()),
        None => failure.to_string(),
    };
    let mut problems = PROBLEMS.lines().filter_map(|line| line.split_once('\t'));
    let is_unsafe = |c: char| !c.is_ascii_alphanumeric();
    match problems.find(|(known, _)| text.starts_with(known)) {
        Some((_, message)) => message.to_owned(),
        None if failure.is_timeout() => format!("gives no answer within {}ms", limit.as_millis()),
        None if failure.is_io_error() => format!("cannot be reached: {}", describe_error(failure)),
        None => match failure.code() {
            // Letters and digits only, as a server's text reaches a terminal.
            Some(code) => format!("refuses ({:.20})", code.replace(is_unsafe, "")),
            None => "does not speak the protocol of Redis".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests;
