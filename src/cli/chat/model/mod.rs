//! The state of a chat, and what each event makes of it: pure, so that all of it is tested without a
//! terminal, a server or a model.

mod keys;
#[cfg(test)]
pub mod tests;

use crossterm::event::KeyEventKind;

use super::{
    event::{Done, Draft, Effect, Event, Opening, Stored, Window},
    input::Input,
    transcript::{self, Entry, Note},
};
use crate::proto::{Capacity, CompactionAdvice, Role, Utterance};

/// Rows of the status.
pub const STATUS_ROWS: u16 = 2;
/// The most rows of what is typed.
const INPUT_ROWS: usize = 5;
/// The prompt before what is typed.
pub const PROMPT: &str = "> ";

/// What is under way; one thing at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Doing {
    /// A draft is being stored.
    Storing(Draft),
    /// The model is asked, and has said so much.
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
    dialog: Option<CompactionAdvice>,
    doing: Option<Doing>,
    /// What is typed is said as soon as nothing is under way.
    held: bool,
    /// A draft of the user's that was not stored: sent again unchanged, it is the same attempt.
    unsent: Option<Draft>,
    /// A reply of the model's that was not stored.
    unkept: Option<Draft>,
    attempts: u64,
    /// Rows that the transcript is scrolled up.
    scroll: usize,
    columns: u16,
    rows: u16,
}

impl Chat {
    /// A chat that goes on with a conversation, in a terminal of so many columns and rows; `model` is the
    /// name of the model behind it, if there is any.
    pub fn new(opening: Opening, model: Option<String>, (columns, rows): (u16, u16)) -> Self {
        let mut chat = Self {
            conversation_id: String::new(),
            model,
            utterances: Vec::new(),
            capacity: Capacity::default(),
            notes: Vec::new(),
            input: Input::default(),
            dialog: None,
            doing: None,
            held: false,
            unsent: None,
            unkept: None,
            attempts: 0,
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

    /// The advice that the user is asked about.
    pub fn dialog(&self) -> Option<CompactionAdvice> {
        self.dialog
    }

    /// What is typed.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Columns of what is typed.
    pub fn input_columns(&self) -> usize {
        usize::from(self.columns).saturating_sub(PROMPT.len())
    }

    /// Rows of what is typed, as many as are shown.
    pub fn input_rows(&self) -> u16 {
        let rows = self.input.rows(self.input_columns()).rows.len().min(INPUT_ROWS);
        u16::try_from(rows).unwrap_or(1)
    }

    /// Rows that the transcript is scrolled up.
    pub fn scroll(&self) -> usize {
        self.scroll
    }

    /// What is going on, or what can be done.
    pub fn activity(&self) -> &'static str {
        match &self.doing {
            _ if self.dialog.is_some() => "Y, N or V",
            Some(_) if self.held => "sent as soon as this is done",
            Some(Doing::Storing(_)) => "storing…",
            Some(Doing::Asking(_)) => "waiting for the reply; Esc stops it",
            Some(Doing::Answering | Doing::Command) => "working…",
            None => "/help",
        }
    }

    /// The transcript, the oldest first.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = transcript::merged(&self.utterances, &self.notes);
        let covered = self.capacity.summary.unwrap_or_default().covered_utterance_count();
        if covered > 0 {
            entries.insert(0, Entry::Earlier(covered));
        }
        let unkept = self.unkept.as_ref().map(|draft| Entry::Unstored(draft.role, &draft.text));
        entries.extend(unkept);
        match &self.doing {
            Some(Doing::Storing(draft)) if self.unkept.is_none() => {
                entries.push(Entry::Unstored(draft.role, &draft.text));
            }
            Some(Doing::Asking(said)) if !said.is_empty() => {
                entries.push(Entry::Unstored(Role::Assistant, said));
            }
            _ => {}
        }
        entries
    }

