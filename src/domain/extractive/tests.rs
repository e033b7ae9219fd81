//! The summariser as a whole, with real encodings.

use std::sync::LazyLock;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

use super::*;
use crate::domain::{LineageId, More, Role, Sequence, Timestamp, ToolCall, UtteranceId};

/// An encoding, counted by its reference implementation.
pub(crate) struct Reference(CoreBPE);

impl TokenCounter for Reference {
    fn count(&self, text: &str) -> u32 {
        self.0.encode_ordinary(text).len() as u32
    }
}

/// o200k, cl100k, p50k and r50k.
pub(crate) static ENCODINGS: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    use tiktoken_rs::{cl100k_base, o200k_base, p50k_base, r50k_base};
    [o200k_base(), cl100k_base(), p50k_base(), r50k_base()].into_iter().flatten().map(Reference).collect()
});

pub(crate) fn o200k() -> &'static Reference {
    &ENCODINGS[0]
}

pub(crate) fn said(sequence: u64, role: Role, content: &str) -> Utterance {
    Utterance {
        sequence: Sequence(sequence),
        unit: Sequence(sequence),
        create_time: Timestamp(0),
        turn: 1,
        tokens: 4 + o200k().count(content),
        id: UtteranceId::Assigned(LineageId([0; 16])),
        role,
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: content.into(),
        more: None,
    }
}

fn with(mut utterance: Utterance, more: More) -> Utterance {
    utterance.more = Some(Box::new(more));
    utterance
}

fn calling(sequence: u64, id: &str, name: &str, arguments: &str) -> Utterance {
    let call = ToolCall { id: id.into(), name: name.into(), arguments_json: arguments.into() };
    with(said(sequence, Role::Assistant, ""), More { tool_calls: vec![call], ..More::default() })
}

fn answering(sequence: u64, id: &str, content: &str) -> Utterance {
    with(said(sequence, Role::Tool, content), More { tool_call_id: Some(id.into()), ..More::default() })
}

fn text(source: Vec<Utterance>, focus: &Focus, budget: u32) -> String {
    let source: Vec<_> = source.into_iter().map(Arc::new).collect();
    summarise(&source, focus, budget, o200k()).iter().map(|sentence| &*sentence.text).collect()
}

/// Seed 001's scenario: five utterances leave the window.
#[test]
fn the_weather_is_asked_and_forecast() {
    let source = vec![
        said(1, Role::User, "Hi! What's the weather?"),
        said(
            2,
            Role::Assistant,
            "Sure, I can help with that! It is 18 °C in Paris, with light rain until 14:00.",
        ),
        said(3, Role::User, "Okay, thanks! How about tomorrow?"),
        said(4, Role::Assistant, "You're welcome. Tomorrow will be sunny, 24 °C."),
        said(5, Role::User, "Great, thank you."),
    ];
    assert_eq!(
        text(source.clone(), &Focus::none(), 60),
        "User: What's the weather?\n\
         Assistant: It is 18 °C in Paris, with light rain until 14:00.\n\
         User: How about tomorrow?\n\
         Assistant: Tomorrow will be sunny, 24 °C.\n"
    );
    assert_eq!(
        text(source, &Focus::none(), 26),
        "User: What's the weather?\nUser: How about tomorrow?\nAssistant: Tomorrow will be sunny, 24 °C.\n"
    );
}

#[test]
fn a_tool_call_is_one_line_with_its_outcome() {
    let mut alice = said(1, Role::User, "Where is my order AB-77? I decided to pay by card.");
    alice = with(alice, More { name: Some("Alice".into()), ..More::default() });
    let source = vec![
        alice,
        calling(2, "c1", "lookup_order", "{\"id\":\"AB-77\"}"),
        answering(
            3,
            "c1",
            "{\"id\":\"AB-77\",\"state\":\"shipped\",\"secret\":\"the inside of a long result is not told\"}",
        ),
        calling(4, "c1", "pay", "{}"),
        answering(5, "c1", "Error: card expired"),
        calling(6, "c2", "retry", "{}"),
        said(7, Role::Assistant, "Your order AB-77 was shipped, but the card was refused."),
    ];
    assert_eq!(
        text(source, &Focus::none(), 200),
        "Assistant called pay() → error: card expired\n\
         Alice: Where is my order AB-77? I decided to pay by card.\n\
         Assistant called lookup_order(AB-77) → ok\n\
         Assistant called retry() → no answer\n\
         Assistant: Your order AB-77 was shipped, but the card was refused.\n\
         Open: pay failed\n"
    );
}

