//! Builds a run from the values of all sources: checks options against each other, and puts them together. All usage
//! errors are found before anything starts, so that a run at night does not fail at its first retry over a typo.

mod checks;
mod delays;
mod idempotence;
mod limits;
mod locale;
mod nesting;
mod output;
mod remarks;
mod rules;

use std::ffi::OsString;

use self::remarks::Remarks;
use self::rules::Rules;
use crate::budget::store::Store;
use crate::cli::options::Nested;
use crate::config::Merged;
use crate::config::settings::Variables;
use crate::presets::program::WrappedCommand;
use crate::presets::scripts::Surroundings;
use crate::run::plan::{Nesting, NotIdempotent, OutputOptions, Plan, SharedBudget};

/// Returns the plan of a run and the store of its budget, or the first contradiction of its options. `variables` are
/// those of backoff, which tell about outer runs. `surroundings` are what the command will find, to judge its words.
pub(crate) fn plan(
    merged: &Merged,
    command: Vec<OsString>,
    variables: &Variables,
    surroundings: &dyn Surroundings,
) -> Result<(Plan, Store), String> {
    let options = &merged.options;
    checks::check(&merged.settings, options)?;
    // Only used to judge the command, so bytes that are not UTF-8 may be lost.
    let texts: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = texts.iter().map(|word| &**word).collect();
    let presets = options.rules.presets.clone().unwrap_or_default();
    let wrapped = WrappedCommand::new(&words, presets);
    let nesting = nesting::nesting(variables, options.time.nested, &words);
    let not_idempotent = idempotence::why_not_idempotent(merged, &words, &wrapped, surroundings);
    let output = output::output(&options.output);
    let mut remarks = find_remarks(merged, variables, &wrapped, &nesting, &output);
    remarks.add_not_idempotent(&output, not_idempotent.as_ref());
    let store = limits::store(&merged.settings, &options.budgets)?;
    let judged = Judged {
        rules: rules::rules(options, &words, &wrapped),
        budget: limits::budget(&options.budgets, &store, nesting.counted_budget.as_deref()),
        may_be_translated: locale::may_be_translated(&words, surroundings),
        not_idempotent,
        nesting,
        output,
        remarks,
    };
    Ok((assemble(merged, command, judged), store))
}

/// Parts of a plan that depend on the command or on outer runs.
struct Judged {
    rules: Rules,
    budget: Option<SharedBudget>,
    may_be_translated: bool,
    not_idempotent: Option<NotIdempotent>,
    nesting: Nesting,
    output: OutputOptions,
    remarks: Remarks,
}

fn assemble(merged: &Merged, command: Vec<OsString>, judged: Judged) -> Plan {
    let Merged {
        settings, options, ..
    } = merged;
    let leave_to_outer = options.time.nested == Nested::Once && judged.nesting.depth > 0;
    Plan {
        limits: limits::limits(merged, judged.not_idempotent.is_none(), leave_to_outer),
        delays: delays::delays(&options.waits),
        streams: output::streams(options, &judged.rules),
        classifier: judged.rules.classifier,
        retry_if: options.rules.retry_if.clone(),
        success_if: options.rules.success_if.clone(),
        attempt_limits: limits::attempt_limits(settings, &options.time),
        timeouts: options.time.timeout.clone().unwrap_or_default(),
        initial_delay: options.waits.initial_delay,
        splay: options.waits.splay,
        seed: options.waits.seed,
        overrides: output::overrides(options),
        on_retry: options.hooks.on_retry.clone(),
        before_retry: options.hooks.before_retry.clone(),
        on_give_up: options.hooks.on_give_up.clone(),
        may_be_translated: judged.may_be_translated,
        warnings: judged.remarks.warnings,
        remarks: judged.remarks.remarks,
        remarks_on_failure: judged.remarks.on_failure,
        budget: judged.budget,
        not_idempotent: judged.not_idempotent,
        nesting: judged.nesting,
        output: judged.output,
        command,
    }
}

/// Returns warnings and remarks about valid settings that may not be intended, to print when the run begins or its
/// first attempt fails.
fn find_remarks(
    merged: &Merged,
    variables: &Variables,
    command: &WrappedCommand<'_>,
    nesting: &Nesting,
    output: &OutputOptions,
) -> Remarks {
    let mut remarks = Remarks::on_variables(variables, &merged.declared, nesting, output);
    // `-vv`
    if output.verbosity >= 2 {
        let lines = remarks::settings_and_rules(merged, command);
        remarks.remarks.extend(lines);
    }
    remarks.on_failure = remarks::on_failure(&merged.settings, command);
    remarks
}

#[cfg(test)]
mod tests;
