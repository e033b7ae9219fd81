//! Collects what was named: identifiers, amounts and dates, each with who named it and what it belongs to.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    Sequence,
    extractive::{
        effects::Effect,
        naming::{
            facts::{self, Found, SMALL_NUMBER, find},
            root::Root,
            salience::{Mentions, Shape, Source},
        },
        pool::{Fact, MENTIONED, NAMED, Page, ROOT},
        sentence::Origin,
        text::{
            clip::{fold, folded},
            words::IDENTIFIER,
        },
        tools::{
            calls::{Call, KEY_BYTES, TOOL_BYTES},
            records::{self, Held},
        },
    },
};

/// The limit for an identifying argument with blanks (a command) in a page's head, in bytes.
const COMMAND_BYTES: usize = 48;
/// The root of the paths stays as long as there is a ledger.
const ROOT_WORTH: u32 = u32::MAX / 4;
/// A fact that is less likely to be needed, in millionths, is left out.
const LEAST_WORTH: u32 = 400;
/// The most that stands between an object and a value that belongs to it, in bytes.
const BESIDE_BYTES: usize = 240;

/// What was named so far.
#[derive(Default)]
pub(in crate::extractive) struct Named {
    /// The directory that paths are relative to.
    pub root: Root,
    /// How many utterances were read.
    pub place: usize,
    pages: Vec<Page>,
    by_head: FxHashMap<Box<str>, usize>,
    /// The pages of parts of objects, by the object's page and the part's name.
    parts: FxHashMap<(usize, Rc<str>), usize>,
    facts: Vec<Fact>,
    mentions: FxHashMap<[u32; 2], (usize, Mentions)>,
    /// Whether commands were run.
    is_coding: bool,
    /// The heads of the pages of commands.
    shells: FxHashSet<Box<str>>,
    /// The names that only an assistant proposed, each with the utterance after which a user turned them down.
    rejected: FxHashMap<[u32; 2], usize>,
    /// The newest value of each field of an object, by page and field.
    newest: FxHashMap<(usize, u32), (Sequence, [u32; 2])>,
    /// Values that a later result replaced.
    replaced: FxHashSet<[u32; 2]>,
}

/// What a value belongs to.
#[derive(Default)]
struct Object {
    of: Option<Rc<str>>,
    within: Option<Rc<str>>,
    page: Option<usize>,
    /// Its concept; 0 if there is no object.
    bound: u32,
}

