//! The lines of chosen items.

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::item::{DAY, Item, Kind, Marks, NO_ANSWER, Seen};
use utterd_text::{Kind as Shape, one_line};

/// A line of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What its items tell.
    pub kind: Kind,
    /// The text, with `\n` at its end and nowhere else. It begins with a letter or a digit, and no white space precedes the
    /// line break, so that the token counts of lines add up exactly.
    pub text: String,
    /// The exact tokens of the text.
    pub tokens: u32,
    /// The places of its items.
    pub items: Vec<usize>,
}

/// Directories shared by fewer paths are not told apart from them.
const LEAST_BELOW_ROOT: usize = 3;

/// The lines of `chosen`, places in `items`, in the order of a summary.
pub fn lines(items: &[Item], chosen: &[usize], root: Option<&str>) -> Vec<Line> {
    // what a line begins with is no bare name as well
    let things: FxHashSet<&str> =
        chosen.iter().map(|at| &items[*at]).filter(|item| item.is_value()).map(|item| &*item.head).collect();
    let is_said = |item: &Item| item.seen.is_some() && things.contains(&*item.text);
    let mut chosen: Vec<usize> = chosen.iter().copied().filter(|at| !is_said(&items[*at])).collect();
    chosen.sort_unstable_by_key(|at| (items[*at].kind, items[*at].sequence, *at));
    let told = chosen.clone();
    let mut groups: Vec<Group> = Vec::new();
    let mut known: FxHashMap<Key, usize> = FxHashMap::default();
    for at in chosen {
        let item = &items[at];
        let key = key(item);
        // a speaker's sentences are one line while nobody else speaks
        let group = match item.kind {
            Kind::Said => groups.len().checked_sub(1).filter(|last| groups[*last].key == key),
            _ => known.get(&key).copied(),
        };
        let group = group.unwrap_or_else(|| {
            groups.push(Group { key, items: Vec::new() });
            known.insert(key, groups.len() - 1);
            groups.len() - 1
        });
        groups[group].items.push(at);
    }
    groups.sort_by_key(|group| (group.key.0, group.is_of_nothing()));
    let mut lines = Vec::new();
    let root = root.unwrap_or_default();
    let below = |at: &usize| {
        let item = &items[*at];
        !root.is_empty() && !is_quoted(item) && item.text.contains(root)
    };
    let from: Vec<usize> = groups.iter().flat_map(|group| &group.items).copied().filter(below).collect();
    if !from.is_empty() {
        lines.push(Line::new(Kind::Fact, &format!("Root: {}", root.trim_end_matches('/')), from));
    }
    let mut day = 0;
    for group in &groups {
        if group.key.3 > 0 && group.key.3 != day {
            day = group.key.3;
            lines.push(Line::new(Kind::Said, &format!("On {}:", date(day)), vec![group.items[0]]));
        }
        lines.extend(group.lines(items, root, &told));
    }
    lines.extend(uncounted(items, &lines));
    lines.sort_by_key(|line| line.kind);
    lines
}

impl Line {
    fn new(kind: Kind, text: &str, items: Vec<usize>) -> Self {
        let mut text = tidy(text);
        text.push('\n');
        Self { kind, text, tokens: 0, items }
    }
}

/// An item as a line of its own, without the line break.
pub fn alone(item: &Item) -> String {
    if item.seen.is_some() {
        return tidy(&item.text);
    }
    let group = Group { key: key(item), items: vec![0] };
    let line = group.lines(std::slice::from_ref(item), "", &[]).pop();
    let mut text = line.map(|line| line.text).unwrap_or_default();
    text.truncate(text.trim_end().len());
    text
}

/// The number of deeds that no line tells.
fn uncounted(items: &[Item], lines: &[Line]) -> Option<Line> {
    let mut told = vec![false; items.len()];
    lines.iter().flat_map(|line| &line.items).for_each(|at| told[*at] = true);
    let untold: Vec<usize> =
        (0..items.len()).filter(|at| items[*at].kind == Kind::Did && !told[*at]).collect();
    let text = match untold.iter().map(|at| items[*at].deeds()).sum::<u64>() {
        0 => return None,
        1 => "One more call that changed something".to_owned(),
        deeds => format!("{deeds} more calls that changed something"),
    };
    Some(Line::new(Kind::Did, &text, untold))
}

