//! What ranks before what.

use proptest::prelude::*;
use utterd::domain::{
    Role,
    limits::DEFAULT_MIN_RELEVANCE,
    recall::{Hit, Index, Query, Said, Search},
};

use crate::recall::support::{index, of, places, said, score, search, sequences};

#[test]
fn more_and_rarer_words_rank_higher() {
    let index = index(&[
        (1, "tea with milk"),
        (2, "coffee with milk and sugar"),
        (3, "milk for the cat"),
        (4, "something else entirely"),
    ]);
    assert_eq!(sequences(&search("tea milk", &[&index]))[0], 1);
    assert_eq!(sequences(&search("sugar milk", &[&index]))[0], 2);
}

#[test]
fn the_answer_ranks_before_the_question() {
    let says = |sequence, role, content| Said { role, ..said(sequence, content) };
    let index = of([
        says(1, Role::User, "Good morning!"),
        says(2, Role::Assistant, "Which colour shall the kitchen walls have?"),
        says(3, Role::User, "Ochre, with a little grey."),
        says(4, Role::Assistant, "Noted. Anything else?"),
        says(5, Role::User, "No, that is all for today."),
    ]);
    let hits = search("the colour of the kitchen walls", &[&index]);
    assert_eq!(sequences(&hits)[..2], [3, 2]);
}

#[test]
fn what_was_asked_counts_more_for_the_answer_than_what_was_told() {
    fn says(sequence: u64, role: Role, content: &str) -> Said<'_> {
        Said { role, ..said(sequence, content) }
    }
    let answer = |asked: &str| {
        let index = of([
            says(1, Role::User, "Rain again."),
            says(2, Role::Assistant, asked),
            says(3, Role::User, "Ochre."),
            says(4, Role::Assistant, "I noted that."),
            says(5, Role::User, "Thanks, that is all for today."),
        ]);
        let hits = search("kitchen walls", &[&index]);
        hits.iter().find(|hit| hit.sequence == 3).map(|hit| hit.score)
    };
    let asked = answer("I noted the weather today. Which colour for the kitchen walls?");
    let told = answer("I painted the kitchen walls today. Which colour is next now?");
    assert!(asked.is_some() && asked > told, "{asked:?} and {told:?}");
}

#[test]
fn another_speaker_answers_whatever_the_roles() {
    let says = |sequence, name, content| Said { name, ..said(sequence, content) };
    let index = of([
        says(1, "Ann", "Which colour shall the kitchen walls have?"),
        says(2, "Bob", "Ochre."),
        says(3, "Ann", "Fine."),
    ]);
    assert_eq!(sequences(&search("kitchen walls", &[&index]))[0], 2);
}

#[test]
fn what_only_stands_beside_a_match_is_none() {
    let index = index(&[(1, "The hotel in Porto is near the river."), (2, "Noted."), (3, "Fine.")]);
    assert_eq!(sequences(&search("Porto", &[&index])), [1]);
}

#[test]
fn a_named_speaker_counts() {
    let says = |sequence, name, content| Said { name, ..said(sequence, content) };
    let index = of([
        says(1, "Ann", "I started with pottery in the spring."),
        says(2, "Bob", "Ann, pottery is what I started with too."),
        says(3, "Cem", "I never tried pottery."),
    ]);
    for (prompt, first) in
        [("When did Ann start pottery?", 1), ("When did Bob start pottery?", 2), ("Cem's pottery", 3)]
    {
        assert_eq!(sequences(&search(prompt, &[&index]))[0], first, "{prompt}");
    }
}

#[test]
fn who_is_asked_for_counts() {
    let says = |sequence, role| Said { role, ..said(sequence, "A red bicycle with a basket") };
    let index = of([says(1, Role::User), says(2, Role::Assistant)]);
    assert_eq!(sequences(&search("Which bicycle did you recommend?", &[&index]))[0], 2);
    assert_eq!(sequences(&search("Which bicycle did I describe?", &[&index]))[0], 1);
}

#[test]
fn a_long_text_is_ranked_by_its_best_passage() {
    let filler = |word: &str| format!("{word} ").repeat(400);
    let long = format!("{} the harbour pilot boards at dawn {}", filler("paragraph"), filler("chapter"));
    let index = index(&[(1, "the pilot of a plane"), (2, &long), (3, "a harbour"), (4, "dawn")]);
    assert_eq!(sequences(&search("when does the harbour pilot board, at dawn?", &[&index]))[0], 2);
}

