//! Rules about failures, from options and presets: is a failure transient, so that it may be retried? All patterns of a
//! run stand in one list, so that one engine searches for all of them; a rule names its pattern by the index in this
//! list. Functions that return rules append the patterns of these to the list.

use std::rc::Rc;

use crate::command::http::refusal_covers_all_requests;
use crate::command::program::{WrappedCommand, is_backoff};
use crate::config::presets::{self, Preset, Row, RowVerdict};
use crate::config::settings::Settings;
use crate::options::opt::Opt;
use crate::options::problem::{Checked, UsageError};
use crate::options::values::SuccessCodes;
use crate::options::{
    BEFORE_RETRY, FAIL_MATCH, RETRY_EXIT, RETRY_IF, RETRY_MATCH, STOP_EXIT, STOP_MATCH,
    SUCCESS_EXIT, SUCCESS_MATCH,
};
use crate::policy::classifier::{Classifier, Rule, RuleKind};
use crate::policy::outcome::End;
use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;
use crate::search::patterns::{MOST_PLACES, Patterns};

/// Room for the rows of most presets, so that lists of them need not grow, which copies them.
const USUAL_ROWS: usize = 128;

/// The exit status of backoff's own errors: usage errors, and rare ones such as a failed fork.
const FAULT_CODE: u8 = 125;

/// Rules about failures, and the patterns that they name by index.
pub(super) struct Rules {
    pub(super) classifier: Classifier,
    pub(super) patterns: Patterns,
}

/// Builds the rules of all options and presets. Returns an error if an option cannot be read, or if the patterns are
/// too large together. `words` are those of the command, `command` is the program that presets judge.
pub(super) fn rules(
    settings: &Settings,
    words: &[&str],
    command: &WrappedCommand<'_>,
) -> Checked<Rules> {
    let mut patterns = Vec::new();
    let success_match = add_patterns(settings, &SUCCESS_MATCH, &mut patterns)?;
    let fail_match = add_patterns(settings, &FAIL_MATCH, &mut patterns)?;
    // The order of the rules decides no verdict (a stop rule always wins), but messages name the first that applies:
    // patterns precede codes, as they also give the text that matched.
    let mut rules = match_rules(settings, &STOP_MATCH, RuleKind::Stop, &mut patterns)?;
    rules.extend(match_rules(
        settings,
        &RETRY_MATCH,
        RuleKind::Retry,
        &mut patterns,
    )?);
    let stop_exit = united(settings, &STOP_EXIT)?;
    rules.extend(stop_exit.map(|codes| exit_rule(&STOP_EXIT, RuleKind::Stop, codes)));
    let retry_exit = united(settings, &RETRY_EXIT)?;
    rules.extend(retry_exit.map(|codes| exit_rule(&RETRY_EXIT, RuleKind::Retry, codes)));
    rules.extend(preset_rules(settings, command, &mut patterns));
    rules.extend(rule_for_inner_backoff(words, retry_exit));
    check_size(&patterns)?;
    let classifier = Classifier {
        success_exit: success_exit(&settings.all(&SUCCESS_EXIT)?),
        success_match,
        fail_match,
        rules,
        retry_exit: retry_exit.unwrap_or_default(),
        has_retry_if: settings.has(&RETRY_IF),
    };
    Ok(Rules {
        classifier,
        patterns: Patterns::new(patterns),
    })
}

/// Appends the patterns of an option to the list, and returns their indexes in it; none if the option is not given.
fn add_patterns(
    settings: &Settings,
    opt: &Opt<Pattern>,
    patterns: &mut Vec<Pattern>,
) -> Checked<Vec<usize>> {
    let first = patterns.len();
    patterns.extend(settings.all(opt)?);
    Ok((first..patterns.len()).collect())
}

/// Returns the rules of an option such as `--retry-match`, one for each pattern, and appends the patterns to the list.
/// `kind` tells if a match makes a failure permanent or transient.
fn match_rules(
    settings: &Settings,
    opt: &Opt<Pattern>,
    kind: RuleKind,
    patterns: &mut Vec<Pattern>,
) -> Checked<Vec<Rule>> {
    let added = add_patterns(settings, opt, patterns)?;
    let rules = added.into_iter().map(|pattern| Rule {
        kind,
        codes: None,
        pattern: Some(pattern),
        // The user vouches for a retry, even with `--idempotent no`.
        is_safe_to_repeat: kind == RuleKind::Retry,
        name: format!("--{}", opt.long).into(),
    });
    Ok(rules.collect())
}

/// Returns the rule of an option such as `--retry-exit`, for all its exit codes. `kind` tells if they make a failure
/// permanent or transient.
fn exit_rule(opt: &Opt<CodeSet>, kind: RuleKind, codes: CodeSet) -> Rule {
    Rule {
        kind,
        codes: Some(codes),
        pattern: None,
        // The user vouches for a retry, even with `--idempotent no`.
        is_safe_to_repeat: kind == RuleKind::Retry,
        name: format!("--{}", opt.long).into(),
    }
}

/// Returns the codes of all settings of an option, or None if it is not given.
fn united(settings: &Settings, opt: &Opt<CodeSet>) -> Checked<Option<CodeSet>> {
    Ok(settings.all(opt)?.into_iter().reduce(CodeSet::union))
}

