//! An independent implementation of the published model of contention: its own random numbers, waits and clock, and no
//! queue. Times are in milliseconds.

struct Random(u64);

impl Random {
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
            let x = self.between(-1.0, 1.0);
            let y = self.between(-1.0, 1.0);
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

#[derive(Default)]
pub struct Cost {
    pub calls: f64,
    /// In milliseconds.
    pub time: f64,
}

/// Returns the mean cost of several runs. `first` is the exponent of the first wait.
pub fn mean(clients: u32, runs: u32, wait: Wait, first: i32) -> Cost {
    let mut random = Random(7);
    let mut mean = Cost::default();
    for _ in 0..runs {
        let cost = run(clients, wait, first, &mut random);
        mean.calls += cost.calls / f64::from(runs);
        mean.time += cost.time / f64::from(runs);
    }
    mean
}

fn run(clients: u32, wait: Wait, first: i32, random: &mut Random) -> Cost {
    let mut all: Vec<Client> = (0..clients)
        .map(|_| Client {
            at: random.message(),
            state: State::Reads,
            failures: 0,
            slept: BASE,
        })
        .collect();
    let mut row = 0_u64;
    let mut cost = Cost::default();
    loop {
        let waiting = all
            .iter_mut()
            .filter(|client| !matches!(client.state, State::Done));
        let Some(next) = waiting.min_by(|a, b| a.at.total_cmp(&b.at)) else {
            return cost;
        };
        match next.state {
            State::Done => unreachable!(),
            State::Reads => {
                next.state = State::Writes { version: row };
                next.at += random.message() + random.message();
            }
            State::Writes { version } => {
                cost.calls += 1.0;
                next.at += random.message();
                if version == row {
                    row += 1;
                    cost.time = cost.time.max(next.at);
                    next.state = State::Done;
                } else {
                    next.fail(wait, first, random);
                }
            }
        }
    }
}

impl Client {
    /// Waits, and begins again with the read.
    fn fail(&mut self, wait: Wait, first: i32, random: &mut Random) {
        let e = CAP.min(BASE * 2_f64.powi(first + self.failures));
        let sleep = match wait {
            Wait::None => 0.0,
            Wait::Exponential => e,
            Wait::Equal => e / 2.0 + random.between(0.0, e / 2.0),
            Wait::Full => random.between(0.0, e),
            Wait::Decorrelated => CAP.min(random.between(BASE, 3.0 * self.slept)),
        };
        self.slept = sleep;
        self.failures += 1;
        self.at += sleep + random.message();
        self.state = State::Reads;
    }
}
