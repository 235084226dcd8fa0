//! Rules about failures, from options and presets. They tell which failures are transient and may be retried.

use std::rc::Rc;

use crate::cli::options::Options;
use crate::policy::classifier::{Classifier, PresetRules, Rule, RuleKind};
use crate::policy::outcome::End;
use crate::policy::sets::CodeSet;
use crate::presets::Preset;
use crate::presets::clients::makes_one_request;
use crate::presets::names::chosen;
use crate::presets::program::{WrappedCommand, is_backoff, is_shell};
use crate::presets::rules::RowVerdict;
use crate::search::pattern::Pattern;
use crate::search::watch::WatchList;

/// The exit status of backoff's own errors: usage errors, and rare ones such as a failed fork.
const FAULT_CODE: u8 = 125;

/// Rules about failures, and the user's patterns among them.
pub(super) struct Rules {
    pub(super) classifier: Classifier,
    pub(super) watch_list: Rc<WatchList>,
}

/// Builds the rules of all options and presets. `words` are those of the command, and `command` is the program that
/// presets judge.
pub(super) fn rules(options: &Options, words: &[&str], command: &WrappedCommand<'_>) -> Rules {
    let given = &options.rules;
    // Patterns precede codes, because they override presets and give messages the text that matched.
    let mut rules = match_rules("--stop-match", RuleKind::Stop, &given.stop_match);
    rules.extend(match_rules(
        "--retry-match",
        RuleKind::Retry,
        &given.retry_match,
    ));
    let mut watched = [given.success_match.clone(), given.fail_match.clone()].concat();
    watched.extend(rules.iter().filter_map(|rule| rule.pattern.clone()));
    let stop_exit = united(&given.stop_exit);
    rules.extend(stop_exit.map(|codes| exit_rule("--stop-exit", RuleKind::Stop, codes)));
    let retry_exit = united(&given.retry_exit);
    rules.extend(retry_exit.map(|codes| exit_rule("--retry-exit", RuleKind::Retry, codes)));
    rules.extend(rule_for_inner_backoff(words, retry_exit));
    let success_exit: Vec<CodeSet> = given.success_exit.iter().map(|codes| codes.all).collect();
    let classifier = Classifier {
        success_exit: united(&success_exit).unwrap_or_default(),
        success_match: given.success_match.clone(),
        fail_match: given.fail_match.clone(),
        rules,
        preset_rules: preset_rules(options, words, command),
        retry_exit: retry_exit.unwrap_or_default(),
        has_retry_if: given.retry_if.is_some(),
    };
    Rules {
        classifier,
        watch_list: Rc::new(WatchList::new(watched)),
    }
}

/// Returns the rules of an option such as `--retry-match`, one for each pattern. `kind` tells whether a match makes a
/// failure permanent or transient.
fn match_rules(option: &str, kind: RuleKind, patterns: &[Pattern]) -> Vec<Rule> {
    let rules = patterns.iter().map(|pattern| Rule {
        kind,
        codes: None,
        pattern: Some(pattern.clone()),
        // The user vouches for a retry, even with `--idempotent no`.
        is_safe_to_repeat: kind == RuleKind::Retry,
        name: option.into(),
    });
    rules.collect()
}

/// Returns the rule of an option such as `--retry-exit`, for all its exit codes. `kind` tells whether they make a
/// failure permanent or transient.
fn exit_rule(option: &str, kind: RuleKind, codes: CodeSet) -> Rule {
    Rule {
        kind,
        codes: Some(codes),
        pattern: None,
        // The user vouches for a retry, even with `--idempotent no`.
        is_safe_to_repeat: kind == RuleKind::Retry,
        name: option.into(),
    }
}

/// Returns all codes of an option, or None if it is not given.
fn united(codes: &[CodeSet]) -> Option<CodeSet> {
    codes.iter().copied().reduce(CodeSet::union)
}

/// Returns the rule that a usage error of a nested backoff is permanent, because it would be the same in each attempt.
/// Its other faults, and a 125 of its command, have the same status and count as one. None if the command is not
/// backoff, or if `--retry-exit` (`retry_exit`) lists the status.
fn rule_for_inner_backoff(words: &[&str], retry_exit: Option<CodeSet>) -> Option<Rule> {
    // Spares most commands the search for the program behind wrappers.
    let mentions_backoff = words.iter().any(|word| word.contains("backoff"));
    if !mentions_backoff || !is_backoff(words) {
        return None;
    }
    let usage_error = End::Exited(FAULT_CODE);
    if retry_exit.is_some_and(|codes| codes.contains_end(&usage_error)) {
        return None;
    }
    Some(Rule {
        kind: RuleKind::Stop,
        codes: Some(CodeSet::of(FAULT_CODE)),
        pattern: None,
        is_safe_to_repeat: false,
        name: "125 of an inner backoff, such as a usage error".into(),
    })
}

