//! Where the lines about a run go: standard error, or the file of `--log-file`.

use std::path::PathBuf;
use std::rc::Rc;

use nix::errno::Errno;

use crate::process::streams::sink::{self, Sink};
use crate::process::sys::{fd, stdio};
use crate::run::text::{describe, describe_error};

/// The log, opened when there is something to write.
#[derive(Debug)]
pub(super) struct LogSink {
    path: Option<PathBuf>,
    /// The path stands for a descriptor that backoff was not given. One of its own may get that number.
    is_not_given: bool,
    sink: Option<Rc<Sink>>,
    is_lost: bool,
}

impl LogSink {
    /// To this file, or to standard error. Before backoff opens anything of its own.
    pub(super) fn new(path: Option<PathBuf>) -> LogSink {
        let number = path.as_deref().and_then(sink::descriptor);
        LogSink {
            path,
            is_not_given: number.is_some_and(|number| !fd::is_open(number)),
            sink: None,
            is_lost: false,
        }
    }

    /// What to write to; None if that has failed before. An error is a warning to be told.
    pub(super) fn sink(&mut self) -> Result<Option<Rc<Sink>>, String> {
        if self.is_lost {
            return Ok(None);
        }
        if let Some(sink) = &self.sink {
            return Ok(Some(Rc::clone(sink)));
        }
        let sink = match &self.path {
            None => Ok(Sink::new(stdio::ERR)),
            Some(_) if self.is_not_given => Err(Errno::EBADF.into()),
            Some(path) => Sink::append(path),
        };
        match sink {
            Ok(sink) => Ok(Some(Rc::clone(self.sink.insert(Rc::new(sink))))),
            Err(error) => Err(self.lose(&describe_error(&error)).unwrap_or_default()),
        }
    }

    /// A write failed. Nobody is left to be told of standard error; of a file, people are, once.
    pub(super) fn fail(&mut self, errno: Errno) -> Option<String> {
        self.lose(&describe(errno))
    }

    /// Nobody reads it, and there is no time to wait for that.
    pub(super) fn give_up(&mut self) {
        self.is_lost = true;
    }

    fn lose(&mut self, why: &str) -> Option<String> {
        let path = self.path.as_ref()?;
        self.is_lost = true;
        Some(format!(
            "warning: cannot write to --log-file {path:?}: {why}; going on without it"
        ))
    }
}
