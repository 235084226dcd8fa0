//! An independent implementation of the published model of contention: its own random numbers, waits and clock, and no
//! queue. Times are in milliseconds.

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Draws uniformly from [0, 1): splitmix64 (Steele, Lea and Flood, 2014).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Draws |normal(10, 2)|, by the polar method.
    fn message(&mut self) -> f64 {
        loop {
            let (x, y) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let r = x * x + y * y;
            if r > 0.0 && r < 1.0 {
                return (10.0 + 2.0 * x * (-2.0 * r.ln() / r).sqrt()).abs();
            }
        }
    }
}

#[derive(Clone, Copy)]
pub enum Wait {
    None,
    Exponential,
    Equal,
    Full,
    Decorrelated,
}

#[derive(Clone, Copy)]
enum State {
    Reads,
    Writes { version: u64 },
    Done,
}

#[derive(Clone, Copy)]
struct Client {
    /// The time at which the next request reaches the server.
    at: f64,
    state: State,
    failures: i32,
    slept: f64,
}

const BASE: f64 = 5.0;
const CAP: f64 = 2000.0;

/// Returns the calls, and the time in milliseconds. `first` is the exponent of the first wait.
pub fn run(clients: u32, wait: Wait, first: i32, random: &mut Random) -> (f64, f64) {
    let mut all: Vec<Client> = (0..clients)
        .map(|_| Client {
            at: random.message(),
            state: State::Reads,
            failures: 0,
            slept: BASE,
        })
        .collect();
    let (mut row, mut calls, mut end) = (0_u64, 0_u64, 0.0_f64);
    loop {
        let waiting = all
            .iter_mut()
            .filter(|client| !matches!(client.state, State::Done));
        let Some(next) = waiting.min_by(|a, b| a.at.total_cmp(&b.at)) else {
            return (calls as f64, end);
        };
        match next.state {
            State::Done => unreachable!(),
            State::Reads => {
                next.state = State::Writes { version: row };
                next.at += random.message() + random.message();
            }
            State::Writes { version } => {
                calls += 1;
                next.at += random.message();
                if version == row {
                    row += 1;
                    end = end.max(next.at);
                    next.state = State::Done;
                    continue;
                }
                let e = CAP.min(BASE * 2_f64.powi(first + next.failures));
                let sleep = match wait {
                    Wait::None => 0.0,
                    Wait::Exponential => e,
                    Wait::Equal => e / 2.0 + random.between(0.0, e / 2.0),
                    Wait::Full => random.between(0.0, e),
                    Wait::Decorrelated => CAP.min(random.between(BASE, 3.0 * next.slept)),
                };
                next.slept = sleep;
                next.failures += 1;
                next.at += sleep + random.message();
                next.state = State::Reads;
            }
        }
    }
}
