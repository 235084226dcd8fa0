//! Calls of functions in scripts, and the arguments that functions get: `$1` in a function has these values.

use std::rc::Rc;

use super::frame::Frame;
use crate::command::syntax::RawWord;
use crate::command::text::{Doubt, Symbols};

/// The arguments of one call, first `$0`, which is left empty.
type Arguments = Vec<Symbols>;

/// A command that may call a function, or a `set` that sets the arguments.
#[derive(Debug)]
pub(super) struct FunctionCall {
    /// The words after the function's name, or those that `set` passes.
    pub(super) arguments: Vec<RawWord>,
    /// The frame of the script with the call, in which the words are expanded.
    pub(super) frame: Rc<Frame>,
}

/// The arguments that functions may get.
#[derive(Debug, Clone, Default)]
pub(super) enum FunctionArguments {
    #[default]
    NotSearched,
    /// Too many, or one of them may be several words, or they are being searched for now. The doubt is what one of them
    /// may be.
    Unknown(Doubt),
    /// Each list of arguments that some call may pass, once; an argument may have unknown parts. Empty if no function
    /// is called.
    Known(Vec<Arguments>),
}
