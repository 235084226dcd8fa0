//! A Redis server that means harm. The run goes on, soon, in little memory, and ends as the command ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

use super::numbered::Numbered;
use super::outcome::{Outcome, ensure};
use super::round::{Round, Shown};

const STORE_TIMEOUT: Duration = Duration::from_millis(100);
/// Questions of a run of three attempts.
const MOST_STEPS: u32 = 5;
/// KiB that a run may address, threads included.
const MEMORY: u32 = 200_000;

/// What the server does with each connection.
#[derive(Clone, Copy, Debug)]
enum Way {
    Garbage,
    /// Says that much more will come than does.
    HugeLength,
    EndlessLine,
    EndlessReply,
    SlowBytes,
    Silence,
    ClosesAtOnce,
    ClosesInTheMiddle,
    WrongType,
    AbsurdNumbers,
    Refuses,
    SendsBack,
    Flipped,
    /// More than was asked for.
    TwoReplies,
}

const WAYS: &[Way] = &[
    Way::Garbage,
    Way::HugeLength,
    Way::EndlessLine,
    Way::EndlessReply,
    Way::SlowBytes,
    Way::Silence,
    Way::ClosesAtOnce,
    Way::ClosesInTheMiddle,
    Way::WrongType,
    Way::AbsurdNumbers,
    Way::AbsurdNumbers,
    Way::Refuses,
    Way::SendsBack,
    Way::Flipped,
    Way::TwoReplies,
];

const USUAL: &str = "*4\r\n:1\r\n:3\r\n:1\r\n:0\r\n";

pub fn play(round: &mut Round) -> Outcome {
    let way = round.pick(WAYS);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    let server = Server {
        way,
        port,
        rng: Xoshiro256PlusPlus::seed_from_u64(round.rng.random()),
        is_over: Arc::default(),
    };
    let is_over = Arc::clone(&server.is_over);
    listener.set_nonblocking(true)?;
    let thread = thread::spawn(move || server.serve(&listener));
    round.story.push(format!("a server of the way {way:?}"));
    let outcome = run(round, port);
    is_over.store(true, Ordering::Relaxed);
    let _ = thread.join();
    outcome
}

fn run(round: &mut Round, port: u16) -> Outcome {
    let command = Numbered {
        good: round.pick(&[1, 2, 9]),
        ..Numbered::default()
    };
    let scheme = round.pick(&["redis", "redis", "redis", "redis", "rediss"]);
    let user = round.pick(&["", ":secret@", "user:secret@"]);
    let cool_off = round.pick(&["", "--cool-off"]);
    let options = format!(
        "-n 3 -b 1ms -m 3ms --max-retry-after 5ms --budget b {cool_off} --store {scheme}://{user}127.0.0.1:{port}/0 \
         --store-timeout {}ms",
        STORE_TIMEOUT.as_millis()
    );
    let limit = format!("ulimit -v {MEMORY} && exec \"$@\"");
    let mut line = round.command("setsid");
    line.args(["sh", "-c", &limit, "sh"]).arg(&round.binary);
    line.args(round.options(&options)).args(command.words(round));
    let shown = round.run(&mut line, None)?;
    judge(round, &command, &shown)
}

fn judge(round: &Round, command: &Numbered, shown: &Shown) -> Outcome {
    // A server that allows no retry leaves the first failure.
    let own = shown.code() == Some(0) && command.good <= 3 || shown.code() == Some(command.code) && command.good > 1;
    ensure!(own, "a status that is not the command's\n{shown}");
    command.expect_stream(round, &shown.stdout)?;
    // The rest is for a machine that is busy.
    let bound = STORE_TIMEOUT * MOST_STEPS + Duration::from_secs(5);
    ensure!(shown.took < bound, "it took longer than {bound:?}\n{shown}");
    let is_plain = |c: char| c == '\n' || !c.is_control();
    ensure!(
        shown.stderr.chars().all(is_plain),
        "control characters in a message\n{shown}"
    );
    ensure!(!shown.stderr.contains("secret"), "a password in a message\n{shown}");
    ensure!(
        shown.stderr.matches("warning").count() <= 1,
        "more than one warning\n{shown}"
    );
    Ok(())
}

