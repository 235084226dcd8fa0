//! Small safe functions over single system calls.

pub(crate) mod clock;
pub(crate) mod current;
pub(crate) mod deadline;
pub(crate) mod environment;
pub(crate) mod fd;
pub(crate) mod leaf;
pub(crate) mod processes;
pub(crate) mod random;
pub(crate) mod stdio;
pub(crate) mod strings;
pub(crate) mod timer;
