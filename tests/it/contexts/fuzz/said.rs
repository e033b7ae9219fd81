//! Utterances like those in real transcripts: call ids recur, calls stay unanswered, results are late or
//! orphaned, texts are empty or long.

use proptest::{collection::vec, option, prelude::*, sample::select};
use utterd::proto::{NewUtterance, Role, ToolCall};

/// One utterance to say.
#[derive(Clone, Debug)]
pub struct Say {
    who: Who,
    text: String,
    name: Option<&'static str>,
    /// The distance behind the newest turn; only a user starts one.
    turn: Option<i32>,
    pinned: bool,
}

#[derive(Clone, Debug)]
enum Who {
    System,
    User,
    Assistant,
    /// Calls: the number of an id, a tool and its arguments.
    Calls(Vec<(usize, &'static str, &'static str)>),
    /// A result for the call with the id of this number.
    Result(usize),
}

/// No provider accepts all of them.
const IDS: [&str; 5] = ["a", "b", "call 1", "ä", "toolu_01"];
const WORDS: [&str; 10] =
    ["order", "lamp", "dock", "truck", "where", "is", "the", "7", "漢字", "e-mail@x.org"];

/// A batch.
pub fn says() -> impl Strategy<Value = Vec<Say>> {
    vec(say(), 1..5)
}

fn say() -> impl Strategy<Value = Say> {
    let name = option::weighted(0.15, select(vec!["Ada", "a b<c>"]));
    let turn = option::weighted(0.05, 0..3i32);
    (who(), text(), name, turn, prop::bool::weighted(0.04)).prop_map(|(who, text, name, turn, pinned)| Say {
        who,
        text,
        name,
        turn,
        pinned,
    })
}

fn who() -> impl Strategy<Value = Who> {
    let call =
        (0..IDS.len(), select(vec!["find", "look it up"]), select(vec!["{}", "{\"order\": 7}", "[1]", ""]));
    prop_oneof![
        2 => Just(Who::System),
        6 => Just(Who::User),
        4 => Just(Who::Assistant),
        4 => vec(call, 1..4).prop_map(Who::Calls),
        8 => (0..IDS.len()).prop_map(Who::Result),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let words =
        |count: std::ops::Range<usize>| vec(select(WORDS.to_vec()), count).prop_map(|words| words.join(" "));
    prop_oneof![
        8 => words(1..20),
        2 => words(1..6).prop_map(|words| words + " \n"),
        1 => words(40..400),
        1 => select(vec![String::new(), " \n".to_owned()]),
    ]
}

impl Say {
    /// The utterance, if the newest turn is `turn`.
    pub fn utterance(&self, turn: i32) -> NewUtterance {
        let mut utterance = NewUtterance {
            content: self.text.clone(),
            name: self.name.unwrap_or_default().to_owned(),
            turn_number: self.turn.filter(|_| matches!(self.who, Who::User)).map(|more| turn + more),
            pinned: self.pinned,
            ..NewUtterance::default()
        };
        utterance.set_role(match &self.who {
            Who::System => Role::System,
            Who::User => Role::User,
            Who::Assistant | Who::Calls(_) => Role::Assistant,
            Who::Result(_) => Role::Tool,
        });
        match &self.who {
            Who::Calls(calls) => utterance.tool_calls = calls.iter().map(call).collect(),
            Who::Result(id) => utterance.tool_call_id = IDS[*id].to_owned(),
            Who::System | Who::User | Who::Assistant => {}
        }
        utterance
    }
}

fn call((id, name, arguments): &(usize, &str, &str)) -> ToolCall {
    let [id, name, arguments_json] = [IDS[*id], name, arguments].map(ToOwned::to_owned);
    ToolCall { id, name, arguments_json }
}
