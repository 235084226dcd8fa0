//! Where the lines about a run go: standard error, or the file of `--log-file`.

use std::path::PathBuf;
use std::rc::Rc;

use super::{describe, describe_error, stdio};
use crate::io::sink::Sink;

/// The log, opened when there is something to write.
#[derive(Debug)]
pub(super) struct Messages {
    path: Option<PathBuf>,
    sink: Option<Rc<Sink>>,
    is_lost: bool,
}

impl Messages {
    /// To this file, or to standard error.
    pub(super) fn new(path: Option<PathBuf>) -> Messages {
        Messages {
            path,
            sink: None,
            is_lost: false,
        }
    }

    /// What to write to; None if that has failed before.
    pub(super) fn sink(&mut self) -> Option<Rc<Sink>> {
        if self.is_lost {
            return None;
        }
        if let Some(sink) = &self.sink {
            return Some(Rc::clone(sink));
        }
        let sink = match &self.path {
            None => Sink::new(stdio::ERR),
            Some(path) => match Sink::append(path) {
                Ok(sink) => sink,
                Err(error) => {
                    self.lose(&describe_error(&error));
                    return None;
                }
            },
        };
        Some(Rc::clone(self.sink.insert(Rc::new(sink))))
    }

    /// A write failed. Nobody is left to be told of standard error; of a file, people are, once.
    pub(super) fn fail(&mut self, errno: nix::errno::Errno) {
        self.lose(&describe(errno));
    }

    fn lose(&mut self, why: &str) {
        if let Some(path) = &self.path {
            self.is_lost = true;
            stdio::complain(&format!(
                "warning: cannot write to --log-file {:?}: {why}; going on without it",
                path
            ));
        }
    }
}
