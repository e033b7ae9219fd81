//! `utterd`: the server and its command line.

use std::process::ExitCode;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    utterd::cli::run(std::env::args_os())
}
