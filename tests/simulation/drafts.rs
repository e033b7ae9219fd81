//! What the clients say: every utterance has a mark of its own, so that text that appears where it must not can
//! be traced.

use utterd::domain::{Draft, More, Role, ToolCall};

use crate::{
    dice::Dice,
    naive::{Conversation, Said},
};

/// Maximum number of utterances per call.
const MOST: u64 = 12;
/// Words that many texts have.
pub const TOPICS: [&str; 2] = ["invoice", "deploy"];
/// Ids of calls: few, so that they recur.
const CALLS: [&str; 3] = ["t1", "t2", "t3"];

/// Makes the utterances of one call.
pub struct Drafts<'a> {
    pub dice: &'a mut Dice,
    pub number: u64,
    pub known: Option<&'a Conversation>,
    /// Whether ids of stored utterances are given more often.
    pub upsert: bool,
}

impl Drafts<'_> {
    /// Some utterances. What a result answers depends on what is said before it.
    pub fn some(mut self) -> Vec<Draft> {
        let count = match self.dice.percent(75) {
            true => 1 + self.dice.below(3),
            false => 1 + self.dice.below(MOST),
        };
        let mut so_far = self.known.cloned();
        let mut drafts = Vec::new();
        for index in 0..count {
            let draft = self.one(index, so_far.as_ref());
            so_far.iter_mut().for_each(|so_far| so_far.note(&draft));
            drafts.push(draft);
        }
        drafts
    }

    fn one(&mut self, index: u64, so_far: Option<&Conversation>) -> Draft {
        let mark = mark(self.number, index);
        let mut more = More::default();
        let role = match self.dice.below(10) {
            0..=3 => Role::User,
            4 | 5 => Role::Assistant,
            6 if self.dice.percent(40) => Role::System,
            6 | 7 => {
                more.tool_calls = self.calls(&mark);
                Role::Assistant
            }
            _ => match self.waiting(so_far) {
                Some(call) => {
                    more.tool_call_id = Some(call.into());
                    Role::Tool
                }
                None => Role::Assistant,
            },
        };
        let is_silent = !more.tool_calls.is_empty() && self.dice.percent(40);
        let content = if is_silent { String::new() } else { text(self.dice, &mark) };
        more.awaits_answer = role == Role::Assistant && self.dice.percent(15);
        if self.dice.percent(10) {
            more.name = Some("Ann".into());
        }
        if self.dice.percent(10) {
            more.metadata.insert("team".to_owned(), mark.clone());
        }
        if self.dice.percent(8) {
            (more.extras_json, more.extras_tokens) = (Some(format!("{{\"of\":\"{mark}\"}}").into()), 5);
        }
        let turn = so_far.map_or(1, |so_far| so_far.turn).max(1);
        let turn = turn + self.dice.below(3) as u32 - u32::from(turn > 1 && self.dice.percent(5));
        let turn = self.dice.percent(8).then_some(turn);
        let (id, pinned) = (self.id(index, so_far).map(Into::into), self.dice.percent(7));
        Draft { id, turn, pinned, ..Draft::of(role, content, more) }
    }

    fn calls(&mut self, mark: &str) -> Vec<ToolCall> {
        let call = |id: &str| ToolCall {
            id: id.into(),
            name: "look".into(),
            arguments_json: format!("{{\"order\": \"{mark}\"}}").into(),
        };
        let count = 1 + self.dice.below(3);
        (0..count).filter_map(|_| self.dice.pick(&CALLS)).map(call).collect()
    }

    /// A call that waits for its result, or one that a result would answer late; seldom just any.
    fn waiting(&mut self, so_far: Option<&Conversation>) -> Option<String> {
        if self.dice.percent(4) {
            return self.dice.pick(&CALLS).map(str::to_owned);
        }
        let open: Vec<_> = so_far?.pairing().open.into_iter().map(|(id, _)| id).collect();
        self.dice.pick(&open).or_else(|| so_far?.any_late().filter(|_| self.dice.percent(50)))
    }

    /// A new id, or one that an utterance has or had.
    fn id(&mut self, index: u64, so_far: Option<&Conversation>) -> Option<String> {
        let ids =
            |so_far: &Conversation| so_far.said.iter().map(|said: &Said| said.id.clone()).collect::<Vec<_>>();
        let known = || {
            so_far.map(ids).unwrap_or_default().into_iter().filter(|id| !id.is_empty()).collect::<Vec<_>>()
        };
        match self.dice.below(100) {
            0..=14 => Some(format!("u-{}-{index}", self.number)),
            15..=16 => self.dice.pick(&known()),
            17..=60 if self.upsert => self.dice.pick(&known()),
            _ => None,
        }
    }
}

/// One of several texts that begin with a mark: long and short, with parts that a summary keeps and drops.
pub fn text(dice: &mut Dice, mark: &str) -> String {
    let topic = dice.pick(&TOPICS).unwrap_or(TOPICS[0]);
    match dice.below(4) {
        0 => format!("{mark} ok"),
        1 => format!("{mark} of the {topic} failed with error 502 at src/pay.rs."),
        2 => {
            format!("{mark} is what we said of the {topic} while the rain fell on the roof of the old house")
        }
        _ => {
            format!("{mark} is the name of the plan. We decided to retry it on Friday. Is the backup ready?")
        }
    }
}

/// Whether a word is a mark.
pub fn is_mark(word: &str) -> bool {
    word.len() == 8 && word.starts_with("zq") && word.ends_with("zx")
}

/// A word that only one utterance of a run contains, at its beginning.
pub fn mark(number: u64, index: u64) -> String {
    let mut rest = number * MOST + index;
    let mut letters = String::new();
    for _ in 0..4 {
        letters.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    format!("zq{letters}zx")
}
