//! The code in docs/languages.md.

use std::fs;

use crate::docs::page::{Block, Page, root};

/// The languages with a program in `examples`.
const LANGUAGES: [&str; 2] = ["go", "java"];
/// The longest excerpt, in lines.
const LONGEST: usize = 10;

/// Checks that each language has an excerpt, of at most ten lines, that is in its program as shown.
pub fn are_of_programs(page: &Page) -> Result<(), String> {
    let blocks = page.blocks();
    for language in LANGUAGES {
        let shown = blocks.iter().find(|block| block.kind == language);
        let shown = shown.ok_or_else(|| format!("{}: nothing in {language}", page.name))?;
        is_of_a_program(shown).map_err(|error| format!("{}:{}: {error}", page.name, shown.line))?;
    }
    Ok(())
}

fn is_of_a_program(shown: &Block<'_>) -> Result<(), String> {
    let directory = root().join("examples").join(shown.kind);
    let files = fs::read_dir(&directory).map_err(|error| error.to_string())?;
    let texts = files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok());
    let excerpt = unindented(shown.text);
    if excerpt.lines().count() > LONGEST {
        return Err(format!("more than {LONGEST} lines"));
    }
    match texts.into_iter().any(|text| unindented(&text).contains(&excerpt)) {
        true => Ok(()),
        false => Err(format!("not in a program in {}", directory.display())),
    }
}

fn unindented(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}
