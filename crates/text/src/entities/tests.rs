use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Vec<(&str, Kind)> {
    entities(text).into_iter().map(|entity| (entity.text, entity.kind)).collect()
}

/// The texts of one kind.
fn of(kind: Kind, text: &str) -> Vec<&str> {
    found(text).into_iter().filter(|(_, one)| *one == kind).map(|(text, _)| text).collect()
}

#[test]
fn files_and_addresses_are_found() {
    assert_eq!(
        found("see src/main.rs:42, ../a/b, ~/notes and lib.rs."),
        [
            ("src/main.rs", Kind::Path),
            ("../a/b", Kind::Path),
            ("~/notes", Kind::Path),
            ("lib.rs", Kind::File)
        ]
    );
    assert_eq!(
        found("write to ann.lee@example.org or https://example.org/a?b=c,d (or www.example.org)."),
        [
            ("ann.lee@example.org", Kind::Email),
            ("https://example.org/a?b=c,d", Kind::Url),
            ("www.example.org", Kind::Url)
        ]
    );
    assert_eq!(of(Kind::Path, r"open C:\Users\ann\a.txt"), [r"C:\Users\ann\a.txt"]);
    assert_eq!(
        of(Kind::File, "the .gitignore of \"Bericht Q3.pdf\", 看main.rs文件"),
        [".gitignore", "Q3.pdf", "main.rs"]
    );
    assert_eq!(found("and/or, km/h, e.g. this, either way/that, <note>x</note> ''.join(x)"), []);
}

#[test]
fn codes_and_identifiers_are_found() {
    assert_eq!(
        of(
            Kind::Code,
            "AB12CD, PT2291K, HAT-136, INV-2024-001, 8b8a0d67c, v1.2.3, 10.0.0.1, #4512, #W2378156"
        ),
        [
            "AB12CD",
            "PT2291K",
            "HAT-136",
            "INV-2024-001",
            "8b8a0d67c",
            "v1.2.3",
            "10.0.0.1",
            "#4512",
            "#W2378156"
        ]
    );
    assert_eq!(
        of(
            Kind::Identifier,
            "max_tokens, getUser, fetch(), std::io, os.path, --force, user_id=7, sofia_kim_7287, gpt-4o, fix/login-12"
        ),
        [
            "max_tokens",
            "getUser",
            "fetch()",
            "std::io",
            "os.path",
            "--force",
            "user_id",
            "sofia_kim_7287",
            "gpt-4o",
            "fix/login-12"
        ]
    );
    assert_eq!(found("a well-known thing, don't you think"), []);
}

#[test]
fn amounts_and_numbers_are_found() {
    assert_eq!(
        of(Kind::Money, "$1,250.50, $ 300, 40 €, 12€, USD 99, 300 EUR, £5k, ₹2,000, 500 рублей"),
        ["$1,250.50", "$ 300", "40 €", "12€", "USD 99", "300 EUR", "£5k", "₹2,000", "500 рублей"]
    );
    assert_eq!(
        of(Kind::Number, "42 of 1,024 or 3.5, 12%, 5kg, and 7 more, 1.249.500"),
        ["42", "1,024", "3.5", "12%", "5kg", "1.249.500"]
    );
}

#[test]
fn dates_and_times_are_found() {
    assert_eq!(
        of(
            Kind::Date,
            "2024-05-27, 27.05.2024, 5/27/24, May 14, 2024, 14 May, 3. Mai, 14 de mayo de 2024, Friday"
        ),
        [
            "2024-05-27",
            "27.05.2024",
            "5/27/24",
            "May 14, 2024",
            "14 May",
            "3. Mai",
            "14 de mayo de 2024",
            "Friday"
        ]
    );
    assert_eq!(of(Kind::Date, "2024年5月14日、見る。5月14日"), ["2024年5月14日", "5月14日"]);
    assert_eq!(of(Kind::Date, "会议在星期三，见周五。月曜日に"), ["星期三", "周五", "月曜日"]);
    assert_eq!(of(Kind::Date, "at 2024-05-27T11:00:00Z in September"), ["2024-05-27T11:00:00Z", "September"]);
    assert_eq!(
        of(Kind::Time, "11:00, 5 p.m., 10am, 5:30 pm, 14h30, 10.30 Uhr"),
        ["11:00", "5 p.m", "10am", "5:30 pm", "14h30", "10.30 Uhr"]
    );
}

#[test]
fn names_are_words_with_capitals_inside_a_sentence() {
    assert_eq!(of(Kind::Name, "Yesterday we met Marta Kovalenko in Oslo."), ["Marta Kovalenko", "Oslo"]);
    assert_eq!(of(Kind::Name, "The London office called. Anna Holm was there."), ["London", "Anna Holm"]);
    assert_eq!(
        of(Kind::Name, "Please ask Dr. Smith, J. R. Novak or Ludwig van Beethoven"),
        ["Dr. Smith", "J. R. Novak", "Ludwig van Beethoven"]
    );
    assert_eq!(of(Kind::Name, "Tell Marta that I am late. Nothing else."), ["Marta"]);
    assert_eq!(of(Kind::Name, "Вчера мы видели Анну Ковалёву в Москве."), ["Анну Ковалёву", "Москве"]);
    assert_eq!(of(Kind::Name, "Wir haben die Rechnung von Anna Weber nicht bekommen."), ["Anna Weber"]);
    assert_eq!(of(Kind::Name, "We flew with the crew of NATO from O'Hare."), ["NATO", "O'Hare"]);
    assert_eq!(of(Kind::Name, "Hello. It works. Great!"), [""; 0]);
}

#[test]
fn long_texts_take_time_in_proportion() {
    for piece in
        ["a", "1.", "A ", "a/", "://", "http://a ", "1月", "(", "a,", "$", "May ", ". A", "天a", "@", "::"]
    {
        entities(&piece.repeat((1 << 18) / piece.len()));
    }
}

proptest! {
    #[test]
    fn entities_are_pieces_of_any_text(
        text in "\\PC*|((://|May|Uhr|a/b|main.rs|天|年|[A-Za-z0-9 .,:/@$€()_#'\n-]){0,50})"
    ) {
        let mut end = 0;
        for entity in entities(&text) {
            prop_assert!(entity.start >= end && !entity.text.is_empty());
            end = entity.start + entity.text.len();
            prop_assert_eq!(&text[entity.start..end], entity.text);
        }
    }
}
