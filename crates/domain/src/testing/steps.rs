//! Random conversations, and requests for their contexts.

use proptest::prelude::*;

use super::Talk;
use crate::{
    More, Role, Sequence,
    context::{Format, RecallLimits, Request, SummaryPlacement, Unanswered},
};

/// What is said next in a random conversation.
#[derive(Clone, Debug)]
pub enum Step {
    Say(Role, String, Option<&'static str>),
    Call(String, usize),
    Answer(usize, String),
    Forget(u64),
    Pin(u64),
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || {
        let long = (100..400usize).prop_map(|count| "The order is late. ".repeat(count / 4));
        prop_oneof![6 => "[a-z]{1,8}( [a-z]{1,9}){0,25}\n?", 1 => Just(String::new()), 1 => long]
    };
    let role = prop_oneof![4 => Just(Role::User), 4 => Just(Role::Assistant), 1 => Just(Role::System)];
    let name = prop_oneof![6 => Just(None), 1 => Just(Some("Ada")), 1 => Just(Some("a b<c>"))];
    let step = prop_oneof![
        5 => (role, words(), name).prop_map(|(role, text, name)| Step::Say(role, text, name)),
        4 => (words(), 1..4usize).prop_map(|(text, calls)| Step::Call(text, calls)),
        8 => (0..4usize, words()).prop_map(|(call, text)| Step::Answer(call, text)),
        1 => (1..60u64).prop_map(Step::Forget),
        1 => (1..60u64).prop_map(Step::Pin),
    ];
    prop::collection::vec(step, 1..70)
}

impl Talk {
    /// The id of an abandoned call, if the nearest call with that id is in the window.
    fn abandoned(&self) -> Option<Box<str>> {
        let id = &self.0.head.abandoned.iter().rfind(|call| call.answer.is_none())?.id;
        let nearest = self.0.head.abandoned_with(id).find(|call| call.answer.is_none())?;
        self.0.window.get(nearest.caller).map(|_| id.clone())
    }

    pub fn step(&mut self, step: &Step) {
        match step {
            Step::Say(role, text, name) => {
                self.add(*role, text, More { name: name.map(Into::into), ..More::default() });
            }
            Step::Call(text, calls) => {
                self.call(text, &["a", "b", "a"][..*calls]);
            }
            // mostly for an open call, else late, else an orphan
            Step::Answer(call, text) => {
                let open = self.0.head.open.as_ref().and_then(|open| open.calls.get(*call).cloned());
                let id = open.or_else(|| self.abandoned()).unwrap_or_else(|| "z".into());
                self.answer(&id, text);
            }
            // the archive would have to be loaded
            _ if !self.0.head.archived.is_empty() => {}
            Step::Forget(sequence) if self.0.window.get(Sequence(*sequence)).is_some() => {
                self.forget(&format!("sequence:{sequence}"));
            }
            Step::Pin(sequence) if self.0.window.get(Sequence(*sequence)).is_some() => {
                self.pin(*sequence);
            }
            Step::Forget(_) | Step::Pin(_) => {}
        }
    }
}

pub fn requests() -> impl Strategy<Value = Request> {
    let formats = [Format::OpenAiChat, Format::AnthropicMessages, Format::Text];
    let placements = [SummaryPlacement::System, SummaryPlacement::UserMessage];
    (
        prop::sample::select(formats.to_vec()),
        prop::option::of(40..3_000u32),
        prop::option::of(1..8u32),
        prop::sample::select(placements.to_vec()),
        prop::option::of(recall_limits()),
        [prop::option::of(1..4u32), prop::option::of(1..4u32)],
        prop::sample::select(vec![Unanswered::Omit, Unanswered::Placeholder]),
        any::<Option<bool>>(),
        prop::option::of("[a-z ]{0,60}"),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(
                format,
                budget,
                max_turns,
                summary,
                recall,
                [mask_after_turns, mask_images_after_turns],
                unanswered,
                stable_steps,
                given,
                [include_archive, whole_messages, as_stored],
            )| {
                Request {
                    stable_steps,
                    instructions: given.map(Into::into),
                    format,
                    budget,
                    max_turns,
                    summary,
                    recall,
                    mask_after_turns,
                    mask_images_after_turns,
                    unanswered,
                    include_archive,
                    whole_messages,
                    as_stored,
                }
            },
        )
}

fn recall_limits() -> impl Strategy<Value = RecallLimits> {
    (prop::option::of(1..9usize), prop::option::of(1..=100u32))
        .prop_map(|(matches, percent)| RecallLimits { matches, percent })
}
