use proptest::prelude::*;

use super::*;

fn texts(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|sentence| sentence.text).collect()
}

/// Whether each piece is code.
fn code(text: &str) -> Vec<bool> {
    sentences(text).into_iter().map(|sentence| sentence.code).collect()
}

/// That a text is one sentence of prose.
#[track_caller]
fn whole(text: &str) {
    let found = sentences(text);
    assert_eq!(found.iter().map(|one| one.text).collect::<Vec<_>>(), [text]);
    assert!(!found[0].code, "{text}");
}

#[test]
fn sentences_end_at_their_marks() {
    assert_eq!(texts("It failed. Why? Try again! ok"), ["It failed.", "Why?", "Try again!", "ok"]);
    assert_eq!(texts("i fixed it. now it builds"), ["i fixed it.", "now it builds"]);
    assert_eq!(texts("No. I don't want that."), ["No.", "I don't want that."]);
    assert_eq!(
        texts("今天天气怎么样？明天呢。「好。」他说"),
        ["今天天气怎么样？", "明天呢。", "「好。」", "他说"]
    );
    assert_eq!(texts("هل وصلت؟ نعم وصلت."), ["هل وصلت؟", "نعم وصلت."]);
    assert_eq!(texts("Hmm... maybe. Wait… No"), ["Hmm... maybe.", "Wait…", "No"]);
}

#[test]
fn abbreviations_numbers_and_names_of_files_do_not_end_them() {
    for text in [
        "Mr. Smith paid $3.50 at 5 p.m. on May 2 in main.rs, e.g. line 3!",
        "Upgrade from v1.2.3 to 2.0, see docs/a.md and lib.rs for details.",
        "Dr. J. R. Novak and Anna K. Holm see Fig. 3 in Vol. 2.",
        "Wir treffen uns am 3. Mai um 10.30 Uhr, z.B. bei Fr. Weber.",
        "La Sra. García vive en la Av. Mayor, núm. 5.",
        "Acme Inc. and Foo Ltd. agreed on No. 5 etc. as planned.",
        "\"Why?\" he asked.",
        "Встреча на ул. Ленина, д. 5, т.е. рядом.",
    ] {
        whole(text);
    }
    assert_eq!(texts("We take Plan B. Then vitamin C. Done."), ["We take Plan B. Then vitamin C.", "Done."]);
    assert_eq!(texts("It was me and I. Then we left."), ["It was me and I.", "Then we left."]);
    assert_eq!(texts("It costs 30. Pay now."), ["It costs 30.", "Pay now."]);
}

#[test]
fn lines_of_lists_and_tables_and_headings_stand_alone() {
    let text = "# Plan\n\nWe need:\n- [x] a key\n* a lock\n1. Open it\n2) Close it\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\nDone";
    assert_eq!(
        texts(text),
        ["Plan", "We need:", "a key", "a lock", "Open it", "Close it", "| a | b |", "| 1 | 2 |", "Done"]
    );
}

#[test]
fn long_lines_are_wrapped_and_short_ones_are_not() {
    let wrapped =
        "This is the first line of a paragraph that was wrapped by hand,\nand its second line. Third";
    assert_eq!(texts(wrapped).len(), 2);
    assert_eq!(texts("do this\nthen that"), ["do this", "then that"]);
}

#[test]
fn the_end_is_told() {
    let ends: Vec<End> =
        sentences("Yes. Who? You! (Me?)\nNote:\nRow\n好吗？").iter().map(|one| one.ends).collect();
    assert_eq!(
        ends,
        [End::Other, End::Question, End::Other, End::Question, End::Colon, End::Other, End::Question]
    );
}

#[test]
fn a_fenced_block_is_one_piece_of_code() {
    let text = "Try this:\n```rust\nfn main() {\n\n    run();\n}\n```\nDid it work?";
    assert_eq!(texts(text), ["Try this:", "fn main() {\n\n    run();\n}", "Did it work?"]);
    assert_eq!(code(text), [false, true, false]);
    assert_eq!(code("~~~\nplain words\n~~~\nmore\n```\nunclosed. text"), [true, false, true]);
}

#[test]
fn lines_that_look_like_code_are_code() {
    let text = "It fails:\nfrom os import path\nqs = rows.all()\nfor row in range(3):\n    print(row)\nWhy is that so?";
    assert_eq!(code(text).last(), Some(&false));
    assert!(code(text)[1..].iter().any(|is| *is), "{:?}", sentences(text));
    for line in [
        "let x = 1;",
        "name = \"a\"",
        "{\"id\": 1, \"name\": \"x\"}",
        "<div class=\"wide\">",
        "</note>",
        "if (a == b) {",
        "$ cargo test --workspace",
        "#include <stdio.h>;",
        "class Order(models.Model):",
        "const rows = await db.query(sql);",
    ] {
        assert_eq!(code(line), [true], "{line}");
    }
}

#[test]
fn prose_is_not_code_for_one_mark() {
    for text in [
        "10:30 on Friday suits me, never earlier",
        "$ 300 is the most I can pay",
        "import duties are extra",
        "class sizes are small here",
        "from Monday on, import stops",
        "The meeting is moved to Tuesday;",
        "that did not work :(",
        "limit = 5 is too low",
        "Is x = 1, or = \"2\" right?",
        "Call me (later): I am busy",
        "Use main() and never run() in tests, please",
        "return the book to Anna",
        "Set max_tokens to 5 -> faster",
        "Rename getUser() to fetchUser() and keep the tests",
        "Merged `renderAll()` and `render(x)` into `show();`",
        "We pay 5 € (or 6 $) for each { box",
    ] {
        whole(text);
    }
}

#[test]
fn pieces_without_words_are_left_out() {
    assert_eq!(texts("---\n***\n:(\n\n👍\n。"), ["👍"]);
}

#[test]
fn long_texts_take_time_in_proportion() {
    for piece in ["a", ".", "a. ", "\n", "```\n", "> ", "Mr. ", "1. ", "(\n", "。", "\"", "x = 1;\n", " "] {
        sentences(&piece.repeat((1 << 20) / piece.len()));
    }
}

proptest! {
    #[test]
    fn sentences_are_pieces_of_any_text(text in "\\PC*|([a-zA-Z .!?\n\"`>#|;:(=1-]|。|```|- ){0,60}") {
        let mut rest = text.as_str();
        for sentence in sentences(&text) {
            let at = rest.find(sentence.text);
            prop_assert!(at.is_some() && !sentence.text.is_empty());
            rest = &rest[at.unwrap_or_default() + sentence.text.len()..];
        }
    }
}
