//! The README and the pages of `docs/`: each command in them is run as it stands there, and each link leads somewhere.
//!
//! - A block of `console` holds commands behind `$ `, and what they print; `> ` continues a command. Ids, times and
//!   sizes of files may differ. A command without output needs to work only.
//! - A block of `sh` is a script. A paragraph of it that serves runs beside those that follow it, on a free port.
//! - `no-run` behind either marks what needs something that is not here, such as a key or ten minutes.
//!
//! A page has one directory, with the `examples` of the project, and one server with the default settings, which
//! `utterd serve &` stands for. What grpcurl is shown to answer is compared in `tests/clients`.
#![allow(clippy::expect_used)] // What a test cannot go on without may end it.

#[path = "support/binary.rs"]
mod binary;
#[path = "docs/commands.rs"]
mod commands;
#[path = "docs/links.rs"]
mod links;
#[path = "docs/page.rs"]
mod page;

use std::sync::Arc;

use libtest_mimic::{Arguments, Completion, Trial};

use page::Page;

fn main() {
    let pages: Arc<[Page]> = Page::all().into();
    let mut trials = Vec::new();
    for number in 0..pages.len() {
        let (run, linked) = (Arc::clone(&pages), Arc::clone(&pages));
        let name = &pages[number].name;
        trials.push(Trial::ignorable_test(format!("{name}::commands"), move || commands_of(&run[number])));
        trials
            .push(Trial::test(format!("{name}::links"), move || Ok(links::lead_somewhere(&linked, number)?)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

fn commands_of(page: &Page) -> Result<Completion, libtest_mimic::Failed> {
    if page.asks_for("openssl") && !commands::is_installed("openssl") {
        return Ok(Completion::ignored_with("apt-get install openssl"));
    }
    commands::run(page)?;
    Ok(Completion::Completed)
}
