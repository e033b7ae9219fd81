//! The model's replies: complete, broken off, and not stored.

use super::{Chat, Doing};
use crate::{
    cli::chat::{
        event::{Draft, Effect, Reply},
        transcript::{self, Look},
    },
    proto::Role,
};

impl Chat {
    /// Asks the model, if there is one.
    pub(super) fn ask(&mut self) -> Vec<Effect> {
        if self.model.is_none() {
            return Vec::new();
        }
        self.doing = Some(Doing::Asking(String::new()));
        vec![Effect::Ask]
    }

    /// Asks again; but if a complete reply could not be stored, stores that.
    pub(super) fn retry(&mut self) -> Vec<Effect> {
        if let Some(draft) = self.unkept.clone().filter(|draft| !draft.broken_off) {
            return self.store(draft);
        }
        let answered = self.utterances.last().is_none_or(|last| last.role() == Role::Assistant);
        match (&self.model, answered) {
            (None, _) => self.wrong("no model is named: start the chat with --model"),
            (_, true) => self.wrong("nothing waits for a reply"),
            (_, false) => return self.ask(),
        }
        Vec::new()
    }

    /// Stores the reply that was left unstored.
    pub(super) fn keep(&mut self) -> Vec<Effect> {
        if let Some(draft) = self.unkept.clone() {
            return self.store(draft);
        }
        self.wrong("there is no reply that is not stored");
        Vec::new()
    }

    /// Whether a reply is awaited.
    pub(super) fn is_asking(&self) -> bool {
        matches!(self.doing, Some(Doing::Asking(_)))
    }

    /// Adds a piece of the reply.
    pub(super) fn piece(&mut self, piece: &str) -> Vec<Effect> {
        if let Some(Doing::Asking(said)) = &mut self.doing {
            said.push_str(piece);
        }
        Vec::new()
    }

    /// Stops the reply.
    pub(super) fn stop(&mut self) -> Vec<Effect> {
        match self.break_off() {
            true => self.note("stopped; /keep stores this much of the reply, /retry asks again"),
            false => self.note("stopped; /retry asks again"),
        }
        vec![Effect::Stop]
    }

    /// The reply did not come, or broke off.
    pub(super) fn no_reply(&mut self, reason: &str) -> Vec<Effect> {
        match self.break_off() {
            true => self.wrong(format!("{reason}\n/keep stores this much of the reply, /retry asks again")),
            false => self.wrong(format!("no reply: {reason}\nyour message is stored; /retry asks again")),
        }
        Vec::new()
    }

    /// Leaves what the model has said on the screen; returns whether that is anything.
    fn break_off(&mut self) -> bool {
        let Some(Doing::Asking(said)) = self.doing.take() else { return false };
        let said = said.trim();
        if !said.is_empty() {
            let draft = Draft { broken_off: true, ..self.draft(Role::Assistant, said.to_owned()) };
            self.leave_unstored(draft);
        }
        !said.is_empty()
    }

    /// Stores the complete reply.
    pub(super) fn reply(&mut self, reply: Reply) -> Vec<Effect> {
        let draft = Draft { calls: reply.calls, ..self.draft(Role::Assistant, reply.text) };
        self.store(draft)
    }

    /// Keeps a reply that is not stored on the screen.
    pub(super) fn leave_unstored(&mut self, draft: Draft) {
        if self.unkept.as_ref() != Some(&draft) {
            self.tell(transcript::drafted(&draft), Look::Aside);
            self.unkept = Some(draft);
        }
    }

    /// The draft in progress is stored. If it was left unstored before, its note is removed: it is now among the
    /// utterances.
    pub(super) fn no_longer_unstored(&mut self) {
        let draft = match self.doing.take() {
            Some(Doing::Storing(draft)) => Some(draft),
            _ => None,
        };
        let place = self.notes.iter().rposition(|note| note.look == Look::Aside);
        if let (Some(place), true) = (place, self.unkept.is_some() && self.unkept == draft) {
            self.notes.remove(place);
        }
        self.unkept = None;
    }
}
