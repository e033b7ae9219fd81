//! A conversation that grows by what is said in it.

use std::sync::Arc;

use super::o200k;
use crate::{
    AssignedId, Conversation, Draft, Identity, LineageId, Loaded, More, Policy, Refusal, Role, Sequence,
    Timestamp, ToolCall, Utterance, change,
    context::{Context, Match, Request, asked_before, build},
    forget::{Forget, forget},
    forgetting,
    memorize::{Memorize, memorize},
    update::{UpdateUtterance, update_utterance},
};

/// A conversation for tests, and the utterances that left its window.
#[derive(Clone, Debug)]
pub struct Talk(pub Conversation, pub Vec<Arc<Utterance>>);

const LINEAGE: LineageId = LineageId([7; 16]);

impl Talk {
    pub fn with(policy: Policy) -> Self {
        let identity = Identity { lineage: LINEAGE, ..Identity::default() };
        Self(Conversation::new(identity, policy), Vec::new())
    }

    pub fn session() -> Self {
        Self::with(Policy::SESSION)
    }

    pub fn say(&mut self, role: Role, content: &str) -> &mut Self {
        self.add(role, content, More::default())
    }

    pub fn call(&mut self, content: &str, ids: &[&str]) -> &mut Self {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "lookup_order".into(),
            arguments_json: r#"{"order": 7}"#.into(),
        };
        let tool_calls = ids.iter().map(call).collect();
        self.add(Role::Assistant, content, More { tool_calls, ..More::default() })
    }

    pub fn answer(&mut self, id: &str, content: &str) -> &mut Self {
        self.add(Role::Tool, content, More { tool_call_id: Some(id.into()), ..More::default() })
    }

    pub fn add(&mut self, role: Role, content: &str, more: More) -> &mut Self {
        let draft = Draft::of(role, content, more);
        let tokens = vec![draft.tokens(o200k())];
        let command = Memorize { drafts: vec![draft], tokens, lenient: true, ..Memorize::default() };
        self.change(|before, context| {
            let memorized = memorize(before, &command, context).unwrap();
            memorized.transition.after
        })
    }

    pub fn forget(&mut self, instruction: &str) -> &mut Self {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard: false, expected: None };
        self.change(|before, context| {
            let forgotten = forget(before, &command, context).unwrap();
            forgotten.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    pub fn pin(&mut self, sequence: u64) -> &mut Self {
        let id = AssignedId(LINEAGE, Sequence(sequence)).text().into();
        let command =
            UpdateUtterance { id, pinned: Some(true), metadata: None, content: None, expected: None };
        self.change(|before, context| {
            let updated = update_utterance(before, &command, context).unwrap();
            updated.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    pub fn change(
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
    pub fn said(&self) -> impl Iterator<Item = &Arc<Utterance>> {
        self.1.iter().chain(self.0.window.iter())
    }

    /// The user's question of the turn in whose middle the window begins.
    pub fn asked(&self) -> Option<&Arc<Utterance>> {
        let turn = asked_before(&self.0)?;
        self.1.iter().find(|said| said.turn == turn && said.role == Role::User)
    }

    /// A match for `said`, with its unit and the utterance before that.
    pub fn found(&self, said: &Arc<Utterance>) -> Match {
        let before = self.said().take_while(|other| other.unit < said.unit).last();
        let unit = self.said().filter(|other| other.unit == said.unit && other.sequence != said.sequence);
        Match { around: before.into_iter().chain(unit).cloned().collect(), ..Match::from(said) }
    }

    pub fn context(&self, request: &Request) -> Context {
        build(&self.0, &[], request, o200k()).unwrap()
    }
}

/// The budget that the refusal of a smaller one asks for.
pub fn needed(refusal: &Refusal) -> u32 {
    let text = refusal.to_string();
    let (_, rest) = text.split_once("accepted: ").expect("what is accepted");
    assert!(text.starts_with("token_budget: "), "{text}");
    rest.split_once(' ').unwrap().0.parse().unwrap()
}
