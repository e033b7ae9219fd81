//! What a later statement takes the place of, and what it does not.

use utterd_summary::{
    analysis::analyse,
    item::Marks,
    settle::{Part, settle},
};

use super::{grown, talk, text};

/// What is said first, what is said later, and the words of either that say which it is.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// The later value holds alone.
const REPLACED: &[Case] = &[
    // a hospital, a school, a film set, a warehouse, a building site, a ship, a farm, code
    (
        "Mr. Ade's surgery is in theatre B-204.",
        "Mr. Ade's surgery is now in theatre C-310.",
        "B-204",
        "C-310",
    ),
    (
        "The parents' evening is on 12 March.",
        "As of today the parents' evening is on 19 March.",
        "12 March",
        "19 March",
    ),
    ("The crew call is at 06:30.", "Crew call is now at 05:45.", "06:30", "05:45"),
    ("Pallets for Lidl leave by gate 14.", "Pallets for Lidl now leave by gate 22.", "gate 14", "gate 22"),
    ("Ola Berg signs off the scaffold.", "Kim Lund now signs off the scaffold.", "Ola", "Kim"),
    ("State all depths in Fathoms.", "From now on, state all depths in Metres.", "Fathoms", "Metres"),
    (
        "We work on branch feature/login-12.",
        "We now work on branch feature/basket-40.",
        "login-12",
        "basket-40",
    ),
    ("The feed order is 340 kg.", "No, the feed order is 430 kg.", "340", "430"),
    ("Der Kran kommt am Dienstag.", "Der Kran kommt jetzt am Freitag.", "Dienstag", "Freitag"),
    ("Die Lieferung kommt am 3. Mai.", "Nein, die Lieferung kommt am 7. Mai.", "3. Mai", "7. Mai"),
    ("El camión sale a las 07:30.", "Ahora el camión sale a las 09:15.", "07:30", "09:15"),
    ("La vacuna de Luna es el martes.", "No, la vacuna de Luna es el jueves.", "martes", "jueves"),
    ("Le loyer est de 850 euros.", "Désormais, le loyer est de 910 euros.", "850", "910"),
    ("Le cours commence à 14h30.", "Non, le cours commence à 15h15.", "14h30", "15h15"),
    ("La prova generale è il 4 giugno.", "Adesso la prova generale è il 9 giugno.", "4 giugno", "9 giugno"),
    ("O aluguel custa 700 euros.", "Agora o aluguel custa 760 euros.", "700", "760"),
    ("De vergadering begint om 10:00.", "Nee, de vergadering begint om 11:30.", "10:00", "11:30"),
    ("Поезд отходит в 18:20.", "Теперь поезд отходит в 19:05.", "18:20", "19:05"),
    ("会议在星期一。", "不，会议在星期三。", "星期一", "星期三"),
    ("会議は月曜日です。", "いいえ、会議は水曜日です。", "月曜日", "水曜日"),
    ("締め切りは5月3日です。", "いや、締め切りは5月9日です。", "5月3日", "5月9日"),
];

/// Both hold.
const KEPT: &[Case] = &[
    ("The hotel costs $120.", "The flight now costs $300.", "$120", "$300"),
    ("The price of the flight is $310.", "The price of the hotel is now $125.", "$310", "$125"),
    ("The production database listens on 5432.", "The staging database now listens on 6432.", "5432", "6432"),
    ("Kim is the release approver this week.", "Ola is now the design reviewer this week.", "Kim", "Ola"),
    ("My train leaves at 09:15.", "Now I also need a taxi at 08:30.", "09:15", "08:30"),
    ("The kitchen gets 40 tiles.", "The bathroom now gets 25 tiles.", "40 tiles", "25 tiles"),
    ("The gala is on May 3.", "No, thanks, that is all until May 5.", "May 3", "May 5"),
    ("Add 30 chairs to the order.", "Now add 12 tables to the order.", "30 chairs", "12 tables"),
    (
        "Mrs. Bode takes 20 mg of ramipril.",
        "Mrs. Bode now takes 50 mg of losartan too.",
        "ramipril",
        "losartan",
    ),
    ("The lambs were weighed on 3 April.", "No, the ewes were weighed on 8 April.", "3 April", "8 April"),
    ("Der Saal kostet 400 Euro.", "Die Technik kostet jetzt 250 Euro.", "400", "250"),
    ("Der Chor probt am Montag.", "Nein, das Orchester probt am Mittwoch.", "Montag", "Mittwoch"),
    ("La habitación 204 es para Ana.", "Ahora la habitación 310 es para Luis.", "204", "310"),
    ("El taller abre a las 08:00.", "No, la tienda abre a las 10:00.", "08:00", "10:00"),
    ("Le bus part à 08:10.", "Le train part maintenant à 09:40.", "08:10", "09:40"),
    ("Il teatro apre alle 19:30.", "Adesso il bar apre alle 18:45.", "19:30", "18:45"),
    ("A sala 12 recebe o coral.", "Agora a oficina recebe 35 alunos.", "12", "35"),
    ("Автобус отходит в 08:15.", "Теперь паром отходит в 09:50.", "08:15", "09:50"),
    ("Try to book us a table at Noma on 8 March.", "No, try the 3rd of March.", "Noma", "3rd of March"),
    ("We are leaving Oslo for Bergen.", "No, we are leaving today for Tromsø.", "Oslo", "Tromsø"),
    ("会议在星期一。", "不，培训在星期三。", "星期一", "星期三"),
    ("会議は月曜日です。", "いいえ、発表は水曜日です。", "月曜日", "水曜日"),
];

#[test]
fn a_denial_corrects_what_the_assistant_said_last_if_it_has_another_value() {
    for (said, answer, corrects) in [
        ("So the pickup is on Friday?", "No, it is on Monday.", true),
        ("Dann kommt der Kran um 10:00.", "Nein, erst um 14:30.", true),
        ("La reserva es para el 4 de mayo.", "No, es para el 9 de mayo.", true),
        ("会議は月曜日ですね。", "いいえ、水曜日です。", true),
        ("Your seat is 12A. Anything else?", "No, that is all until May 5.", false),
        ("It leaves at 10:00. Shall I book it?", "No, leave it as it stands.", false),
    ] {
        let items = settle(analyse(&talk(&["Plan the week.", said, answer])), Part::WHOLE);
        let found = items.iter().find(|item| &*item.text == answer).expect("it is told");
        assert_eq!(found.marks.has(Marks::CORRECTION), corrects, "{answer}");
    }
}

#[test]
fn a_new_value_of_the_same_thing_holds_alone_and_one_of_another_beside_it() {
    let between = ["Noted.", "Please keep the notes short.", "I will."];
    let mut wrong = Vec::new();
    for (cases, stays) in [(REPLACED, false), (KEPT, true)] {
        for (first, later, old, new) in cases {
            let said = talk(&[&[*first][..], &between, &[*later, "Noted."]].concat());
            for told in [text(&said, 400), grown(&said, 400)] {
                if !told.contains(new) || told.contains(old) != stays {
                    wrong.push(format!("{first} {later}\n{told}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
