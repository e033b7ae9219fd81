use super::*;

fn language(text: &str) -> &'static str {
    Language::of(text, Language::English).code()
}

#[test]
fn a_text_shows_its_language() {
    assert_eq!(language("Could you move the appointment to Friday?"), "en");
    assert_eq!(language("Ich habe die Rechnung noch nicht bekommen."), "de");
    assert_eq!(language("Je voudrais changer la date de mon rendez-vous."), "fr");
    assert_eq!(language("¿Cuándo puedo recoger el pedido que hice ayer?"), "es");
    assert_eq!(language("Kun je de afspraak naar vrijdag verzetten?"), "nl");
    assert_eq!(language("Перенеси встречу"), "ru");
    assert_eq!(language("Μπορείς να αλλάξεις το ραντεβού;"), "el");
}

#[test]
fn without_evidence_the_language_stays() {
    assert_eq!(Language::of("Häuser!", Language::German), Language::German);
    assert_eq!(Language::of("", Language::French), Language::French);
    assert_eq!(Language::of("main.rs 42", Language::English), Language::English);
}

#[test]
fn stems_join_the_forms_of_a_word() {
    assert_eq!(Language::English.stem("painted"), Language::English.stem("painting"));
    assert_eq!(Language::English.stem("wrote"), Language::English.stem("writing"));
    assert_eq!(Language::German.stem("häuser"), Language::German.stem("hauses"));
    assert_eq!(Language::Russian.stem("книгами"), Language::Russian.stem("книга"));
}

#[test]
fn the_lists_are_sorted() {
    for list in [include_str!("asking.tsv"), include_str!("stops.tsv"), include_str!("irregular.tsv")] {
        assert!(list.lines().is_sorted() && list.lines().all(|line| line.contains('\t')));
    }
}

#[test]
fn every_code_names_its_language() {
    assert!(Language::ALL.into_iter().all(|one| Language::from_code(one.code()) == Some(one)));
    assert_eq!(Language::from_code("tlh"), None);
}
