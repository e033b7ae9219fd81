//! Summaries of conversations between people.

use std::sync::Arc;

use proptest::prelude::*;

use crate::{
    More, Role, TokenCounter, Utterance,
    extractive::{Focus, LineKind, Sentence, summarise},
    testing::{ENCODINGS, o200k, said},
};

fn talk<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Arc<Utterance>> {
    let named = |((name, content), sequence): ((&str, &str), u64)| {
        let more = More { name: Some(name.into()), ..More::default() };
        Arc::new(Utterance { more: Some(Box::new(more)), ..said(sequence, Role::User, content) })
    };
    lines.into_iter().zip(1..).map(named).collect()
}

fn told(source: &[Arc<Utterance>], budget: u32) -> Vec<Sentence> {
    summarise(source, &Focus::none(), budget, o200k())
}

fn text(source: &[Arc<Utterance>], budget: u32) -> String {
    told(source, budget).iter().map(|sentence| &*sentence.text).collect()
}

#[test]
fn two_friends_are_told_by_what_each_told_the_other() {
    let source = talk([
        ("Caroline", "Hey Mel! Good to see you! How have you been?"),
        ("Melanie", "Hey Caroline! I'm swamped with the kids and work. What's up with you?"),
        ("Caroline", "I went to a support group in Denver yesterday and it was so powerful."),
        ("Melanie", "Wow, that's cool, Caroline! You're so brave!"),
        ("Caroline", "Thanks, Mel! Your kind words mean a lot."),
        ("Melanie", "By the way, I signed up for a pottery class last Tuesday."),
        ("Caroline", "That's great! Keep it up!"),
        ("Melanie", "Thanks! Next month we're going camping with my parents."),
    ]);
    assert_eq!(
        text(&source, 60),
        "Caroline: I went to a support group in Denver yesterday and it was so powerful.\n\
         Melanie: By the way, I signed up for a pottery class last Tuesday.\n\
         Melanie: Next month we're going camping with my parents.\n"
    );
}

#[test]
fn a_meeting_is_told_by_what_it_is_about() {
    let source = talk([
        (
            "Manager",
            "Okay , so um , we we meet to {disfmarker} to decide on the remote control and its buttons .",
        ),
        ("Designer", "{vocalsound} Mm-hmm ."),
        ("Marketing", "Uh people lose the remote control , and they they want fewer buttons on it ."),
        ("Designer", "Right . So the buttons of rubber cost , you know , less than a touch screen ."),
        ("Manager", "Yeah ."),
        ("Marketing", "I dunno , did you see the match ?"),
        ("Manager", "We decided on rubber buttons for the remote control , then ."),
    ]);
    assert_eq!(
        text(&source, 70),
        "Manager: we meet to decide on the remote control and its buttons .\n\
         Marketing: people lose the remote control , and they want fewer buttons on it .\n\
         Designer: the buttons of rubber cost , less than a touch screen .\n\
         Manager: We decided on rubber buttons for the remote control , then .\n"
    );
}

#[test]
fn other_languages_have_their_sentences_and_stop_words() {
    let source = talk([
        ("Anna", "Hallo!"),
        ("Jörg", "Ähm, gut. Ich habe gestern die Zusage für die Wohnung in Leipzig bekommen!"),
        ("Anna", "Toll. Ich ziehe im Oktober nach Bremen, weil meine Schwester dort arbeitet."),
    ]);
    assert_eq!(
        text(&source, 42),
        "Jörg: Ich habe gestern die Zusage für die Wohnung in Leipzig bekommen!\n\
         Anna: Ich ziehe im Oktober nach Bremen, weil meine Schwester dort arbeitet.\n"
    );
    let source = talk([
        ("田中", "えーと、明日の会議は東京で開きます。"),
        ("佐藤", "はい。私は資料を金曜日に送ります。"),
    ]);
    assert_eq!(text(&source, 60), "田中: 明日の会議は東京で開きます。\n佐藤: 私は資料を金曜日に送ります。\n");
}

#[test]
fn a_small_budget_quotes_both() {
    let long = "and then the old house by the river was sold to a family from Utrecht ".repeat(4);
    let source = talk([("Ann", long.as_str()), ("Bo", long.to_uppercase().as_str())]);
    let told = told(&source, 40);
    assert_eq!(told.len(), 2);
    assert!(told[0].text.starts_with("Ann: ") && told[1].text.starts_with("Bo: "), "{told:?}");
    assert!(told.iter().map(|sentence| sentence.tokens).sum::<u32>() <= 40);
}

