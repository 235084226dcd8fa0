//! What a source says, as typed values: one [`Settings`] for each layer, read once, and one of all of them together.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use super::presets::PresetName;
use super::sourced::{Source, Sourced, Statement, UsageError};
use super::values::{self, CoolOffMode, Spread, SuccessCodes};
use crate::budget::client::Store;
use crate::cli::parse::CommandLine;
use crate::cli::table::{OPTIONS, Opt};
use crate::cli::words::{
    DOCUMENTS, Document, FORMATS, GROWTHS, GrowthKind, INPUTS, JitterKind, NESTED, NestedMode, STDERRS, STDOUTS,
    STORE_DOWN, STREAM_CHOICES, StoreDown, UNTILS, WHEN, YES_NO,
};
use crate::policy::session::Until;
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;
use crate::run::output::{Format, When};
use crate::run::streams::{InputMode, OutputMode};
use crate::search::pattern::Pattern;

/// Declares [`Settings`]: a field for each option, under its name, with how its text is read.
macro_rules! settings {
    (
        values { $($one:ident $one_name:literal: $type:ty = $parse:expr;)* }
        lists { $($list:ident $list_name:literal: $item:ty = $parse_item:expr;)* }
        paths { $($path:ident $path_name:literal;)* }
        switches { $($switch:ident $switch_name:literal;)* }
    ) => {
        #[derive(Debug, Clone, Default)]
        pub(crate) struct Settings {
            $(pub(crate) $one: Option<Sourced<$type>>,)*
            $(pub(crate) $list: Vec<Sourced<$item>>,)*
            $(pub(crate) $path: Option<Sourced<PathBuf>>,)*
            /// How often it is on: 0 or 1, more for an option that counts.
            $(pub(crate) $switch: Option<Sourced<u8>>,)*
        }

        impl Settings {
            /// Reads the value of an option. Of an option that may be repeated, it is one more.
            pub(crate) fn set(&mut self, opt: &'static Opt, text: &OsStr, source: Source) -> Result<(), UsageError> {
                match opt.long {
                    $($one_name => self.$one = Some(Sourced::read(opt, text, source, $parse)?),)*
                    $($list_name => self.$list.push(Sourced::read(opt, text, source, $parse_item)?),)*
                    $($path_name => self.$path = Some(Sourced::path(opt, text, source)?),)*
                    $($switch_name => self.$switch = Some(Sourced::switch(opt, text, source)?),)*
                    _ => {}
                }
                Ok(())
            }

            /// Fills in what only the weaker one says.
            pub(crate) fn fill_in(&mut self, weaker: &Settings) {
                $(if self.$one.is_none() { self.$one.clone_from(&weaker.$one); })*
                $(if self.$list.is_empty() { self.$list.clone_from(&weaker.$list); })*
                $(if self.$path.is_none() { self.$path.clone_from(&weaker.$path); })*
                $(if self.$switch.is_none() { self.$switch.clone_from(&weaker.$switch); })*
            }

            /// What was said of an option; several statements only of one that may be repeated.
            fn statements(&self, opt: &Opt) -> Vec<&Statement> {
                match opt.long {
                    $($one_name => self.$one.iter().map(|one| &*one.statement).collect(),)*
                    $($list_name => self.$list.iter().map(|one| &*one.statement).collect(),)*
                    $($path_name => self.$path.iter().map(|path| &*path.statement).collect(),)*
                    $($switch_name => self.$switch.iter().map(|switch| &*switch.statement).collect(),)*
                    _ => Vec::new(),
                }
            }
        }
    };
}

