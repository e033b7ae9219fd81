//! The README and the pages of `docs/` and `contributing/`: each command in them is run as written, and each
//! link leads somewhere. The README's figures are those that were measured. The code in docs/languages.md is that of
//! the programs in `examples`.
//!
//! - A `console` block contains commands after `$ `, and their output; `> ` continues a command. Ids, times
//!   and file sizes can differ. A command without output only has to succeed.
//! - An `sh` block is a script. A paragraph of it that serves runs next to those that follow it, on a free
//!   port.
//! - `no-run` after either marks what needs something that is not here, such as a key or ten minutes.
//!
//! A page has one directory, with the project's `examples`, and one server with the default settings, which
//! stands for `utterd serve &`. The responses shown for grpcurl, and what the programs in other languages print, are
//! compared in `tests/cases/clients`.

mod commands;
mod excerpts;
mod figures;
mod links;
mod page;

use std::sync::Arc;

use libtest_mimic::{Completion, Trial};

use page::Page;

pub fn trials() -> Vec<Trial> {
    let pages: Arc<[Page]> = Page::all().into();
    let mut trials = Vec::new();
    for number in 0..pages.len() {
        let (run, linked) = (Arc::clone(&pages), Arc::clone(&pages));
        let name = &pages[number].name;
        trials.push(Trial::ignorable_test(format!("docs::{name}::commands"), move || {
            commands_of(&run[number])
        }));
        trials.push(Trial::test(format!("docs::{name}::links"), move || {
            Ok(links::lead_somewhere(&linked, number)?)
        }));
    }
    let of = |name| pages.iter().position(|page| page.name == name).expect("the page is there");
    let (readme, measured, languages) = (of("README.md"), of("docs/figures.md"), of("docs/languages.md"));
    let excerpted = Arc::clone(&pages);
    trials.push(Trial::test("docs::docs/languages.md::excerpts", move || {
        Ok(excerpts::are_of_programs(&excerpted[languages])?)
    }));
    let figures: [(&str, Check); 3] = [
        ("charts", figures::charts_show_the_tables),
        ("counts", figures::compactions_are_counted),
        ("comparison", |readme, _| figures::tests_are_about_the_faults(readme)),
    ];
    trials.extend(figures.map(|(name, check)| {
        let pages = Arc::clone(&pages);
        Trial::test(format!("docs::README.md::{name}"), move || Ok(check(&pages[readme], &pages[measured])?))
    }));
    trials
}

/// Compares the README with the page of figures.
type Check = fn(&Page, &Page) -> Result<(), String>;

fn commands_of(page: &Page) -> Result<Completion, libtest_mimic::Failed> {
    if page.asks_for("openssl") && !commands::is_installed("openssl") {
        return Ok(Completion::ignored_with("apt-get install openssl"));
    }
    commands::run(page)?;
    Ok(Completion::Completed)
}
