//! Puts the parts of a context in order.

use crate::{
    Ranges, Role,
    context::{
        Context, Format, Found, How, Message, Omission, Uncovered, Warning,
        budget::Shares,
        message::tokens_of,
        omitted::Omitted,
        pinned,
        plan::Plan,
        recalled::Quote,
        recent::Recent,
        uncovered::uncovered,
        unit::Unit,
        wording::{OPENING, is_cut},
    },
};

/// What a warning calls arguments that a stream has cut.
const CUT_ARGUMENTS: &str = "arguments of calls that are cut";

/// The parts of a context.
pub(super) struct Assembly<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) shares: Shares,
    pub(super) recent: Recent,
    pub(super) quote: Option<Quote>,
    pub(super) omitted: Omitted,
}

impl Assembly<'_> {
    /// The context that begins with `instructions`.
    pub(super) fn context(mut self, instructions: Vec<Message>) -> Context {
        let mut messages = instructions;
        let instructions = messages.len();
        messages.extend(self.shares.summary.message.take());
        let (told, earlier) = self.shares.earlier.take().unzip();
        messages.extend(told);
        let head = messages.iter().take_while(|message| message.role == Role::System).count();
        let tight = self.is_tight();
        self.lay_pinned(&mut messages);
        let settled = self.lay_recent(&mut messages);
        let mut stable = if tight { instructions } else { settled };
        self.open(&mut messages, head, &mut stable);
        self.settle_end(&mut messages, &mut stable);
        let mut rendered: Ranges =
            messages.iter().filter_map(|message| Some(message.utterance.as_ref()?.sequence)).collect();
        let recalled = self.recall(&mut messages, &mut stable);
        let here = recalled.iter().filter(|found| found.source.is_none());
        here.for_each(|found| rendered.add(found.utterance.sequence));
        let tokens = u32::try_from(tokens_of(&messages) + self.heading(&messages)).unwrap_or(u32::MAX);
        let omitted = self.omitted(&rendered);
        let uncovered = uncovered(self.plan, self.recent.place, &rendered);
        let warnings = self.warnings(uncovered, &messages, &omitted);
        let budget = u32::try_from(self.plan.budget).ok();
        Context {
            format: self.plan.request.format,
            messages,
            head,
            stable,
            tokens,
            budget,
            recalled,
            earlier: earlier.unwrap_or_default(),
            omitted,
            uncovered,
            warnings,
        }
    }

    /// Tokens of what a text has besides its messages.
    fn heading(&self, messages: &[Message]) -> u64 {
        let is_text = self.plan.request.format == Format::Text && !messages.is_empty();
        if is_text { self.plan.opening_room() } else { 0 }
    }

    /// Adds the pinned units that come before the recent ones, and the user utterance that leads these, in order: a
    /// pinned unit stays where it is when the recent ones begin behind it.
    fn lay_pinned(&mut self, messages: &mut Vec<Message>) {
        let sequence = |message: &Message| Some(message.utterance.as_ref()?.sequence);
        let first = |unit: &Unit| unit.messages.first().and_then(sequence);
        self.shares.pinned.sort_by_key(first);
        let place = self.recent.place;
        let older = |unit: &&mut Unit| unit.places.is_empty() || unit.places.start < place;
        let mut lead = self.recent.opening.lead.take();
        for unit in self.shares.pinned.iter_mut().filter(older) {
            let is_lead = |message: &Message| lead.as_ref().and_then(sequence) == sequence(message);
            if unit.messages.iter().any(is_lead) {
                lead = None;
            }
            messages.extend(lead.take_if(|lead| sequence(lead) < first(unit)));
            pinned::mark(unit);
            messages.extend(unit.messages.drain(..));
        }
        messages.extend(lead);
    }

    /// Whether older messages are trimmed anew once a newer unit follows.
    fn is_tight(&self) -> bool {
        let lead = self.recent.opening.lead.as_ref().is_some_and(|lead| lead.how == How::Trimmed);
        self.shares.tight || lead && self.shares.lead < self.shares.unit
    }

    /// Adds the recent units. Returns how many messages there are before the first unit that may change: one that is
    /// open, or has more than its share because all units fit.
    fn lay_recent(&mut self, messages: &mut Vec<Message>) -> usize {
        let mut settled = None;
        let open = self.plan.conversation.head.open.is_some();
        for unit in self.recent.units[..self.recent.taken].iter_mut().rev() {
            unit.omitted.iter().for_each(|(sequence, omission)| self.omitted.add(*omission, *sequence));
            if open && unit.places.end == self.plan.window().len() || unit.tokens > self.shares.unit {
                settled.get_or_insert(messages.len());
            }
            messages.extend(unit.messages.drain(..));
        }
        settled.unwrap_or(messages.len())
    }

    /// Some models require that the first message is a user's; Anthropic does in its API.
    fn open(&self, messages: &mut Vec<Message>, head: usize, stable: &mut usize) {
        // to OpenAI, a system utterance is none of the user's; Anthropic gets it as one
        let is_of_system = |message: &&Message| {
            self.plan.request.format == Format::OpenAiChat && message.role == Role::System
        };
        let place = head + messages[head..].iter().take_while(is_of_system).count();
        let first = messages.get(place).map(|first| first.role);
        if self.plan.request.format == Format::Text || first != Some(Role::Assistant) {
            return;
        }
        let tokens = self.plan.rendering.costs.of_words(OPENING);
        messages.insert(place, Message::own(Role::User, How::Placeholder, OPENING.to_owned(), tokens));
        *stable += usize::from(*stable >= place);
    }

    /// Anthropic refuses white space at the end of a final assistant message.
    fn settle_end(&self, messages: &mut [Message], stable: &mut usize) {
        let index = messages.len().saturating_sub(1);
        let Some(last) = messages.last_mut() else { return };
        let ends = last.role == Role::Assistant && last.tool_calls().is_empty();
        let text = last.text().trim_end();
        // what goes out as it came is trimmed where it is written
        let is_done = text.len() == last.text().len() || last.content_parts().is_some();
        if self.plan.request.format != Format::AnthropicMessages || !ends || is_done {
            return;
        }
        let counter = self.plan.rendering.costs.counter;
        let tokens = last.tokens.saturating_sub(counter.count(last.text())) + counter.count(text);
        (last.instead, last.tokens) = (Some(text.into()), tokens);
        *stable = (*stable).min(index);
    }

    /// Inserts the recalled utterances before the newest user utterance, or before the last message that
    /// begins a unit.
    fn recall(&mut self, messages: &mut Vec<Message>, stable: &mut usize) -> Vec<Found> {
        let Some(quote) = self.quote.take() else { return Vec::new() };
        let (message, found) = quote.parts();
        let newest = |wanted: fn(&Message) -> bool| messages.iter().rposition(wanted);
        let said = |message: &Message| message.utterance.is_some() && message.how != How::Instruction;
        let by_user =
            |message: &Message| message.utterance.as_ref().map(|said| said.role) == Some(Role::User);
        let user = newest(by_user);
        let place = user.or_else(|| newest(|message| message.role != Role::Tool)).unwrap_or(messages.len());
        let place = if messages.iter().any(said) { place } else { messages.len() };
        messages.insert(place, message);
        *stable = (*stable).min(place);
        found
    }

    fn warnings(
        &self,
        uncovered: Uncovered,
        messages: &[Message],
        omitted: &[(Omission, Ranges)],
    ) -> Vec<Warning> {
        let left_out = (uncovered.utterances > 0).then_some(Warning::Uncovered(uncovered));
        let cut = (!self.shares.summary.whole).then_some(Warning::SummaryCut);
        let parts = self.plan.archived.content_parts.is_some_and(|parts| parts.left_out);
        let parts = parts.then_some(Warning::PartsLeftOut);
        let trimmed = |message: &&Message| message.how == How::Trimmed && !message.is_result();
        let trimmed = messages.iter().filter(trimmed).count();
        let trimmed = (trimmed > 0).then_some(Warning::MessagesTrimmed(trimmed));
        let not_sent = self.not_sent(messages, omitted);
        left_out.into_iter().chain(cut).chain(parts).chain(trimmed).chain(not_sent).collect()
    }

    /// Names what is left out of the utterances that are shown, and of those in which nothing else is.
    fn not_sent(&self, messages: &[Message], omitted: &[(Omission, Ranges)]) -> Option<Warning> {
        let as_stored = self.plan.rendering.as_stored;
        let lacks = |message: &&Message| !(as_stored && message.is_unchanged());
        let said = messages.iter().filter(lacks).filter_map(|message| message.utterance.as_ref());
        let mut shown: Ranges = said.map(|utterance| utterance.sequence).collect();
        let empty = omitted.iter().filter(|(why, _)| *why == Omission::Empty && !as_stored);
        empty.for_each(|(_, empty)| shown.union(empty));
        let mut names = self.plan.archived.content_parts.map(|parts| parts.names(&shown)).unwrap_or_default();
        if messages.iter().flat_map(Message::tool_calls).any(is_cut) {
            names.insert(CUT_ARGUMENTS);
        }
        let names: Vec<&str> = names.into_iter().collect();
        (!names.is_empty()).then(|| Warning::NotSent(names.join(", ").into()))
    }

    /// The utterances that are not rendered, and why.
    fn omitted(&mut self, rendered: &Ranges) -> Vec<(Omission, Ranges)> {
        let plan = self.plan;
        let head = &plan.conversation.head;
        for (omission, places) in
            [(Omission::MaxTurns, plan.floor..plan.first), (Omission::Budget, plan.first..self.recent.place)]
        {
            let mut cut = plan.sequences(places);
            cut.subtract(&head.left);
            self.omitted.add_all(omission, &cut);
        }
        self.omitted.add_others(Omission::Evicted, &head.left);
        std::mem::take(&mut self.omitted).done(rendered)
    }
}
