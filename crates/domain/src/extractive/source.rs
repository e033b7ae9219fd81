//! Collects the candidates for a summary from what was said.

mod called;

use std::{cell::Cell, sync::Arc};

use crate::{
    Role, Utterance,
    extractive::{
        choose::{Voice, Worth},
        effects::Effect,
        naming::{facts::find, named::Named, root::Root, salience::Source},
        pool::{Pool, Said},
        progress::{
            checks::Checks,
            ending,
            goal::{Request, is_demonstration},
            matter::{AGREED, Matter, NEXT},
            open::matter,
            rules::rules,
            steps,
        },
        sentence::{Origin, Part},
        text::{
            clip::folded,
            cues::Cues,
            marks::asks,
            split::sentences,
            words::{count, has_words},
        },
        tools::calls::{Call, calls},
    },
};

/// The limit for a speaker's name, in bytes.
const SPEAKER_BYTES: usize = 48;
/// The bonus for an utterance's first sentence: it says what the utterance is about.
const OPENING_BONUS: u32 = 4;
/// A first sentence shorter than this, in bytes, is a greeting or an answer: "Hi!", "Yes.".
const OPENING_BYTES: usize = 16;
/// The bonus for the first sentence of the first turn: it says what the conversation is about.
const REQUEST_BONUS: u32 = 16;
/// The bonus for a question from the user.
const QUESTION_BONUS: u32 = 4;
/// Divides the worth of a sentence that only announces the next one.
const ANNOUNCES_DIVISOR: u32 = 4;
/// A shorter sentence before a call, in bytes, only announces it: "Running them."
const LEAST_ANNOUNCED: usize = 32;
/// An assistant's sentence with fewer words of its own says nothing, unless it answers a question.
const LEAST_TOLD: usize = 2;
/// The bonus for a sentence of a user that restricts what may be done.
const CONSTRAINT_BONUS: u32 = 4;
/// Of a longer message of a user, in bytes, only the request within it is read.
const LONG_BYTES: usize = 1_500;
/// The worth of a request's sentences in a template, and of what must not be changed, in percent.
const TEMPLATE_PERCENT: u32 = 60;
/// The worth of the rules around a request, in percent.
const RULES_PERCENT: u32 = 4;
/// The worth of how to hand in the work, in percent.
const END_PERCENT: u32 = 320;
/// What an assistant's question, courtesy, guess or announcement is worth, at most: it is told where room is left.
const IDLE_PERCENT: u32 = 20;
/// A promise older than this many utterances was kept or given up.
const OPEN_UTTERANCES: usize = 6;
/// A longer answer, in bytes, explains rather than promises.
const OPEN_BYTES: usize = 600;

/// Collects everything in `source` that is live and not a head instruction.
///
/// `goes_on` if more was said afterwards. With `is_flat`, a sentence is worth what its words are, whatever it does.
pub(super) fn read(source: &[Arc<Utterance>], goes_on: bool, is_flat: bool) -> Pool {
    let live: Vec<&Utterance> =
        source.iter().map(|utterance| &**utterance).filter(|utterance| utterance.is_live()).collect();
    let calls = calls(source, &live);
    let mut reader = Reader { live: live.len(), is_flat, ..Reader::default() };
    reader.named.root = Root::of(&live);
    let mut asked = None;
    for (utterance, calls) in live.iter().zip(calls) {
        match utterance.late() {
            Some(late) => reader.late(utterance, late),
            None if utterance.role == Role::Tool || utterance.instruction => {}
            None => {
                reader.utterance(utterance, &calls, asked);
                asked = Some(*utterance).filter(|said| said.role == Role::Assistant);
            }
        }
    }
    reader.matters(&live, goes_on);
    let Reader { named, mut pool, checks, .. } = reader;
    pool.checks = checks.done();
    (pool.pages, pool.facts) = named.done();
    pool
}

#[derive(Default)]
struct Reader {
    pool: Pool,
    named: Named,
    /// The number of live utterances.
    live: usize,
    /// Sentences are worth what their words are, whatever they do.
    is_flat: bool,
    /// Whether the newest utterance is a user's and ends with a question.
    asked: bool,
    /// Whether the newest utterance of a user shows how another task was done.
    shown: bool,
    checks: Checks,
}