#[test]
fn what_is_asked_for_comes_first() {
    let source = talk([
        ("Ann", "The old harbour bridge will be painted green in March by the city of Bergen."),
        ("Bo", "The new harbour bridge opened yesterday for cars, and the city of Bergen celebrates."),
        ("Ann", "I had soup."),
        ("Bo", "My cat sleeps."),
    ]);
    let focus = Focus::new(&["soup".to_owned(), "cats".to_owned()]);
    let told = summarise(&source, &focus, 18, o200k());
    let told: String = told.iter().map(|sentence| &*sentence.text).collect();
    assert_eq!(told, "Ann: I had soup.\nBo: My cat sleeps.\n");
}

/// Words of all kinds, mixed with what transcribers write.
fn utterance() -> impl Strategy<Value = (usize, String)> {
    let word = prop_oneof![
        4 => "[a-z]{2,9}",
        1 => Just("um,".to_owned()),
        1 => Just("the the".to_owned()),
        1 => Just("{vocalsound}".to_owned()),
        1 => Just("Yeah.".to_owned()),
        1 => "[A-Z][a-z]{2,8}[.?!]",
        1 => "[你好明天会议去北京买票房子]{2,6}。",
        1 => "\\PC{0,6}",
    ];
    (0usize..4, prop::collection::vec(word, 0..24).prop_map(|words| words.join(" ")))
}

fn named(lines: &[(usize, String)], names: &'static [&'static str]) -> Vec<Arc<Utterance>> {
    talk(lines.iter().map(|(speaker, content)| (names[speaker % names.len()], content.as_str())))
}

/// Whether the letters and digits of `line` occur in `content` in the same order.
fn is_said(line: &str, content: &str) -> bool {
    let mut rest = content;
    line.chars().filter(|c| c.is_alphanumeric()).all(|c| match rest.find(c) {
        Some(at) => {
            rest = &rest[at + c.len_utf8()..];
            true
        }
        None => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_summary_keeps_its_budget_and_stands_in_its_source(
        lines in prop::collection::vec(utterance(), 2..40),
        budget in 0u32..300,
        many in any::<bool>(),
    ) {
        const NAMES: &[&str] = &["Ann", "Bo", "Project Manager", "4711"];
        let source = named(&lines, if many { NAMES } else { &NAMES[..2] });
        for counter in ENCODINGS.iter() {
            let told = summarise(&source, &Focus::none(), budget, counter);
            let text: String = told.iter().map(|sentence| &*sentence.text).collect();
            prop_assert!(counter.count(&text) <= budget);
            prop_assert_eq!(counter.count(&text), told.iter().map(|sentence| sentence.tokens).sum::<u32>());
            prop_assert_eq!(&told, &summarise(&source, &Focus::none(), budget, counter));
            // a single person is summarised like anybody who asks an assistant
            let said: Vec<_> = told.iter().filter(|line| line.kind == LineKind::Said).collect();
            prop_assert!(said.is_sorted_by_key(|line| line.sequence));
            for sentence in said {
                let utterance = &source[sentence.sequence.get() as usize - 1];
                let (name, words) = sentence.text.split_once(": ").expect("a name");
                prop_assert!(name.contains(utterance.name().unwrap_or_default()));
                prop_assert!(is_said(words, &utterance.content), "{words} is not of {}", utterance.content);
            }
        }
    }

    #[test]
    fn both_of_two_are_quoted(
        lines in prop::collection::vec(("[a-z]{3,8} [a-z]{3,8} [a-z]{3,8}\\.", any::<bool>()), 3..40),
        budget in 30u32..300,
    ) {
        let mut lines: Vec<(usize, String)> = lines.into_iter().map(|(said, who)| (usize::from(who), said)).collect();
        (lines[0].0, lines[1].0) = (0, 1);
        let told = told(&named(&lines, &["Ann", "Bo"]), budget);
        let ann = told.iter().filter(|sentence| sentence.text.starts_with("Ann")).count();
        let lesser = ann.min(told.len() - ann);
        prop_assert!(told.len() < 2 || lesser * 10 >= told.len() * 3, "{told:?}");
    }
}
