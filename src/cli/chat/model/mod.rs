//! The state of a chat, and how each event changes it. It is pure, so that all of it can be tested without
//! a terminal, a server or a model.

mod keys;
mod replies;
#[cfg(test)]
pub mod tests;

use std::mem;

use crossterm::event::KeyEventKind;

use super::{
    advice, command,
    event::{Done, Draft, Effect, Event, Opening, Stored, Window},
    input::Input,
    transcript::{self, Entry, Look, Note},
    wrap::{explained, flow},
};
use crate::proto::{Capacity, CompactionAdvice, Role, Utterance, UtteranceState};

/// Rows of the status.
pub const STATUS_ROWS: u16 = 2;
/// The most rows of the input.
const INPUT_ROWS: usize = 5;
/// The most rows of hints while a command is typed.
const HINT_ROWS: usize = 3;
/// The prompt before the input.
pub const PROMPT: &str = "> ";

/// What is in progress; one thing at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Doing {
    /// A draft is being stored.
    Storing(Draft),
    /// The model was asked, and has said this much.
    Asking(String),
    /// The advice to compact is being answered; then the model is asked.
    Answering,
    /// A command.
    Command,
}

/// A chat.
#[derive(Debug)]
pub struct Chat {
    conversation_id: String,
    model: Option<String>,
    utterances: Vec<Utterance>,
    capacity: Capacity,
    notes: Vec<Note>,
    input: Input,
    advice: Option<CompactionAdvice>,
    doing: Option<Doing>,
    /// The input is sent as soon as nothing is in progress.
    held: bool,
    /// The input was just moved into the history.
    set_aside: bool,
    /// The user's draft that was not stored. Sent again unchanged, it counts as the same attempt.
    unsent: Option<Draft>,
    /// A reply of the model that was broken off, or could not be stored; nothing has been said since.
    unkept: Option<Draft>,
    attempts: u64,
    /// The sequences that were forgotten last.
    forgotten: Vec<i64>,
    /// The server keeps the conversation in memory only.
    in_memory: bool,
    /// Utterances and notes from before the server lost the conversation and it started again.
    past: (Vec<Utterance>, Vec<Note>),
    /// Rows that the transcript is scrolled up.
    scroll: usize,
    columns: u16,
    rows: u16,
}

impl Chat {
    /// A chat that continues a conversation, in a terminal of the given size; `model` is the name of the model
    /// behind it, if there is one.
    pub fn new(opening: Opening, model: Option<String>, (columns, rows): (u16, u16)) -> Self {
        let mut chat = Self {
            conversation_id: String::new(),
            model,
            utterances: Vec::new(),
            capacity: Capacity::default(),
            notes: Vec::new(),
            input: Input::default(),
            advice: None,
            doing: None,
            held: false,
            set_aside: false,
            unsent: None,
            unkept: None,
            attempts: 0,
            forgotten: Vec::new(),
            in_memory: false,
            past: Default::default(),
            scroll: 0,
            columns,
            rows,
        };
        chat.open(opening);
        chat
    }

    /// The conversation.
    pub fn conversation_id(&self) -> &str {
        &self.conversation_id
    }

    /// The model's name.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// How full the window is.
    pub fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// The input.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Columns of the input.
    pub fn input_columns(&self) -> usize {
        usize::from(self.columns).saturating_sub(PROMPT.len())
    }

    /// Rows of the input that are shown.
    pub fn input_rows(&self) -> u16 {
        let rows = self.input.rows(self.input_columns()).rows.len().min(INPUT_ROWS);
        u16::try_from(rows).unwrap_or(1)
    }

    /// The rows between the transcript and the status: the commands that match the input, or else the question
    /// whether to compact.
    pub fn panel(&self) -> Vec<String> {
        let room = usize::from(self.rows.saturating_sub(STATUS_ROWS + self.input_rows()));
        let columns = usize::from(self.columns);
        let mut rows = match self.advice {
            _ if command::is_command(self.input.text()) => hints(self.input.text(), columns),
            Some(advice) => advice::rows(advice, &self.capacity, self.model.is_some(), columns, room),
            None => Vec::new(),
        };
        rows.truncate(room);
        rows
    }

    /// Rows that the transcript is scrolled up.
    pub fn scroll(&self) -> usize {
        self.scroll
    }

