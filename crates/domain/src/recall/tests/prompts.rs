use super::{found, hits, place, said, talk};
use crate::{
    limits::DEFAULT_MIN_RELEVANCE,
    recall::{Floor, Query, Search},
};

#[test]
fn a_greeting_and_regards_do_not_count() {
    let index =
        talk(&["The hotel in Porto is called Ribeira Palace.", "Die Heizung wird am Montag repariert."]);
    for (number, prompt) in [
        (
            1,
            "Hello there, I hope you are having a wonderful week! What is the hotel in Porto called? Kind regards, Jonathan",
        ),
        (
            1,
            "Hi Tom, sorry for the late message.\nWhich hotel did we take in Porto?\nMany thanks and best wishes",
        ),
        (
            2,
            "Guten Tag, vielen Dank für Ihre Geduld! Wann wird die Heizung repariert? Mit freundlichen Grüßen",
        ),
    ] {
        assert_eq!(found(prompt, &index).first(), Some(&place(number)), "{prompt}");
    }
    assert!(found("Hello there, have a wonderful week! Which volcano erupted?", &index).is_empty());
}

#[test]
fn words_that_ask_do_not_count_in_any_language() {
    let index = talk(&[
        "Der Vermieter heißt Brandt.",
        "Le plombier vient mardi.",
        "El fontanero cobra poco.",
        "Сантехник пришёл утром.",
    ]);
    for (number, prompt) in (1..).zip([
        "Erinnerst du dich, was ich dir vom Vermieter erzählt habe?",
        "Tu te rappelles ce que je t'ai dit du plombier ?",
        "¿Recuerdas lo que dijimos del fontanero?",
        "Помнишь, что я говорил про сантехника?",
    ]) {
        assert_eq!(found(prompt, &index).first(), Some(&place(number)), "{prompt}");
    }
}

#[test]
fn the_newest_comes_first_where_the_prompt_asks_for_it() {
    for (old, new, prompts) in [
        (
            "Our dentist is Okafor.",
            "The dentist we have is Lindqvist.",
            ["who is our dentist now?", "our current dentist"],
        ),
        (
            "Unser Arzt heißt Brandt.",
            "Unser neuer Hausarzt und Arzt heißt Seidel.",
            ["Wie heißt unser Arzt jetzt?", "Wer ist derzeit unser Arzt?"],
        ),
        (
            "Le code du portail est 2580.",
            "Le code du portail est 7391.",
            ["quel est le code actuel du portail ?", "le nouveau code du portail"],
        ),
    ] {
        let index = talk(&[old, "Fine.", "Well.", "Good.", "Indeed.", "I see.", "Right.", "Sure.", new]);
        for prompt in prompts {
            assert_eq!(found(prompt, &index).first(), Some(&place(9)), "{prompt}");
        }
    }
}

#[test]
fn what_the_asker_has_ranks_below_its_answer() {
    let index = said(&[
        "Good morning, how was the trip?",
        "Fine, thanks.",
        "My espresso machine leaks from the group head.",
        "Replace the gasket and tighten the screws.",
        "Will do.",
        "打印机一直卡纸无法打印",
        "请清洁滚轮。",
        "Noted.",
    ]);
    assert_eq!(found("my espresso machine leaks from the group head", &index)[..2], [4, 3]);
    assert_eq!(found("打印机一直卡纸无法打印", &index)[..2], [7, 6]);
    let told = found("the espresso machine leaks", &index);
    assert!(told.contains(&4), "what a user told is answered too: {told:?}");
}

#[test]
fn an_answer_says_something_of_its_own() {
    for (told, answer, is_wanted) in [
        ("What is the code of the garage?", "4711", true),
        ("What is the code of the garage?", "It is that.", false),
        ("The code of the garage is 4711.", "Noted.", false),
        ("The code of the garage is 4711.", "Okay, done.", false),
        ("The code of the garage is rejected.", "Replace the battery behind the keypad.", true),
    ] {
        let index = said(&[told, answer, "The weather in Oslo is fine."]);
        assert_eq!(found("the code of the garage", &index).contains(&2), is_wanted, "{told} {answer}");
    }
}

#[test]
fn relevance_stays_within_its_bounds() {
    let index = talk(&["Ship W2378156 to Lyon."]);
    let hit = &hits("volcano geyser glacier fjord lagoon W2378156", &index)[0];
    assert!((DEFAULT_MIN_RELEVANCE..0.5).contains(&hit.relevance), "{}", hit.relevance);
}

#[test]
fn what_is_below_the_floor_is_no_hit() {
    let index = talk(&["The ferry to Molde leaves at noon.", "The ferry is late."]);
    let prompt = "when does the ferry to Molde leave, and who plays the trombone?";
    let [searched, recalled] = [Some(Floor::of_search(None)), Floor::of_recall(prompt, None)];
    for floor in [searched, recalled, Floor::of_recall(prompt, Some(0.3))] {
        let floor = floor.unwrap();
        let search = Search::new(Query::new(prompt), vec![index.clone()]);
        let above = search.hits(|hit| floor.admits(hit), 0..100);
        let mut all = hits(prompt, &index);
        assert!(floor.is_reached(&above) && all.len() > above.len() || floor.each == 0.0, "{floor:?}");
        all.retain(|hit| hit.relevance >= floor.each);
        assert_eq!(above, all, "{floor:?}");
    }
    assert!(!Floor::of_search(None).is_reached(&[]));
}

#[test]
fn a_short_reply_asks_for_nothing() {
    let asks_nothing = |prompt| Floor::of_recall(prompt, Some(0.0)).is_none();
    for reply in
        ["thanks!", "ok, go on", "no, that's all", "Yes.", "Danke!", "Sí, gracias.", "Merci !", "好的。"]
    {
        assert!(asks_nothing(reply), "{reply}");
    }
    for prompt in [
        "Thanks. What was the hotel called?",
        "Yes, and what did Marta say about the invoice of May?",
        "Oslo",
        "thanks?",
        "the parrot",
        "INV-4711",
        "",
    ] {
        assert!(!asks_nothing(prompt), "{prompt}");
    }
}