#[test]
fn equal_scores_go_by_index_then_newest_first() {
    let one = index(&[(4, "tea"), (7, "tea"), (9, "tea")]);
    let other = index(&[(5, "tea"), (100, "tea")]);
    let found = places(&search("tea", &[&one, &other]));
    assert!(
        found.iter().position(|place| *place == (0, 9)) < found.iter().position(|place| *place == (0, 4))
    );
    assert_eq!(found.len(), 5);
}

#[test]
fn of_equal_utterances_the_newest_is_first() {
    let newest_first = |texts: &[&str]| {
        let index = of((1..).zip(texts).map(|(sequence, text)| said(sequence, text)));
        let found = sequences(&search("tea with milk", &[&index]));
        assert_eq!(found.len(), texts.iter().filter(|text| text.contains("tea")).count(), "{texts:?}");
        assert!(found.is_sorted_by(|one, next| one > next), "{texts:?}: {found:?}");
    };
    for count in 1..40 {
        newest_first(&vec!["I like tea with a drop of milk."; count]);
        // whatever is said between them, and wherever the conversation ends
        let between = ["I like tea.", "Noted.", "The weather is fine.", "Indeed."];
        newest_first(&between.into_iter().cycle().take(count).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_not_eligible_is_no_hit_and_changes_no_score() {
    let index = index(&[(1, "tea"), (2, "tea and cake"), (3, "cake"), (4, "milk")]);
    let query = Query::new("tea");
    let all = score(&query, &[&index], |_| true, 0..10);
    let second = score(&query, &[&index], |hit| hit.sequence == all[1].sequence, 0..1);
    assert_eq!(second, [all[1].clone()]);
}

#[test]
fn relevance_tells_how_much_of_the_prompt_is_covered() {
    let index = index(&[(1, "The boat to Oslo leaves on Sunday"), (2, "Tea"), (3, "Coffee"), (4, "Milk")]);
    let relevance = |prompt: &str| search(prompt, &[&index]).first().map_or(0.0, |hit: &Hit| hit.relevance);
    assert!(relevance("the boat to Oslo") > 0.9);
    let half = relevance("the boat to the volcano");
    assert!((0.2..0.8).contains(&half), "{half}");
    assert!(relevance("Oslo volcano geyser glacier") < half);
}

#[test]
fn a_word_that_nobody_said_is_covered_by_one_of_its_family() {
    let others = (2..50).map(|sequence| said(sequence, "The weather was nice."));
    let texts = |key| of([said(1, key)].into_iter().chain(others.clone()));
    let relevance = |prompt: &str, key| search(prompt, &[&texts(key)])[0].relevance;
    let peanuts = "I am allergic to peanuts.";
    assert!(relevance("food allergies", peanuts) >= DEFAULT_MIN_RELEVANCE);
    assert!(relevance("Which allergies do I have?", peanuts) > 0.8);
    assert!(relevance("Am I allergic?", "My allergies are bad.") > 0.8);
    assert!(relevance("Was there a conclusion?", "We concluded it today.") > 0.8);
    assert!(
        relevance("Which allergies do I have?", "I am allrgic.") < DEFAULT_MIN_RELEVANCE,
        "it is misspelt"
    );
    let both = index(&[(1, "I am allergic to peanuts."), (2, "Allergies are bad.")]);
    assert_eq!(sequences(&search("allergies", &[&both])), [2], "the word itself was said");
}

#[test]
fn a_long_prompt_is_covered_by_a_few_of_its_words_unless_the_others_were_never_said() {
    let index = index(&[
        (1, "The boat to Oslo leaves on Sunday"),
        (11, "We walked on the glacier"),
        (21, "A volcano smoked behind the hills"),
        (31, "The geyser was closed"),
        (41, "Our hut had a sauna"),
        (51, "I lost my compass"),
        (61, "The museum shows whales"),
        (71, "Breakfast was herring"),
    ]);
    let relevance = |prompt: &str| search(prompt, &[&index]).first().map_or(0.0, |hit: &Hit| hit.relevance);
    let said = relevance(
        "Compare the boat, the glacier, the volcano, the geyser, the sauna and the museum with the hut",
    );
    assert!(said >= DEFAULT_MIN_RELEVANCE, "{said}");
    let not = relevance(
        "Compare the boat, the casino, the orchestra, the vineyard and the stadium with the airport",
    );
    assert!(not < DEFAULT_MIN_RELEVANCE, "{not}");
}

#[test]
fn a_page_beyond_the_hits_is_empty() {
    let index = index(&[(1, "tea")]);
    let query = Query::new("tea");
    for page in [0..0, 1..1, 1..2, 5..9, usize::MAX..usize::MAX] {
        assert!(score(&query, &[&index], |_| true, page).is_empty());
    }
    assert_eq!(score(&query, &[&index], |_| true, 0..usize::MAX).len(), 1);
}

#[test]
fn its_size_follows_what_it_holds() {
    let texts: Vec<String> = (0..3_000).map(|n| format!("word{n} tea with milk and word{}", n / 7)).collect();
    let mut index = Index::new();
    index.extend((1..).zip(&texts).map(|(sequence, text)| said(sequence, text)));
    let full = index.heap_bytes();
    index.retain_blocks(|number| number == 1);
    assert!(index.heap_bytes() < full / 2 && index.len() == 1_024);
    assert_eq!((index.newest(), sequences(&search("word1500", &[&index]))[0]), (Some(2_047), 1_501));
}

proptest! {
    /// Adding a word of the prompt to an utterance never lowers its rank.
    #[test]
    fn a_matching_word_more_never_lowers(texts in texts(), pick in any::<usize>(), word in prop::sample::select(WORDS.to_vec())) {
        let mut texts = texts;
        let place = pick % texts.len();
        let rank = |texts: &[String]| {
            // Far enough apart that none counts for its neighbours.
            let alone = texts.iter().flat_map(|text| [text.as_str(), "ochre", "umber", "sienna"]);
            let index = of((1..).zip(alone).map(|(sequence, text)| said(sequence, text)));
            search(word, &[&index]).iter().position(|hit| hit.sequence == 4 * place as u64 + 1)
        };
        let before = rank(&texts);
        texts[place] = format!("{} {word}", texts[place]);
        let after = rank(&texts);
        prop_assert!(after.is_some() && before.is_none_or(|before| after <= Some(before)), "{before:?} {after:?}");
    }

    /// The results are the same whether the utterances are added together or one by one.
    #[test]
    fn steps_do_not_matter(texts in texts(), prompt in prompt()) {
        let all = || (1..).zip(&texts).map(|(sequence, text)| said(sequence * 300, text));
        let mut stepwise = Index::new();
        all().for_each(|one| stepwise.extend([one]));
        stepwise.extend(all());
        prop_assert_eq!(search(&prompt, &[&stepwise]), search(&prompt, &[&of(all())]));
    }

    /// Pages are parts of the whole, and everything is in order.
    #[test]
    fn pages_are_parts(conversations in prop::collection::vec(texts(), 0..4), prompt in prompt(), odd in any::<bool>(), page in (0_usize..6, 0_usize..20)) {
        let indexes: Vec<Index> =
            conversations.iter().map(|texts| of((1..).zip(texts).map(|(sequence, text)| said(sequence, text)))).collect();
        let indexes: Vec<&Index> = indexes.iter().collect();
        let eligible = |hit: &Hit| !odd || hit.sequence % 2 == 1;
        let query = Query::new(&prompt);
        let hits = score(&query, &indexes, eligible, 0..usize::MAX);
        prop_assert!(hits.iter().all(|hit| eligible(hit) && hit.score > 0.0));
        prop_assert!(hits.is_sorted_by(|one, next| one.score >= next.score));
        let shown: Vec<Hit> = hits.iter().skip(page.0).take(page.1).cloned().collect();
        prop_assert_eq!(score(&query, &indexes, eligible, page.0..page.0 + page.1), shown);
        // Results are the same however the utterances are spread over indexes.
        let search = Search::new(query, indexes.iter().map(|index| (*index).clone()).collect());
        let (half, all, most) = (indexes.len() / 2, indexes.len(), page.1);
        let found = [0..half, half..all].map(|part| search.hits_among(part, eligible, most));
        prop_assert_eq!(Hit::first(found.into_iter().flatten(), most), search.hits(eligible, 0..most));
    }
}

const WORDS: [&str; 8] = ["tea", "cups", "lemon", "drink_tea", "paris", "v1.2", "boat", "glacier"];

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prompt(), 1..20)
}

fn prompt() -> impl Strategy<Value = String> {
    let words = [&WORDS[..], &["cup", "drinkTea", "the", "who", "?"]].concat();
    prop::collection::vec(prop::sample::select(words), 0..12).prop_map(|words| words.join(" "))
}
