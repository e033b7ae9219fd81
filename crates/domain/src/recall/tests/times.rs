use super::assert_finds;
use crate::{
    Role,
    recall::{Index, Query, Said, Search},
};

#[test]
fn a_word_that_may_be_a_time_is_a_word_too() {
    assert_finds(&[
        ("May", "Colleague May brought dumplings."),
        ("August", "Godson August learned swimming."),
        ("Friday", "The parrot is called Friday."),
        ("Black Friday", "They queue on Black Friday."),
        ("March", "He wrote a march for brass."),
        ("Today", "Startup Today Inc folded."),
        ("Juni", "Tante Juni kocht gerne für uns alle."),
        ("Domingo", "Plácido Domingo cantó en la gala."),
    ]);
}

#[test]
fn a_time_is_told_by_its_words_or_by_when_something_was_said() {
    const DAY: u32 = 24 * 60;
    // noon of 15 March 2024
    let now = 19_797 * DAY + DAY / 2;
    let texts = [(now - 300 * DAY, "The garden looks fine."), (now - DAY, "The garden looks fine.")];
    let mut index = Index::new();
    index.extend((1..).zip(texts).map(|(sequence, (minute, content))| Said {
        sequence,
        role: Role::User,
        name: "",
        minute,
        content,
        calls: Vec::new(),
    }));
    let relevances = |prompt: &str| {
        let hits = Search::new(Query::new(prompt).at(now), vec![index.clone()]).hits(|_| true, 0..2);
        hits.iter().map(|hit| (hit.sequence, hit.relevance)).collect::<Vec<_>>()
    };
    for (prompt, first) in [("the garden in May", 1), ("the garden yesterday", 2)] {
        let found = relevances(prompt);
        assert!(found[0].0 == first && found[0].1 > 0.99 && found[1].1 < 0.9, "{prompt}: {found:?}");
    }
}
