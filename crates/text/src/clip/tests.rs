use std::cell::Cell;

use proptest::prelude::*;

use super::*;

/// A token for each word, each character beyond ASCII, and each mark.
fn tokens(text: &str) -> u32 {
    let marks = text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() || !c.is_ascii()).count();
    (text.split_whitespace().count() + marks) as u32
}

#[test]
fn what_fits_is_left_alone() {
    assert!(matches!(clip("Book a table.", 4, &tokens), Cow::Borrowed("Book a table.")));
    assert_eq!(clip("", 0, &tokens), "");
}

#[test]
fn a_cut_text_ends_in_the_mark() {
    assert_eq!(clip("Book a table, for six, on Friday", 5, &tokens), "Book a table…");
    assert_eq!(clip("Book a table for six", 1, &tokens), "");
    assert_eq!(clip("one two three", 2, &|text| text.split_whitespace().count() as u32), "one two…");
    assert_eq!(clip("今天天气很好", 5, &tokens), "今天天…");
}

#[test]
fn the_tokenizer_is_called_a_few_times() {
    let text = "the quick brown fox jumps over the lazy dog, again and again ".repeat(70_000);
    let calls = Cell::new(0);
    let counted = |text: &str| {
        calls.set(calls.get() + 1);
        tokens(text)
    };
    let clipped = clip(&text, 300, &counted);
    assert!(tokens(&clipped) <= 300 && tokens(&clipped) >= 298, "{}", tokens(&clipped));
    assert!(calls.get() <= 16, "{}", calls.get());
}

proptest! {
    #[test]
    fn any_text_is_cut_to_its_beginning(text in "\\PC{0,80}", most in 0_u32..30) {
        let clipped = clip(&text, most, &tokens);
        prop_assert!(tokens(&clipped) <= most);
        match clipped {
            Cow::Borrowed(whole) => prop_assert!(whole == text || whole.is_empty()),
            Cow::Owned(cut) => prop_assert!(text.starts_with(cut.trim_end_matches('…')) && cut.ends_with('…')),
        }
    }
}
