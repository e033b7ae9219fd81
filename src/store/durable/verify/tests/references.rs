//! Wrong references to a conversation are reported.

use super::good::*;
use crate::{
    domain::{ConversationId, ConversationKey, Namespace, RecipientId, Sequence, Timestamp, UtteranceId},
    store::{
        Due, RecipientKey,
        durable::{
            EngineKind,
            records::{
                self, Active, ConversationName, Dues, GivenIds, ListPlace, Listed, OutcomeAges, Outcomes,
                StateName, StateValues,
            },
            test_conversation::{TestConversation, TestStore},
            verify,
        },
    },
};

#[test]
fn ids_that_do_not_lead_to_their_utterances_are_named() {
    let good = Good::new();
    let key = |id: &str| (DEMO, Box::<str>::from(id));
    let give = |id: &str| UtteranceId::Given(id.into());
    expect([
        (
            good.without::<GivenIds>(key("first")),
            r#"the id "first" does not lead to utterance 2, which has it"#,
        ),
        (
            good.put::<GivenIds>(key("never"), Sequence(7)),
            r#"the id "never" leads to utterance 7, which has another id"#,
        ),
        (
            good.put::<GivenIds>(key("never"), Sequence(77)),
            r#"the id "never" leads to utterance 77, which is not stored"#,
        ),
        (
            good.put::<GivenIds>(key("first"), Sequence(7)),
            r#"the id "first" leads to utterance 7, which has another id"#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("first")),
            r#"the utterances 2 and 9 have the same id "first""#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("third")),
            r#"the id "third" does not lead to utterance 9, which has it"#,
        ),
        (
            good.utterance(2, |utterance| utterance.id = UtteranceId::Assigned(DEMO)),
            r#"the id "first" leads to utterance 2, which has another id"#,
        ),
    ]);
}

#[test]
fn lists_and_due_work_that_are_wrong_are_named() {
    let good = Good::new();
    let identity = &good.demo.head.identity;
    let listed = || ListPlace::of(identity);
    let expiry = good.demo.head.expire_time().unwrap();
    let due = |time| (time, Due::Expired(identity.key.clone()));
    expect([
        (good.without::<Listed>(listed()), "it is not in the list of friend of demo"),
        (
            good.without::<Dues>(due(expiry)),
            &*format!("it is not in the list of due work, but expires at {} µs", expiry.0),
        ),
    ]);
    let mut elsewhere = listed();
    elsewhere.recipient.id = RecipientId::new("eve").unwrap();
    let mut nowhere = listed();
    nowhere.conversation = ConversationId::new("gone").unwrap();
    let start = identity.start_time.0;
    assert_eq!(
        good.put::<Listed>(elsewhere, ()),
        [format!(
            "list entry default/demo of eve at {start} µs: the conversation belongs to friend of demo, at {start} µs"
        )]
    );
    assert_eq!(
        good.put::<Listed>(nowhere, ()),
        [format!("list entry default/gone of friend of demo at {start} µs: there is no such conversation")]
    );
    assert_eq!(
        good.put::<Dues>(due(Timestamp(5)), ()),
        [format!("due work at 5 µs: expiry of default/demo: the conversation expires at {} µs", expiry.0)]
    );
    let other = ConversationKey { id: ConversationId::new("other").unwrap(), ..identity.key.clone() };
    assert_eq!(
        good.put::<Dues>((Timestamp(5), Due::Expired(other)), ()),
        ["due work at 5 µs: expiry of default/other: the conversation never expires"]
    );
    let gone = ConversationKey { id: ConversationId::new("gone").unwrap(), ..identity.key.clone() };
    assert_eq!(
        good.put::<Dues>((Timestamp(5), Due::Expired(gone)), ()),
        ["due work at 5 µs: expiry of default/gone: there is no such conversation"]
    );
}

/// A recipient's own state must be in no list, and belong to that recipient alone.
#[test]
fn a_recipients_state_that_is_wrong_is_named() {
    let files = tempfile::tempdir().unwrap();
    let test_store = TestStore::open(EngineKind::Fjall, files.path());
    let own = TestConversation::own_state(&test_store, "ann", 7).state;
    drop(test_store);
    let good = Good::over(files, own);
    let identity = &good.demo.head.identity;
    assert_eq!(verify(&good.directory, &mut |_| {}).unwrap().conversations, 0);
    assert_eq!(
        good.put::<Listed>(ListPlace::of(identity), ()),
        [format!(
            "list entry default/\u{1}ann of ann at {} µs: it is a recipient's state",
            identity.start_time.0
        )]
    );
    let recipient = RecipientKey { namespace: Namespace::default(), id: identity.recipient.clone() };
    assert_eq!(
        good.put::<Active>(recipient, identity.key.id.clone()),
        ["active conversation of default/ann: it is a recipient's state"]
    );
    let eve = RecipientId::new("eve").unwrap();
    assert_eq!(
        good.edit::<ConversationName>(identity.key.clone(), |identity| identity.recipient = eve),
        ["conversation default/(state of ann): it holds the state of eve"]
    );
    let step = (identity.lineage, StateName("step".into()));
    assert_eq!(
        good.without::<StateValues>(step),
        ["conversation default/(state of ann): its 1 state values are not the 2 in its description"]
    );
}

#[test]
fn active_conversations_that_are_wrong_are_named() {
    let good = Good::new();
    let recipient = |id| RecipientKey { namespace: Namespace::default(), id: RecipientId::new(id).unwrap() };
    let demo = good.demo.key().id.clone();
    assert_eq!(
        good.put::<Active>(recipient("eve"), demo),
        ["active conversation of default/eve: conversation demo belongs to friend of demo"]
    );
    assert_eq!(
        good.put::<Active>(recipient("eve"), ConversationId::new("gone").unwrap()),
        ["active conversation of default/eve: there is no conversation gone"]
    );
}

#[test]
fn outcomes_and_ages_that_do_not_agree_are_named() {
    let good = Good::new();
    let name = outcome_name();
    let key = records::key::<Outcomes>(&name);
    let value = good.directory.pairs().get(&key).unwrap().unwrap();
    let time = records::decode::<Outcomes>(&key, &value).unwrap().1.time;
    assert_eq!(
        good.without::<OutcomeAges>((time, name.clone())),
        [format!(
            "outcome of Memorize demo 1 of default: its time is {} µs, but it has no age record",
            time.0
        )]
    );
    assert_eq!(
        good.without::<Outcomes>(name.clone()),
        [format!("age {} µs of Memorize demo 1 of default: there is no such outcome", time.0)]
    );
    assert_eq!(
        good.put::<OutcomeAges>((Timestamp(9), name.clone()), ()),
        ["age 9 µs of Memorize demo 1 of default: the outcome has another time"]
    );
    assert_eq!(
        good.edit::<Outcomes>(name, |outcome| outcome.time = Timestamp(9)),
        ["outcome of Memorize demo 1 of default: its time is 9 µs, but it has no age record"]
    );
}
