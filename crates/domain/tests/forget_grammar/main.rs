//! The grammar of forget instructions: what is accepted and how it is understood, and what is refused.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod composition;
mod conversation;
mod corpus;

use std::sync::LazyLock;

use proptest::prelude::*;
use utterd_domain::{
    Role, Timestamp,
    forgetting::{self, Criterion, Instruction, InstructionError, Numbers, Part, Take},
    limits::MAX_INSTRUCTION_BYTES,
};

/// 2026-11-22T12:30:15.25Z, a Sunday: the time of every instruction here.
const NOW: Timestamp = Timestamp(1_795_350_615_250_000);

fn parse(text: &str) -> Result<Instruction, InstructionError> {
    forgetting::parse(text).map(|asked| asked.at(NOW))
}

/// Phrasings, each with the short form that it is understood as.
static ACCEPTED: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| rows(include_str!("forms.txt")));

/// Phrasings that are refused, each with the reason.
static REFUSED: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| rows(include_str!("refused.txt")));

/// The rows of a file: a sentence, and what is known of it.
fn rows(file: &'static str) -> Vec<(&'static str, &'static str)> {
    let rows = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.rsplit_once(" | ").expect("two parts")).collect()
}

#[test]
fn accepted_phrasings_have_their_short_form() {
    let wrong: Vec<_> = ACCEPTED
        .iter()
        .chain(&[("  oldest\n", "oldest")])
        .filter_map(|(text, form)| match parse(text) {
            Ok(instruction) if instruction.to_string() == *form => None,
            other => Some(format!("{text:?}: {form}, not {other:?}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refused_phrasings_are_refused() {
    let accepted: Vec<_> = REFUSED
        .iter()
        .chain(&[("", "empty"), (" \t\n", "empty")])
        .filter_map(|(text, why)| {
            parse(text).ok().map(|instruction| format!("{text:?} ({why}): {instruction}"))
        })
        .collect();
    assert!(accepted.is_empty(), "{}", accepted.join("\n"));
}

#[test]
fn an_error_names_the_part_and_the_forms() {
    let error = |text: &str| parse(text).err().map(|error| error.to_string()).unwrap_or_default();
    let told = error("forget the last message and sing");
    assert!(told.contains("\"and sing\""), "{told}");
    assert!(told.contains("before:turn_N") && told.contains("speaker:system|user|assistant|tool"), "{told}");
    assert!(!told.contains('\n'), "{told}");
    let told = error("last:2 speaker:robot");
    assert!(
        told.contains("\"speaker:robot\"") && told.contains("system, user, assistant and tool"),
        "{told}"
    );
    let long = error(&format!("forget {}", "x".repeat(4_000)));
    assert!(long.len() < 1_000, "{long}");
}

#[test]
fn an_error_tells_what_may_be_meant() {
    for (text, forms) in [
        ("forget Marco", "perhaps about:Marco or name:Marco"),
        ("Marco", "perhaps about:Marco or name:Marco"),
        ("forget Paris and London", "perhaps about:\"Paris\",\"London\""),
        ("forget everything from bob", "perhaps name:bob"),
        ("forget what bob said", "perhaps name:bob"),
        ("forget everything until turn 4", "perhaps before:turn_4 or before:turn_5"),
        ("forget everything since turn 4", "perhaps turn:4- or after:turn_4"),
    ] {
        let told = parse(text).expect_err(text).to_string();
        assert!(told.contains(forms), "{text}: {told}");
    }
    let hopeless = ["forget it", "forget", "forget the messages", "forget everything but Marco"];
    for text in hopeless.into_iter().chain(["forget what they said", "clear teh conversation"]) {
        let told = parse(text).expect_err(text).to_string();
        assert!(!told.contains("perhaps"), "{text}: {told}");
    }
}

/// Whether an instruction is understood does not depend on the time, but its meaning does.
#[test]
fn a_time_is_told_from_when_it_is_asked_for() {
    let asked = forgetting::parse("forget what I said yesterday").expect("understood");
    assert!(asked.is_english());
    let at = |time: i64| asked.at(Timestamp(time)).to_string();
    assert_eq!(at(0), "speaker:user since:1969-12-31 before:1970-01-01");
    assert_eq!(at(NOW.0 + 86_400_000_000), "speaker:user since:2026-11-22 before:2026-11-23");
    for (text, is_english) in [("forget speaker:user", false), ("speaker:user", false), ("forget all", true)]
    {
        assert_eq!(forgetting::parse(text).expect(text).is_english(), is_english, "{text}");
    }
}

#[test]
fn an_instruction_beyond_the_limit_is_refused() {
    let text = |length: usize| format!("about:{}", "x".repeat(length - "about:".len()));
    assert!(parse(&text(MAX_INSTRUCTION_BYTES)).is_ok());
    assert_eq!(
        parse(&text(MAX_INSTRUCTION_BYTES + 1)),
        Err(InstructionError::TooLong(MAX_INSTRUCTION_BYTES + 1))
    );
}

/// Whether a sentence can mean everything stored: besides where that is, it has only words of a closed list, of which
/// one names the whole.
fn is_sweeping(sentence: &str) -> bool {
    let mut spaced = sentence.replace(['.', ',', '?'], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for place in [" in this chat", " from the conversation"] {
        spaced = spaced.replace(place, "");
    }
    let words = || spaced.split(' ');
    words().all(|word| NAMING_THE_WHOLE.contains(&word) || BESIDE_THE_WHOLE.contains(&word))
        && words().any(|word| NAMING_THE_WHOLE.contains(&word))
}

const NAMING_THE_WHOLE: &[&str] = &["everything", "all", "every", "whole", "conversation", "history", "chat"];

/// The verbs and their parts, politeness, and what can stand beside the words that name the whole.
const BESIDE_THE_WHOLE: &[&str] = &[
    "forget", "remove", "clear", "wipe", "get", "rid", "please", "could", "you", "thanks", "and", "of",
    "the", "our", "message", "messages", "so", "far",
];

/// Pieces of sentences, sensible and not.
static PIECES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("pieces.txt").lines().chain(["\0"]).collect());

/// Words that reverse the meaning of a sentence.
const TURNING: [&str; 8] = ["except", "but", "not", "unless", "keep", "don't", "never", "without"];

fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 1..7)
        .prop_map(|pieces| pieces.join(" ").replace(" ,", ","))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-zA-Z0-9 \"'\\\\,:’“”-]{1,24}", sentence()]
}

fn numbers(most: u64) -> impl Strategy<Value = Numbers> {
    let range = prop_oneof![(1..20_u64, 0..20_u64), (1..=most, Just(0)), (1..20_u64, Just(u64::MAX))];
    let range = range.prop_filter_map("is a range", move |(start, more)| match more {
        u64::MAX => Numbers::from(start).ok(),
        more => Numbers::range(start, start.saturating_add(more).min(most)).ok(),
    });
    prop::collection::vec(range, 1..4)
        .prop_map(|ranges| ranges.iter().skip(1).fold(ranges[0].clone(), |all, one| all.and(one)))
}

/// Within the years that are written, to the microsecond.
fn time() -> impl Strategy<Value = Timestamp> {
    let day = 86_400_000_000;
    prop_oneof![0..100_000 * day, (0..100_000_i64).prop_map(move |days| days * day)].prop_map(Timestamp)
}

fn criterion() -> impl Strategy<Value = Criterion> {
    let turn = || prop_oneof![1..20_u32, Just(u32::MAX)];
    prop_oneof![
        Just(Criterion::All),
        text().prop_map(Criterion::Id),
        numbers(u64::MAX).prop_map(Criterion::Sequence),
        numbers(u32::MAX.into()).prop_map(Criterion::Position),
        prop::sample::select(&Role::ALL[..]).prop_map(Criterion::Speaker),
        text().prop_map(Criterion::Name),
        numbers(u32::MAX.into()).prop_map(Criterion::Turn),
        turn().prop_map(Criterion::FirstTurns),
        turn().prop_map(Criterion::LastTurns),
        turn().prop_map(Criterion::AfterTurn),
        turn().prop_map(Criterion::BeforeTurn),
        time().prop_map(Criterion::Since),
        time().prop_map(Criterion::Before),
        prop::collection::vec(text(), 1..4).prop_map(Criterion::About),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let count = || prop_oneof![1..20_u32, Just(u32::MAX)];
    let nth = numbers(u32::MAX.into()).prop_map(Take::Nth);
    let take = prop_oneof![count().prop_map(Take::Oldest), count().prop_map(Take::Newest), nth];
    let parts = (prop::collection::vec(criterion(), 0..4), prop::option::of(take));
    parts.prop_map(|(criteria, take)| Part::new(criteria, take))
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let sound = || {
        part().prop_filter("contradicts itself", |part| Instruction::of(vec![part.clone()], vec![]).is_ok())
    };
    let parts = (prop::collection::vec(sound(), 1..3), prop::collection::vec(sound(), 0..3));
    parts.prop_filter_map("cannot be combined", |(parts, except)| Instruction::of(parts, except).ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_048, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_short_form_reads_back(instruction in instruction()) {
        let form = instruction.to_string();
        prop_assert_eq!(parse(&form), Ok(instruction), "{}", form);
    }

    #[test]
    fn what_a_sentence_means_reads_back(sentence in sentence()) {
        if let Ok(instruction) = parse(&sentence) {
            let form = instruction.to_string();
            prop_assert_eq!(parse(&form), Ok(instruction), "{}", form);
        }
    }

    #[test]
    fn no_input_panics(text in text()) {
        let _ = parse(&text);
        let _ = parse(&format!("forget {text}"));
        let _ = parse(&format!("about:{text}"));
    }

    #[test]
    fn everything_is_meant_by_a_closed_list_only(sentence in sentence()) {
        if let Ok(instruction) = parse(&sentence) && instruction.to_string() == "all" {
            prop_assert!(is_sweeping(&sentence), "{}", sentence);
        }
    }

    /// Whatever letter is wrong, missing or extra in a sentence that means a part, it never means everything.
    #[test]
    fn a_slip_of_the_pen_never_means_everything(
        (phrase, form) in prop::sample::select(&ACCEPTED[..]),
        at in any::<prop::sample::Index>(),
        letter in prop::option::of(prop::char::range('a', 'z')),
        keeps in any::<bool>(),
    ) {
        prop_assume!(form != "all" && !phrase.contains([':', '"', '“', '\'']));
        let mut letters: Vec<char> = phrase.chars().collect();
        let at = at.index(letters.len());
        prop_assume!(letters[at].is_ascii_alphabetic());
        let after = at + usize::from(!keeps);
        letters.splice(at..after, letter);
        let slip: String = letters.into_iter().collect();
        if let Ok(instruction) = parse(&slip) {
            prop_assert!(instruction.to_string() != "all", "{}", slip);
        }
    }

    #[test]
    fn a_word_that_turns_the_meaning_is_never_passed_over(
        (phrase, form) in prop::sample::select(&ACCEPTED[..]),
        word in prop::sample::select(&TURNING[..]),
        at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!phrase.contains(['"', '“', '\'']) && !form.contains("except"));
        let mut words: Vec<&str> = phrase.split(' ').collect();
        words.insert(at.index(words.len() + 1), word);
        let turned = words.join(" ");
        // "But", "except" and "keep" can make an exception of what follows them.
        if let Ok(instruction) = parse(&turned) {
            prop_assert!(["but", "except", "keep"].contains(&word) && !instruction.except().is_empty(), "{}", turned);
        }
    }

    #[test]
    fn a_word_that_is_not_known_is_never_passed_over(
        (phrase, form) in prop::sample::select(&ACCEPTED[..]),
        word in prop::sample::select(&["banana", "tomorrow", "Tuesday", "otter's", "42", "ago", "hourly"][..]),
        at in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!form.contains("about") && phrase.contains(' ') && !phrase.contains(['"', '“', '\'']));
        let mut words: Vec<&str> = phrase.split(' ').collect();
        let at = at.index(words.len() + 1);
        words.insert(at, word);
        let longer = words.join(" ");
        // A number, a day, or the name of a tool or of the owner of some messages, can fit into a sentence, and then changes its meaning.
        if let Ok(instruction) = parse(&longer) {
            // "Newer than 2 days" and "newer than 2 days ago" mean the same.
            let same = word == "ago" && phrase.contains("than");
            let of_tool = phrase.contains("tool") || phrase.contains("function");
            let named = of_tool || ["42", "otter's", "Tuesday"].contains(&word);
            let other = named && instruction.to_string() != form;
            prop_assert!(same || other, "{}: {}", longer, instruction);
        }
    }
}
