//! From the command line to the exit status.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

use crate::cli::{self, Parsed};
use crate::config::Config;
use crate::exit::{self, Exit};
use crate::generate;
use crate::observe::Voice;
use crate::observe::report::Ending;
use crate::os::{self, host::System, random};
use crate::plan::{Action, Plan};
use crate::run::{self, Cut, Host, Identity};
use crate::settings::Settings;
use crate::speech::Format;

/// Runs backoff with these arguments, the first being its own name.
#[allow(clippy::needless_pass_by_value, reason = "the C `main` hands them over")]
pub fn main(args: Vec<OsString>) -> Exit {
    let typed = match cli::parse(&args) {
        Parsed::Run(typed) => typed,
        Parsed::Print(text) => return print_all([text]),
        Parsed::Wrong(line) => return complain(&line),
    };
    let variables = os::environment::backoff_variables();
    // The process ends with the run, and to tidy up what nobody will use would only hold up its end.
    let config = match Config::load(&Settings::new(&typed, &variables)) {
        Ok(config) => ManuallyDrop::new(config),
        Err(usage) => return complain(&usage.0),
    };
    let plan = match Plan::resolve(&typed, &variables, &config) {
        Ok(plan) => ManuallyDrop::new(plan),
        Err(usage) => return complain(&usage.0),
    };
    match plan.action {
        Action::Generate(document) => print_all([generate::document(document)]),
        Action::ListPresets => print_all(generate::presets()),
        Action::ListPolicies => print_all(generate::policies(&config)),
        Action::Plan if plan.speech.format == Format::Json => print_all([generate::waits_as_json(&plan)]),
        Action::Plan => print_all(generate::waits(&plan)),
        Action::Run => run(&plan),
    }
}

fn run(plan: &Plan) -> Exit {
    let identity = Identity { run_id: run_id() };
    let mut rng = random::Lazy::new(|| match plan.seed {
        Some(seed) => Xoshiro256PlusPlus::seed_from_u64(seed),
        None => Xoshiro256PlusPlus::from_seed(random::bytes()),
    });
    let mut voice = Voice::new(plan, &identity, os::stdio::takes_colour);
    let mut host = match System::take_over(&plan.command, &plan.streams, &plan.speech) {
        Ok(host) => ManuallyDrop::new(host),
        Err(Cut::Fault(line)) => return complain(&line),
        Err(Cut::Interrupted(signal)) => return Exit::Signal(signal),
    };
    let result = run::run(plan, &identity, &mut *host, &mut rng, &mut voice);
    let ending = match &result {
        Ok(_) => Ending::AsTold,
        Err(Cut::Interrupted(_)) => Ending::Interrupted,
        Err(Cut::Fault(_)) => Ending::Failed,
    };
    let exit = result.unwrap_or_else(|cut| match cut {
        Cut::Interrupted(signal) => Exit::Signal(signal),
        Cut::Fault(line) => {
            // A signal in place of its reader changes nothing about the status.
            let _ = host.complain(&line);
            exit::FAULT
        }
    });
    if let (Some(path), Some(report)) = (&plan.speech.report, voice.report()) {
        let text = report.end(ending, exit.shell_status(), host.time_of_day(), host.elapsed());
        if let Err(why) = host.write_report(path, &text) {
            let _ = host.complain(&format!("warning: cannot write --report {path:?}: {why}"));
        }
    }
    exit
}

/// A random UUID (RFC 9562, version 4).
fn run_id() -> String {
    let mut bytes: [u8; 16] = random::bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    id
}

/// Prints on standard output, in pieces of a size that costs few calls.
fn print_all(texts: impl IntoIterator<Item = String>) -> Exit {
    let mut piece = String::new();
    let mut texts = texts.into_iter().peekable();
    while let Some(text) = texts.next() {
        piece.push_str(&text);
        if piece.len() < 32 * 1024 && texts.peek().is_some() {
            continue;
        }
        if let Err(error) = os::stdio::print(piece.as_bytes()) {
            return complain(&format!("cannot write to standard output: {error}"));
        }
        piece.clear();
    }
    Exit::Code(0)
}

fn complain(line: &str) -> Exit {
    os::stdio::complain(line);
    exit::FAULT
}