    /// What is going on, or what can be done.
    pub fn activity(&self) -> &'static str {
        match &self.doing {
            _ if self.set_aside => "put aside; Up brings it back",
            Some(_) if self.held => "sent when this is done",
            Some(Doing::Storing(_)) => "storing…",
            Some(Doing::Asking(_)) => "replying; Esc stops it",
            Some(Doing::Answering | Doing::Command) => "working…",
            None if self.advice.is_some() => "Y, N or V, and Enter",
            None if self.scroll > 0 => "more below: PgDn",
            None => "/help",
        }
    }

    /// The transcript, the oldest first.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = transcript::merged(&self.past.0, &self.past.1);
        let covered = self.capacity.summary.unwrap_or_default().covered_utterance_count();
        entries.extend((covered > 0).then_some(Entry::Earlier(covered)));
        entries.extend(transcript::merged(&self.utterances, &self.notes));
        match &self.doing {
            Some(Doing::Storing(draft)) if self.unkept.as_ref() != Some(draft) => {
                entries.push(Entry::Unstored(draft.role, transcript::drafted(draft)));
            }
            Some(Doing::Asking(said)) if !said.is_empty() => {
                entries.push(Entry::Unstored(Role::Assistant, said.clone()));
            }
            _ => {}
        }
        entries
    }

    /// Handles an event, and returns the effects to carry out.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.take_in(event);
        if self.held && self.doing.is_none() && self.advice.is_none() {
            self.held = false;
            effects.extend(self.enter());
        }
        effects
    }

    fn take_in(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            Event::Key(key) => self.key(key),
            Event::Pasted(text) => {
                self.input.insert(&text);
                Vec::new()
            }
            Event::Resized(columns, rows) => {
                (self.columns, self.rows) = (columns, rows);
                self.scroll_by(0);
                Vec::new()
            }
            Event::Unreachable => self.unreachable(),
            Event::Stored(stored) => self.stored(*stored),
            Event::NotStored(draft, reason) => self.not_stored(draft, &reason),
            Event::Piece(piece) => self.piece(&piece),
            Event::Reply(reply) if self.is_asking() => self.reply(reply),
            Event::NoReply(reason) if self.is_asking() => self.no_reply(&reason),
            // These are from a reply that was stopped.
            Event::Reply(_) | Event::NoReply(_) => Vec::new(),
            Event::Refreshed(window) => {
                // A window that was read before the last change is outdated.
                if window.capacity.revision >= self.capacity.revision {
                    self.show(window);
                }
                Vec::new()
            }
            Event::NotRefreshed(reason) => {
                self.wrong(format!("the messages of others cannot be shown: {reason}"));
                Vec::new()
            }
            Event::Done(done) => self.done(done),
            Event::Refused(reason) => self.refused(&reason),
            Event::Started(opening) => {
                self.notes.clear();
                self.open(*opening);
                Vec::new()
            }
        }
    }

    /// Scrolls up by `rows`, or down by a negative number; never beyond an end.
    fn scroll_by(&mut self, rows: isize) {
        let wanted = self.scroll.saturating_add_signed(rows);
        let shown = self.transcript_rows();
        let there = transcript::last_rows(&self.entries(), wanted + shown, self.columns.into()).len();
        self.scroll = wanted.min(there.saturating_sub(shown));
    }

    fn transcript_rows(&self) -> usize {
        usize::from(self.rows.saturating_sub(STATUS_ROWS + self.input_rows()))
            .saturating_sub(self.panel().len())
    }

    fn open(&mut self, opening: Opening) {
        self.conversation_id = opening.conversation_id;
        self.show(opening.window);
        let live = |one: &&Utterance| one.role() == Role::User && one.state() != UtteranceState::Forgotten;
        self.utterances.iter().filter(live).for_each(|one| self.input.said(&one.content, one.sequence));
        self.note(opening.note);
        (self.doing, self.advice, self.unkept, self.scroll) = (None, None, None, 0);
        self.past = Default::default();
    }

    fn show(&mut self, window: Window) {
        self.utterances = window.utterances;
        self.capacity = window.capacity;
        self.in_memory = window.in_memory;
    }

    fn note(&mut self, text: impl Into<String>) {
        self.tell(text.into(), Look::Note);
    }

    /// An error might change what the user wants to say: nothing is sent after it before the user has seen it.
    fn wrong(&mut self, text: impl Into<String>) {
        self.held = false;
        self.tell(text.into(), Look::Wrong);
    }

    fn tell(&mut self, text: String, look: Look) {
        let after = self.utterances.last().map_or(0, |last| last.sequence);
        transcript::add(&mut self.notes, Note { after, text, look });
    }

    /// Shows what was asked for; if it is longer than the screen, from its start.
    fn answered(&mut self, text: String, look: Look) {
        self.tell(text, look);
        let Some(note) = self.notes.last() else { return };
        let rows = transcript::last_rows(&[Entry::Note(note)], usize::MAX, self.columns.into()).len();
        self.scroll = rows.saturating_sub(self.transcript_rows());
    }

    /// Stores what the user says. A text that could not be stored before counts as the same attempt if it is
    /// sent again.
    fn say(&mut self, text: String) -> Vec<Effect> {
        let unsent = self.unsent.take().filter(|unsent| unsent.text == text);
        let draft = unsent.unwrap_or_else(|| self.draft(Role::User, text));
        self.store(draft)
    }

    fn draft(&mut self, role: Role, text: String) -> Draft {
        self.attempts += 1;
        Draft { role, text, attempt: self.attempts, ..Draft::default() }
    }

    fn store(&mut self, draft: Draft) -> Vec<Effect> {
        self.doing = Some(Doing::Storing(draft.clone()));
        vec![Effect::Memorize(draft)]
    }

    fn stored(&mut self, stored: Stored) -> Vec<Effect> {
        let utterance = stored.utterance;
        let (role, sequence, calls) =
            (utterance.role(), utterance.sequence, !utterance.tool_calls.is_empty());
        let others_spoke = self.utterances.last().map_or(0, |last| last.sequence) + 1 < sequence;
        self.no_longer_unstored();
        if stored.started_anew {
            self.start_anew();
        }
        if role == Role::User {
            self.input.said(&utterance.content, sequence);
        }
        self.utterances.retain(|one| !stored.evicted.contains(&one.sequence));
        self.utterances.push(utterance);
        self.capacity = stored.capacity;
        if calls {
            self.note(
                "the model calls tools, which a chat does not run; your next message continues without their results",
            );
        }
        let mut effects = if others_spoke { vec![Effect::Refresh] } else { Vec::new() };
        match (role, self.capacity.compaction_advice) {
            (Role::User, _) if stored.started_anew => {}
            (Role::User, Some(advice)) => self.advice = Some(advice),
            (Role::User, None) => effects.extend(self.ask()),
            _ => {}
        }
        effects
    }

    fn not_stored(&mut self, draft: Draft, reason: &str) -> Vec<Effect> {
        self.doing = None;
        match draft.role {
            Role::User => {
                self.wrong(format!("not stored: {reason}"));
                self.take_back(draft);
            }
            _ => {
                self.leave_unstored(draft);
                self.wrong(format!("the reply is not stored: {reason}\n/keep stores it"));
            }
        }
        Vec::new()
    }

    /// Notes that the earlier utterances are now only on this screen.
    fn start_anew(&mut self) {
        self.past = (mem::take(&mut self.utterances), mem::take(&mut self.notes));
        let reason = match self.in_memory {
            true => "the server was restarted, and had the messages above in memory only",
            false => "the server no longer has the messages above: they were deleted",
        };
        let retry = if self.model.is_some() { "; /retry asks the model" } else { "" };
        self.wrong(format!("{reason}\nthe conversation starts again with your message{retry}"));
    }

    /// Puts a draft that could not be stored back into the input, before what was typed meanwhile.
    fn take_back(&mut self, draft: Draft) {
        let typed = self.input.text();
        let behind = if typed.is_empty() { String::new() } else { format!("\n{typed}") };
        self.input.set(format!("{}{behind}", draft.text));
        self.unsent = Some(draft);
    }

    fn unreachable(&mut self) -> Vec<Effect> {
        const TRYING: &str = "the server does not answer: trying again…";
        if self.notes.last().is_none_or(|last| last.text != TRYING) {
            self.tell(TRYING.into(), Look::Wrong);
        }
        Vec::new()
    }

    fn done(&mut self, done: Done) -> Vec<Effect> {
        if !done.forgotten.is_empty() {
            // Earlier notes might quote forgotten utterances.
            self.notes.retain(|note| note.look == Look::Aside);
            self.input.forget(&done.forgotten);
            self.forgotten = done.forgotten;
        }
        if let Some(window) = done.window {
            self.show(window);
        }
        if let Some(note) = done.note {
            self.answered(note, Look::Note);
        }
        self.ended()
    }

    fn refused(&mut self, reason: &str) -> Vec<Effect> {
        self.wrong(reason);
        self.ended()
    }

    /// Asks for the reply that the question whether to compact delayed, whatever the answer was, and also if
    /// a command made the question unnecessary.
    fn ended(&mut self) -> Vec<Effect> {
        let answered = self.doing.take() == Some(Doing::Answering);
        if answered || (self.advice.is_some() && self.capacity.compaction_advice.is_none()) {
            self.advice = None;
            return self.ask();
        }
        Vec::new()
    }
}

/// The commands that match `typed`, in a few rows.
fn hints(typed: &str, columns: usize) -> Vec<String> {
    let matching = command::matching(typed);
    let rows: Vec<_> = matching.iter().flat_map(|(usage, does)| explained(usage, does, columns)).collect();
    if rows.len() <= HINT_ROWS {
        return rows;
    }
    let mut names: Vec<_> = matching.iter().filter_map(|(usage, _)| usage.split(' ').next()).collect();
    names.dedup();
    let usages: Vec<_> = matching.iter().map(|(usage, _)| *usage).collect();
    let mut rows = flow(if names.len() == 1 { &usages } else { &names }, "  ", columns);
    rows.truncate(HINT_ROWS);
    rows
}
