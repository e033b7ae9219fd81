//! Properties that hold for any text.

use proptest::prelude::*;

use super::*;

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

/// A message, or a call and its result, with odd names and arguments.
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

    /// The tokens of lines add up, in any order, in every encoding.
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
    fn budgets_hold_and_nothing_is_random(
        contents in prop::collection::vec((nasty_text(), nasty_text(), nasty_text(), 0..4u8), 1..8),
        budget in 0..120u32,
    ) {
        let source: Vec<_> = contents.iter().zip(1..).flat_map(|(texts, n)| nasty_exchange(n, texts)).collect();
        let sentences = summarise(&source, &Focus::none(), budget, o200k());
        prop_assert!(sentences.iter().map(|sentence| sentence.tokens).sum::<u32>() <= budget);
        prop_assert_eq!(&summarise(&source, &Focus::none(), budget, o200k()), &sentences);
        prop_assert!(sentences.is_sorted_by_key(|line| line.place()));
        let said = sentences.iter().filter(|line| line.place() == 1);
        prop_assert!(said.is_sorted_by_key(|line| line.sequence));
    }
}
