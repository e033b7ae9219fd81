//! What the transcript shows: the window, and between its utterances the output of commands.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{
    event::{BROKEN_OFF, Draft},
    wrap::{explained, wrap},
};
use crate::cli::terminal::text::{call, counted, role, visible};
use crate::proto::{Role, ToolCall, Utterance, UtteranceState};

/// Columns of the speaker, with the space after it.
const SPEAKER_COLUMNS: usize = 11;
/// Characters of an utterance that are shown.
const SHOWN_CHARS: usize = 20_000;
/// Notes that are kept.
const NOTES: usize = 200;

/// The mark after a reply that was broken off.
const BROKEN_OFF_MARK: &str = "(broken off)";

/// What is shown in addition to what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The sequence that it follows; 0 at the top.
    pub after: i64,
    /// Its text, in lines.
    pub text: String,
    /// How it looks: `Note`, `Wrong`, `Help`, or `Aside` for a reply that is not stored.
    pub look: Look,
}

/// How a row looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Said by the user.
    User,
    /// Said by the assistant.
    Assistant,
    /// Instructions, tool results, and what is not stored yet.
    Aside,
    /// A note.
    Note,
    /// A note of something that went wrong.
    Wrong,
    /// A note whose lines are a term, a tab, and the term's explanation.
    Help,
}

/// A row of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// How it looks.
    pub look: Look,
    /// The speaker on the first row of what is said, and as many spaces on the others.
    pub speaker: String,
    /// What is said.
    pub text: String,
}

