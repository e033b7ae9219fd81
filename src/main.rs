//! `utterd`: the server and its command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    utterd::cli::run(std::env::args_os())
}
