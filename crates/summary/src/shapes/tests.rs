//! Values of all trades.

use super::{Shape::*, *};

#[test]
fn a_value_is_known_by_its_shape() {
    for (value, expected) in [
        ("", Empty),
        ("null", Empty),
        ("N/A", Empty),
        ("True", Bool),
        ("false", Bool),
        ("12", Number),
        ("-3", Number),
        ("12.50", Amount),
        ("1,234.00", Amount),
        ("€ 9", Amount),
        ("$152", Amount),
        ("38 kg", Amount),
        ("45%", Amount),
        ("12,5 m²", Amount),
        ("38ms", Amount),
        ("1200円", Amount),
        ("2024-05-14", Date),
        ("14.05.2024", Date),
        ("5/14/2024", Date),
        ("2024年5月14日", Date),
        ("14 May 2024", Date),
        ("18:45", Time),
        ("6:45 pm", Time),
        ("18:45:00", Time),
        ("2024-05-14T18:45:03Z", Stamp),
        ("2024-05-14 18:45:03", Stamp),
        ("HAT136", Id),
        ("#W1234567", Id),
        ("mia_li_3668", Id),
        ("ORD-17", Id),
        ("408-618-8072", Id),
        ("B12", Id),
        ("550e8400-e29b-41d4-a716-446655440000", Hash),
        ("9f86d081884c7d659a2feaa0c55ad015", Hash),
        ("ann@example.org", Email),
        ("https://a.b/c", Url),
        ("src/main.rs", Path),
        ("/tmp", Path),
        ("notes.txt", Path),
        ("src/a b.rs", Path),
        ("economy", Word),
        ("東京", Word),
        ("San José", Phrase),
        ("and then we went. It was late", Prose),
        ("a\nb", Prose),
        ("see src/a.rs", Phrase),
        ("2148 Story Road #3", Phrase),
        ("src/lib", Path),
    ] {
        assert_eq!(shape(value), expected, "{value}");
    }
}
