//! Builds, writes and examines a context of a conversation.

use serde_json::value::RawValue;
use utterd::{
    domain::{
        Conversation, Refusal, Role,
        context::{Context, Format, How, Request, build},
    },
    formats::render,
};

use super::super::validator::{Fault, Rule, anthropic, openai};
use super::{
    recount::{self, Counted},
    said::{Said, counter},
};

/// A context and its properties.
pub struct Rebuilt {
    /// What a provider would refuse it for.
    pub faults: Vec<Fault>,
    /// The declared token count.
    pub tokens: u32,
    /// The actual token count.
    pub counted: Counted,
    /// How many of the conversation's utterances after the instructions it contains.
    pub said: usize,
    /// How many messages the next context should begin with too.
    pub stable_messages: usize,
    /// The messages, as they are written.
    pub messages_json: String,
}

impl Rebuilt {
    /// Builds and writes a context; refused if the budget is too small.
    pub fn of(said: &Said, request: &Request) -> Result<Self, Refusal> {
        let conversation = &said.conversation;
        let recalled = if request.recall.is_some() { said.recallable() } else { Vec::new() };
        let context = build(conversation, &recalled, request, counter())?;
        let rendered = render(&context, counter());
        let (mut faults, counted) = match request.format {
            Format::OpenAiChat => {
                (openai::faults(&rendered.messages_json), recount::openai(&rendered.messages_json))
            }
            Format::AnthropicMessages => {
                let mut faults = anthropic::faults(&rendered.messages_json);
                if !rendered.system_json.is_empty() {
                    let system = serde_json::from_str(&rendered.system_json).expect("the system is JSON");
                    faults.extend(anthropic::system_faults(&system));
                }
                (faults, recount::anthropic(&rendered.system_json, &rendered.messages_json))
            }
            Format::Text => {
                let tokens = counter().count(&rendered.text);
                let piece = recount::Piece { bytes: rendered.text.clone(), tokens };
                (Vec::new(), Counted { pieces: vec![piece], unsure: 0 })
            }
        };
        if !says_something(conversation) {
            faults.retain(|fault| fault.rule != Rule::Messages);
        }
        Ok(Self {
            faults,
            tokens: rendered.tokens,
            counted,
            said: rendered_of(&context),
            stable_messages: rendered.stable_messages,
            messages_json: rendered.messages_json,
        })
    }

    /// The messages, each as it is written.
    pub fn messages(&self) -> Vec<String> {
        let messages: Vec<&RawValue> = serde_json::from_str(&self.messages_json).expect("an array");
        messages.into_iter().map(|message| message.get().to_owned()).collect()
    }

    /// Whether the declared token count is the actual one.
    pub fn is_counted_exactly(&self) -> bool {
        let counted = self.counted.tokens();
        (counted..=counted + self.counted.unsure).contains(&self.tokens)
    }

    /// Whether its declared or actual token count exceeds the budget.
    pub fn is_over(&self, budget: u32) -> bool {
        self.tokens > budget || self.counted.tokens() > budget
    }
}

/// Whether anything but instructions and calls that wait for their results was said.
fn says_something(conversation: &Conversation) -> bool {
    let waits = conversation.head.open.as_ref().map(|open| open.unit);
    let says = |unit, role| role != Role::System && Some(unit) != waits;
    conversation.window.iter().any(|utterance| says(utterance.unit, utterance.role))
}

fn rendered_of(context: &Context) -> usize {
    let said = context.messages.iter().filter(|message| message.utterance.is_some());
    said.filter(|message| message.how != How::Instruction).count()
}

/// The budget that a refusal requires.
pub fn needed(refusal: &Refusal) -> u32 {
    let text = refusal.to_string();
    let (_, behind) = text.split_once("accepted: ").expect("what is accepted");
    behind.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}