impl Named {
    /// Adds what a message names. A value with its label behind the name of an object belongs to the object:
    /// `Flight HAT069 - Price: $121`.
    pub(in crate::extractive) fn message(
        &mut self,
        sequence: Sequence,
        speaker: &str,
        text: &str,
        by: Source,
    ) {
        let page = self.page(format!("{speaker}{MENTIONED}"), None);
        let from = (sequence, None);
        let mut object: Option<Found<'_>> = None;
        find(text, |found| {
            if found.weight == IDENTIFIER {
                object = (Shape::of(found.text) == Shape::Code).then_some(found);
                return self.fact(from, page, found, by);
            }
            let of = object.filter(|of| is_beside(&text[of.at..found.at]));
            match (of, found.text.split_once(": ")) {
                (Some(of), Some((label, value))) if records::is_attribute(&label.replace(' ', "_")) => {
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

    /// Notes that what was named in the last utterance, and only there, was turned down; returns it.
    pub(in crate::extractive) fn reject(&mut self) -> FxHashSet<[u32; 2]> {
        let Some(last) = self.place.checked_sub(1) else { return FxHashSet::default() };
        let proposed = self.mentions.iter().filter(|(_, (_, mentions))| mentions.is_proposed(last));
        let names: FxHashSet<[u32; 2]> = proposed.map(|(concepts, _)| *concepts).collect();
        self.rejected.extend(names.iter().map(|name| (*name, last)));
        names
    }

    /// Adds what a call names, and what it returned.
    pub(in crate::extractive) fn call(
        &mut self,
        sequence: Sequence,
        caller: &str,
        key: &str,
        made: &Call<'_>,
    ) {
        self.is_coding |= made.ran.is_some();
        let (result, answer) = made.answer.unzip();
        let tool = folded(&made.call.name, TOOL_BYTES);
        let head =
            if tool.starts_with(char::is_alphabetic) { tool } else { format!("{caller} called {tool}") };
        let named = self.asked_by(sequence, &head, key, made.effect);
        let page = self.page(page_head(&head, key), named.filter(|_| !key.contains('/')));
        if made.ran.is_some() {
            self.shells.insert(self.pages[page].head.clone());
            self.shells.insert(format!("{head}:").into());
        }
        find(&made.call.arguments_json, |found| self.fact((sequence, None), page, found, Source::Argument));
        if let (Some(answer), None) = (answer, made.failure) {
            self.found((sequence, result), page, key, answer);
        }
    }

    /// Adds what the late result of a tool names.
    pub(in crate::extractive) fn late(&mut self, sequence: Sequence, tool: &str, result: &str) {
        let page = self.page(format!("late result of {tool}:"), None);
        find(result, |found| self.fact((sequence, None), page, found, Source::Result));
    }

    /// Adds what a call returned: the values of JSON with their objects, or the names in a text.
    fn found(&mut self, from: Origin, page: usize, key: &str, answer: &str) {
        let mut object = Object::default();
        let is_json = records::values(answer, is_name(key).then_some(key), |held| {
            if object.of != held.of || object.within != held.within {
                object = self.object(&held);
            }
            self.held(from, page, &object, &held);
        });
        if !is_json {
            // the numbers of a text belong to nothing
            find(answer, |found| {
                if found.weight == IDENTIFIER {
                    self.fact(from, page, found, Source::Result);
                }
            });
        }
    }

    /// Adds a value of an object: a number or an attribute with its field, or the names in it.
    fn held(&mut self, from: Origin, page: usize, object: &Object, Held { field, value, .. }: &Held<'_>) {
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
        let is_row = field.is_empty() && value.contains(' ');
        if is_number || is_row || is_attribute() {
            let text =
                if is_row { value.to_string() } else { format!("{} {value}", field.replace('_', " ")) };
            let shape = match () {
                () if is_row => Shape::Time,
                () if is_number && !records::is_personal(field) => shape,
                () => Shape::Attribute,
            };
            let concepts = [facts::exact(value), object.bound];
            let found = Found { text: &text, concepts, weight: SMALL_NUMBER, at: 0 };
            self.mention(from, page, found, Source::Result, shape, object.bound > 0);
            if object.bound > 0 && !is_row {
                self.replace(from.0, page, field, concepts);
            }
        } else {
            for found in names {
                self.fact(from, page, found, Source::Result);
            }
        }
    }

    /// Leaves out what earlier results said of the same field of an object.
    fn replace(&mut self, sequence: Sequence, page: usize, field: &str, concepts: [u32; 2]) {
        let newest = self.newest.entry((page, facts::exact(field))).or_insert((sequence, concepts));
        let (before, older) = std::mem::replace(newest, (sequence, concepts));
        if before < sequence && older != concepts {
            self.replaced.insert(older);
        }
        self.replaced.remove(&concepts);
    }

    /// The object that a value belongs to, with its page.
    fn object(&mut self, Held { of, within, .. }: &Held<'_>) -> Object {
        let Some(name) = of else { return Object::default() };
        let whole = within.as_ref().map(|within| self.page(format!("{within}:"), concepts(within)));
        let page = match whole {
            Some(whole) => self.part(whole, name),
            None => self.page(format!("{name}:"), concepts(name)),
        };
        let (of, within) = (of.clone(), within.clone());
        Object { of, within, page: Some(page), bound: facts::exact(name) }
    }

    /// The name in the identifying argument. If the call only reads, the name is also a fact of its own,
    /// listed with those of the tool's other calls.
    fn asked_by(&mut self, sequence: Sequence, tool: &str, key: &str, effect: Effect) -> Option<[u32; 2]> {
        let is_name = is_name(key);
        let found = facts::first(key).or_else(|| {
            is_name.then(|| Found { text: key, concepts: [facts::exact(key), 0], weight: IDENTIFIER, at: 0 })
        })?;
        let concepts = found.concepts;
        if effect == Effect::Reads {
            let page = self.page(format!("{tool}:"), None);
            self.fact((sequence, None), page, found, Source::Argument);
        }
        Some(concepts)
    }

    fn page(&mut self, head: String, names: Option<[u32; 2]>) -> usize {
        if let Some(page) = self.by_head.get(&*head) {
            return *page;
        }
        let page = self.pages.len();
        self.by_head.insert(head.as_str().into(), page);
        self.pages.push(Page { head: head.into(), names, within: None });
        page
    }

    /// The page of a part of the object that the page `whole` is about.
    fn part(&mut self, whole: usize, name: &Rc<str>) -> usize {
        let Self { pages, parts, .. } = self;
        *parts.entry((whole, name.clone())).or_insert_with(|| {
            pages.push(Page { head: (&**name).into(), names: concepts(name), within: Some(whole) });
            pages.len() - 1
        })
    }

    fn fact(&mut self, from: Origin, page: usize, found: Found<'_>, source: Source) {
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
        (sequence, result): Origin,
        page: usize,
        found: Found<'_>,
        source: Source,
        shape: Shape,
        is_bound: bool,
    ) {
        let facts = &mut self.facts;
        let (_, mentions) = self.mentions.entry(found.concepts).or_insert_with(|| {
            let mut text = String::with_capacity(found.text.len());
            facts::write(found.text, &mut text);
            let (text, concepts) = (text.into(), found.concepts);
            facts.push(Fact { page, sequence, result, text, concepts, worth: found.weight });
            (facts.len() - 1, Mentions::new(shape, is_bound))
        });
        mentions.add(source, self.place);
    }

    /// Puts what was named in passing, and what commands printed, on one page: neither says more of it.
    fn name_loosely(&mut self) {
        let named = self.page(NAMED.to_owned(), None);
        let is_loose = |page: &Page| {
            page.head.ends_with(MENTIONED) || page.head.ends_with("):") || self.shells.contains(&page.head)
        };
        let loose: Vec<bool> = self.pages.iter().map(is_loose).collect();
        self.facts.iter_mut().filter(|fact| loose[fact.page]).for_each(|fact| fact.page = named);
    }

    /// The pages, and the facts that are worth telling.
    pub(in crate::extractive) fn done(mut self) -> (Vec<Page>, Vec<Fact>) {
        if let Some(sequence) = self.root.sequence {
            let page = self.page(ROOT.to_owned(), None);
            let text = self.root.path();
            let concepts = [facts::exact(text), 0];
            self.facts.push(Fact {
                page,
                sequence,
                result: None,
                text: text.into(),
                concepts,
                worth: ROOT_WORTH,
            });
        }
        let mut kept = vec![true; self.facts.len()];
        for (concepts, (fact, mentions)) in &self.mentions {
            let other = |concept: u32| self.mentions.get(&[concept, 0]).map(|(_, mentions)| mentions);
            let (alone, of) = (other(concepts[0]), other(concepts[1]));
            let worth = mentions.worth(of, alone, self.place, self.is_coding);
            self.facts[*fact].worth = worth;
            let is_rejected = self.rejected.get(concepts).is_some_and(|last| mentions.is_proposed(*last));
            let is_telling = mentions.is_telling(&self.facts[*fact].text, self.is_coding);
            let is_past = is_rejected || self.replaced.contains(concepts);
            kept[*fact] = !is_past && worth >= LEAST_WORTH && is_telling;
        }
        let mut kept = kept.into_iter();
        self.facts.retain(|_| kept.next().unwrap_or(true));
        if self.is_coding {
            self.name_loosely();
        }
        (self.pages, self.facts)
    }
}

/// The concepts of what a text names first.
fn concepts(text: &str) -> Option<[u32; 2]> {
    facts::first(text).map(|found| found.concepts)
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
            fold(key, if key.contains(' ') { COMMAND_BYTES } else { KEY_BYTES }, &mut head);
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

/// A name without what it is a member of: `num_authors` for `self.num_authors`, `HashMap` for `collections::HashMap`; a path without the words of a search's
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
    if name.contains([' ', '/']) {
        return Some((name, concepts));
    }
    let is_member = name.contains('.') && Shape::of(name) == Shape::Member;
    let member = name.rsplit_once("::").map(|(_, member)| member).filter(|member| says_itself(member));
    let member = member.or_else(|| name.rsplit('.').next().filter(|member| is_member && says_itself(member)));
    match member {
        Some(member) => Some((member, [facts::exact(member), 0])),
        None => (!is_member).then_some((name, concepts)),
    }
}

/// Whether a name of several words, such as `num_authors` or `HashMap`, says what it is without its owner.
fn says_itself(name: &str) -> bool {
    let pairs = name.bytes().zip(name.bytes().skip(1));
    let has_hump = { pairs }.any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase());
    has_hump || name.trim_matches('_').contains('_')
}
