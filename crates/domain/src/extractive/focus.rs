//! What a summary concentrates on: the terms a caller asks for, and what the kind of talk suggests.

use std::sync::{Arc, LazyLock};

use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::{
    Role, Utterance,
    extractive::{
        naming::facts::find,
        text::{
            clip::clip,
            marks::QUESTION_MARKS,
            words::{Cue, IDENTIFIER, NUMBER, Word, scan},
        },
        tools::calls::{answers, failed},
    },
};

/// How much of an utterance is read to detect the kind of talk, in bytes.
const READ_BYTES: usize = 1 << 10;
/// A kind must show in at least this many utterances.
const LEAST_UTTERANCES: usize = 2;

/// Terms that favour the sentences containing them, and the kind of talk, which favours what it is usually
/// remembered for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Focus {
    /// Concepts, ascending.
    terms: Vec<u32>,
    kind: Option<Kind>,
    /// Concepts that are still being talked about.
    talk: FxHashSet<u32>,
    goes_on: bool,
}

/// What a conversation mostly is (seed 004).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Work on code: keeps paths, function names and errors.
    Code,
    /// Building a feature: keeps what was decided about its design.
    Feature,
    /// Reading somebody's code: keeps the points of critique.
    Review,
    /// Making a plan: keeps decisions and tasks.
    Planning,
    /// Questions and answers: keeps facts.
    Questions,
    /// Looking for an error: keeps what went wrong and how it was solved.
    Debugging,
}

impl Kind {
    /// Returns `code`, `feature`, `review`, `planning`, `questions` or `debugging`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Feature => "feature",
            Self::Review => "review",
            Self::Planning => "planning",
            Self::Questions => "questions",
            Self::Debugging => "debugging",
        }
    }
}

impl Focus {
    /// No focus.
    pub fn none() -> Self {
        Self { terms: Vec::new(), kind: None, talk: FxHashSet::with_hasher(FxBuildHasher), goes_on: false }
    }

    /// A focus on the words of `areas`, ignoring case and plurals. Words as common as "the" are skipped.
    pub fn new(areas: &[String]) -> Self {
        let mut terms = Vec::new();
        for area in areas {
            scan(area, |word| terms.extend((word.weight > 0).then_some(word.concept)));
        }
        terms.sort_unstable();
        terms.dedup();
        Self { terms, ..Self::none() }
    }

    /// Detects the kind of talk in `source`, and adds the words of `areas` as in [`new`](Self::new).
    ///
    /// A kind counts if it shows in a third of the utterances (questions: in half of the user's), trouble
    /// first. No kind is set if none shows in two utterances.
    pub fn detect(source: &[Arc<Utterance>], areas: &[String]) -> Self {
        let mut signs = Signs::default();
        let mut answers = answers(source).into_iter();
        for utterance in source.iter().filter(|utterance| utterance.is_live()) {
            let mut outcomes = answers.by_ref().take(utterance.tool_calls().len());
            let trouble =
                outcomes.by_ref().filter(|outcome| outcome.is_some_and(|(_, said)| failed(said))).count();
            outcomes.for_each(drop);
            if utterance.role != Role::Tool && !utterance.instruction {
                signs.see(utterance, trouble > 0);
            }
        }
        Self { kind: signs.kind(), ..Self::new(areas) }
    }