impl Reader {
    /// Reads an utterance; `asked` is the assistant's just before it.
    fn utterance(&mut self, utterance: &Utterance, calls: &[Call<'_>], asked: Option<&Utterance>) {
        let speaker = speaker(utterance);
        let mut said = sentences(&utterance.content);
        let changes = calls.iter().any(|call| call.effect == Effect::Changes && call.failure.is_none());
        if changes {
            // the call that was agreed to is told
            self.pool.saids.pop_if(|said| said.text.starts_with(AGREED));
        }
        if utterance.role == Role::User && utterance.name().is_none() {
            let agreed = asked.and_then(|asked| ending::agreed(&said, utterance, asked));
            if let Some(matter) = agreed {
                said.retain(|one| !matter.text.contains(&**one));
                self.agreed(matter);
            }
        }
        match utterance.role {
            Role::User => self.user(utterance, &speaker, &said),
            _ => {
                self.sentences(utterance, &speaker, &said, 100);
                self.named.message(utterance.sequence, &speaker, &utterance.content, Source::Other);
            }
        }
        calls.iter().for_each(|call| self.call(utterance, &speaker, call));
        if changes {
            let step = steps::step(&said);
            self.pool.steps.extend(step.map(|text| Part {
                sequence: utterance.sequence,
                result: None,
                text: self.named.root.shortened(&text).into(),
                weight: 0,
            }));
        }
        self.named.place += 1;
        self.asked = utterance.role == Role::User && asks(utterance.content.trim_end());
    }

    /// Adds what a user's yes or choice answers.
    fn agreed(&mut self, matter: Matter) {
        let percent = self.factor(Voice::User, Cues::of(&matter.text), &matter.text);
        let worth = Worth::Fresh { bonus: QUESTION_BONUS, percent };
        let (head, said) = matter.text.split_at(AGREED.len());
        self.say((matter.sequence, matter.result), head.to_owned(), said, Voice::User, worth);
    }

    /// Adds what a user said. The first request is the conversation's goal.
    fn user(&mut self, utterance: &Utterance, speaker: &str, said: &[String]) {
        if is_demonstration(&utterance.content) {
            self.shown = true;
            return self.named.message(utterance.sequence, speaker, &utterance.content, Source::Result);
        }
        if said.first().is_some_and(|first| Cues::of_opening(first).has(Cues::NO)) {
            let names = self.named.reject();
            let newest = self.pool.saids.last().map(|said| said.sequence);
            self.pool.saids.retain(|said| {
                let mut proposes = false;
                find(said.said(), |found| proposes |= names.contains(&found.concepts));
                Some(said.sequence) != newest || said.voice == Voice::User || !proposes
            });
        }
        let begins = (utterance.turn <= 1 || std::mem::take(&mut self.shown)) && self.pool.goal.is_empty();
        if !begins && utterance.content.len() <= LONG_BYTES {
            self.sentences(utterance, speaker, said, 100);
            return self.named.message(utterance.sequence, speaker, &utterance.content, Source::User);
        }
        let request = Request::of(&utterance.content);
        self.named.message(utterance.sequence, speaker, &request.text, Source::User);
        if request.is_template {
            // most names in the instructions around it are examples
            self.named.message(utterance.sequence, speaker, &utterance.content, Source::Result);
        }
        let percent = if request.is_template { TEMPLATE_PERCENT } else { 100 };
        if begins && utterance.name().is_none() && is_request(&request) {
            let sequence = utterance.sequence;
            let part =
                |(text, weight): (String, u32)| Part { sequence, result: None, text: text.into(), weight };
            self.pool.goal = request.parts().into_iter().map(part).collect();
        }
        self.sentences(utterance, speaker, &request.told(), percent);
        if request.is_template {
            let [ends, bans, rules] = rules(&request, &utterance.content);
            self.sentences(utterance, speaker, &ends, END_PERCENT);
            self.sentences(utterance, speaker, &bans, TEMPLATE_PERCENT);
            self.sentences(utterance, speaker, &rules, RULES_PERCENT);
        }
    }

    fn sentences(&mut self, utterance: &Utterance, speaker: &str, sentences: &[String], percent: u32) {
        let opening = sentences.iter().position(|said| said.len() >= OPENING_BYTES).unwrap_or(0);
        for (place, said) in sentences.iter().enumerate() {
            let cues = Cues::of(said);
            let voice = if utterance.role == Role::User { Voice::User } else { Voice::Other };
            let calls = !utterance.tool_calls().is_empty() && voice == Voice::Other && !self.is_flat;
            // the call itself is told, and the newest announcements as steps
            let is_heading = said.ends_with([':', '：']);
            let announces_call =
                calls && (cues.has(Cues::STEP) || is_heading || said.len() < LEAST_ANNOUNCED);
            // "No problem!", but not "In Paris." when that is what was asked
            let least = if self.asked && !cues.has(Cues::COURTESY) { 1 } else { LEAST_TOLD };
            let is_brief = voice == Voice::Other && !self.is_flat && !has_words(said, least);
            if (announces_call || is_brief) && !cues.has(Cues::FINDING.or(Cues::CAUSE).or(Cues::REFUSAL)) {
                continue;
            }
            let divisor = if is_heading { ANNOUNCES_DIVISOR } else { 1 };
            let emphasis = if voice == Voice::User && is_emphatic(said) { 200 } else { 100 };
            let factor = self.factor(voice, cues, said);
            let percent = percent * factor / 100 * emphasis / 100 / divisor;
            // "Not yet." has hardly a word of its own
            let restricts = voice == Voice::User && cues.has(Cues::CONSTRAINT);
            let bonus =
                bonus(utterance, place == opening, said) + if restricts { CONSTRAINT_BONUS } else { 0 };
            let is_idle = voice == Voice::Other && !self.is_flat && factor <= IDLE_PERCENT;
            let worth =
                if is_idle { Worth::Rest { bonus: bonus + 1 } } else { Worth::Fresh { bonus, percent } };
            let tokens = Cell::default();
            let (text, start) = (format!("{speaker}: {said}\n").into(), speaker.len() + 2);
            let (sequence, result) = (utterance.sequence, None);
            self.pool.saids.push(Said { sequence, result, text, start, voice, worth, cues, tokens });
        }
    }

    /// How much a sentence is worth for what it does, in percent.
    fn factor(&self, voice: Voice, cues: Cues, said: &str) -> u32 {
        if self.is_flat {
            return if voice == Voice::User { 300 } else { 40 };
        }
        let place = self.named.place * 50 / self.live.max(1);
        let if_any = |cue: Cues, percent: u32| if cues.has(cue) { percent } else { 100 };
        match voice {
            Voice::User => {
                let brief = if said.split(' ').count() <= 14 { 115 } else { 100 };
                3 * (80 + place as u32) * if_any(Cues::CONSTRAINT, 200) / 100 * if_any(Cues::REQUEST, 120)
                    / 100
                    * brief
                    / 100
            }
            Voice::Other if cues.has(Cues::COURTESY) || asks(said) => 20,
            Voice::Other if cues.has(Cues::STEP) => 15,
            Voice::Other if cues.has(Cues::REFUSAL) => 2 * (40 + place as u32),
            Voice::Other if cues.has(Cues::GUESS) => 20,
            Voice::Other if cues.has(Cues::CAUSE) => 90 + 2 * place as u32,
            Voice::Other if cues.has(Cues::FINDING) => 45 + place as u32,
            Voice::Other => 35,
        }
    }

    /// Adds a line about a call, or about what a user agreed to.
    fn say(&mut self, (sequence, result): Origin, mut text: String, said: &str, voice: Voice, worth: Worth) {
        let start = text.len();
        text.push_str(said);
        text.push('\n');
        let (text, cues, tokens) = (text.into(), Cues::default(), Cell::default());
        self.pool.saids.push(Said { sequence, result, text, start, voice, worth, cues, tokens });
    }

    /// Adds what is left open: a question, a request, the next step, pending to-dos, and promises that no call followed.
    fn matters(&mut self, live: &[&Utterance], goes_on: bool) {
        let spoken: Vec<&Utterance> = live.iter().copied().filter(|said| said.role != Role::Tool).collect();
        let newest = &spoken[spoken.len().saturating_sub(OPEN_UTTERANCES)..];
        for (at, utterance) in newest.iter().enumerate() {
            let next = newest.get(at + 1);
            let is_done = next.map_or(goes_on, |next| !next.tool_calls().is_empty());
            let acts = is_done || !utterance.tool_calls().is_empty() || utterance.content.len() > OPEN_BYTES;
            let own = |said: &&Said| said.sequence == utterance.sequence;
            let first = self.pool.saids.partition_point(|said| said.sequence < utterance.sequence);
            let lasts = |said: &&Said| !acts || said.cues.has(Cues::TODO);
            let found = self.pool.saids[first..].iter().take_while(own).filter(lasts).filter_map(matter);
            self.pool.matters.extend(found);
        }
        if !goes_on {
            // what was announced or agreed to and done is told as such
            let changes = self.pool.acts.iter().filter(|act| !act.failed && act.result.is_some());
            let last = |of_files: bool| {
                let found = changes.clone().rfind(|act| of_files || !act.is_of_file);
                found.map(|act| act.sequence)
            };
            // a change of a file is seldom all that was agreed to
            let (agreed, announced) = (last(false), last(true).max(self.checks.last_passed()));
            let is_done = |matter: &Matter| match matter.text.starts_with(NEXT) {
                true => Some(matter.sequence) == announced,
                false => ending::agrees(matter) && Some(matter.sequence) < agreed,
            };
            self.pool.matters.extend(ending::matters(&spoken).into_iter().filter(|matter| !is_done(matter)));
        }
        self.pool.matters.extend(ending::to_do(&spoken));
    }
}

fn bonus(utterance: &Utterance, opens: bool, said: &str) -> u32 {
    let is_user = utterance.role == Role::User;
    let asks = is_user && asks(said);
    let requests = is_user && opens && utterance.turn == 1;
    OPENING_BONUS * u32::from(opens) + QUESTION_BONUS * u32::from(asks) + REQUEST_BONUS * u32::from(requests)
}

/// Whether a sentence has a word for a constraint in capitals: "DO NOT", "MUST".
fn is_emphatic(said: &str) -> bool {
    let mut words = said.split(|c: char| !c.is_alphabetic());
    words.any(|word| {
        word.len() > 2 && word.chars().all(char::is_uppercase) && Cues::of(word).has(Cues::CONSTRAINT)
    })
}

/// Whether a message asks for something: not a greeting, and not only a yes.
fn is_request(request: &Request) -> bool {
    request.title.is_some() || request.sentences.iter().map(|said| count(said)).sum::<usize>() >= 2
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