#[test]
fn what_no_sentence_tells_is_named_by_who_named_it() {
    let source = vec![
        said(1, Role::User, "I want to send three parcels to my aunt in Lisbon before the holidays begin."),
        said(
            2,
            Role::Assistant,
            "Then I need the number of your account, which stands on every invoice we wrote.",
        ),
        said(
            3,
            Role::User,
            "My account is ann_lee_77, and please deduct the voucher of $250 from what I owe you.",
        ),
        calling(4, "c1", "list_parcels", "{\"account\":\"ann_lee_77\"}"),
        answering(
            5,
            "c1",
            "[{\"parcel_id\":\"PX-4410\",\"weight\":\"12kg\"},{\"parcel_id\":\"PX-4411\",\"weight\":\"15kg\"}]",
        ),
        said(
            6,
            Role::Assistant,
            "Both can go with transport TR-901 on 2024-12-03, which arrives a week later.",
        ),
    ];
    assert_eq!(
        text(source.clone(), &Focus::none(), 90),
        "User: I want to send three parcels to my aunt in Lisbon before the holidays begin.\n\
         User: My account is ann_lee_77, and please deduct the voucher of $250 from what I owe you.\n\
         Assistant mentioned: TR-901; on 2024-12-03\n\
         ann_lee_77: PX-4410; PX-4411\n"
    );
    let source: Vec<_> = source.into_iter().map(Arc::new).collect();
    let names_parcel = |sentence: &&Sentence| sentence.text.contains("PX-4410");
    let sentences = summarise(&source, &Focus::none(), 90, o200k());
    assert_eq!(sentences.iter().find(names_parcel).map(|sentence| sentence.sequence), Some(Sequence(4)));
}

#[test]
fn what_does_not_take_part_gives_nothing() {
    let mut forgotten = said(1, Role::User, "My password is hunter2.");
    forgotten.forgotten = true;
    let mut aside = said(2, Role::Assistant, "An orphan of 1999.");
    aside.aside = true;
    let mut instruction = said(3, Role::System, "Always answer in French.");
    instruction.instruction = true;
    assert_eq!(
        text(vec![forgotten, aside, instruction, said(4, Role::User, "Thanks!")], &Focus::none(), 100),
        ""
    );
}

#[test]
fn focus_decides_when_there_is_room_for_one() {
    let source = || {
        vec![said(
            1,
            Role::User,
            "The invoice INV-7 is due on May 3. We met some nice whales near the coast.",
        )]
    };
    assert!(text(source(), &Focus::none(), 20).contains("INV-7"));
    assert!(text(source(), &Focus::new(&["the Whale".to_string()]), 20).contains("whales"));
}

#[test]
fn the_best_sentence_is_clipped_when_none_fits() {
    let long =
        "The quick brown fox of invoice INV-7 jumps over the lazy dog again and again until the evening";
    let clipped = text(vec![said(1, Role::User, long)], &Focus::none(), 12);
    assert!(clipped.starts_with("User: The quick brown fox") && clipped.ends_with("…\n"), "{clipped}");
    assert!(o200k().count(&clipped) <= 12);
    assert_eq!(text(vec![said(1, Role::User, long)], &Focus::none(), 0), "");
}

