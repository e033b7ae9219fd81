//! Items from messages: what each says, does and shows, by itself.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use utterd_text::{entities, secrets::MARK};

use crate::{
    calls::{Deed, Does, Json, Outcome, deeds},
    hidden::Credentials,
    item::{DAY, Item, Kind, Marks, NO_ANSWER, WORTH},
    message::{Call, Message, Role},
    names::Names,
    records, request, todo,
    words::{Said, said},
};

/// Sentences of one message that are read.
const MOST_SENTENCES: usize = 60;
/// A short answer to a question has no more words.
const ANSWER_WORDS: usize = 14;
/// With no more words of its own, an answer is told with its question.
const BARE_WORDS: usize = 3;
/// What names a thing or a value is worth this much more.
const NAMING: f64 = 1.5;
/// Facts of one result.
const MOST_FACTS: usize = 120;

/// The items of messages, oldest first; those of one kind in the order in which they were said.
pub fn analyse(messages: &[Message<'_>]) -> Vec<Item> {
    let mut analysis = Analysis { among_people: are_people(messages), ..Analysis::default() };
    for message in messages {
        analysis.read(message);
    }
    let Analysis { mut items, names, credentials, .. } = analysis;
    items.extend(names.items());
    items.iter_mut().for_each(|item| credentials.hide(item));
    // a name that is a credential names nothing
    items.retain(|item| item.seen.is_none() || !item.text.contains(MARK));
    items
}

/// Whether people talk with one another: nobody calls a tool, and at least two have names.
fn are_people(messages: &[Message<'_>]) -> bool {
    let names: FxHashSet<&str> = messages.iter().filter_map(|message| message.name).collect();
    names.len() > 1 && messages.iter().all(|message| message.calls.is_empty())
}

#[derive(Default)]
struct Analysis<'a> {
    /// Nobody works for another: all speakers count the same, and it matters when something was said.
    among_people: bool,
    items: Vec<Item>,
    names: Names,
    credentials: Credentials<'a>,
    /// The last question, while it can still be answered.
    question: Option<Question>,
}

struct Question {
    sequence: u64,
    by: Arc<str>,
    asked: Arc<str>,
    /// Messages since then.
    age: u32,
}

impl<'a> Analysis<'a> {
    fn read(&mut self, message: &Message<'a>) {
        self.credentials.read(message.text);
        if message.role != Role::Tool {
            self.read_text(message);
        }
        for call in &message.calls {
            self.read_call(message, call);
        }
    }

    fn read_text(&mut self, message: &Message<'_>) {
        let is_user = message.role == Role::User;
        let request =
            if is_user { request::request(message.text) } else { request::Request::plain(message.text) };
        let base = self.speaker_marks(message);
        let head = head(message);
        let day = message.time.filter(|_| self.among_people).and_then(|time| u32::try_from(time / DAY).ok());
        if !request.title.is_empty() {
            let mut title = Item::new(Kind::Said, head.clone(), request.title.as_str(), message.sequence);
            title.marks = base.with(Marks::TITLE).with(Marks::REQUEST);
            title.worth = 9 * WORTH;
            self.items.push(title);
        }
        let (sentences, others) = said(&request.body);
        let telling = sentences.iter().take(MOST_SENTENCES).enumerate().filter(|(_, said)| !said.courtesy);
        for (place, sentence) in telling {
            let mut item = Item::new(Kind::Said, head.clone(), sentence.text.clone(), message.sequence);
            item.read = sentence.read.clone();
            item.marks = base.with(sentence.marks);
            item.day = day.unwrap_or(0);
            if place == 0 && !self.among_people {
                self.answer(&mut item, sentence, is_user);
            }
            // "Sure!", "Let me see."
            let is_word = sentence.content < 2 && !sentence.text.contains(char::is_numeric);
            if is_word && item.marks.has(Marks::ASSISTANT) && !item.marks.has(Marks::ANSWER) {
                continue;
            }
            let names = item.marks.has(Marks::USER) && item.named().next().is_some();
            let named = if names { NAMING } else { 1.0 };
            let lead = if item.marks.has(Marks::USER) { 1.0 + 0.5f64.powi(place as i32) } else { 1.0 };
            item.worth = (worth(&item, sentence) * named * lead * f64::from(WORTH)) as u32;
            self.items.push(item);
        }
        self.ask(message, &head, &sentences);
        let named = sentences.iter().flat_map(|said| said.read.words(&said.text).named(&said.text));
        let beside = [request.title.as_str()].into_iter().chain(others).flat_map(entities);
        self.names.read_text(message, named.chain(beside.map(|entity| (entity.kind, entity.text))));
    }

    /// Marks a message's first sentence as the answer to the last question, if it is one.
    fn answer(&self, item: &mut Item, sentence: &Said, is_user: bool) {
        // users choose from what they asked for; an assistant that asked waits for somebody else
        let is_open = |question: &&Question| is_user || question.by != item.head;
        let Some(question) = self.question.as_ref().filter(is_open) else { return };
        if item.marks.has(Marks::QUESTION) || sentence.words > ANSWER_WORDS {
            return;
        }
        item.also = Some(question.sequence);
        if sentence.content <= BARE_WORDS {
            item.note = question.asked.clone();
        }
        item.marks = item.marks.with(Marks::ANSWER).with_if(is_user && sentence.affirms_only, Marks::AFFIRMS);
    }

    /// Notes the last question of a message; an older one can be answered by the second message after it.
    fn ask(&mut self, message: &Message<'_>, by: &Arc<str>, sentences: &[Said]) {
        let asked = sentences.iter().rfind(|sentence| sentence.marks.has(Marks::QUESTION));
        match asked {
            Some(asked) => {
                let (by, asked) = (by.clone(), asked.text.clone());
                self.question = Some(Question { sequence: message.sequence, by, asked, age: 0 });
            }
            None => {
                let age = self.question.as_ref().map_or(0, |question| question.age + 1);
                self.question =
                    self.question.take().filter(|_| age < 2).map(|question| Question { age, ..question });
            }
        }
    }

    fn read_call(&mut self, message: &Message<'_>, call: &Call<'a>) {
        self.credentials.read(call.arguments);
        call.result.iter().for_each(|answer| self.credentials.read(answer.text));
        let json = Json::of(call);
        self.names.read_call(message.sequence, call, &json);
        if let Some(left) = json.arguments.as_ref().and_then(todo::left_to_do) {
            let mut item = Item::new(Kind::Open, "To do", left, message.sequence);
            item.marks = Marks::PROMISE;
            self.items.push(item);
            return;
        }
        let mut deeds = deeds(call, &json);
        if json.arguments.as_ref().is_some_and(todo::sets_only_status) {
            deeds.retain(|deed| matches!(deed.outcome, Outcome::Failed(_)));
        }
        let changed = deeds.iter().any(|deed| deed.changed() && deed.outcome == Outcome::Ok);
        for deed in &deeds {
            self.tell(message, call, deed);
        }
        if changed {
            self.step(message);
        }
        let asked = deeds.first().and_then(|deed| deed.objects.first()).map(|object| &**object);
        if let Some(answer) = &call.result {
            let facts = records::facts_of_result(answer.text, json.result.as_ref(), asked, call.arguments);
            for fact in facts.into_iter().take(MOST_FACTS) {
                let mut item = Item::new(Kind::Fact, fact.of, fact.value, message.sequence);
                (item.note, item.also, item.worth) =
                    (fact.label.into(), Some(answer.sequence), fact.worth * WORTH / 100);
                self.items.push(item);
            }
        }
    }

    fn tell(&mut self, message: &Message<'_>, call: &Call<'_>, deed: &Deed) {
        let also = call.result.as_ref().map(|answer| answer.sequence);
        let failed = matches!(deed.outcome, Outcome::Failed(_));
        let why: Box<str> = match &deed.outcome {
            Outcome::Failed(why) => why.clone(),
            Outcome::Unanswered => NO_ANSWER.into(),
            Outcome::Declined => return,
            Outcome::Ok => "".into(),
        };
        let marks =
            Marks::default().with_if(failed, Marks::FAILED).with_if(deed.does == Does::Checks, Marks::TESTS);
        let mut push = |kind, head: &str, text: &str, note: &str| {
            let mut item = Item::new(kind, head, text, message.sequence);
            (item.note, item.also, item.marks) = (note.into(), also, marks);
            self.items.push(item);
        };
        if deed.changed() {
            let none: [Box<str>; 1] = ["".into()];
            let objects = if deed.objects.is_empty() { &none[..] } else { &deed.objects };
            objects.iter().for_each(|object| push(Kind::Did, &deed.tool, object, &why));
        }
        if let Some(check) = &deed.check {
            let note = if failed { &why } else { deed.passed.as_ref().unwrap_or(&why) };
            push(Kind::Check, &deed.tool, check, note);
        } else if failed && !deed.changed() {
            push(Kind::Error, &deed.tool, &deed.objects.join(", "), &why);
        }
    }

    fn speaker_marks(&self, message: &Message<'_>) -> Marks {
        let who = match message.role {
            Role::System => Marks::default(),
            _ if self.among_people => Marks::PERSON,
            Role::Assistant => Marks::ASSISTANT,
            _ => Marks::USER,
        };
        who.with_if(!message.calls.is_empty(), Marks::CALLS)
    }

    /// What a change was for: what its message says last.
    fn step(&mut self, message: &Message<'_>) {
        let of_message = |item: &&Item| {
            let is_step = !item.marks.has_any(Marks::QUESTION.with(Marks::LISTED));
            item.sequence == message.sequence && item.kind == Kind::Said && is_step
        };
        let says = |item: &&Item| item.concepts().len() > 1;
        let Some(why) = self.items.iter().rev().find(of_message).filter(says) else { return };
        let step = Item::new(Kind::Step, "", why.text.trim_end_matches([':', '.']), message.sequence);
        if !self.items.iter().any(|item| item.kind == Kind::Step && item.sequence == message.sequence) {
            self.items.push(step);
        }
    }
}

/// The speaker's name, or else the role.
fn head(message: &Message<'_>) -> Arc<str> {
    let role = match message.role {
        Role::User => "User",
        Role::System => "System",
        Role::Assistant | Role::Tool => "Assistant",
    };
    message.name.unwrap_or(role).into()
}

/// How much a reader misses a sentence, before what others tell is considered.
fn worth(item: &Item, said: &Said) -> f64 {
    let marks = item.marks;
    // nobody has to act on what people tell one another
    if marks.has(Marks::PERSON) {
        return 1.0;
    }
    let mut worth = match marks.has(Marks::USER) {
        true if said.stressed => 1.8,
        true => 1.0,
        false => 0.4,
    };
    for (mark, factor) in [
        (Marks::CONSTRAINT, 2.6),
        (Marks::CORRECTION, 1.8),
        (Marks::DECISION, 1.6),
        (Marks::ANSWER, 1.6),
        (Marks::REQUEST, 1.2),
        (Marks::QUESTION, 0.7),
    ] {
        worth *= if marks.has(mark) { factor } else { 1.0 };
    }
    if !marks.has(Marks::USER) {
        let asks = marks.has_any(Marks::REQUEST.with(Marks::QUESTION));
        worth *= match () {
            () if said.refuses => 4.0,
            // what was asked of the user is answered, unless it is open
            () if marks.has(Marks::LISTED) || asks && !marks.has(Marks::CALLS) => 0.3,
            () => 1.0,
        };
    }
    worth * if said.announces { 0.2 } else { 1.0 } * if said.words <= ANSWER_WORDS { 1.15 } else { 1.0 }
}
