//! Collects the candidates for a summary from what was said.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domain::{
    Role, Sequence, Utterance,
    exchange::LateResult,
    extractive::{
        calls::{Call, calls, tell, tell_late},
        choose::Worth,
        clip::fold,
        effects::{Effect, key},
        facts::{self, Found, SMALL_NUMBER, find},
        open::matter,
        pool::{Act, Fact, MENTIONED, Page, Pool, Said},
        split::split,
        words::IDENTIFIER,
    },
};

/// The limit for a speaker's name, in bytes.
const SPEAKER_BYTES: usize = 48;
/// The limit for the identifying argument, in bytes.
const KEY_BYTES: usize = 120;
/// The limit for an identifying argument with blanks (a command) in a page head, in bytes.
const HEAD_BYTES: usize = 48;
/// The bonus for an utterance's first sentence: it says what the utterance is about.
const OPENING_BONUS: u32 = 4;
/// A first sentence shorter than this, in bytes, is a greeting or an answer: "Hi!", "Yes.".
const OPENING_BYTES: usize = 16;
/// The bonus for the first sentence of the first turn: it says what the conversation is about.
const REQUEST_BONUS: u32 = 16;
/// The bonus for a question from the user.
const QUESTION_BONUS: u32 = 4;
/// The bonus for a call that failed or was never answered, and for a late result.
const FAILURE_BONUS: u32 = 10;
/// The bonus for a tool call, so that calls with few words are listed too.
const CALL_BONUS: u32 = 4;
/// The share of its words' weight that a tool call is worth, in percent: what it names can go into the ledger
/// as well.
const CALL_PERCENT: u32 = 30;
/// Divides the worth of a sentence that only announces the next one.
const ANNOUNCES_DIVISOR: u32 = 4;
/// At most this many utterances count towards how often a fact was named.
const MOST_UTTERANCES: u32 = 6;
/// The factor for facts that were said, compared with facts found only in a tool's result.
const SAID_FACTOR: u32 = 4;
/// A promise older than this many utterances was kept or given up.
const OPEN_UTTERANCES: usize = 6;
/// A longer answer, in bytes, explains rather than promises.
const OPEN_BYTES: usize = 600;
/// The weight of a number in a result.
const RESULT_NUMBER: u32 = 2;

/// Collects everything in `source` that is live and not a head instruction.
///
/// `goes_on` if more was said afterwards.
pub(super) fn read(source: &[Arc<Utterance>], goes_on: bool) -> Pool {
    let live: Vec<&Utterance> =
        source.iter().map(|utterance| &**utterance).filter(|utterance| utterance.is_live()).collect();
    let calls = calls(source, &live);
    let mut reader = Reader::default();
    for (utterance, calls) in live.iter().zip(calls) {
        match utterance.late() {
            Some(late) => reader.late(utterance, late),
            None if utterance.role == Role::Tool || utterance.instruction => {}
            None => reader.utterance(utterance, &calls),
        }
    }
    reader.matters(&live, goes_on);
    reader.done()
}

/// The utterance something is taken from, and the result of a call that it depends on.
type Source = (Sequence, Option<Sequence>);

#[derive(Default)]
struct Reader {
    pool: Pool,
    pages: FxHashMap<Box<str>, usize>,
    mentions: FxHashMap<[u32; 2], Mentions>,
    utterances: usize,
}

/// The place of a fact, and how often it was named.
struct Mentions {
    fact: usize,
    last: usize,
    utterances: u32,
    said: bool,
}

