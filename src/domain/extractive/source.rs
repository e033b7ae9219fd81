//! Collects the candidates for a summary from what was said.

use std::{rc::Rc, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::domain::{
    Role, Sequence, Utterance,
    exchange::LateResult,
    extractive::{
        choose::{Voice, Worth},
        effects::{Effect, key},
        naming::{
            facts::{self, Found, SMALL_NUMBER, find},
            root::Root,
            salience::{Mentions, Shape, Source},
        },
        pool::{Act, Check, Fact, MENTIONED, NAMED, Page, Pool, ROOT, Said},
        progress::{
            ending,
            goal::{Request, is_interface},
            open::matter,
            steps,
        },
        sentence::{CHECK, ERROR, Part},
        text::{
            clip::{clip, clip_tail, fold},
            cues::Cues,
            split::sentences,
            words::{IDENTIFIER, count},
        },
        tools::{
            calls::{Call, calls, tell, tell_late, tell_outcome},
            outcome::success_line,
            records::{self, Held},
        },
    },
};

/// The limit for a speaker's name, in bytes.
const SPEAKER_BYTES: usize = 48;
/// The limit for the identifying argument, in bytes.
const KEY_BYTES: usize = 120;
/// The limit for what a command changes, in bytes.
const CHANGE_BYTES: usize = 90;
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
/// A shorter sentence before a call, in bytes, only announces it: "Running them."
const LEAST_ANNOUNCED: usize = 32;
/// An assistant's sentence with fewer words of its own says nothing.
const LEAST_TOLD: usize = 2;
/// The bonus for a sentence of a user that restricts what may be done.
const CONSTRAINT_BONUS: u32 = 4;
/// Of a longer message of a user, in bytes, only the request within it is read.
const LONG_BYTES: usize = 1_500;
/// The worth of a template's sentences, in percent.
const TEMPLATE_PERCENT: u32 = 60;
/// The limit for a check's command, in bytes.
const CHECK_BYTES: usize = 60;
/// The limit for the words of a failure, in bytes.
const ERROR_BYTES: usize = 160;
/// The root of the paths stays as long as there is a ledger.
const ROOT_WORTH: u32 = u32::MAX / 4;
/// A fact that is less likely to be needed, in millionths, is left out.
const LEAST_WORTH: u32 = 400;
/// The most that stands between an object and a value that belongs to it, in bytes.
const BESIDE_BYTES: usize = 240;
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
    let mut reader = Reader { live: live.len(), is_flat, root: Root::of(&live), ..Reader::default() };
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
type From = (Sequence, Option<Sequence>);

/// What a value belongs to.
#[derive(Default)]
struct Object {
    of: Option<Rc<str>>,
    page: Option<usize>,
    /// Its concept; 0 if there is no object.
    bound: u32,
}

#[derive(Default)]
struct Reader {
    pool: Pool,
    pages: FxHashMap<Box<str>, usize>,
    mentions: FxHashMap<[u32; 2], (usize, Mentions)>,
    /// Whether commands were run or files named.
    is_coding: bool,
    utterances: usize,
    /// The number of live utterances.
    live: usize,
    /// Sentences are worth what their words are, whatever they do.
    is_flat: bool,
    /// The failed calls, by tool and identifying argument: their places in the pool's checks.
    failures: FxHashMap<(Box<str>, Box<str>), usize>,
    /// The pages of commands.
    shells: FxHashSet<Box<str>>,
    /// The names that only an assistant proposed, each with the utterance after which a user turned them down.
    rejected: FxHashMap<[u32; 2], usize>,
    root: Root,
}

impl Reader {
    fn utterance(&mut self, utterance: &Utterance, calls: &[Call<'_>]) {
        let speaker = speaker(utterance);
        let said = sentences(&utterance.content);
        match utterance.role {
            Role::User => self.user(utterance, &speaker, &said),
            _ => {
                self.sentences(utterance, &speaker, &said, 100);
                self.named(utterance, &speaker, &utterance.content, Source::Other);
            }
        }
        calls.iter().for_each(|call| self.call(utterance, &speaker, call));
        if calls.iter().any(|call| call.effect == Effect::Changes && call.failure.is_none()) {
            let step = steps::step(&said);
            self.pool.steps.extend(step.map(|text| Part {
                sequence: utterance.sequence,
                result: None,
                text: self.root.shortened(&text).into(),
                weight: 0,
            }));
        }
        self.utterances += 1;
    }

    /// Adds what a user said. The first request is the conversation's goal.
    fn user(&mut self, utterance: &Utterance, speaker: &str, said: &[String]) {
        if said.first().is_some_and(|first| Cues::of(first).has(Cues::NO)) {
            self.reject();
        }
        let begins = utterance.turn <= 1 && self.pool.goal.is_empty();
        if !begins && utterance.content.len() <= LONG_BYTES {
            self.sentences(utterance, speaker, said, 100);
            return self.named(utterance, speaker, &utterance.content, Source::User);
        }
        let request = Request::of(&utterance.content);
        self.named(utterance, speaker, &request.text, Source::User);
        if request.is_template {
            // most names in the instructions around it are examples
            self.named(utterance, speaker, &utterance.content, Source::Result);
        }
        let percent = if request.is_template { TEMPLATE_PERCENT } else { 100 };
        let told: Vec<String> =
            request.sentences.iter().filter(|said| !is_interface(&said.to_lowercase())).cloned().collect();
        if begins && utterance.name().is_none() && is_request(&request) {
            self.pool.goal = request
                .parts()
                .into_iter()
                .map(|(text, weight)| Part {
                    sequence: utterance.sequence,
                    result: None,
                    text: text.into(),
                    weight,
                })
                .collect();
        }
        self.sentences(utterance, speaker, &told, percent);
    }

    /// Adds what a message names. A value with its label behind the name of an object belongs to the object:
    /// `Flight HAT069 - Price: $121`.
    fn named(&mut self, utterance: &Utterance, speaker: &str, text: &str, by: Source) {
        let page = self.page(format!("{speaker}{MENTIONED}"), None);
        let from = (utterance.sequence, None);
        let mut object: Option<Found<'_>> = None;
        find(text, |found| {
            if found.weight == IDENTIFIER {
                object = (Shape::of(found.text) == Shape::Code).then_some(found);
                return self.fact(from, page, found, by);
            }
            let of = object.filter(|of| is_beside(&text[of.at..found.at]));
            match (of, found.text.split_once(": ")) {
                (Some(of), Some((label, value))) => {
                    let page = self.page(format!("{}:", of.text), Some(of.concepts));
                    let told = format!("{} {value}", label.to_lowercase());
                    let concepts = [facts::exact(value), of.concepts[0]];
                    let held = Found { text: &told, concepts, ..found };
                    self.mention(from, page, held, by, Shape::of(value), true);
                }
                _ => self.fact(from, page, found, by),
            }
        });
    }

    /// Notes that what was named in the last utterance, and only there, was turned down.
    fn reject(&mut self) {
        let Some(last) = self.utterances.checked_sub(1) else { return };
        let proposed = self.mentions.iter().filter(|(_, (_, mentions))| mentions.is_proposed(last));
        let names: FxHashSet<[u32; 2]> = proposed.map(|(concepts, _)| *concepts).collect();
        let newest = self.pool.saids.last().map(|said| said.sequence);
        let proposes = |said: &Said| {
            let mut proposes = false;
            find(said.said(), |found| proposes |= names.contains(&found.concepts));
            Some(said.sequence) == newest && said.voice == Voice::Other && proposes
        };
        self.pool.saids.retain(|said| !proposes(said));
        self.rejected.extend(names.into_iter().map(|name| (name, last)));
    }

    fn sentences(&mut self, utterance: &Utterance, speaker: &str, sentences: &[String], percent: u32) {
        let opening = sentences.iter().position(|said| said.len() >= OPENING_BYTES).unwrap_or(0);
        for (place, said) in sentences.iter().enumerate() {
            let cues = Cues::of(said);
            let voice = if utterance.role == Role::User { Voice::User } else { Voice::Other };
            let calls = !utterance.tool_calls().is_empty() && voice == Voice::Other && !self.is_flat;
            // the call itself is told, and the newest announcements as steps
            let announces_call = calls && (cues.has(Cues::STEP) || said.len() < LEAST_ANNOUNCED);
            // "No problem!"
            let is_brief = voice == Voice::Other && !self.is_flat && count(said) < LEAST_TOLD;
            if (announces_call || is_brief) && !cues.has(Cues::FINDING.or(Cues::REFUSAL)) {
                continue;
            }
            let divisor = if said.ends_with([':', '：']) { ANNOUNCES_DIVISOR } else { 1 };
            let percent = percent * self.factor(voice, cues, said) / 100 / divisor;
            // "Not yet." has hardly a word of its own
            let restricts = voice == Voice::User && cues.has(Cues::CONSTRAINT);
            let bonus =
                bonus(utterance, place == opening, said) + if restricts { CONSTRAINT_BONUS } else { 0 };
            let worth = Worth::Fresh { bonus, percent };
            self.say((utterance.sequence, None), format!("{speaker}: "), said, voice, worth);
        }
    }

    /// How much a sentence is worth for what it does, in percent.
    fn factor(&self, voice: Voice, cues: Cues, said: &str) -> u32 {
        if self.is_flat {
            return if voice == Voice::User { 300 } else { 40 };
        }
        let place = self.utterances * 50 / self.live.max(1);
        let if_any = |cue: Cues, percent: u32| if cues.has(cue) { percent } else { 100 };
        match voice {
            Voice::User => {
                let brief = if said.split(' ').count() <= 14 { 115 } else { 100 };
                3 * (80 + place as u32) * if_any(Cues::CONSTRAINT, 200) / 100 * if_any(Cues::REQUEST, 120)
                    / 100
                    * brief
                    / 100
            }
            Voice::Other if cues.has(Cues::COURTESY) || said.ends_with(['?', '？', '؟']) => 20,
            Voice::Other if cues.has(Cues::STEP) => 15,
            Voice::Other if cues.has(Cues::REFUSAL) => 2 * (40 + place as u32),
            Voice::Other if cues.has(Cues::FINDING) => 45 + place as u32,
            Voice::Other => 35,
        }
    }

    fn say(&mut self, (sequence, result): From, mut text: String, said: &str, voice: Voice, worth: Worth) {
        let start = text.len();
        text.push_str(said);
        text.push('\n');
        self.pool.saids.push(Said { sequence, result, text: text.into(), start, voice, worth });
    }

    fn call(&mut self, utterance: &Utterance, speaker: &str, made: &Call<'_>) {
        let Call { call, answer, failure, effect, ran } = made;
        self.is_coding |= ran.is_some();
        let (result, answer) = answer.unzip();
        let failed = failure.is_some();
        let key = self.key(made);
        let mut told = String::new();
        let name = tell(made, &key, &mut told);
        let told = self.root.shortened(&told);
        let tool = told[..name].to_owned();
        self.check((utterance.sequence, result), &tool, &key, made);
        let changes = ran.as_ref().map_or(&[][..], |ran| &ran.changes);
        if *effect == Effect::Changes && changes.is_empty() {
            let start = speaker.len() + " called ".len() + name + 1;
            let text = format!("{speaker} called {told}\n");
            let act = Act::new(utterance.sequence, text, start, &key);
            let is_of_file = is_path(&key);
            self.pool.acts.push(Act { result, failed, is_of_file, ..act });
        } else if !changes.is_empty() {
            // what follows a change in its script, a test, may have failed
            let failure = failure.filter(|_| ran.as_ref().is_none_or(|ran| ran.check.is_none()));
            for change in changes {
                let mut text = format!("{speaker} called {tool}(");
                let start = text.len();
                let change = folded(&self.root.shortened(change), CHANGE_BYTES);
                text.push_str(&change);
                text.push_str(") → ");
                if failure.is_none() {
                    text.push_str("ok")
                } else {
                    tell_outcome(answer, failure, &mut text)
                }
                text.truncate(text.trim_end().len());
                text.push('\n');
                let act = Act::new(utterance.sequence, text, start, &change);
                self.pool.acts.push(Act { result, failed: failure.is_some(), is_of_file: true, ..act });
            }
        } else if !(failed && ran.as_ref().is_some_and(|ran| ran.check.is_some())) {
            // how a check failed is told as such, as long as nothing solved it
            let bonus = CALL_BONUS + if failed { FAILURE_BONUS } else { 0 };
            let worth = match failed || answer.is_some_and(is_short) {
                true => Worth::Fresh { bonus, percent: CALL_PERCENT },
                // what the call found goes into the ledger
                false => Worth::Rest { bonus },
            };
            self.say((utterance.sequence, result), format!("{speaker} called "), &told, Voice::Other, worth);
        }
        let head =
            if tool.starts_with(char::is_alphabetic) { tool } else { format!("{speaker} called {tool}") };
        let named = self.asked_by(utterance.sequence, &head, &key, *effect);
        let page = self.page(page_head(&head, &key), named.filter(|_| !key.contains('/')));
        if ran.is_some() {
            self.shells.insert(self.pool.pages[page].head.clone());
            self.shells.insert(format!("{head}:").into());
        }
        find(&call.arguments_json, |found| {
            self.fact((utterance.sequence, None), page, found, Source::Argument)
        });
        if let (Some(answer), false) = (answer, failed) {
            self.found((utterance.sequence, result), page, &key, answer);
        }
    }

    /// Adds what a call returned: the values of JSON with their objects, or the names in a text.
    fn found(&mut self, from: From, page: usize, key: &str, answer: &str) {
        let Some(values) = records::values(answer, is_name(key).then_some(key)) else {
            // the numbers of a text belong to nothing
            return find(answer, |found| {
                if found.weight == IDENTIFIER {
                    self.fact(from, page, found, Source::Result);
                }
            });
        };
        let mut object = Object::default();
        for Held { of, field, value } in &values {
            if object.of != *of {
                object = self.object(of.as_ref());
            }
            let page = object.page.unwrap_or(page);
            let shape = Shape::of(value);
            let mut names = SmallVec::<[Found<'_>; 4]>::new();
            find(value, |found| names.push(found));
            names.retain(|name| name.weight == IDENTIFIER);
            let is_number = names.is_empty()
                && shape != Shape::Code
                && value.bytes().filter(u8::is_ascii_digit).count() > 1
                && !value.contains(char::is_whitespace);
            let is_attribute = || object.bound > 0 && value.len() <= 40 && records::is_attribute(field);
            if is_number || is_attribute() {
                let text = format!("{} {value}", field.replace('_', " "));
                let shape = if is_number { shape } else { Shape::Attribute };
                let concepts = [facts::exact(value), object.bound];
                let found = Found { text: &text, concepts, weight: SMALL_NUMBER, at: 0 };
                self.mention(from, page, found, Source::Result, shape, object.bound > 0);
            } else {
                for found in names {
                    self.fact(from, page, found, Source::Result);
                }
            }
        }
    }

    /// The object that values belong to, with its page.
    fn object(&mut self, of: Option<&Rc<str>>) -> Object {
        let Some(of) = of else { return Object::default() };
        let mut named = None;
        find(of, |found| named = named.or(Some(found.concepts)));
        let page = Some(self.page(format!("{of}:"), named));
        Object { of: Some(of.clone()), page, bound: facts::exact(of) }
    }

    /// The identifying argument; for an edit that names no file, the one that its result says is open.
    fn key(&self, made: &Call<'_>) -> String {
        let key = key(made.call);
        let is_edit = made.effect == Effect::Changes && made.ran.is_none() && edits(&made.call.name);
        let names_file = key.as_ref().is_some_and(|key| is_path(&key.value));
        let opened = made.answer.filter(|_| is_edit && !names_file).and_then(|(_, said)| opened(said));
        match opened {
            Some(file) => self.root.relative(file).to_owned(),
            None => key.map(|key| folded(&self.root.shortened(&key.value), KEY_BYTES)).unwrap_or_default(),
        }
    }

    /// Notes how a test, a build or a program ended, and which calls failed and were not repeated since.
    fn check(&mut self, (sequence, result): From, tool: &str, key: &str, made: &Call<'_>) {
        let ran = made.ran.as_ref();
        let label = ran.and_then(|ran| ran.check.as_deref());
        let place = (Box::from(tool), Box::from(label.unwrap_or(key)));
        let mut text = String::new();
        let (head, is_told) = match (label, made.answer, made.failure) {
            (Some(label), Some((_, answer)), failure) => {
                fold(label, CHECK_BYTES, &mut text);
                text.push_str(" → ");
                match (failure, success_line(answer)) {
                    (None, Some(line)) => {
                        text.push_str("ok: ");
                        fold(line, ERROR_BYTES, &mut text);
                    }
                    (None, None) => text.push_str("ok"),
                    (Some(_), _) => tell_outcome(Some(answer), failure, &mut text),
                }
                (CHECK, true)
            }
            // a call that changes something has a line of its own
            (None, Some(_), Some(failure)) if made.effect == Effect::Reads => {
                text.push_str(tool);
                text.push('(');
                fold(key, CHECK_BYTES, &mut text);
                text.push_str("): ");
                fold(failure, ERROR_BYTES, &mut text);
                (ERROR, true)
            }
            _ => (ERROR, false),
        };
        if made.failure.is_none()
            && let Some(at) = self.failures.remove(&place)
        {
            self.pool.checks[at].solved = true;
        }
        if is_told {
            if made.failure.is_some() {
                self.failures.insert(place, self.pool.checks.len());
            }
            let is_test = ran.is_some_and(|ran| ran.is_test);
            let text = self.root.shortened(text.trim_end());
            self.pool.checks.push(Check {
                sequence,
                result,
                head,
                text: text.into(),
                solved: false,
                is_test,
                failed: made.failure.is_some(),
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
            is_name.then(|| Found { text: key, concepts: [facts::exact(key), 0], weight: IDENTIFIER, at: 0 })
        })?;
        let concepts = found.concepts;
        if effect == Effect::Reads {
            let page = self.page(format!("{tool}:"), None);
            self.fact((sequence, None), page, found, Source::Argument);
        }
        Some(concepts)
    }

    fn late(&mut self, utterance: &Utterance, late: &LateResult) {
        let speaker = speaker(utterance);
        let mut told = String::new();
        let failed = tell_late(late, &utterance.content, &mut told);
        let worth = Worth::Fresh { bonus: CALL_BONUS + FAILURE_BONUS, percent: CALL_PERCENT };
        self.say((utterance.sequence, None), format!("{speaker}: "), &told, Voice::Other, worth);
        if !failed {
            let page = self.page(format!("late result of {}:", late.tool), None);
            find(&utterance.content, |found| {
                self.fact((utterance.sequence, None), page, found, Source::Result)
            });
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

    fn fact(&mut self, from: From, page: usize, found: Found<'_>, source: Source) {
        let inside = self.root.relative(found.text);
        let concepts =
            if inside.len() < found.text.len() { [facts::exact(inside), 0] } else { found.concepts };
        let Some((inside, concepts)) = plain_name(inside, concepts) else { return };
        let shape = match found.weight {
            IDENTIFIER => Shape::of(inside),
            _ => Shape::of(
                inside.rsplit(' ').find(|word| word.contains(|c: char| c.is_ascii_digit())).unwrap_or(inside),
            ),
        };
        self.mention(from, page, Found { text: inside, concepts, ..found }, source, shape, false);
    }

    fn mention(
        &mut self,
        (sequence, result): From,
        page: usize,
        found: Found<'_>,
        source: Source,
        shape: Shape,
        is_bound: bool,
    ) {
        let facts = &mut self.pool.facts;
        let (_, mentions) = self.mentions.entry(found.concepts).or_insert_with(|| {
            let mut text = String::with_capacity(found.text.len());
            facts::write(found.text, &mut text);
            let (text, concepts) = (text.into(), found.concepts);
            facts.push(Fact { page, sequence, result, text, concepts, worth: found.weight });
            (facts.len() - 1, Mentions::new(shape, is_bound))
        });
        mentions.add(source, self.utterances);
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
            let lasts = |said: &&Said| !acts || Cues::of(said.said()).has(Cues::TODO);
            let found = self.pool.saids[first..].iter().take_while(own).filter(lasts).filter_map(matter);
            self.pool.matters.extend(found);
        }
        if !goes_on {
            self.pool.matters.extend(ending::matters(&spoken));
        }
        self.pool.matters.extend(ending::to_do(&spoken));
    }

    /// Puts what was named in passing, and what commands printed, on one page: neither says more of it.
    fn name_loosely(&mut self) {
        let named = self.page(NAMED.to_owned(), None);
        let is_loose = |page: &Page| {
            page.head.ends_with(MENTIONED) || page.head.ends_with("):") || self.shells.contains(&page.head)
        };
        let loose: Vec<bool> = self.pool.pages.iter().map(is_loose).collect();
        self.pool.facts.iter_mut().filter(|fact| loose[fact.page]).for_each(|fact| fact.page = named);
    }

    fn done(mut self) -> Pool {
        if let Some(sequence) = self.root.sequence {
            let page = self.page(ROOT.to_owned(), None);
            let text = self.root.path();
            let concepts = [facts::exact(text), 0];
            self.pool.facts.push(Fact {
                page,
                sequence,
                result: None,
                text: text.into(),
                concepts,
                worth: ROOT_WORTH,
            });
        }
        let mut kept = vec![true; self.pool.facts.len()];
        for (concepts, (fact, mentions)) in &self.mentions {
            let other = |concept: u32| self.mentions.get(&[concept, 0]).map(|(_, mentions)| mentions);
            let (alone, of) = (other(concepts[0]), other(concepts[1]));
            let worth = mentions.worth(of, alone, self.utterances, self.is_coding);
            self.pool.facts[*fact].worth = worth;
            let is_rejected = self.rejected.get(concepts).is_some_and(|last| mentions.is_proposed(*last));
            let is_telling = mentions.is_telling(&self.pool.facts[*fact].text, self.is_coding);
            kept[*fact] = !is_rejected && worth >= LEAST_WORTH && is_telling;
        }
        let mut kept = kept.into_iter();
        self.pool.facts.retain(|_| kept.next().unwrap_or(true));
        if self.is_coding {
            self.name_loosely();
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

/// Whether what stands between an object and a value leaves them together.
fn is_beside(between: &str) -> bool {
    between.len() <= BESIDE_BYTES && !between.contains("\n\n")
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

/// A name without what it is a member of: `num_authors` for `self.num_authors`; a path without the words of a search's
/// output: `a.py` for `a.py:def`. `None` if nothing of its own is left (`self.clone`), if it is a line of a listing
/// (`8:import`), or a substitution (`s/old/new/`).
fn plain_name(name: &str, concepts: [u32; 2]) -> Option<(&str, [u32; 2])> {
    if let Some((path, _)) = name.split_once(':')
        && matches!(Shape::of(path), Shape::Path | Shape::File)
    {
        return Some((path, [facts::exact(path), 0]));
    }
    if name.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("s/")
        && name.matches('/').count() > 1
    {
        return None;
    }
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &name[digits..];
    if digits > 0 && behind.strip_prefix(':').is_some_and(|code| code.starts_with(char::is_alphabetic)) {
        return None;
    }
    if !name.contains('.') || name.contains([' ', '/']) || Shape::of(name) != Shape::Member {
        return Some((name, concepts));
    }
    let member = name.rsplit('.').next().unwrap_or(name);
    let pairs = member.bytes().zip(member.bytes().skip(1));
    let has_hump = { pairs }.any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase());
    (has_hump || member.trim_matches('_').contains('_')).then(|| (member, [facts::exact(member), 0]))
}

/// The file that an editor says is open: `[File: /a.py (9 lines total)]`, `(Open file: /a.py)`.
fn opened(said: &str) -> Option<&str> {
    let tail = clip_tail(said, 300);
    ["[File: ", "(Open file: "].iter().find_map(|mark| {
        let named = [said, tail].into_iter().find_map(|text| clip(text, 600).split_once(mark))?.1;
        let file = named.split([' ', ')', ']', '\n']).next()?;
        (!file.is_empty() && file != "n/a").then_some(file)
    })
}

/// Whether a value is a file's path or name.
fn is_path(value: &str) -> bool {
    !value.contains(char::is_whitespace)
        && (value.contains('/')
            || value.rsplit_once('.').is_some_and(|(name, end)| {
                !name.is_empty()
                    && (1..=8).contains(&end.len())
                    && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }))
}

/// Whether a tool works on the open file of an editor.
fn edits(name: &str) -> bool {
    ["edit", "insert", "append", "replace"].contains(&name.to_ascii_lowercase().as_str())
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

fn folded(text: &str, limit: usize) -> String {
    let mut out = String::new();
    fold(text, limit, &mut out);
    out
}
