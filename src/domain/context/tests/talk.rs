//! Conversations for tests.

use std::sync::Arc;

use super::super::*;
use crate::domain::{
    AssignedId, Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded,
    More, Namespace, Policy, RecipientId, Refusal, Role, Sequence, Timestamp, ToolCall, Utterance, Verdict,
    change,
    extractive::tests::o200k,
    forget::{Forget, forget},
    forgetting,
    memorize::{Memorize, memorize},
    update::{UpdateUtterance, update_utterance},
};

/// A conversation for tests, and the utterances that left its window.
#[derive(Clone, Debug)]
pub(crate) struct Talk(pub(crate) Conversation, pub(crate) Vec<Arc<Utterance>>);

const LINEAGE: LineageId = LineageId([7; 16]);

impl Talk {
    pub(crate) fn with(policy: Policy) -> Self {
        let key = ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(1) };
        let identity = Identity {
            key,
            recipient: RecipientId::default(),
            lineage: LINEAGE,
            start_time: Timestamp(0),
            encoding: Encoding::O200kBase,
        };
        Self(Conversation::new(identity, policy), Vec::new())
    }

    pub(crate) fn session() -> Self {
        Self::with(Policy::SESSION)
    }

    pub(crate) fn say(&mut self, role: Role, content: &str) -> &mut Self {
        self.add(role, content, More::default())
    }

    pub(crate) fn call(&mut self, content: &str, ids: &[&str]) -> &mut Self {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "lookup_order".into(),
            arguments_json: r#"{"order": 7}"#.into(),
        };
        let tool_calls = ids.iter().map(call).collect();
        self.add(Role::Assistant, content, More { tool_calls, ..More::default() })
    }

    pub(crate) fn answer(&mut self, id: &str, content: &str) -> &mut Self {
        self.add(Role::Tool, content, More { tool_call_id: Some(id.into()), ..More::default() })
    }

    pub(crate) fn add(&mut self, role: Role, content: &str, more: More) -> &mut Self {
        let draft = Draft::of(role, content, more);
        let tokens = vec![draft.tokens(o200k())];
        let command = Memorize {
            drafts: vec![draft],
            tokens,
            encoding: Encoding::O200kBase,
            expected: None,
            lenient: true,
            upsert: false,
            state: None,
        };
        self.change(|before, context| {
            let memorized = memorize(before, &command, context).unwrap();
            decided(memorized).transition.after
        })
    }

    pub(crate) fn forget(&mut self, instruction: &str) -> &mut Self {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard: false, expected: None };
        self.change(|before, context| {
            let forgotten = decided(forget(before, &command, context).unwrap());
            forgotten.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    pub(crate) fn pin(&mut self, sequence: u64) -> &mut Self {
        let id = AssignedId(LINEAGE, Sequence(sequence)).text().into();
        let command =
            UpdateUtterance { id, pinned: Some(true), metadata: None, content: None, expected: None };
        self.change(|before, context| {
            let updated = decided(update_utterance(before, &command, context).unwrap());
            updated.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    pub(crate) fn change(
        &mut self,
        decide: impl FnOnce(&Conversation, &change::Context<'_>) -> Conversation,
    ) -> &mut Self {
        let mut loaded = Loaded::default();
        loaded.add_archive(&self.0.head.archived, self.1.clone());
        let context = change::Context { now: Timestamp(0), counter: o200k(), loaded: &loaded, llm: false };
        let after = decide(&self.0, &context);
        let left = |said: &&Arc<Utterance>| after.window.get(said.sequence).is_none();
        self.1.extend(self.0.window.iter().filter(left).cloned());
        self.0 = after;
        self
    }

    /// Everything stored, in order.
    pub(super) fn said(&self) -> impl Iterator<Item = &Arc<Utterance>> {
        self.1.iter().chain(self.0.window.iter())
    }

    /// The user's question of the turn in whose middle the window begins.
    pub(super) fn asked(&self) -> Option<&Arc<Utterance>> {
        let turn = asked_before(&self.0)?;
        self.1.iter().find(|said| said.turn == turn && said.role == Role::User)
    }

    /// A match for `said`, with its unit and the utterance before that.
    pub(super) fn found(&self, said: &Arc<Utterance>) -> Match {
        let before = self.said().take_while(|other| other.unit < said.unit).last();
        let unit = self.said().filter(|other| other.unit == said.unit && other.sequence != said.sequence);
        Match { around: before.into_iter().chain(unit).cloned().collect(), ..Match::from(said) }
    }

    pub(crate) fn context(&self, request: &Request) -> Context {
        build(&self.0, &[], request, o200k()).unwrap()
    }
}

pub(super) fn decided<T>(verdict: Verdict<T>) -> T {
    match verdict {
        Verdict::Decided(value) => value,
        Verdict::Need(need) => panic!("nothing is archived: {need:?}"),
    }
}

/// The messages, in short.
pub(super) fn told(context: &Context) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<_> = message.tool_calls().iter().map(|call| &*call.id).collect();
        format!("{} {}{}", message.role, message.text(), calls.join("+"))
    };
    context.messages.iter().map(line).collect()
}

pub(super) fn sequences(context: &Context) -> Vec<u64> {
    context.messages.iter().filter_map(|message| Some(message.utterance.as_ref()?.sequence.get())).collect()
}

pub(super) fn omitted(context: &Context) -> Vec<(Omission, String)> {
    context.omitted.iter().map(|(omission, ranges)| (*omission, ranges.to_string())).collect()
}

pub(super) fn unlimited() -> Request {
    Request { max_turns: None, ..Request::default() }
}

pub(super) fn within(budget: u32) -> Request {
    Request { budget: Some(budget), ..unlimited() }
}

/// This many turns of a user and an assistant utterance.
pub(super) fn turns(count: usize) -> Talk {
    let mut talk = Talk::session();
    for turn in 1..=count {
        talk.say(Role::User, &format!("Question {turn}: where is order {turn}?"));
        talk.say(Role::Assistant, &format!("Order {turn} is on its way to you."));
    }
    talk
}

pub(crate) fn needed(refusal: &Refusal) -> u32 {
    let text = refusal.to_string();
    let (_, rest) = text.split_once("accepted: ").expect("what is accepted");
    assert!(text.starts_with("token_budget: "), "{text}");
    rest.split_once(' ').unwrap().0.parse().unwrap()
}

pub(super) fn of(context: &Context, wanted: &[Omission]) -> Vec<(Omission, String)> {
    let mut omitted = omitted(context);
    omitted.retain(|(omission, _)| wanted.contains(omission));
    omitted
}
