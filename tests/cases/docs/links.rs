//! Links between the pages, and to files of the project.

use crate::docs::page::{Page, root};

/// Finds links of a page that lead nowhere: to no file, or to no heading. External addresses are not tried.
pub fn lead_somewhere(pages: &[Page], number: usize) -> Result<(), String> {
    let page = &pages[number];
    let dead: Vec<_> = targets(&page.text).filter(|target| !exists(pages, page, target)).collect();
    match dead.is_empty() {
        true => Ok(()),
        false => Err(format!("{} links to nothing: {}", page.name, dead.join(", "))),
    }
}

/// The targets in `](…)`.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    links
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.contains(char::is_whitespace))
}

fn exists(pages: &[Page], page: &Page, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let directory = root().join(&page.name).parent().expect("a page is in a directory").to_owned();
    let file = match path {
        "" => root().join(&page.name),
        path => directory.join(path),
    };
    let Ok(file) = file.canonicalize() else { return false };
    let headed = |page: &Page| page.text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
    let same = |page: &&Page| root().join(&page.name).canonicalize().is_ok_and(|path| path == file);
    heading.is_empty() || pages.iter().find(same).is_some_and(headed)
}

/// A heading as GitHub writes it in a link.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