/// Whether its words are told as they were said.
pub fn is_quoted(item: &Item) -> bool {
    matches!(item.kind, Kind::Quoted | Kind::Goal | Kind::Said | Kind::Open)
}

/// A day since 1970 as `8 May 2023`.
fn date(day: u32) -> String {
    let start = Timestamp::from_second(i64::from(day) * DAY);
    start.map(|start| start.strftime("%-d %B %Y").to_string()).unwrap_or_default()
}

struct Group<'a> {
    key: Key<'a>,
    items: Vec<usize>,
}

/// What items of one line have in common: what they tell, the speaker, the tool or the object, how a deed ended, and the
/// day.
type Key<'a> = (Kind, &'a str, &'a str, u32);

fn key(item: &Item) -> Key<'_> {
    let (head, ended) = match item.kind {
        Kind::Did => (&*item.head, &*item.note),
        Kind::Said | Kind::Fact => (&*item.head, ""),
        _ => ("", ""),
    };
    (item.kind, head, ended, item.day)
}

impl Group<'_> {
    /// Whether it has names that belong to nothing.
    fn is_of_nothing(&self) -> bool {
        self.key.0 == Kind::Fact && self.key.1.is_empty()
    }

    /// Their lines; of what is `told` elsewhere, an answer does not tell again what was asked.
    fn lines(&self, items: &[Item], root: &str, told: &[usize]) -> Vec<Line> {
        let (kind, head, ..) = self.key;
        let line = |text: String, from: &[usize]| {
            let is_below = !root.is_empty() && !is_quoted(&items[from[0]]);
            Line::new(kind, &if is_below { text.replace(root, "") } else { text }, from.to_vec())
        };
        let whole = |text: String| vec![line(text, &self.items)];
        let each = |to_text: &dyn Fn(&Item) -> String| -> Vec<Line> {
            self.items.iter().map(|at| line(to_text(&items[*at]), &[*at])).collect()
        };
        match kind {
            Kind::Goal => whole(format!("Goal: {}", self.sentences(items, told))),
            Kind::Said => whole(format!("{head}: {}", self.sentences(items, told))),
            Kind::Step => whole(format!("Steps: {}", self.texts(items).join("; ").trim_end_matches('.'))),
            Kind::Quoted => each(&|item| item.text.to_string()),
            Kind::Check => each(&check),
            Kind::Error => each(&error),
            Kind::Open => each(&|item| format!("Open: {}: {}", item.head, item.text)),
            Kind::Did => whole(self.done(items)),
            Kind::Fact if head.is_empty() => {
                let is_file = |at: &usize| {
                    matches!(items[*at].seen, Some(Seen { shape: Shape::Path | Shape::File, .. }))
                };
                let (files, others): (Vec<usize>, Vec<usize>) = self.items.iter().partition(|at| is_file(at));
                let names = [("Files", files), ("Named", others)];
                let names = names.into_iter().filter(|(_, names)| !names.is_empty());
                names
                    .map(|(label, names)| line(format!("{label}: {}", listed(items, &names)), &names))
                    .collect()
            }
            Kind::Fact => {
                let values: Vec<String> = self.items.iter().map(|at| value(&items[*at])).collect();
                whole(format!("{head}: {}", values.join("; ")))
            }
        }
    }

    fn texts<'a>(&self, items: &'a [Item]) -> Vec<&'a str> {
        self.items.iter().map(|at| &*items[*at].text).collect()
    }

    fn sentences(&self, items: &[Item], told: &[usize]) -> String {
        let mut text = String::new();
        for at in &self.items {
            let item = &items[*at];
            if !text.is_empty() {
                text.push_str(if text.ends_with(['.', '!', '?', '…', ':', '。', '？', '！', ')']) {
                    " "
                } else {
                    ". "
                });
            }
            text.push_str(&item.text);
            let is_short = item.marks.has(Marks::ANSWER) && !item.note.is_empty();
            if is_short && self.key.0 == Kind::Said && !told.iter().any(|at| items[*at].text == item.note) {
                text.push_str(&format!(" (asked: {})", item.note));
            }
        }
        text
    }

    /// `cancel(A1) → ok`, `edit → ok: a.rs; b.rs`, `book(A1) → failed: no seats`, `book(A1) → no answer`.
    fn done(&self, items: &[Item]) -> String {
        let first = &items[self.items[0]];
        let mut objects = self.texts(items);
        objects.retain(|object| !object.is_empty());
        let outcome = outcome(first);
        match &objects[..] {
            [] => format!("{} → {outcome}", first.head),
            // a program that writes into a file
            [object] if first.head.ends_with('>') => format!("{} {object} → {outcome}", first.head),
            [object] if first.worked() || self.items.len() == 1 => {
                format!("{}({object}) → {outcome}", first.head)
            }
            objects if first.worked() => format!("{} → {outcome}: {}", first.head, objects.join("; ")),
            objects => format!("{}({}) → {outcome}", first.head, objects.join("; ")),
        }
    }
}