    /// A focus on the names in `recent`: what is still being talked about.
    pub fn on_talk<'a>(recent: impl Iterator<Item = &'a Utterance>) -> Self {
        let mut focus = Self::none();
        for utterance in recent.filter(|utterance| utterance.is_live()) {
            let arguments = utterance.tool_calls().iter().map(|call| &*call.arguments_json);
            for text in arguments.chain([&*utterance.content]) {
                find(clip(text, READ_BYTES), |found| focus.talk.extend([found.concepts[0]]));
            }
        }
        focus
    }

    /// The same focus, for a part of the talk; `goes_on` if more was said after it.
    pub fn of_part(self, goes_on: bool) -> Self {
        Self { goes_on, ..self }
    }

    /// Whether more was said after the part to summarise.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Whether `concept` is still being talked about.
    pub(super) fn is_talked_of(&self, concept: u32) -> bool {
        self.talk.contains(&concept)
    }

    /// The kind of talk, if one was detected.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Whether `text` contains a requested term.
    pub(super) fn wants(&self, text: &str) -> bool {
        let mut wants = false;
        if !self.terms.is_empty() {
            scan(text, |word| wants |= self.holds(word.concept));
        }
        wants
    }

    pub(super) fn holds(&self, concept: u32) -> bool {
        !self.terms.is_empty() && self.terms.binary_search(&concept).is_ok()
    }

    /// Notes what a word of a line indicates.
    pub(super) fn see(&self, word: &Word, traits: &mut Traits) {
        traits.see(word);
        traits.critique |= self.kind == Some(Kind::Review) && CRITIQUE.contains(&word.concept);
    }

    /// The number of features in a line that this kind of talk is remembered for.
    pub(super) fn extra(&self, traits: &Traits) -> u32 {
        let of = |shown: bool| u32::from(shown);
        match self.kind {
            None => 0,
            Some(Kind::Code) => of(traits.trouble) + of(traits.decision && traits.identifier),
            Some(Kind::Feature) => 2 * of(traits.decision) + of(traits.plan),
            Some(Kind::Review) => 2 * of(traits.critique) + of(traits.trouble),
            Some(Kind::Planning) => of(traits.decision) + of(traits.plan),
            Some(Kind::Questions) => of(traits.number),
            Some(Kind::Debugging) => of(traits.trouble) + of(traits.decision),
        }
    }
}

/// What the words of a line indicate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    pub decision: bool,
    pub trouble: bool,
    pub plan: bool,
    /// Something is left to do.
    pub open: bool,
    pub identifier: bool,
    pub number: bool,
    /// Somebody finds fault, or proposes something else.
    pub critique: bool,
}

impl Traits {
    fn see(&mut self, word: &Word) {
        self.decision |= word.cue == Cue::Decision;
        self.trouble |= word.cue == Cue::Trouble;
        self.plan |= word.cue == Cue::Plan;
        self.open |= word.cue == Cue::Open;
        self.identifier |= word.weight == IDENTIFIER;
        self.number |= word.weight == NUMBER;
    }
}

/// The number of utterances that show each feature.
#[derive(Default)]
struct Signs {
    said: usize,
    users: usize,
    asked: usize,
    code: usize,
    plans: usize,
    trouble: usize,
    /// The user asks for a review, or for something new.
    reviews: usize,
    builds: usize,
}

impl Signs {
    fn see(&mut self, utterance: &Utterance, failed: bool) {
        let content = clip(&utterance.content, READ_BYTES);
        let is_user = utterance.role == Role::User;
        let mut traits = Traits::default();
        let (mut code, mut reviews, mut builds) = (content.contains("```"), false, false);
        scan(content, |word| {
            traits.see(&word);
            reviews |= is_user && REVIEW.contains(&word.concept);
            builds |= is_user && BUILD.contains(&word.concept);
            code |= word.weight == IDENTIFIER && is_code(word.of(content));
        });
        let mut arguments = utterance.tool_calls().iter().map(|call| clip(&call.arguments_json, READ_BYTES));
        code |= arguments.any(has_path);
        self.said += 1;
        self.users += usize::from(is_user);
        self.asked += usize::from(is_user && content.contains(QUESTION_MARKS));
        self.code += usize::from(code);
        self.plans += usize::from(traits.plan);
        self.trouble += usize::from(traits.trouble || failed);
        self.reviews += usize::from(reviews);
        self.builds += usize::from(builds);
    }

    fn kind(&self) -> Option<Kind> {
        let shows = |count: usize| count >= LEAST_UTTERANCES && count * 3 >= self.said;
        let asks = self.asked >= LEAST_UTTERANCES && self.asked * 2 >= self.users;
        match () {
            () if shows(self.code) && self.reviews > 0 && self.reviews >= self.builds => Some(Kind::Review),
            () if shows(self.trouble) && shows(self.code) => Some(Kind::Debugging),
            () if shows(self.code) && self.builds > 0 => Some(Kind::Feature),
            () if shows(self.code) => Some(Kind::Code),
            () if shows(self.plans) => Some(Kind::Planning),
            () if shows(self.trouble) => Some(Kind::Debugging),
            () if asks => Some(Kind::Questions),
            () => None,
        }
    }
}

/// The concepts of a list of words.
fn concepts_of(words: &str) -> FxHashSet<u32> {
    let mut found = FxHashSet::default();
    scan(words, |word| {
        found.insert(word.concept);
    });
    found
}

