//! The binary. Everything is in the library; see `backoff_cli::main`.
#![no_main]

backoff_cli::entry_point!(backoff_cli::main);
