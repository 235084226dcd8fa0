//! `backoff` runs a command and retries transient failures after waits.
//!
//! The modules from the top down are `plan`, `command`, `config`, `cli`, `process`, `budget`, `report`, `run`, `search`, `policy`, `text`;
//! imports only go down this list. `docs/DESIGN.md` explains them, the engine, the terminal and signal model and the
//! known limits.
//!
//! The crate promises [`main`] only. `policy` and `search` are open for `lab/`, `fuzz/` and `tests/`, and may change with
//! any version.

mod budget;
mod cli;
mod command;
mod config;
mod plan;
#[doc(hidden)]
pub mod policy;
mod process;
mod report;
mod run;
#[doc(hidden)]
pub mod search;
mod text;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;

use budget::client::Store;
use cli::generate::Document::{CompleteBash, CompleteFish, CompleteZsh, Man};
use cli::generate::{Names, document};
use cli::parse::{CommandLine, Parsed};
use command::{ScriptFile, Surroundings};
use config::listing;
use config::policies::Config;
use config::setting::UsageError;
use config::settings::Settings;
use config::values::{self, PlanForm};
use policy::delay::generator_of_seed;
pub use policy::exit::Exit;
use policy::exit::{self, Ending};
pub use process::entry::{Argv, enter};
use process::files::clash::{Writing, clash, is_same_entry};
use process::host::System;
use process::sys::random::{generator, uuid};
use process::sys::small_files::{self, SmallFile};
use process::sys::{color, environment, stdio};
use process::terminal::columns;
use report::reporter::Reporter;
use run::event::{Event, Moment};
use run::host::{Host, RunError};
use run::plan::Format;
use run::plan::{Identity, Plan};

/// Runs backoff with these arguments; the first is the program's name.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the C `main` hands them over"
)]
pub fn main(args: Vec<OsString>) -> Exit {
    let typed = match cli::parse::parse(&args) {
        Ok(Parsed::Run(typed)) => typed,
        Ok(Parsed::Print(text)) => return print(&text),
        Err(usage) => return complain(&usage.0),
    };
    // The process ends with the run: dropping the values would only delay the exit.
    let prepared = ManuallyDrop::new(prepare(&typed));
    let (settings, config, plan, store) = match &*prepared {
        Ok((settings, config, plan, store)) => (settings, config, plan, store),
        Err(usage) => return complain(&usage.0),
    };
    let is_given = |long| settings.find(long).is_some();
    let plan_form = match settings.get("plan", values::plan) {
        Ok(form) => form.flatten(),
        Err(usage) => return complain(&usage.0),
    };
    let texts = if is_given("generate") {
        documents(settings)
    } else if is_given("list-presets") && plan.output.format == Format::Json {
        listing::presets_as_json(&typed.command)
    } else if is_given("list-presets") && typed.command.is_empty() {
        Ok(listing::presets().collect())
    } else if is_given("list-presets") {
        listing::presets_named(&typed.command)
    } else if is_given("list-policies") {
        listing::policies(config)
    } else if let Some(form) = plan_form {
        Ok(vec![planned(plan, form)])
    } else if typed.command.is_empty() {
        Err("no command given; tip: try backoff -- COMMAND, or backoff --help".into())
    } else if let Err(usage) = check_files(settings, config, plan) {
        Err(usage)
    } else {
        return run(plan, store);
    };
    match texts {
        Ok(texts) => print(&texts.concat()),
        Err(usage) => complain(&usage.0),
    }
}

/// Returns the settings and the plan of flags, variables and configuration file. Kept out of `main` so that its stack
/// frame is gone during the run.
#[inline(never)]
fn prepare(typed: &CommandLine) -> Result<(Settings, Config, Plan, Store), UsageError> {
    let variables = environment::backoff_variables();
    let mut settings = Settings::of_command_line(typed)?;
    settings.add_variables(&variables)?;
    let config = Config::load(&settings)?;
    let (plan, store) = plan::plan(&mut settings, &typed.command, &variables, &config, &Machine)?;
    Ok((settings, config, plan, store))
}

/// Checks that the files that the run writes are not in use. Other checks compare texts; here the files decide.
fn check_files(settings: &Settings, config: &Config, plan: &Plan) -> Result<(), UsageError> {
    let log = settings.find("log-file").zip(plan.output.log_file.as_ref());
    let report = settings.find("report").zip(plan.output.report.as_ref());
    if let (Some((log, log_path)), Some((report, report_path))) = (log, report)
        && is_same_entry(log_path, report_path)
    {
        return Err(UsageError(format!(
            "{log} cannot go with {report}: the report would replace the log; tip: try another file"
        )));
    }
    let written = [(log, Writing::Appends), (report, Writing::Replaces)];
    for (target, writing) in written {
        if let Some((setting, path)) = target
            && let Some(problem) = clash(path, writing, config.path.as_deref())
        {
            return Err(UsageError(format!("{setting} {problem}")));
        }
    }
    Ok(())
}