settings! {
    values {
        attempts "attempts": Option<u64> = values::attempts;
        deadline "deadline": Duration = values::duration;
        stop_after "stop-after": Duration = values::duration;
        timeout "timeout": Vec<Duration> = values::durations;
        idle_timeout "idle-timeout": Duration = values::duration;
        signal "signal": Signal = values::signal;
        kill_after "kill-after": Duration = values::duration;

        every "every": Duration = values::duration;
        base "base": Duration = values::duration;
        factor "factor": f64 = values::factor;
        max_delay "max-delay": Duration = values::duration;
        growth "growth": GrowthKind = |text| values::one_of(text, &GROWTHS);
        delays "delays": Vec<Duration> = values::durations;
        jitter "jitter": JitterKind = values::jitter;
        spread "spread": Spread = values::spread;
        stop_at_delay "stop-at-delay": Duration = values::duration;
        initial_delay "initial-delay": Duration = values::duration;
        splay "splay": Duration = values::duration;
        reset_after "reset-after": Duration = values::duration;
        seed "seed": u64 = |text| values::whole(text, 0, u64::MAX);
        policy "policy": String = values::any_text;

        until "until": Until = |text| values::one_of(text, &UNTILS);
        consecutive "consecutive": u64 = |text| values::whole(text, 1, u64::MAX);
        retry_if "retry-if": String = values::predicate;
        success_if "success-if": String = values::predicate;
        presets "for": Vec<PresetName> = PresetName::parse_list;
        match_on "match-on": [bool; 2] = |text| values::one_of(text, &STREAM_CHOICES);
        max_retry_after "max-retry-after": Duration = values::duration;

        stdin "stdin": InputMode = |text| values::one_of(text, &INPUTS);
        stdin_limit "stdin-limit": u64 = values::size;
        stdout "stdout": OutputMode = |text| values::one_of(text, &STDOUTS);
        stderr "stderr": OutputMode = |text| values::one_of(text, &STDERRS);

        idempotent "idempotent": bool = |text| values::one_of(text, &YES_NO);
        budget "budget": String = values::budget_name;
        budget_ratio "budget-ratio": f64 = values::percent;
        budget_min "budget-min": u64 = |text| values::whole(text, 0, u64::MAX);
        budget_window "budget-window": Duration = |text| values::at_least_a_millisecond(text, "10m");
        cool_off "cool-off": CoolOffMode = values::cool_off;
        skipped_exit "skipped-exit": u8 = values::code;
        store "store": Store = |text| Store::parse(text, |text| values::at_least_a_millisecond(text, "250ms"));
        store_down "store-down": StoreDown = |text| values::one_of(text, &STORE_DOWN);
        nested "nested": NestedMode = |text| values::one_of(text, &NESTED);

        log_format "log-format": Format = |text| values::one_of(text, &FORMATS);
        label "label": String = values::label;
        color "color": When = |text| values::one_of(text, &WHEN);
        progress "progress": When = |text| values::one_of(text, &WHEN);
        on_retry "on-retry": String = values::any_text;
        before_retry "before-retry": String = values::predicate;
        on_give_up "on-give-up": String = values::any_text;
        hook_output "hook-output": Option<usize> = values::hook_output;
        exhausted_exit "exhausted-exit": u8 = values::code;
        flaky_exit "flaky-exit": u8 = values::code;

        generate "generate": Document = |text| values::one_of(text, &DOCUMENTS);
    }
    lists {
        success_exit "success-exit": SuccessCodes = values::success_codes;
        retry_exit "retry-exit": CodeSet = values::codes;
        stop_exit "stop-exit": CodeSet = values::codes;
        success_match "success-match": Pattern = values::regex;
        fail_match "fail-match": Pattern = values::regex;
        retry_match "retry-match": Pattern = values::regex;
        stop_match "stop-match": Pattern = values::regex;
    }
    paths {
        log_file "log-file";
        report "report";
        config "config";
    }
    switches {
        retry_after "retry-after";
        pty "pty";
        quiet "quiet";
        verbose "verbose";
        c_locale "c-locale";
        plan "plan";
        plot "plot";
        list_presets "list-presets";
        list_policies "list-policies";
    }
}

impl Settings {
    /// Adds what was typed.
    pub(crate) fn add_typed(&mut self, typed: &CommandLine) -> Result<(), UsageError> {
        for (opt, text) in &typed.options {
            self.set(opt, text, Source::Flag)?;
        }
        Ok(())
    }

    /// What an option is set to, as it may be shown, and by whom.
    pub(crate) fn said(&self, opt: &Opt) -> Option<(String, String)> {
        let statements = self.statements(opt).into_iter().map(Statement::shown);
        let (texts, mut names): (Vec<String>, Vec<String>) = statements.unzip();
        Some((texts.join(", "), names.pop()?))
    }

