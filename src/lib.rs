//! `backoff` runs a command and retries transient failures, with exponential backoff and jitter.
//!
//! The modules from the top down are `plan`, `config`, `cli`, `presets`, `process`, `budget`, `report`, `run`,
//! `policy`, `search`, `text`. Imports only go down this list. `docs/DESIGN.md` explains them, the engine, the terminal
//! and signal model, and the known limits.
//!
//! Only [`main`] is stable. `policy` is public for `examples/`, and may change in any version.

mod budget;
mod cli;
mod config;
mod plan;
#[doc(hidden)]
pub mod policy;
mod presets;
mod process;
mod report;
mod run;
mod search;
mod text;

use std::ffi::OsString;
use std::path::Path;

use budget::store::Store;
use cli::generate::document;
use cli::parse::{CommandLine, Task};
use config::{Merged, listing};
use policy::delay::generator_of_seed;
pub use policy::exit::Exit;
use policy::exit::{self, Ending};
use presets::scripts::Surroundings;
pub use process::entry::{Argv, enter};
use process::files::is_one_file;
use process::host::System;
use process::sys::random::{generator, uuid};
use process::sys::small_files;
use process::sys::{color, environment, stdio};
use report::reporter::Reporter;
use run::event::{Event, Moment};
use run::host::{Host, RunError};
use run::plan::Format;
use run::plan::{Identity, Plan};

/// Runs backoff with these arguments, of which the first is the program's name. Prints what an option asks for, or runs
/// the command with retries. Returns the exit status, or the signal that has to kill the process. Finds all mistakes in
/// options before anything starts.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the C `main` hands them over"
)]
pub fn main(args: Vec<OsString>) -> Exit {
    let line = match cli::parse::parse(args.get(1..).unwrap_or_default()) {
        Ok(Task::Run(line)) => *line,
        Ok(Task::Print(text)) => return print(&text),
        Err(problem) => return complain(&problem),
    };
    let prepared = match prepare(line) {
        Ok(prepared) => prepared,
        Err(problem) => return complain(&problem),
    };
    match text_to_print(&prepared) {
        Ok(Some(text)) => return print(&text),
        Ok(None) => {}
        Err(problem) => return complain(&problem),
    }
    if prepared.plan.command.is_empty() {
        return complain("no command given, as in backoff [OPTION]... COMMAND; see --help");
    }
    if let Err(problem) = check_log_is_not_report(&prepared) {
        return complain(&problem);
    }
    run(&prepared.plan, &prepared.store)
}

/// Everything that is known before the run.
struct Prepared {
    merged: Merged,
    plan: Plan,
    store: Store,
}

/// Merges flags, variables and the config file, and makes the plan of the run from them. A mistake in any of them is an
/// error, even if only a text is to be printed. A missing command is not an error here.
fn prepare(mut line: CommandLine) -> Result<Prepared, String> {
    // They contain settings, and tell a nested run about the outer one.
    let variables = environment::backoff_variables();
    let command = std::mem::take(&mut line.command);
    let merged = config::merge(line, &variables)?;
    let (plan, store) = plan::plan(&merged, command, &variables, &Machine)?;
    Ok(Prepared {
        merged,
        plan,
        store,
    })
}

/// Returns the text of an option that prints something instead of a run, or None for a run. Of `--generate`, lists and
/// `--plan`, the first in this order counts. An unknown preset is an error.
fn text_to_print(prepared: &Prepared) -> Result<Option<String>, String> {
    let Prepared { merged, plan, .. } = prepared;
    let options = &merged.options.other;
    if let Some(kind) = options.generate {
        let presets: Vec<_> = presets::all().iter().map(|preset| preset.name).collect();
        return Ok(Some(document(kind, &presets.join(" "))));
    }
    if options.list_presets {
        return listed_presets(&plan.command, plan.output.format).map(Some);
    }
    if options.list_policies {
        return listing::policies(&merged.config, &merged.declared).map(Some);
    }
    Ok(options.plan.then(|| forecast(plan)))
}

