//! Sentences in a summary.

use super::*;

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

/// An answer of one word is what its question was asked for; the same words without a question are none.
#[test]
fn a_short_answer_is_kept_with_its_question() {
    let talks = [
        ("Where is the salt cathedral?", "In Zipaquirá."),
        ("What is the capital of France?", "Paris."),
        ("How many nodes does the cluster have?", "42."),
        ("Which branch should I rebase onto?", "`main`."),
        ("Wo steht der Dom?", "In Köln."),
        ("盐大教堂在哪里？", "在锡帕基拉。"),
        ("ソルト大聖堂はどこですか？", "シパキラです。"),
        ("أين تقع كاتدرائية الملح؟", "في زيباكيرا."),
    ];
    for (question, answer) in talks {
        let mut source = vec![said(1, Role::User, question), said(2, Role::Assistant, answer)];
        for turn in 0..10 {
            source.push(said(3 + 2 * turn, Role::User, &format!("Day {turn}")));
            source.push(said(4 + 2 * turn, Role::Assistant, "It rains in Bogotá."));
        }
        let told = text(source, &Focus::none(), 120);
        assert!(told.contains(&format!("Assistant: {}\n", answer.replace('`', ""))), "{told}");
    }
    let idle = vec![said(1, Role::User, "Thanks, Ana"), said(2, Role::Assistant, "My pleasure.")];
    assert!(!text(idle, &Focus::none(), 120).contains("pleasure"));
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
    let said = "Goal: I want to send three parcels to my aunt in Lisbon before the holidays begin.\n\
        User: My account is ann_lee_77, and please deduct the voucher of $250 from what I owe you.\n";
    let told = |budget| text(source.clone(), &Focus::none(), budget);
    assert_eq!(told(60), format!("{said}Assistant mentioned: TR-901; on 2024-12-03\n"));
    let sentence =
        "Assistant: Both can go with transport TR-901 on 2024-12-03, which arrives a week later.\n";
    assert_eq!(told(90), format!("{said}{sentence}ann_lee_77: PX-4411\nPX-4410: weight 12kg\n"));
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