impl Reader {
    fn utterance(&mut self, utterance: &Utterance, calls: &[Call<'_>]) {
        let speaker = speaker(utterance);
        self.sentences(utterance, &speaker);
        if !utterance.content.is_empty() {
            let page = self.page(format!("{speaker}{MENTIONED}"), None);
            find(&utterance.content, |found| self.fact((utterance.sequence, None), page, found, true));
        }
        calls.iter().for_each(|call| self.call(utterance, &speaker, call));
        self.utterances += 1;
    }

    fn sentences(&mut self, utterance: &Utterance, speaker: &str) {
        let mut text = String::new();
        let sentences = split(&utterance.content, &mut text);
        let opening = sentences.iter().position(|said| said.len() >= OPENING_BYTES).unwrap_or(0);
        for (place, said) in sentences.into_iter().enumerate() {
            let bonus = bonus(utterance, place == opening, &text[said.clone()]);
            let announces = text[said.clone()].ends_with([':', '：']);
            let percent = percent(utterance.role) / if announces { ANNOUNCES_DIVISOR } else { 1 };
            let worth = Worth::Fresh { bonus, percent };
            self.say((utterance.sequence, None), format!("{speaker}: "), &text[said], worth);
        }
    }

    fn say(&mut self, (sequence, result): Source, mut text: String, said: &str, worth: Worth) {
        let start = text.len();
        text.push_str(said);
        text.push('\n');
        self.pool.saids.push(Said { sequence, result, text: text.into(), start, worth });
    }

    fn call(&mut self, utterance: &Utterance, speaker: &str, made: &Call<'_>) {
        let Call { call, answer, failed, effect } = *made;
        let (result, answer) = answer.unzip();
        let key = key(call).map(|key| folded(&key.value, KEY_BYTES)).unwrap_or_default();
        let mut told = String::new();
        let name = tell(call, &key, answer, &mut told);
        let tool = told[..name].to_owned();
        if effect == Effect::Changes {
            let start = speaker.len() + " called ".len() + name + 1;
            let text = format!("{speaker} called {told}\n");
            let act = Act::new(utterance.sequence, text, start, &key);
            self.pool.acts.push(Act { result, failed, ..act });
        } else {
            let bonus = CALL_BONUS + if failed { FAILURE_BONUS } else { 0 };
            let worth = match failed || answer.is_some_and(is_short) {
                true => Worth::Fresh { bonus, percent: CALL_PERCENT },
                // what the call found goes into the ledger
                false => Worth::Rest { bonus },
            };
            self.say((utterance.sequence, result), format!("{speaker} called "), &told, worth);
        }
        let head =
            if tool.starts_with(char::is_alphabetic) { tool } else { format!("{speaker} called {tool}") };
        let named = self.asked_by(utterance.sequence, &head, &key, effect);
        let page = self.page(page_head(&head, &key), named.filter(|_| !key.contains('/')));
        find(&call.arguments_json, |found| self.fact((utterance.sequence, None), page, found, true));
        if let (Some(answer), false) = (answer, failed) {
            find(answer, |mut found| {
                match found.weight {
                    IDENTIFIER => {}
                    // counts and seats in listings
                    SMALL_NUMBER => return,
                    _ => found.weight = RESULT_NUMBER,
                }
                self.fact((utterance.sequence, result), page, found, false);
            });
        }
    }

    /// The name in the identifying argument. If the call only reads, the name is also a fact of its own,
    /// listed with those of the tool's other calls.
    fn asked_by(&mut self, sequence: Sequence, tool: &str, key: &str, effect: Effect) -> Option<[u32; 2]> {
        let mut named = None;
        find(key, |found| named = named.or(Some(found)));
        let is_name = is_name(key);
        let found = named.or_else(|| {
            is_name.then(|| Found { text: key, concepts: [facts::exact(key), 0], weight: IDENTIFIER })
        })?;
        let concepts = found.concepts;
        if effect == Effect::Reads {
            let page = self.page(format!("{tool}:"), None);
            self.fact((sequence, None), page, found, true);
        }
        Some(concepts)
    }

    fn late(&mut self, utterance: &Utterance, late: &LateResult) {
        let speaker = speaker(utterance);
        let mut told = String::new();
        let failed = tell_late(late, &utterance.content, &mut told);
        let worth = Worth::Fresh { bonus: CALL_BONUS + FAILURE_BONUS, percent: CALL_PERCENT };
        self.say((utterance.sequence, None), format!("{speaker}: "), &told, worth);
        if !failed {
            let page = self.page(format!("late result of {}:", late.tool), None);
            find(&utterance.content, |found| self.fact((utterance.sequence, None), page, found, false));
        }
        self.utterances += 1;
    }

    fn page(&mut self, head: String, names: Option<[u32; 2]>) -> usize {
        if let Some(page) = self.pages.get(&*head) {
            return *page;
        }
        let page = self.pool.pages.len();
        self.pages.insert(head.as_str().into(), page);
        self.pool.pages.push(Page { head: head.into(), names });
        page
    }

    fn fact(&mut self, (sequence, result): Source, page: usize, found: Found<'_>, said: bool) {
        let utterance = self.utterances;
        let facts = &mut self.pool.facts;
        let mention = self.mentions.entry(found.concepts).or_insert_with(|| {
            let mut text = String::with_capacity(found.text.len());
            facts::write(found.text, &mut text);
            facts.push(Fact {
                page,
                sequence,
                result,
                text: text.into(),
                concepts: found.concepts,
                worth: found.weight,
            });
            Mentions { fact: facts.len() - 1, last: utterance, utterances: 0, said }
        });
        mention.utterances += u32::from(mention.utterances == 0 || mention.last != utterance);
        mention.last = utterance;
        mention.said |= said;
    }

    /// Adds what is left open: promises, unless calls followed immediately, and questions at the end.
    fn matters(&mut self, live: &[&Utterance], goes_on: bool) {
        let spoken: Vec<&&Utterance> = live.iter().filter(|utterance| utterance.role != Role::Tool).collect();
        let spoken = &spoken[spoken.len().saturating_sub(OPEN_UTTERANCES)..];
        let mut next = spoken.iter().skip(1).map(|next| !next.tool_calls().is_empty()).chain([goes_on]);
        let mut at = spoken.iter().zip(next.by_ref()).peekable();
        while let Some((utterance, is_done)) = at.next() {
            let asks = at.peek().is_none() && !goes_on;
            let acts = is_done || !utterance.tool_calls().is_empty() || utterance.content.len() > OPEN_BYTES;
            let own = |said: &&Said| said.sequence == utterance.sequence;
            let first = self.pool.saids.partition_point(|said| said.sequence < utterance.sequence);
            let found = self.pool.saids[first..].iter().take_while(own).filter_map(|said| {
                let asked = asks && said.said().ends_with(['?', '？', '؟']);
                if acts && !asked { None } else { matter(said, asked) }
            });
            self.pool.matters.extend(found);
        }
    }

    fn done(mut self) -> Pool {
        for mention in self.mentions.values() {
            let recency = match self.utterances - mention.last {
                0 | 1 => 30,
                2 => 20,
                3..=8 => 13,
                9..=16 => 10,
                _ => 7,
            };
            let said = if mention.said { SAID_FACTOR } else { 1 };
            self.pool.facts[mention.fact].worth *= recency * said * mention.utterances.min(MOST_UTTERANCES);
        }
        self.pool
    }
}

/// The ledger head for what a call returned: its identifying argument, alone if that is a name (`OBUT9V:`);
/// the file name if it is a path.
fn page_head(tool: &str, key: &str) -> String {
    let file = key.rsplit('/').next().unwrap_or(key);
    match () {
        () if key.is_empty() => format!("{tool}:"),
        () if is_name(key) && file.starts_with(char::is_alphabetic) => format!("{file}:"),
        () => {
            let mut head = format!("{tool}(");
            fold(key, if key.contains(' ') { HEAD_BYTES } else { KEY_BYTES }, &mut head);
            head + "):"
        }
    }
}

/// Whether a value is clear on its own: one word that is long enough or has a digit.
fn is_name(key: &str) -> bool {
    let is_code = key.len() > 4 || key.len() > 2 && key.bytes().any(|byte| byte.is_ascii_digit());
    is_code && !key.contains(' ') && key.contains(char::is_alphanumeric)
}

fn is_short(answer: &str) -> bool {
    let answer = answer.trim();
    !answer.is_empty() && answer.len() <= 80 && !answer.contains('\n')
}

fn bonus(utterance: &Utterance, opens: bool, said: &str) -> u32 {
    let is_user = utterance.role == Role::User;
    let asks = is_user && said.ends_with(['?', '？', '؟']);
    let requests = is_user && opens && utterance.turn == 1;
    OPENING_BONUS * u32::from(opens) + QUESTION_BONUS * u32::from(asks) + REQUEST_BONUS * u32::from(requests)
}

/// The name, or the role. Always starts with a letter: any other name follows the role in parentheses.
fn speaker(utterance: &Utterance) -> String {
    let role = match utterance.role {
        Role::System => "System",
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
    };
    let name = folded(utterance.name().unwrap_or_default(), SPEAKER_BYTES);
    match () {
        () if name.is_empty() => role.to_owned(),
        () if name.starts_with(char::is_alphabetic) => name,
        () => format!("{role} ({name})"),
    }
}

fn folded(text: &str, limit: usize) -> String {
    let mut out = String::new();
    fold(text, limit, &mut out);
    out
}

/// The weight of a role's words, in percent. The user's own words are what a conversation is judged by later.
fn percent(role: Role) -> u32 {
    match role {
        Role::User => 300,
        Role::Assistant => 40,
        Role::System | Role::Tool => 60,
    }
}
