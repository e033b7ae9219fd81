use super::{assert_finds, assert_silent, found, place, talk};

#[test]
fn capitals_make_names_of_stop_words() {
    let index = talk(&[
        "The badge belongs to the IT department.",
        "Guidelines by the WHO changed.",
        "Patients wait outside the OR anxiously.",
        "The film Them scared us.",
        "Mum adores Take That endlessly.",
    ]);
    for (number, name) in (1..).zip(["IT", "WHO", "OR", "Them", "Take That"]) {
        assert_eq!(found(name, &index).first(), Some(&place(number)), "{name}");
    }
    let natural =
        [("Who works in IT?", 1), ("What did the WHO say?", 2), ("Did I ever mention Them to you?", 4)];
    for (prompt, number) in natural {
        assert_eq!(found(prompt, &index).first(), Some(&place(number)), "{prompt}");
    }
    assert_silent(&[("IT", "Is it ready? It is."), ("US", "Tell us more."), ("IT", "PLEASE DO IT NOW")]);
}

#[test]
fn similar_words_pass_alone() {
    assert_finds(&[
        ("restaraunt", "The rooftop restaurant had oysters."),
        ("recieve", "We receive parcels downstairs."),
        ("postgers", "Move everything onto postgres."),
        ("Elisabeth", "Seamstress Elizabeth hemmed it."),
        ("Versicherung", "Ich habe die Krankenversicherung bezahlt, aber nicht gern."),
        ("Strasse", "Wir wohnen in der Lindenstraße, nicht weit von dir."),
        ("סיסמה", "החלפתי את הסיסמה של הבנק."),
        ("cafe", "The new café serves scones."),
        ("reservaton", "The reservation was cancelled."),
        ("implementaion", "Her implementation is slow."),
        ("developmetn", "The development took weeks."),
        ("Reservierugnen", "Er hat die Reservierungen für uns alle nicht gemacht."),
    ]);
    assert_silent(&[
        ("cello", "He said hello."),
        ("airport", "The port is busy."),
        ("guest", "Take a guess."),
        ("sting", "Pass the string."),
        ("counterpart", "Count the votes."),
    ]);
}

#[test]
fn words_are_found_written_as_one_or_two() {
    assert_finds(&[
        ("username", "Choose some user name freely."),
        ("data base", "The database vacuumed itself."),
        ("filesystem", "The file system is read-only."),
        ("time zone", "Set the timezone properly."),
        ("wifi", "Guests need the Wi-Fi voucher."),
        ("check-in", "The checkin opens late."),
        ("checkin", "The check-in opens late."),
        ("co-operating", "They cooperate on weekends."),
        ("max retry count", "I lowered maxRetryCount today."),
    ]);
    assert_silent(&[("username", "My name is Ann.")]);
}

#[test]
fn irregular_forms_are_one_word() {
    assert_finds(&[
        ("children", "The child drew dinosaurs."),
        ("criteria", "The criterion was speed."),
        ("indices", "The index was rebuilt."),
        ("matrices", "Invert the matrix first."),
        ("phenomena", "A strange phenomenon occurred."),
        ("written", "He writes poems."),
    ]);
}