/// A piece of the transcript.
#[derive(Clone, Debug)]
pub enum Entry<'a> {
    /// The number of utterances in the summary.
    Earlier(i32),
    /// What was said.
    Said(&'a Utterance),
    /// What is being said and is not stored yet.
    Unstored(Role, String),
    /// A note.
    Note(&'a Note),
}

/// Puts the notes in their places between the utterances.
pub fn merged<'a>(utterances: &'a [Utterance], notes: &'a [Note]) -> Vec<Entry<'a>> {
    let mut notes = notes.iter().peekable();
    let mut entries = Vec::with_capacity(utterances.len());
    for utterance in utterances {
        while let Some(note) = notes.next_if(|note| note.after < utterance.sequence) {
            entries.push(Entry::Note(note));
        }
        entries.push(Entry::Said(utterance));
    }
    entries.extend(notes.map(Entry::Note));
    entries
}

/// Adds a note after the others; removes the oldest if there are too many.
pub fn add(notes: &mut Vec<Note>, note: Note) {
    notes.push(note);
    let surplus = notes.len().saturating_sub(NOTES);
    notes.drain(..surplus);
}

/// The last rows of `entries`, at least `wanted` unless there are fewer, in `columns` columns.
pub fn last_rows(entries: &[Entry], wanted: usize, columns: usize) -> Vec<Row> {
    let mut backwards: Vec<Row> = Vec::new();
    for entry in entries.iter().rev() {
        if backwards.len() >= wanted {
            break;
        }
        backwards.extend(rows(entry, columns).into_iter().rev());
    }
    backwards.reverse();
    backwards
}

fn rows(entry: &Entry, columns: usize) -> Vec<Row> {
    match entry {
        Entry::Earlier(count) => {
            let text = format!("{} in the summary; /summary shows it", counted(*count, "earlier message"));
            laid_out(Look::Note, "─── ", &[text], columns)
        }
        Entry::Said(utterance) => {
            laid_out(look(utterance), &speaker(utterance.role()), &said(utterance), columns)
        }
        Entry::Unstored(role, text) => laid_out(Look::Aside, &speaker(*role), &lines(text), columns),
        Entry::Note(note) => match note.look {
            Look::Aside => laid_out(Look::Aside, &speaker(Role::Assistant), &lines(&note.text), columns),
            Look::Wrong => laid_out(Look::Wrong, "! ", &lines(&note.text), columns),
            Look::Help => {
                let lines = note.text.lines().filter_map(|line| line.split_once('\t'));
                let width = columns.saturating_sub(2);
                let rows = lines.flat_map(|(term, explanation)| explained(term, explanation, width));
                laid_out(Look::Help, "· ", &rows.collect::<Vec<_>>(), columns)
            }
            look => laid_out(look, "· ", &lines(&note.text), columns),
        },
    }
}

/// What a draft says, as [`said`] shows an utterance.
pub fn drafted(draft: &Draft) -> String {
    let calls = draft.calls.iter().map(call);
    let text = Some(draft.text.clone()).filter(|text| !text.is_empty() || draft.calls.is_empty());
    let broken_off = draft.broken_off.then(|| BROKEN_OFF_MARK.to_owned());
    text.into_iter().chain(calls).chain(broken_off).collect::<Vec<_>>().join("\n")
}

fn look(utterance: &Utterance) -> Look {
    match utterance.role() {
        _ if utterance.state() == UtteranceState::Forgotten => Look::Note,
        Role::User => Look::User,
        Role::Assistant => Look::Assistant,
        _ => Look::Aside,
    }
}

fn speaker(speaker: Role) -> String {
    format!("{:<SPEAKER_COLUMNS$}", role(speaker))
}

/// Content and calls, in lines; a forgotten utterance is not shown.
fn said(utterance: &Utterance) -> Vec<String> {
    if utterance.state() == UtteranceState::Forgotten {
        return vec![format!("(forgotten; /restore {} brings it back)", utterance.sequence)];
    }
    let arrow = if utterance.role() == Role::Tool { "← " } else { "" };
    let mut said = match utterance.content.is_empty() && !utterance.tool_calls.is_empty() {
        true => Vec::new(),
        false => lines(&format!("{arrow}{}", utterance.content)),
    };
    let shown = |one: &ToolCall| call(one).chars().take(SHOWN_CHARS).collect();
    said.extend(utterance.tool_calls.iter().map(shown));
    said.extend(utterance.metadata.contains_key(BROKEN_OFF).then(|| BROKEN_OFF_MARK.into()));
    said
}

/// The lines of a text that are shown, made harmless to a terminal.
fn lines(text: &str) -> Vec<String> {
    let end = text.grapheme_indices(true).nth(SHOWN_CHARS).map_or(text.len(), |(end, _)| end);
    let shown = text.get(..end).unwrap_or(text);
    let mut lines: Vec<_> =
        shown.trim_end().lines().map(|line| visible(&line.replace('\t', "    "))).collect();
    if shown.len() < text.len() {
        lines.push("…".into());
    }
    lines
}

/// Wraps lines next to their speaker.
fn laid_out(look: Look, speaker: &str, lines: &[String], columns: usize) -> Vec<Row> {
    let indent = speaker.width();
    let width = columns.saturating_sub(indent).max(10);
    let wrapped = lines.iter().flat_map(|line| wrap(line, width));
    let mut rows: Vec<_> = wrapped.map(|text| Row { look, speaker: " ".repeat(indent), text }).collect();
    if rows.is_empty() {
        rows.push(Row { look, speaker: String::new(), text: String::new() });
    }
    if let Some(first) = rows.first_mut() {
        first.speaker = speaker.to_owned();
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utterance(sequence: i64, role: Role, content: &str) -> Utterance {
        Utterance { sequence, role: role.into(), content: content.into(), ..Default::default() }
    }

    fn note(after: i64, text: &str) -> Note {
        Note { after, text: text.into(), look: Look::Note }
    }

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(|row| format!("{}{}", row.speaker, row.text)).collect()
    }

    #[test]
    fn notes_stand_behind_what_they_followed() {
        let utterances = [utterance(4, Role::User, "four"), utterance(5, Role::Assistant, "five")];
        let notes = [note(2, "of what is gone"), note(4, "between"), note(5, "last")];
        let rows = last_rows(&merged(&utterances, &notes), usize::MAX, 40);
        assert_eq!(
            texts(&rows),
            ["· of what is gone", "user       four", "· between", "assistant  five", "· last"]
        );
    }

    #[test]
    fn what_is_said_wraps_beside_its_speaker() {
        let wide = utterance(1, Role::Assistant, "one two three\n漢字漢字漢字\u{1b}[2J");
        let rows = last_rows(&[Entry::Said(&wide)], usize::MAX, 21);
        let expected =
            ["assistant  one two", "           three", "           漢字漢字漢", "           字\u{fffd}[2J"];
        assert_eq!(texts(&rows), expected);
    }

    #[test]
    fn emoji_and_flags_stay_whole() {
        let said = utterance(1, Role::User, "👩‍🚀👍🏽🇩🇪🇫🇷❤️👨‍👩‍👧‍👦🇮🇹");
        let rows = last_rows(&[Entry::Said(&said)], usize::MAX, 21);
        assert_eq!(texts(&rows), ["user       👩‍🚀👍🏽🇩🇪🇫🇷❤️", "           👨‍👩‍👧‍👦🇮🇹"]);
    }

    #[test]
    fn calls_and_a_break_are_shown() {
        let call = ToolCall { id: "c".into(), name: "look_up".into(), arguments_json: "{}".into() };
        let mut broken = utterance(1, Role::Assistant, "Half a");
        broken.metadata.insert(BROKEN_OFF.into(), "true".into());
        let calling = Utterance { tool_calls: vec![call.clone()], ..utterance(2, Role::Assistant, "") };
        let rows = last_rows(&merged(&[broken, calling], &[]), usize::MAX, 60);
        let expected = ["assistant  Half a", "           (broken off)", "assistant  → look_up({})"];
        assert_eq!(texts(&rows), expected);
        let draft =
            Draft { role: Role::Assistant, text: String::new(), calls: vec![call], ..Draft::default() };
        assert_eq!(drafted(&draft), "→ look_up({})");
    }

    #[test]
    fn only_as_many_rows_as_wanted_are_made() {
        let utterances: Vec<_> = (1..=9).map(|sequence| utterance(sequence, Role::User, "hi")).collect();
        assert_eq!(last_rows(&merged(&utterances, &[]), 4, 40).len(), 4);
    }

    #[test]
    fn what_is_forgotten_is_not_shown() {
        let forgotten =
            Utterance { state: UtteranceState::Forgotten.into(), ..utterance(1, Role::User, "secret") };
        assert_eq!(
            texts(&last_rows(&[Entry::Said(&forgotten)], 9, 40)),
            ["user       (forgotten; /restore 1 brings", "           it back)"]
        );
    }

    #[test]
    fn a_very_long_text_is_cut() {
        let long = utterance(1, Role::Tool, &"ä ".repeat(SHOWN_CHARS));
        let rows = last_rows(&[Entry::Said(&long)], usize::MAX, 80);
        assert_eq!(rows.last().map(|row| row.text.as_str()), Some("…"));
        assert!(texts(&rows)[0].starts_with("tool       ← ä"));
    }
}
