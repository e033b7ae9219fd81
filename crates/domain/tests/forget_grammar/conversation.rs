//! The conversation that the sentences are about, and what they forget of it.

use std::{cell::RefCell, sync::Arc};

use utterd_domain::{
    Conversation, Draft, Identity, Loaded, More, Policy, Ranges, Refusal, Role, Sequence, Timestamp,
    TokenCounter, ToolCall, Transition, Undecided, Utterance,
    change::Context,
    forget::{Forget, forget},
    forgetting::{self, Instruction},
    memorize::{Memorize, memorize},
};

use crate::NOW;

/// Day of November 2026, hour, minute; speaker and text. Sunday the 22nd is today.
const SAID: [(i64, i64, i64, &str, &str); 20] = [
    (19, 9, 0, "Alice", "My divorce is final, and I want to move to Lyon."),
    (19, 9, 0, "", "I am sorry to hear about the divorce."),
    (19, 15, 0, "Bob", "The budget for the move is 4,000 euros."),
    (19, 15, 0, "", "Noted: the budget is 4,000 euros."),
    (20, 10, 0, "Alice", "Which trains go to Lyon?"),
    (20, 10, 0, "call", "search"),
    (20, 10, 0, "search", "TGV 6601 leaves Paris at 8:00."),
    (20, 10, 0, "", "The train to Lyon leaves Paris at 8:00."),
    (21, 9, 0, "Alice", "Rex is at the vet."),
    (21, 9, 0, "", "I hope that Rex gets well."),
    (21, 15, 0, "Bob", "The vet is closed, and Marco knows a hotel."),
    (21, 15, 0, "", "Which hotel does Marco know?"),
    (22, 9, 0, "Alice", "My salary is 5,000 euros."),
    (22, 9, 0, "", "Your salary covers the rent."),
    (22, 12, 0, "Alice", "The hotel by the river looks nice. I will book it."),
    (22, 12, 0, "call", "get_weather"),
    (22, 12, 0, "get_weather", "Rain in Lyon."),
    (22, 12, 0, "", "The weather in Lyon is rainy."),
    (22, 12, 20, "Bob", "Will prefers the hotel Astoria."),
    (22, 12, 20, "", "The Astoria has free rooms."),
];

/// What a sentence does to the conversation in which `forgotten` is soft-forgotten: the sequences that it
/// forgets, or one of the words that `sentences.txt` explains.
pub fn outcome(sentence: &str, forgotten: &str) -> String {
    thread_local! {
        static KNOWN: RefCell<Option<(String, Conversation)>> = const { RefCell::new(None) };
    }
    KNOWN.with_borrow_mut(|known| {
        if known.as_ref().is_none_or(|(of, _)| of != forgotten) {
            *known = Some((forgotten.to_owned(), conversation(forgotten)));
        }
        let (_, conversation) = known.as_ref().expect("just made");
        let Ok(instruction) = forgetting::parse(sentence) else { return "refused".to_owned() };
        let command = Forget { instruction, hard: false, expected: None };
        let forgotten = decide(|context| forget(conversation, &command, context));
        match forgotten {
            Err(Refusal::TooBroad(_)) => "too much".to_owned(),
            Err(other) => other.to_string(),
            Ok(forgotten) if forgotten.utterances.is_empty() => "nothing".to_owned(),
            Ok(forgotten) => sequences(&forgotten.utterances).to_string().replace(", ", ","),
        }
    })
}

/// The sequences that a short form selects in the conversation, not completed to whole exchanges.
pub fn selected(instruction: &Instruction) -> Ranges {
    let conversation = conversation("");
    let stored: Vec<_> =
        conversation.window.iter().zip(1..).map(|(utterance, at)| (Some(at), utterance)).collect();
    let selected = instruction.select(&stored).selected;
    selected.into_iter().map(|utterance| utterance.sequence).collect()
}

fn sequences(utterances: &[Arc<Utterance>]) -> Ranges {
    utterances.iter().map(|utterance| utterance.sequence).collect()
}

fn conversation(forgotten: &str) -> Conversation {
    let mut conversation = Conversation::new(Identity::default(), Policy::SESSION);
    for said in SAID {
        let memorize_one = Memorize { drafts: vec![draft(said)], tokens: vec![1], ..Memorize::default() };
        let memorized = decide(|context| memorize(&conversation, &memorize_one, context));
        conversation = after(memorized.map(|memorized| memorized.transition));
    }
    for sequence in forgotten.split(',').filter(|sequence| !sequence.is_empty()) {
        let instruction = forgetting::parse(&format!("sequence:{sequence}")).expect("a short form");
        let command = Forget { instruction, hard: false, expected: None };
        let forgotten = decide(|context| forget(&conversation, &command, context));
        conversation = after(forgotten.map(|forgotten| forgotten.transition.expect("it is there")));
    }
    conversation
}

fn draft((day, hour, minute, who, text): (i64, i64, i64, &str, &str)) -> Draft {
    let role = match who {
        "" | "call" => Role::Assistant,
        "search" | "get_weather" => Role::Tool,
        _ => Role::User,
    };
    let mut more = More::default();
    let mut content = text;
    match who {
        "call" => {
            more.tool_calls =
                vec![ToolCall { id: text.into(), name: text.into(), arguments_json: "{}".into() }];
            content = "";
        }
        "search" | "get_weather" => {
            more.tool_call_id = Some(who.into());
            more.name = Some(who.into());
        }
        "" => {}
        name => more.name = Some(name.into()),
    }
    let midnight = NOW.0 - NOW.0 % 86_400_000_000;
    let create_time = Some(Timestamp(midnight + (((day - 22) * 24 + hour) * 60 + minute) * 60_000_000));
    let more = Some(Box::new(more));
    Draft { id: None, role, content: content.into(), turn: None, create_time, pinned: false, more }
}

fn after(transition: Result<Transition, Refusal>) -> Conversation {
    transition.expect("it is accepted").after
}

fn decide<T>(rule: impl Fn(&Context<'_>) -> Result<T, Undecided>) -> Result<T, Refusal> {
    let loaded = Loaded::default();
    let context = Context { now: NOW, counter: &Nothing, loaded: &loaded, llm: false };
    rule(&context).map_err(|undecided| match undecided {
        Undecided::Refused(refusal) => refusal,
        Undecided::Needs(_) => panic!("nothing is archived"),
    })
}

struct Nothing;

impl TokenCounter for Nothing {
    fn count(&self, _: &str) -> u32 {
        1
    }
}

/// All sequences of the conversation.
pub fn everything() -> Ranges {
    Ranges::of(Sequence(1), Sequence(SAID.len() as u64))
}