    /// Takes what happened in, and answers what is to be done about it.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.take_in(event);
        if self.held && self.doing.is_none() && self.dialog.is_none() {
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
            Event::Reply(text) if self.is_asking() => self.store(Role::Assistant, text),
            Event::NoReply(reason) if self.is_asking() => self.no_reply(&reason),
            // Of a reply that was stopped.
            Event::Reply(_) | Event::NoReply(_) => Vec::new(),
            Event::Refreshed(window) => {
                // One that was read before the last change is of no use.
                if window.capacity.revision >= self.capacity.revision {
                    self.show(window);
                }
                Vec::new()
            }
            Event::NotRefreshed(reason) => {
                self.wrong(format!("what others said is not shown: {reason}"));
                Vec::new()
            }
            Event::Done(done) => self.done(done),
            Event::Refused(reason) => self.refused(&reason),
            Event::Started(opening) => {
                self.doing = None;
                self.notes.clear();
                self.open(*opening);
                Vec::new()
            }
        }
    }

    /// Scrolls up by so many rows, down by a negative number; never beyond an end.
    fn scroll_by(&mut self, rows: isize) {
        let wanted = self.scroll.saturating_add_signed(rows);
        let shown = self.transcript_rows();
        let there = transcript::last_rows(&self.entries(), wanted + shown, self.columns.into()).len();
        self.scroll = wanted.min(there.saturating_sub(shown));
    }

    fn transcript_rows(&self) -> usize {
        self.rows.saturating_sub(STATUS_ROWS + self.input_rows()).into()
    }

    fn open(&mut self, opening: Opening) {
        self.conversation_id = opening.conversation_id;
        self.show(opening.window);
        self.note(opening.note);
        self.scroll = 0;
    }

    fn show(&mut self, window: Window) {
        self.utterances = window.utterances;
        self.capacity = window.capacity;
    }

    fn note(&mut self, text: impl Into<String>) {
        self.tell(text.into(), false);
    }

    /// What went wrong may change what the user wants to say: nothing is said behind it unseen.
    fn wrong(&mut self, text: impl Into<String>) {
        self.held = false;
        self.tell(text.into(), true);
    }

    fn tell(&mut self, text: String, wrong: bool) {
        let after = self.utterances.last().map_or(0, |last| last.sequence);
        transcript::add(&mut self.notes, Note { after, text, wrong });
    }

    /// Stores what is said. What could not be stored before is the same attempt, when it is said again.
    fn store(&mut self, role: Role, text: String) -> Vec<Effect> {
        let unsent = self.unsent.take().filter(|unsent| unsent.role == role && unsent.text == text);
        let draft = unsent.unwrap_or_else(|| {
            self.attempts += 1;
            Draft { role, text, attempt: self.attempts }
        });
        self.doing = Some(Doing::Storing(draft.clone()));
        vec![Effect::Memorize(draft)]
    }

    fn stored(&mut self, stored: Stored) -> Vec<Effect> {
        let role = stored.utterance.role();
        let others_spoke =
            self.utterances.last().map_or(0, |last| last.sequence) + 1 < stored.utterance.sequence;
        self.doing = None;
        self.unkept = None;
        self.utterances.retain(|one| !stored.evicted.contains(&one.sequence));
        self.utterances.push(stored.utterance);
        self.capacity = stored.capacity;
        let mut effects = if others_spoke { vec![Effect::Refresh] } else { Vec::new() };
        match (role, self.capacity.compaction_advice) {
            (Role::User, Some(advice)) => self.dialog = Some(advice),
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
                let typed = self.input.text();
                let behind = if typed.is_empty() { String::new() } else { format!("\n{typed}") };
                self.input.set(format!("{}{behind}", draft.text));
                self.unsent = Some(draft);
            }
            _ => {
                self.wrong(format!("the reply is not stored: {reason}\n/retry stores it"));
                self.unkept = Some(draft);
            }
        }
        Vec::new()
    }

    fn ask(&mut self) -> Vec<Effect> {
        if self.model.is_none() {
            return Vec::new();
        }
        self.doing = Some(Doing::Asking(String::new()));
        vec![Effect::Ask]
    }

    fn retry(&mut self) -> Vec<Effect> {
        if let Some(draft) = self.unkept.clone() {
            self.doing = Some(Doing::Storing(draft.clone()));
            return vec![Effect::Memorize(draft)];
        }
        let answered = self.utterances.last().is_none_or(|last| last.role() == Role::Assistant);
        match (&self.model, answered) {
            (None, _) => self.wrong("no model is attached: start the chat with --model"),
            (_, true) => self.wrong("nothing waits for a reply"),
            (_, false) => return self.ask(),
        }
        Vec::new()
    }

    fn is_asking(&self) -> bool {
        matches!(self.doing, Some(Doing::Asking(_)))
    }

    fn piece(&mut self, piece: &str) -> Vec<Effect> {
        if let Some(Doing::Asking(said)) = &mut self.doing {
            said.push_str(piece);
        }
        Vec::new()
    }

    fn stop(&mut self) -> Vec<Effect> {
        self.doing = None;
        self.note("stopped: /retry asks again");
        vec![Effect::Stop]
    }

    fn no_reply(&mut self, reason: &str) -> Vec<Effect> {
        self.doing = None;
        self.wrong(format!("no reply: {reason}\nyour message is kept; /retry asks again"));
        Vec::new()
    }

    fn unreachable(&mut self) -> Vec<Effect> {
        const TRYING: &str = "the server does not answer: trying again…";
        if self.notes.last().is_none_or(|last| last.text != TRYING) {
            self.tell(TRYING.into(), true);
        }
        Vec::new()
    }

    fn done(&mut self, done: Done) -> Vec<Effect> {
        if let Some(window) = done.window {
            self.show(window);
        }
        if let Some(note) = done.note {
            self.note(note);
        }
        self.ended()
    }

    fn refused(&mut self, reason: &str) -> Vec<Effect> {
        self.wrong(reason);
        self.ended()
    }

    /// A dialog that was answered, whatever came of it, is followed by the reply that it kept waiting.
    fn ended(&mut self) -> Vec<Effect> {
        match self.doing.take() {
            Some(Doing::Answering) => self.ask(),
            _ => Vec::new(),
        }
    }
}