/// Words that find fault, or propose something else.
static CRITIQUE: LazyLock<FxHashSet<u32>> = LazyLock::new(|| {
    concepts_of(
        "unclear confusing misleading redundant duplicate duplicated duplication inconsistent unused unsafe risky \
         fragile overcomplicated simpler simplify nit nitpick concern consider instead rather better should suggest \
         suggestion suggestions smell leak leaks race untested undocumented",
    )
});
/// How a user asks for a review.
static REVIEW: LazyLock<FxHashSet<u32>> = LazyLock::new(|| {
    concepts_of("review reviewing reviewed critique feedback audit überprüfen revisa relis 评审 审查")
});
/// How a user asks for something new.
static BUILD: LazyLock<FxHashSet<u32>> = LazyLock::new(|| {
    concepts_of(
        "implement implementing implementation feature design architecture build introduce endpoint api",
    )
});

/// Whether `name` is a path, `main.rs`, `Vec::new`, `camelCase` or `snake_case`, not a code with digits.
fn is_code(name: &str) -> bool {
    let has_digits = name.bytes().any(|byte| byte.is_ascii_digit());
    !has_digits && !name.contains('@') || name.contains('/') || name.contains("::")
}

fn has_path(json: &str) -> bool {
    let mut found = false;
    scan(json, |word| found |= word.weight == IDENTIFIER && word.of(json).contains('/'));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::said;

    fn detected(turns: &[(&str, &str)]) -> Option<Kind> {
        let both =
            turns.iter().flat_map(|(user, assistant)| [(Role::User, user), (Role::Assistant, assistant)]);
        let source: Vec<_> = both
            .zip(1..)
            .map(|((role, content), sequence)| Arc::new(said(sequence, role, content)))
            .collect();
        Focus::detect(&source, &[]).kind()
    }

    #[test]
    fn work_on_files_and_functions_is_code() {
        let turns = [
            ("Add a call to parse_header in src/reader.rs.", "I put it into src/reader.rs behind open_file."),
            ("Now rename openFile.", "It is read_file now, in src/reader.rs too."),
        ];
        assert_eq!(detected(&turns), Some(Kind::Code));
    }

    #[test]
    fn a_review_and_a_feature_are_told_from_other_work_on_code() {
        let review = [
            (
                "Please review src/reader.rs.",
                "parse_header in src/reader.rs is fragile: open_file is called twice.",
            ),
            (
                "And src/writer.rs?",
                "write_all should rather return the error; the name of flush_now is misleading.",
            ),
        ];
        assert_eq!(detected(&review), Some(Kind::Review));
        let feature = [
            ("Implement a cache in src/cache.rs.", "We decided on an LRU in src/cache.rs, keyed by file_id."),
            ("Now the endpoint in src/api.rs.", "get_cached is in src/api.rs."),
        ];
        assert_eq!(detected(&feature), Some(Kind::Feature));
    }

    #[test]
    fn errors_in_code_are_debugging() {
        let turns = [
            ("src/reader.rs crashes with a panic.", "The error is in read_file: an index is invalid."),
            ("It still fails in src/reader.rs.", "Then the bug must be in parse_header."),
        ];
        assert_eq!(detected(&turns), Some(Kind::Debugging));
    }

    #[test]
    fn tasks_and_phases_are_planning() {
        let turns = [
            (
                "We need a roadmap for the spring fair.",
                "The first phase is the venue, the next step the music.",
            ),
            ("Which tasks come before the opening?", "The plan has four tasks for April."),
        ];
        assert_eq!(detected(&turns), Some(Kind::Planning));
    }

    #[test]
    fn questions_and_answers_are_told_from_talk() {
        let asked = [
            ("How high is Mont Blanc?", "It is 4,806 metres high."),
            ("And who climbed it first?", "Balmat and Paccard, in 1786."),
        ];
        assert_eq!(detected(&asked), Some(Kind::Questions));
        let told = [("We walked along the river.", "That sounds lovely."), ("It rained a little.", "Oh no.")];
        assert_eq!(detected(&told), None);
    }

    #[test]
    fn areas_add_to_the_kind() {
        let source = [Arc::new(said(1, Role::User, "hello"))];
        assert_eq!(Focus::detect(&source, &["Invoices".into()]), Focus::new(&["invoice".into()]));
    }
}