#[test]
fn selecting_again_keeps_order_and_budget() {
    let source: Vec<_> =
        (1..30).map(|n| Arc::new(said(n, Role::User, &format!("Ship part P-{n} on day {n}.")))).collect();
    let all = summarise(&source, &Focus::none(), u32::MAX, o200k());
    assert_eq!(all.len(), 29);
    let some = select(all.iter().rev(), &Focus::none(), 100, o200k());
    assert!(some.iter().map(|sentence| sentence.tokens).sum::<u32>() <= 100 && some.len() > 5);
    assert!(some.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
}

/// Text made of what tokenizers and line splitters stumble over.
fn nasty_text() -> impl Strategy<Value = String> {
    let pieces = [
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{2029}",
        "\u{3000}",
        "\u{200b}",
        "\u{feff}",
        "\u{202e}",
        "\0",
        "\u{1b}[0m",
        "/",
        "//",
        "\\",
        "'s",
        "'LL",
        "!",
        "?!",
        "...",
        "…",
        "。",
        "？",
        ". ",
        ": ",
        ";",
        "```",
        "\n# ",
        "\n- ",
        "**",
        "`",
        "<a>",
        "{",
        "}",
        "word",
        "Word ",
        "HAT084",
        "1234567",
        "don't ",
        "camelCase",
        "src/main.rs",
        "é",
        "e\u{301}",
        "\u{301}",
        "ǅ",
        "天气",
        "です",
        "한국",
        "ไทย",
        "😀",
        "👩‍👩‍👧",
        "Ⅷ",
        "٣",
        "<|endoftext|>",
        "error",
        "decided ",
        "-",
        "_",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

/// Something said, or a call and its result, with odd names and arguments.
fn nasty_exchange(
    n: u64,
    (content, other, more, kind): &(String, String, String, u8),
) -> Vec<Arc<Utterance>> {
    let named = |role| {
        let name = Some(other.as_str().into());
        with(said(2 * n, role, content), More { name, ..More::default() })
    };
    let exchange = match kind {
        0 => vec![said(2 * n, Role::User, content)],
        1 => vec![named(Role::Assistant)],
        2 => vec![calling(2 * n, "c", content, other), answering(2 * n + 1, "c", more)],
        _ => vec![calling(2 * n, "c", other, content), answering(2 * n + 1, "c", &format!("Error: {more}"))],
    };
    exchange.into_iter().map(Arc::new).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Tokens of lines add up, in any order, in every encoding.
    #[test]
    fn tokens_add_up(
        contents in prop::collection::vec((nasty_text(), nasty_text(), nasty_text(), 0..4u8), 1..6),
        encoding in 0..4usize,
    ) {
        let counter = &ENCODINGS[encoding];
        let source: Vec<_> = contents.iter().zip(1..).flat_map(|(texts, n)| nasty_exchange(n, texts)).collect();
        let sentences = summarise(&source, &Focus::none(), u32::MAX, counter);
        for line in sentences.iter().map(|sentence| &*sentence.text) {
            let body = line.strip_suffix('\n').unwrap_or_default();
            prop_assert!(body.starts_with(char::is_alphabetic) && !body.ends_with(char::is_whitespace), "{line:?}");
            prop_assert!(!body.contains(char::is_control) && !body.contains(['\u{2028}', '\u{2029}']), "{line:?}");
        }
        let sum: u32 = sentences.iter().map(|sentence| sentence.tokens).sum();
        let forth: String = sentences.iter().map(|sentence| &*sentence.text).collect();
        let back: String = sentences.iter().rev().map(|sentence| &*sentence.text).collect();
        prop_assert_eq!(counter.count(&forth), sum, "{:?}", forth);
        prop_assert_eq!(counter.count(&back), sum, "{:?}", back);
    }

    #[test]
    fn budgets_hold_and_nothing_is_random(contents in prop::collection::vec(nasty_text(), 1..8), budget in 0..120u32) {
        let source: Vec<_> = contents.iter().zip(1..).map(|(content, n)| Arc::new(said(n, Role::User, content))).collect();
        let sentences = summarise(&source, &Focus::none(), budget, o200k());
        prop_assert!(sentences.iter().map(|sentence| sentence.tokens).sum::<u32>() <= budget);
        prop_assert_eq!(&summarise(&source, &Focus::none(), budget, o200k()), &sentences);
        prop_assert!(sentences.is_sorted_by_key(|line| line.kind));
        let said = sentences.iter().filter(|line| line.kind == LineKind::Said);
        prop_assert!(said.is_sorted_by_key(|line| line.sequence));
    }
}

fn calls(calls: &[(&str, &str, &str)]) -> Vec<Utterance> {
    let numbered = calls.iter().zip((1u64..).step_by(2));
    let exchange = |((name, arguments, result), sequence): (&(&str, &str, &str), u64)| {
        let id = format!("c{sequence}");
        [calling(sequence, &id, name, arguments), answering(sequence + 1, &id, result)]
    };
    numbered.flat_map(exchange).collect()
}

#[test]
fn what_was_done_comes_first_with_what_was_made() {
    let source = calls(&[
        (
            "get_order",
            "{\"order_id\":\"W77\"}",
            "{\"order_id\":\"W77\",\n\"lines\":[{\"sku\":\"KB-104\",\"count\":3}]}",
        ),
        ("book_seat", "{\"flight\":\"HAT136\"}", "{\"booking_id\":\"Q7ZK\",\n\"seats\":1}"),
        ("cancel_order", "{\"order_id\":\"W77\"}", "Error: it was shipped"),
        ("cancel_order", "{\"order_id\":\"W77\"}", "ok"),
    ]);
    assert_eq!(
        text(source, &Focus::none(), 200),
        "Assistant called book_seat(HAT136) → ok: Q7ZK\n\
         Assistant called cancel_order(W77) → ok\n\
         Assistant called get_order(W77) → ok\n\
         W77: KB-104\n"
    );
}

#[test]
fn many_changes_are_told_together_and_the_rest_is_counted() {
    let all: Vec<(String, String)> =
        (10..40).map(|n| (format!("{{\"path\":\"src/part_{n}.rs\"}}"), "done".to_owned())).collect();
    let all: Vec<_> =
        all.iter().map(|(path, result)| ("write_file", path.as_str(), result.as_str())).collect();
    let told = text(calls(&all), &Focus::none(), 150);
    let first = told.lines().next().unwrap();
    assert!(first.starts_with("Assistant called write_file → ok: src/part_"), "{told}");
    let shown = first.matches(".rs").count();
    assert!(first.ends_with(&format!("src/part_39.rs; … and {} more", 30 - shown)), "{told}");
}

#[test]
fn what_is_open_ends_a_summary_until_it_is_done() {
    let failed = calls(&[("pay_invoice", "{\"invoice\":\"INV-7\"}", "Error: card expired")]);
    let mut source = failed.clone();
    source.push(said(3, Role::Assistant, "Which card should I charge instead?"));
    let told = text(source, &Focus::none(), 200);
    let open = "Open: pay_invoice(INV-7) failed; Assistant: Which card should I charge instead?\n";
    assert!(told.ends_with(open), "{told}");

    let first: Vec<_> = failed.into_iter().map(Arc::new).collect();
    let before = summarise(&first, &Focus::none(), 100, o200k());
    let again =
        calls(&[("noop", "{}", ""), ("noop", "{}", ""), ("pay_invoice", "{\"invoice\":\"INV-7\"}", "paid")]);
    let again: Vec<_> = again.into_iter().map(Arc::new).collect();
    let after = retell(&before, &again, &Focus::none(), 200, o200k());
    let after: String = after.iter().map(|line| &*line.text).collect();
    assert!(after.starts_with("Assistant called pay_invoice(INV-7) → ok: paid\n"), "{after}");
    assert!(!after.contains("Open:") && !after.contains("expired"), "{after}");
}

#[test]
fn what_is_still_talked_about_stays_longest() {
    let results = (1..40).map(|n| format!("{{\"order\":\"AB-{n:03}\",\n\"lines\":[]}}")).collect::<Vec<_>>();
    let all: Vec<_> = results.iter().map(|result| ("find_orders", "{}", result.as_str())).collect();
    let source: Vec<_> = calls(&all).into_iter().map(Arc::new).collect();
    let lines = summarise(&source, &Focus::none(), u32::MAX, o200k());
    let names = |focus: &Focus| -> String {
        select(&lines, focus, 60, o200k()).iter().map(|line| &*line.text).collect()
    };
    assert!(!names(&Focus::none()).contains("AB-007"));
    let recent = [said(100, Role::User, "What of AB-007?")];
    assert!(names(&Focus::on_talk(recent.iter())).contains("AB-007"));
}

#[test]
fn a_forgotten_utterance_takes_its_items_along() {
    let source: Vec<_> = (1..4)
        .map(|n| Arc::new(said(n, Role::Assistant, &format!("Transport TR-90{n} is one of many."))))
        .collect();
    let page = source::read(&source, false);
    let told = ledger::ledger(&page.facts, &page.pages, &ledger::Told::default(), 100, o200k());
    assert_eq!(&*told[0].text, "Assistant mentioned: TR-901; TR-902; TR-903\n");
    let left = told[0].without(|sequence| sequence == Sequence(2), o200k()).unwrap();
    assert_eq!(&*left.text, "Assistant mentioned: TR-901; TR-903\n");
    assert_eq!(left.tokens, o200k().count(&left.text));
    assert_eq!(told[0].without(|_| true, o200k()), None);
}