    /// Adds what the `BACKOFF_*` variables say of options that this does not speak of. What a stronger source
    /// overrides is not even read.
    pub(crate) fn fill_in_variables(&mut self, variables: &[(OsString, OsString)]) -> Result<(), UsageError> {
        if variables.is_empty() {
            return Ok(());
        }
        for opt in OPTIONS {
            let Some(text) = found(variables, |name| opt.has_variable(name.as_bytes())) else {
                continue;
            };
            if !opt.is_action() && self.statements(opt).is_empty() {
                self.set(opt, text, Source::Variable)?;
            }
        }
        Ok(())
    }
}

/// The value of a variable, by its full name; an empty one counts as unset.
pub(crate) fn variable<'v>(variables: &'v [(OsString, OsString)], name: &str) -> Option<&'v OsStr> {
    found(variables, |known| known == name)
}

fn found(variables: &[(OsString, OsString)], is_it: impl Fn(&OsStr) -> bool) -> Option<&OsStr> {
    let (_, value) = variables.iter().find(|(name, _)| is_it(name))?;
    (!value.is_empty()).then_some(value)
}

/// Whether a switch is on.
pub(crate) fn is_on(switch: &Option<Sourced<u8>>) -> bool {
    switch.as_ref().is_some_and(|switch| switch.value > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that every kind of option can read.
    fn good(opt: &Opt) -> &'static str {
        match (opt.long, opt.kind.words()) {
            (_, [first, ..]) => first,
            ("signal", _) => "TERM",
            ("for", _) => "curl",
            _ => "1",
        }
    }

    #[test]
    fn every_option_has_a_setting() {
        for opt in OPTIONS.iter().filter(|opt| !["help", "version"].contains(&opt.long)) {
            let mut settings = Settings::default();
            settings.set(opt, OsStr::new(good(opt)), Source::Variable).unwrap();
            let said = settings.said(opt);
            assert_eq!(said, Some((good(opt).to_owned(), opt.variable())), "{}", opt.long);
        }
    }

    #[test]
    fn a_variable_has_the_name_of_its_option() {
        for opt in OPTIONS {
            let name = opt.variable();
            let named = |name: &str| OPTIONS.iter().filter(|opt| opt.has_variable(name.as_bytes())).count();
            assert!(opt.has_variable(name.as_bytes()) && named(&name) == 1, "{name}");
            for other in [name.to_lowercase(), format!("{name}S"), name.replace("BACKOFF_", "")] {
                assert_eq!(named(&other), 0, "{other}");
            }
        }
    }

    #[test]
    fn the_stronger_source_wins_option_by_option() {
        let opt = |long| crate::cli::table::option(long);
        let mut both = Settings::default();
        both.set(opt("base"), "2s".as_ref(), Source::Flag).unwrap();
        both.set(opt("retry-match"), "a".as_ref(), Source::Flag).unwrap();
        let mut weak = Settings::default();
        for (long, text) in [("base", "1s"), ("max-delay", "9s"), ("retry-match", "b"), ("pty", "1")] {
            weak.set(opt(long), text.as_ref(), Source::Variable).unwrap();
        }
        both.fill_in(&weak);
        let said = |long| both.said(opt(long)).unwrap();
        assert_eq!(said("base"), ("2s".into(), "--base".into()));
        assert_eq!(said("max-delay"), ("9s".into(), "BACKOFF_MAX_DELAY".into()));
        assert_eq!(said("retry-match"), ("a".into(), "--retry-match".into()));
        assert!(is_on(&both.pty));
    }

    #[test]
    fn a_variable_that_a_flag_overrides_is_not_read() {
        let variables = [
            ("BACKOFF_BASE".into(), "nonsense".into()),
            ("BACKOFF_FACTOR".into(), "".into()),
        ];
        let mut both = Settings::default();
        let base = crate::cli::table::option("base");
        both.set(base, "2s".as_ref(), Source::Flag).unwrap();
        both.fill_in_variables(&variables).unwrap();
        assert_eq!(both.base.map(|base| base.value), Some(Duration::from_secs(2)));
        assert!(both.factor.is_none());
        let error = Settings::default().fill_in_variables(&variables).unwrap_err();
        assert!(error.0.starts_with("BACKOFF_BASE: \"nonsense\" "), "{error}");
    }
}
