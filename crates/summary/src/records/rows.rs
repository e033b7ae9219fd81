//! Records that are no JSON: tables, `key: value` lines, flat tags.

use serde_json::{Map, Value};

use crate::shapes::is_path;

/// How much of a text is read, in bytes.
const READ_BYTES: usize = 64 << 10;
/// The longest key, in characters and in words.
const KEY: (usize, usize) = (40, 5);
/// The longest value, in bytes.
const VALUE_BYTES: usize = 160;
/// The most rows of a table.
const MOST_ROWS: usize = 200;

/// The records in a text.
pub(super) fn rows(text: &str) -> Vec<Value> {
    let text = &text[..text.floor_char_boundary(READ_BYTES)];
    let lines: Vec<&str> = text.lines().collect();
    let mut records = table(&lines);
    if records.is_empty() {
        records = tags(text);
    }
    if records.is_empty() {
        records = pairs(&lines);
    }
    records.into_iter().map(Value::Object).collect()
}

type Record = Map<String, Value>;

/// A table with a row of heads: cells between bars, with a rule below the heads, or between tabs.
fn table(lines: &[&str]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut heads: Option<Vec<&str>> = None;
    let mut ruled = false;
    for line in lines.iter().map(|line| line.trim()) {
        if is_rule(line) {
            ruled |= heads.is_some();
            continue;
        }
        let cells = cells(line);
        match (&heads, cells) {
            (_, None) => (heads, ruled) = (None, false),
            (None, Some(cells)) => {
                heads = cells.iter().all(|cell| is_key(cell) || cell.is_empty()).then_some(cells)
            }
            (Some(heads), Some(cells)) if cells.len() == heads.len() && (ruled || line.contains('\t')) => {
                let members = heads.iter().zip(cells).filter(|(head, _)| !head.is_empty());
                records.push(members.map(|(head, cell)| (plain(head), Value::String(plain(cell)))).collect());
            }
            _ => {}
        }
        if records.len() >= MOST_ROWS {
            break;
        }
    }
    records
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let mark = ['|', '│', '┃', '\t'].into_iter().find(|mark| line.contains(*mark))?;
    let inner = line.strip_prefix(mark).unwrap_or(line);
    let inner = inner.strip_suffix(mark).unwrap_or(inner);
    let cells: Vec<&str> = inner.split(mark).map(str::trim).collect();
    (cells.len() > 1 || line.starts_with(mark) && line.ends_with(mark) && line.len() > 2).then_some(cells)
}

/// `|---|:--:|`, `+----+`, `═══`.
fn is_rule(line: &str) -> bool {
    line.chars().filter(|c| "-=═─━".contains(*c)).count() > 2
        && line.chars().all(|c| "-=═─━+|│┃┼╪├┤┌┬┐└┴┘╞╡: ".contains(c))
}

/// Lines of `key: value`. A blank line, a heading, or a key that comes again begins the next record.
fn pairs(lines: &[&str]) -> Vec<Record> {
    let mut records = vec![Record::new()];
    let mut heading = None;
    let (mut found, mut seen) = (0, 0);
    for line in lines.iter().map(|line| line.trim()) {
        let pair = pair(line);
        let is_told =
            |(key, _): &(String, String)| records.last().is_some_and(|record| record.contains_key(key));
        if pair.as_ref().is_none_or(is_told) {
            records.push(Record::new());
        }
        seen += usize::from(!line.is_empty());
        found += usize::from(pair.is_some());
        match (pair, records.last_mut()) {
            (Some((key, value)), Some(record)) => {
                if let Some(heading) = heading.filter(|_| record.is_empty()) {
                    record.insert(String::new(), Value::String(str::to_owned(heading)));
                }
                record.insert(key, Value::String(value));
            }
            _ if line.is_empty() || is_rule(line) => {}
            _ => heading = heading_of(line),
        }
    }
    records.retain(|record| record.keys().filter(|key| !key.is_empty()).count() > 1);
    // a text with such lines here and there is prose, or code
    if found * 2 > seen { records } else { Vec::new() }
}

/// The words of a line that names the record below: `## Ann`, `Order #W12:`.
fn heading_of(line: &str) -> Option<&str> {
    let bare = line.trim_matches(|c: char| "#*=-: ".contains(c) || c.is_whitespace());
    let short = bare.chars().count() <= KEY.0 && bare.split_whitespace().count() <= KEY.1;
    let is_tag = line.starts_with('<');
    (short && !is_tag && bare.contains(char::is_alphanumeric) && !bare.ends_with(['.', '!', '?']))
        .then_some(bare)
}

fn pair(line: &str) -> Option<(String, String)> {
    let bare = line.trim_start_matches(['-', '*', '•', '·', ' ']);
    let (at, mark) = bare.char_indices().find(|(_, c)| matches!(c, ':' | '：' | '='))?;
    let (key, value) = (plain(&bare[..at]), plain(&bare[at + mark.len_utf8()..]));
    let spaced = mark == '：' || bare[at + mark.len_utf8()..].starts_with([' ', '\t', '*']);
    let is_call = value.ends_with(')') && !value.contains(" (") && value.contains('(');
    let is_code = is_call
        || value.ends_with([';', ',', '{', '(', '[', '\\'])
        || value.starts_with(['{', '[', '(', '=', '&', '<']);
    let is_value = !value.is_empty() && value.len() <= VALUE_BYTES && !is_code;
    // `grep` tells the file before a colon
    (is_key(&key) && !is_path(&key) && is_value && spaced).then_some((key, value))
}

/// A few words that name a value.
fn is_key(text: &str) -> bool {
    let text = text.trim_matches(['*', '`', '_', '"']);
    let begins = text.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '#' | '№'));
    let is_plain =
        text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "_-/#№()%'’.&$€".contains(c));
    begins && is_plain && text.chars().count() <= KEY.0 && text.split_whitespace().count() <= KEY.1
}

/// A cell or a value without the marks of Markdown and quotes.
fn plain(text: &str) -> String {
    text.trim().trim_matches(['*', '`', '"']).trim().to_owned()
}

/// Flat tags one after another: `<name>Ann</name><age>7</age>`. A tag that comes again begins the next record.
fn tags(text: &str) -> Vec<Record> {
    let mut records = Vec::new();
    let mut record = Record::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        rest = &rest[open + 1..];
        let Some((name, behind)) = tag(rest) else { continue };
        let value = &behind[..behind.find('<').unwrap_or(behind.len())];
        let closes = behind[value.len()..]
            .strip_prefix("</")
            .and_then(|end| end.strip_prefix(name))
            .is_some_and(|end| end.starts_with('>'));
        rest = behind;
        if closes && !value.trim().is_empty() && !value.contains('\n') && value.len() <= VALUE_BYTES {
            if record.contains_key(name) {
                records.push(std::mem::take(&mut record));
            }
            record.insert(name.to_owned(), Value::String(value.trim().to_owned()));
            rest = &behind[value.len() + name.len() + 3..];
        }
    }
    records.push(record);
    records.retain(|record| record.len() > 1);
    records
}

/// The name of the tag that begins a text, and what follows it.
fn tag(text: &str) -> Option<(&str, &str)> {
    let end = text[..text.floor_char_boundary(4 * KEY.0)].find('>')?;
    let name = &text[..end];
    let is_name = name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c));
    is_name.then_some((name, &text[end + 1..]))
}