struct Server {
    way: Way,
    port: u16,
    rng: Xoshiro256PlusPlus,
    is_over: Arc<AtomicBool>,
}

impl Server {
    fn serve(mut self, listener: &TcpListener) {
        while !self.is_over.load(Ordering::Relaxed) {
            match listener.accept() {
                // It has said what it wants to, or nobody listens any more.
                Ok((stream, _)) => drop(self.answer(stream)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(Duration::from_millis(1)),
                Err(_) => return,
            }
        }
    }

    fn answer(&mut self, mut to: TcpStream) -> std::io::Result<()> {
        to.set_nonblocking(false)?;
        to.set_read_timeout(Some(Duration::from_millis(300)))?;
        to.set_write_timeout(Some(Duration::from_millis(300)))?;
        // AUTH and SELECT may come first, and all of it comes at once.
        if !matches!(self.way, Way::ClosesAtOnce) {
            let _ = to.read(&mut [0; 8192])?;
        }
        if self.rng.random_bool(0.7) {
            to.write_all(b"+OK\r\n")?;
        }
        let number = self.rng.random::<i64>();
        match self.way {
            Way::ClosesAtOnce => Ok(()),
            Way::Garbage => {
                let mut bytes = vec![0; self.rng.random_range(1..6000)];
                self.rng.fill_bytes(&mut bytes);
                to.write_all(&bytes)
            }
            Way::HugeLength => write!(
                to,
                "{}{}\r\nx",
                self.one_of(&["$", "*", "!", "=", "%", "~"]),
                number.unsigned_abs()
            ),
            Way::EndlessLine => loop {
                to.write_all(&[b'+'; 4096])?;
            },
            Way::EndlessReply => {
                to.write_all(b"*9223372036854775807\r\n")?;
                loop {
                    to.write_all(&b":1\r\n".repeat(1000))?;
                }
            }
            Way::SlowBytes => {
                for byte in USUAL.bytes().cycle().take(200) {
                    to.write_all(&[byte])?;
                    sleep(Duration::from_millis(self.rng.random_range(0..12)));
                }
                Ok(())
            }
            Way::Silence => {
                while to.read(&mut [0; 512])? > 0 {}
                Ok(())
            }
            Way::ClosesInTheMiddle => to.write_all(&USUAL.as_bytes()[..self.rng.random_range(0..USUAL.len())]),
            Way::WrongType => to.write_all(
                self.one_of(&[
                    "$5\r\nhello\r\n",
                    "+OK\r\n",
                    "_\r\n",
                    "*-1\r\n",
                    "*0\r\n",
                    "#t\r\n",
                    "*1\r\n*0\r\n",
                ])
                .as_bytes(),
            ),
            Way::AbsurdNumbers => {
                let numbers: Vec<String> = (0..4).map(|_| format!(":{}\r\n", self.absurd())).collect();
                write!(to, "*4\r\n{}", numbers.concat())
            }
            Way::Refuses => {
                let codes = ["ERR", "NOAUTH", "OOM", "LOADING", "\u{1b}[31mRED", "WRONGTYPE", "", "-"];
                write!(to, "-{} \u{1b}]0;title\u{7} secret\r\n", self.one_of(&codes))
            }
            Way::SendsBack => write!(to, "-{} 5 127.0.0.1:{}\r\n", self.one_of(&["MOVED", "ASK"]), self.port),
            Way::Flipped => {
                let mut bytes = USUAL.as_bytes().to_vec();
                let at = self.rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << self.rng.random_range(0..8);
                to.write_all(&bytes)
            }
            Way::TwoReplies => to.write_all(USUAL.repeat(self.rng.random_range(2..500)).as_bytes()),
        }
    }

    fn one_of(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.random_range(0..of.len())]
    }

    fn absurd(&mut self) -> i64 {
        let some = self.rng.random::<i64>() >> self.rng.random_range(0..64);
        [0, 1, -1, i64::MAX, i64::MIN, some][self.rng.random_range(0..6)]
    }
}