/// Returns the rules of the presets that `--for` selects for the command, to be read at the first failure. None without
/// `--for`, or if `auto` knows no preset for the command's program.
fn preset_rules(
    options: &Options,
    words: &[&str],
    command: &WrappedCommand<'_>,
) -> Option<PresetRules> {
    let program = command.wrapped.first().copied();
    let presets: Vec<ChosenPreset> = chosen(&command.presets, program)
        .into_iter()
        .map(|preset| ChosenPreset {
            has_before_retry: options.hooks.before_retry.is_some(),
            refusal_is_proof: refusal_is_proof(&preset, command),
            codes: meaning_of_codes(&preset, words, command),
            preset,
        })
        .collect();
    if presets.is_empty() {
        return None;
    }
    let read: Box<dyn FnOnce() -> Vec<Rule>> = Box::new(move || {
        let mut rules: Vec<Rule> = presets.iter().flat_map(ChosenPreset::rules).collect();
        rules.sort_by_key(|rule| !rule.is_safe_to_repeat);
        rules
    });
    Some(PresetRules::new(read))
}

/// Returns true if a refusal in the output (such as a closed port) proves that nothing was done, because the command is
/// a program of this preset that makes one request. The output of another program (`--for curl ./script`) may report
/// one request among many.
fn refusal_is_proof(preset: &Preset, command: &WrappedCommand<'_>) -> bool {
    let program = command.wrapped.first();
    program.is_some_and(|program| preset.is_for(program)) && makes_one_request(&command.wrapped)
}

/// Programs that run others and have their own exit codes.
const OWN_CODES: [&str; 16] = [
    "make", "gmake", "ninja", "cmake", "just", "task", "flock", "xargs", "parallel", "npm", "pnpm",
    "yarn", "gradle", "mvn", "bazel", "tox",
];

/// Returns what an exit code of the command says about the preset's tool.
fn meaning_of_codes(preset: &Preset, words: &[&str], command: &WrappedCommand<'_>) -> Codes {
    let program = command.wrapped.first().copied().unwrap_or_default();
    if preset.is_for(program) {
        Codes::Tool
    } else if OWN_CODES.contains(&program) {
        Codes::Another
    } else if is_shell(program) && words.iter().any(|word| word.contains('|')) {
        Codes::Pipeline
    } else {
        Codes::Tool
    }
}

/// The exit codes of the command, as seen by a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codes {
    /// The command is the tool, or exits with its code, as scripts and most programs that run it do.
    Tool,
    /// The code may be that of any program in a pipeline.
    Pipeline,
    /// The command has its own codes, such as make's 2.
    Another,
}

impl Codes {
    /// Returns true if a rule with a text ignores its code. In a pipeline, what a preset stops needs its code, because
    /// a later program may have recovered from it.
    fn are_ignored(self, verdict: RowVerdict) -> bool {
        match self {
            Codes::Tool => false,
            Codes::Pipeline => matches!(verdict, RowVerdict::Retry | RowVerdict::Refused),
            Codes::Another => true,
        }
    }
}

/// A preset that applies to the command.
struct ChosenPreset {
    preset: Preset,
    has_before_retry: bool,
    /// A refusal that the preset finds proves that nothing was done.
    refusal_is_proof: bool,
    codes: Codes,
}

impl ChosenPreset {
    /// Returns a rule for each row of the preset that can apply.
    fn rules(&self) -> Vec<Rule> {
        let name: Rc<str> = format!("--for {}", self.preset.name).into();
        let rows = self.preset.rows().into_iter();
        let rows = rows.filter(|row| row.text.is_some() || self.codes != Codes::Another);
        let rules = rows.map(|row| Rule {
            kind: self.kind(row.verdict),
            codes: row
                .codes
                .filter(|_| row.text.is_none() || !self.codes.are_ignored(row.verdict)),
            pattern: row.pattern(),
            is_safe_to_repeat: row.verdict == RowVerdict::Refused && self.refusal_is_proof,
            name: Rc::clone(&name),
        });
        rules.collect()
    }

    fn kind(&self, verdict: RowVerdict) -> RuleKind {
        match verdict {
            RowVerdict::Stop => RuleKind::Stop,
            // The hook may update the branch: `git pull`.
            RowVerdict::Behind if self.has_before_retry => RuleKind::Retry,
            RowVerdict::Behind => RuleKind::Stop,
            RowVerdict::Retry | RowVerdict::Refused => RuleKind::Retry,
        }
    }
}