/// Returns the text of `--plan`.
fn planned(plan: &Plan, form: PlanForm) -> String {
    match (form, plan.output.format) {
        (PlanForm::Plot, _) => {
            let columns = columns(stdio::OUT);
            report::plan_plot::bars(plan, columns, environment::is_utf8())
        }
        (PlanForm::Table, Format::Json) => report::plan_table::as_json(plan),
        (PlanForm::Table, _) => report::plan_table::table(plan),
    }
}

/// The environment and the files of this machine, for what the words of the command mean.
struct Machine;

impl Surroundings for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        environment::variable(name).map(|value| value.to_string_lossy().into_owned())
    }

    fn script(&self, path: &str) -> ScriptFile {
        match small_files::read(Path::new(path)) {
            SmallFile::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => ScriptFile::Text(text),
                // A program, or no text.
                _ => ScriptFile::NotThere,
            },
            SmallFile::Missing => ScriptFile::NotThere,
            SmallFile::NotRead => ScriptFile::NotRead,
        }
    }
}

/// Returns the document of `--generate`.
fn documents(settings: &Settings) -> Result<Vec<String>, UsageError> {
    let kind = settings.choice("generate", &[Man, CompleteBash, CompleteZsh, CompleteFish])?;
    let names = Names {
        presets: config::presets::all().map(|preset| preset.name).collect(),
        sysexits: values::SYSEXITS.to_vec(),
    };
    Ok(vec![document(kind, &names)])
}

fn run(plan: &Plan, store: &Store) -> Exit {
    let run_id = uuid();
    let root_id = plan
        .nesting
        .root_id
        .clone()
        .unwrap_or_else(|| run_id.clone());
    let identity = Identity { run_id, root_id };
    let mut rng = plan.seed.map_or_else(generator, generator_of_seed);
    let takes_color = || color::takes_color(stdio::ERR);
    let mut reporter = Reporter::new(plan, &identity, takes_color, stdio::is_read_by_runner);
    let mut host = ManuallyDrop::new(System::take_over(plan, store));
    let host = match &mut *host {
        Ok(host) => host,
        Err(RunError::Fault(line)) => return complain(line),
        Err(RunError::Interrupted(signal)) => {
            return exit::status(Ending::Interrupted(*signal), plan.overrides);
        }
    };
    if let Some(report) = &mut reporter.report {
        report.begin(host.time_of_day());
    }
    // A warning about an unusable log file comes before the run.
    let opened = host.open_log();
    let mut lines = |moment: &Moment, event: &Event<'_>| reporter.lines(moment, event);
    let result =
        opened.and_then(|()| run::engine::run(plan, &identity, host, &mut rng, &mut lines));
    let exit = match &result {
        Ok(exit) => *exit,
        Err(RunError::Interrupted(signal)) => {
            exit::status(Ending::Interrupted(*signal), plan.overrides)
        }
        Err(RunError::Fault(line)) => {
            // The status is the same if the message cannot be written.
            let _ = host.complain(line);
            exit::status(Ending::Fault, plan.overrides)
        }
    };
    if let (Some(path), Some(report)) = (&plan.output.report, reporter.report) {
        host.write_report(path, &report.end(&result, exit, host.elapsed()));
    }
    exit
}

/// Prints a text on standard output and returns the exit status.
fn print(text: &str) -> Exit {
    match stdio::print(text) {
        Ok(()) => exit::DONE,
        Err(error) => complain(&format!("cannot write to standard output: {error}")),
    }
}

/// Prints an error and returns its status.
fn complain(line: &str) -> Exit {
    stdio::complain(line);
    exit::FAULT
}

/// Internals for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::budget::record;
    pub use crate::cli::parse::{CommandLine, Parsed, parse};
    pub use crate::command::requests::judge_script;

    /// Returns the output of `--list-policies`, or the usage error.
    pub fn printed(typed: &CommandLine) -> Result<Vec<String>, String> {
        let printed = || {
            let (_, config, ..) = crate::prepare(typed)?;
            crate::config::listing::policies(&config)
        };
        printed().map_err(|usage: crate::UsageError| usage.0)
    }
}
