//! `backoff` runs a command and retries transient failures after waits.
//!
//! The modules from the top down are `plan`, `config`, `cli`, `process`, `budget`, `report`, `run`, `search`, `policy`;
//! imports only go down this list. `docs/DESIGN.md` explains them, the engine, the terminal and signal model and the
//! known limits.

mod budget;
mod cli;
mod config;
mod plan;
pub mod policy;
mod process;
mod report;
mod run;
pub mod search;

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use budget::client::Store;
use cli::parse::{CommandLine, Parsed};
use config::policies::Config;
use config::said::UsageError;
use config::settings::Settings;
use plan::{Action, Request};
use policy::exit;
pub use policy::exit::Exit;
pub use process::entry::{Argv, enter};
use process::host::System;
use process::sys::{environment, random, stdio};
use process::terminal::control::columns;
use report::reporter::Reporter;
use run::event::{Event, Moment};
use run::host::{Host, RunError};
use run::output::Format;
use run::plan::{Identity, Plan};

/// Runs backoff with these arguments; the first is the program's name.
#[allow(clippy::needless_pass_by_value, reason = "the C `main` hands them over")]
pub fn main(args: Vec<OsString>) -> Exit {
    let typed = match cli::parse::parse(&args) {
        Parsed::Run(typed) => typed,
        Parsed::Print(text) => return print([text]),
        Parsed::Wrong(line) => return complain(&line),
    };
    // The process ends with the run: dropping the values would only delay the exit.
    let request = ManuallyDrop::new(request(&typed));
    let (config, request) = match &*request {
        Ok((config, request)) => (config, request),
        Err(usage) => return complain(&usage.0),
    };
    let plan = &request.plan;
    match request.action {
        Action::Run => run(plan, &request.store),
        Action::Plan if plan.output.format == Format::Json => print([report::plan_table::as_json(plan)]),
        Action::Plan => print([report::plan_table::table(plan)]),
        Action::Plot => print([report::plan_plot::bars(
            plan,
            columns(stdio::OUT),
            environment::is_utf8(),
        )]),
        Action::ListPresets if typed.command.is_empty() => print(config::listing::presets()),
        Action::ListPresets => listed(config::listing::presets_named(&typed.command)),
        Action::ListPolicies => listed(config::listing::policies(config)),
        Action::Generate(document) => print([cli::generate::document(
            document,
            &config::presets::all().map(|preset| preset.name).collect::<Vec<_>>(),
        )]),
    }
}

/// Returns the request of flags, variables and configuration file. Kept out of `main` so that its stack frame is gone
/// during the run.
#[inline(never)]
fn request(typed: &CommandLine) -> Result<(Config, Request), UsageError> {
    let variables = environment::backoff_variables();
    let mut settings = Settings::typed(typed)?;
    settings.add_variables(&variables)?;
    let config = Config::load(&settings)?;
    let request = plan::request(settings, &typed.command, &variables, &config)?;
    Ok((config, request))
}

fn run(plan: &Plan, store: &Store) -> Exit {
    let run_id = random::uuid();
    let root_id = plan.root_id.clone().unwrap_or_else(|| run_id.clone());
    let identity = Identity { run_id, root_id };
    let mut rng = random::generator(plan.seed);
    let mut reporter = Reporter::new(plan, &identity, stdio::takes_colour, stdio::is_read_by_runner);
    let mut host = ManuallyDrop::new(System::take_over(plan, store));
    let host = match &mut *host {
        Ok(host) => host,
        Err(RunError::Fault(line)) => return complain(line),
        Err(RunError::Interrupted(signal)) => return Exit::Signal(*signal),
    };
    let result = match host.open_log() {
        Ok(()) => {
            let mut lines = |moment: &Moment, event: &Event<'_>| reporter.lines(moment, event);
            run::engine::run(plan, &identity, host, &mut rng, &mut lines)
        }
        Err(error) => Err(error),
    };
    let exit = match &result {
        Ok(exit) => *exit,
        Err(RunError::Interrupted(signal)) => Exit::Signal(*signal),
        Err(RunError::Fault(line)) => {
            // The status is the same if the message cannot be written.
            let _ = host.complain(line);
            exit::FAULT
        }
    };
    let report = reporter.report(&result, exit, host.time_of_day(), host.elapsed());
    if let (Some(path), Some(text)) = (&plan.output.report, report)
        && let Err(why) = host.write_report(&text)
    {
        let _ = host.complain(&format!("warning: cannot write to --report {path:?}: {why}"));
    }
    exit
}

fn print(texts: impl IntoIterator<Item = String>) -> Exit {
    match stdio::print(texts) {
        Ok(()) => Exit::Code(0),
        Err(error) => complain(&format!("cannot write to standard output: {error}")),
    }
}

fn listed(lines: Result<Vec<String>, UsageError>) -> Exit {
    match lines {
        Ok(lines) => print(lines),
        Err(usage) => complain(&usage.0),
    }
}

fn complain(line: &str) -> Exit {
    stdio::complain(line);
    exit::FAULT
}

/// Internals for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::budget::record;
    #[cfg(feature = "redis")]
    pub use crate::budget::redis::numbers as answer;
    pub use crate::cli::parse::{CommandLine, Parsed, parse};

    /// Returns the output of `--list-policies`, or the usage error.
    pub fn printed(typed: &CommandLine) -> Result<Vec<String>, String> {
        let printed = || {
            let (config, _) = crate::request(typed)?;
            crate::config::listing::policies(&config)
        };
        printed().map_err(|usage: crate::UsageError| usage.0)
    }
}