/// Returns the output of `--list-presets`: the presets with these names (the words in place of a command), or all if
/// there are none. An unknown name is an error.
fn listed_presets(names: &[OsString], format: Format) -> Result<String, String> {
    if format == Format::Json {
        presets::listing::presets_as_json(names)
    } else if names.is_empty() {
        Ok(presets::listing::presets())
    } else {
        presets::listing::presets_named(names)
    }
}

/// Returns an error if log and report are the same file, because the report would replace the log.
fn check_log_is_not_report(prepared: &Prepared) -> Result<(), String> {
    let Prepared { merged, plan, .. } = prepared;
    if let (Some(log), Some(report)) = (&plan.output.log_file, &plan.output.report)
        && is_one_file(log, report)
        && let Some(log) = merged.settings.find("log-file")
        && let Some(report) = merged.settings.find("report")
    {
        return Err(format!(
            "{log} cannot be used with {report}: the report would replace the log"
        ));
    }
    Ok(())
}

/// Returns the text of `--plan`, as a table or (`--log-format json`) as JSON.
fn forecast(plan: &Plan) -> String {
    if plan.output.format == Format::Json {
        report::plan_table::as_json(plan)
    } else {
        report::plan_table::table(plan)
    }
}

/// The environment and files of this machine, which tell what the words of the command mean.
struct Machine;

impl Surroundings for Machine {
    fn variable(&self, name: &str) -> Option<String> {
        environment::variable(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// A NUL byte in the first line means a program, as to a shell. Further down, a script may contain any bytes: a
    /// comment in an old encoding, or an archive after its `exit`.
    fn text_file(&self, path: &str) -> Option<String> {
        let bytes = small_files::read(Path::new(path))?;
        let first_line = bytes.split(|byte| *byte == b'\n').next()?;
        if first_line.contains(&0) {
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Returns a random ID for this run, and the ID of the outermost run around it, for variables, log and report. Both are
/// the same if this run is the outermost, or if the other ID is unknown.
fn new_identity(plan: &Plan) -> Identity {
    let run_id = uuid();
    let root_id = match &plan.nesting.root_id {
        Some(outermost) => outermost.clone(),
        None => run_id.clone(),
    };
    Identity { run_id, root_id }
}

/// Runs the command as planned, writes the report, and returns the exit status. From here on backoff handles signals.
/// The report is written last, because it says how the run ended, even after a signal or a fault. If it cannot be
/// written, the host only warns. There is none if backoff cannot take over signals and streams, because no run begins
/// then.
fn run(plan: &Plan, store: &Store) -> Exit {
    let identity = new_identity(plan);
    let mut rng = plan.seed.map_or_else(generator, generator_of_seed);
    let mut reporter = Reporter::new(plan, &identity, color::takes_color(stdio::ERR));
    let mut host = match System::take_over(plan, store) {
        Ok(host) => host,
        Err(line) => return complain(&line),
    };
    if let Some(report) = &mut reporter.report {
        report.begin(host.time_of_day());
    }
    let mut lines = |moment: &Moment, event: &Event<'_>| reporter.lines(moment, event);
    // A warning about an unusable log file comes before the run.
    let result = match host.open_log() {
        Ok(()) => run::engine::run(plan, &identity, &mut host, &mut rng, &mut lines),
        Err(error) => Err(error),
    };
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

/// Prints a text on standard output and returns the exit status: 0, or that of a fault if the text cannot be written.
fn print(text: &str) -> Exit {
    match stdio::print(text) {
        Ok(()) => exit::DONE,
        Err(error) => complain(&format!("cannot write to standard output: {error}")),
    }
}

/// Prints one of backoff's own errors as a line on standard error, and returns its status.
fn complain(line: &str) -> Exit {
    stdio::complain(line);
    exit::FAULT
}