/// Names of one word with blanks between them, and behind them the others, each behind a mark.
fn listed(items: &[Item], names: &[usize]) -> String {
    let names = names.iter().map(|at| &*items[*at].text);
    let (several, single): (Vec<&str>, Vec<&str>) = names.partition(|name| name.contains(' '));
    let single = Some(single.join(" ")).filter(|names| !names.is_empty());
    single.into_iter().chain(several.into_iter().map(str::to_owned)).collect::<Vec<_>>().join("; ")
}

/// The line of an error.
fn error(item: &Item) -> String {
    let solved = if item.marks.has(Marks::OUTDATED) { "(solved) " } else { "" };
    let what = match () {
        // what failed says which program, or of what
        () if item.note.starts_with(&*item.head) => return format!("Error: {solved}{}", why(item)),
        () if item.note.contains(&*item.text) => item.head.to_string(),
        // a command begins with its program
        () if item.text.starts_with(&*item.head) => item.text.to_string(),
        () => format!("{}({})", item.head, item.text),
    };
    format!("Error: {solved}{what}: {}", why(item))
}

/// Why it failed; that it did is told anyway.
fn why(item: &Item) -> &str {
    let label = item.note.split_once(": ").filter(|(label, _)| label.eq_ignore_ascii_case("error"));
    label.map_or(&item.note, |(_, why)| why)
}

/// How a deed or a check ended.
fn outcome(item: &Item) -> String {
    match item.marks.has(Marks::FAILED) {
        true if item.note.is_empty() => "failed".to_owned(),
        true => format!("failed: {}", why(item)),
        false if item.note.is_empty() => "ok".to_owned(),
        false if item.kind == Kind::Did || &*item.note == NO_ANSWER => item.note.to_string(),
        false => format!("ok: {}", item.note),
    }
}

/// The line of a check.
fn check(item: &Item) -> String {
    let before = if item.marks.has(Marks::OUTDATED) { "(before the last change) " } else { "" };
    format!("Check: {before}{} → {}", item.text, outcome(item))
}

/// A value, behind its label.
fn value(item: &Item) -> String {
    if item.note.is_empty() { item.text.to_string() } else { format!("{} {}", item.note, item.text) }
}

/// The folder below which most of the paths are, with `/` at its end.
pub fn root(items: &[Item]) -> Option<String> {
    let mut below: FxHashMap<&str, usize> = FxHashMap::default();
    let texts =
        items.iter().map(|item| &*item.text).filter(|text| text.starts_with('/') && !text.contains(' '));
    for path in texts {
        for (end, _) in path.match_indices('/').skip(1) {
            *below.entry(&path[..=end]).or_default() += 1;
        }
    }
    let worth = |(folder, count): &(&str, usize)| {
        (count.saturating_sub(1) * folder.matches('/').count(), folder.len())
    };
    let best = below.into_iter().filter(|(_, count)| *count >= LEAST_BELOW_ROOT);
    best.max_by(|a, b| worth(a).cmp(&worth(b)).then(b.0.cmp(a.0))).map(|(folder, _)| folder.to_owned())
}

/// On one line, beginning with a letter or digit, without white space at its end.
fn tidy(text: &str) -> String {
    let mut tidy = one_line(text);
    let start = tidy.find(char::is_alphanumeric).unwrap_or(0);
    tidy.drain(..start);
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_date() {
        for (day, expected) in [
            (0, "1 January 1970"),
            (11_016, "29 February 2000"),
            (19_485, "8 May 2023"),
            (20_787, "30 November 2026"),
        ] {
            assert_eq!(date(day), expected);
        }
    }
}