/// Returns the exit codes that count as a success: those that `--success-exit` gives, together, or else 0 alone.
fn success_exit(given: &[SuccessCodes]) -> CodeSet {
    let given = given.iter().map(|codes| codes.all);
    given
        .reduce(CodeSet::union)
        .unwrap_or_else(|| CodeSet::of(0))
}

/// Returns an error if a search for all patterns would take too long, so that signals would wait. Their size is counted
/// in places: about the characters and classes of each, times the limit of its repetitions.
fn check_size(patterns: &[Pattern]) -> Checked<()> {
    let places = patterns
        .iter()
        .map(Pattern::places)
        .fold(0, usize::saturating_add);
    if places <= MOST_PLACES {
        return Ok(());
    }
    Err(UsageError::new(format!(
        "the patterns are too large together (over {MOST_PLACES} characters and classes)"
    )))
}

/// Returns the rule that a usage error of an inner backoff is permanent, as it would be the same in each attempt. Its
/// other faults, and a 125 of its command, have the same status, and count as one. Returns None if the command is no
/// backoff, or if `--retry-exit` (`retry_exit`) names the status.
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
        name: "125 of an inner backoff, as after a usage error".into(),
    })
}

/// Returns the rules of the presets that `--for` chooses for the command, and appends their patterns to the list. No
/// rules without `--for`, or if `auto` knows no preset for the command's program.
fn preset_rules(
    settings: &Settings,
    command: &WrappedCommand<'_>,
    patterns: &mut Vec<Pattern>,
) -> Vec<Rule> {
    let program = command.wrapped.first().copied();
    let chosen_presets = presets::chosen(&command.presets, program);
    if chosen_presets.is_empty() {
        return Vec::new();
    }
    patterns.reserve(USUAL_ROWS);
    let mut shared = SharedPatterns {
        patterns,
        known: Vec::with_capacity(USUAL_ROWS),
    };
    let mut rules = Vec::with_capacity(USUAL_ROWS);
    for preset in chosen_presets {
        let chosen = ChosenPreset {
            command,
            has_before_retry: settings.has(&BEFORE_RETRY),
            refusal_is_proof: refusal_is_proof(&preset, command),
            rule_name: format!("--for {}", preset.name).into(),
        };
        chosen.add_rules(&preset, &mut shared, &mut rules);
    }
    rules
}

/// Returns true if a refusal in the output (a closed port, say) proves that nothing was done: the command is a program
/// of this preset that makes one request. The output of another program (`--for curl ./script`) may tell of one request
/// among many.
fn refusal_is_proof(preset: &Preset, command: &WrappedCommand<'_>) -> bool {
    let program = command.wrapped.first();
    program.is_some_and(|program| preset.is_for(program))
        && refusal_covers_all_requests(&command.wrapped)
}

/// The patterns of presets. Several may include the same preset (`network`), whose patterns need to stand in the list
/// only once.
struct SharedPatterns<'p> {
    patterns: &'p mut Vec<Pattern>,
    /// Texts of patterns that were appended, with their indexes.
    known: Vec<(&'static str, usize)>,
}

impl SharedPatterns<'_> {
    /// Appends a row's pattern to the list of all patterns, unless an earlier row of a preset has it. Returns its index
    /// in the list, or None if the row has no pattern.
    fn add(&mut self, row: &Row) -> Option<usize> {
        let text = row.text?;
        if let Some((_, index)) = self.known.iter().find(|(known, _)| *known == text) {
            return Some(*index);
        }
        let index = self.patterns.len();
        self.known.push((text, index));
        // Always one, as the row has a text.
        self.patterns.extend(row.pattern());
        Some(index)
    }
}

/// A preset that applies to the command.
struct ChosenPreset<'c> {
    command: &'c WrappedCommand<'c>,
    has_before_retry: bool,
    /// A refusal that the preset finds proves that nothing was done.
    refusal_is_proof: bool,
    rule_name: Rc<str>,
}

impl ChosenPreset<'_> {
    /// Appends a rule for each row of the preset that applies to the command, and the patterns of these. A row does not
    /// apply if the command has the word that the row excludes: `conda run`, say, prints what another program says.
    fn add_rules(&self, preset: &Preset, patterns: &mut SharedPatterns<'_>, rules: &mut Vec<Rule>) {
        for row in preset.rows() {
            if row
                .unless
                .is_some_and(|word| self.command.wrapped.contains(&word))
            {
                continue;
            }
            rules.push(Rule {
                kind: match row.verdict {
                    RowVerdict::Stop => RuleKind::Stop,
                    // The hook may bring the branch up to date: `git pull`.
                    RowVerdict::Behind if self.has_before_retry => RuleKind::Retry,
                    RowVerdict::Behind => RuleKind::Stop,
                    RowVerdict::Retry | RowVerdict::Refused => RuleKind::Retry,
                },
                codes: row.codes,
                pattern: patterns.add(&row),
                is_safe_to_repeat: row.verdict == RowVerdict::Refused && self.refusal_is_proof,
                name: Rc::clone(&self.rule_name),
            });
        }
    }
}
