//! What calls cost, compared with an empty call to the same server in the same run.
//!
//! `cargo bench --bench rpc` starts servers as separate processes, loads them from this one, and prints
//! ratios. Rounds of the compared calls alternate, so that a machine that slows down slows both; each figure
//! is the median of its rounds. `-- instructions` counts what calls execute, with valgrind. `-- observed`
//! measures what traces and metrics add, `-- stall` what short calls wait for beside long work.
#![allow(clippy::disallowed_methods, clippy::expect_used)] // A bench measures time, and can panic.

mod child;
mod empty;
mod instructions;
mod load;
mod measured;
mod measures;
mod metered;
mod observed;
mod requests;
mod stall;
mod workload;

/// The same as in the server's own program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(child::SERVE) => child::serve(arguments),
        Some("instructions") => instructions::run(),
        Some("observed") => observed::run(),
        Some("stall") => stall::run(),
        _ => measures::run(),
    }
}
