//! Wrong references to a conversation are reported.

use super::good::*;
use crate::{
    domain::{
        ConversationId, ConversationKey, Identity, Namespace, RecipientId, Sequence, Timestamp, UtteranceId,
    },
    store::{
        Due, RecipientKey,
        durable::{
            EngineKind,
            records::{
                self, Active, ConversationName, Dues, GivenIds, ListPlace, Listed, OutcomeAges, Outcomes,
                StateName, StateValues,
            },
            tests::conversation::{TestConversation, TestStore},
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
            r#"the id "never" leads to utterance 7, which does not have it"#,
        ),
        (
            good.put::<GivenIds>(key("never"), Sequence(77)),
            r#"the id "never" leads to utterance 77, which does not have it"#,
        ),
        (
            good.put::<GivenIds>(key("first"), Sequence(7)),
            r#"the id "first" leads to utterance 7, but utterance 2 has it"#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("first")),
            r#"the id "first" does not lead to utterance 9, which has it"#,
        ),
        (
            good.utterance(9, |utterance| utterance.id = give("third")),
            r#"the id "third" does not lead to utterance 9, which has it"#,
        ),
        (
            good.utterance(2, |utterance| utterance.id = UtteranceId::Assigned(DEMO)),
            r#"the id "first" leads to utterance 2, which does not have it"#,
        ),
    ]);
}

fn listed(identity: &Identity) -> ListPlace {
    let (ConversationKey { namespace, id }, recipient) = (identity.key.clone(), identity.recipient.clone());
    ListPlace { owner: (namespace, recipient), time: identity.start_time, conversation: id }
}

#[test]
fn lists_and_due_work_that_are_wrong_are_named() {
    let good = Good::new();
    let identity = &good.demo.head.identity;
    let listed = || listed(identity);
    let expiry = good.demo.head.expire_time().unwrap();
    let due = |time| (time, Due::Expired(identity.key.clone()));
    let start = identity.start_time.0;
    let list_entry = |id, recipient| format!("list entry default/{id} of {recipient} at {start} µs");
    let due_work = |time, id| format!("due work at {time} µs: expiry of default/{id}");
    expect([
        (good.without::<Listed>(listed()), &*format!("there is no {}", list_entry("demo", "friend of demo"))),
        (good.without::<Dues>(due(expiry)), &*format!("there is no {}", due_work(expiry.0, "demo"))),
    ]);
    let mut elsewhere = listed();
    elsewhere.owner.1 = RecipientId::new("eve").unwrap();
    let mut nowhere = listed();
    nowhere.conversation = ConversationId::new("gone").unwrap();
    let uncalled = |entry: String| [format!("{entry}: nothing stored calls for it")];
    assert_eq!(good.put::<Listed>(elsewhere, ()), uncalled(list_entry("demo", "eve")));
    assert_eq!(good.put::<Listed>(nowhere, ()), uncalled(list_entry("gone", "friend of demo")));
    assert_eq!(good.put::<Dues>(due(Timestamp(5)), ()), uncalled(due_work(5, "demo")));
    for id in ["other", "gone"] {
        let key = ConversationKey { id: ConversationId::new(id).unwrap(), ..identity.key.clone() };
        assert_eq!(good.put::<Dues>((Timestamp(5), Due::Expired(key)), ()), uncalled(due_work(5, id)));
    }
}

/// A recipient's own state must be in no list, and belong to that recipient alone.
#[test]
fn a_recipients_state_that_is_wrong_is_named() {
    let files = tempfile::tempdir().unwrap();
    let test_store = TestStore::open(EngineKind::Fjall, files.path());
    let own = TestConversation::own_state(&test_store, "ann", 7);
    drop(test_store);
    let good = Good::over(files, own);
    let identity = &good.demo.head.identity;
    assert_eq!(verify(&good.directory, &mut |_| {}).unwrap().conversations, 0);
    assert_eq!(
        good.put::<Listed>(listed(identity), ()),
        [format!(
            "list entry default/\u{1}ann of ann at {} µs: nothing stored calls for it",
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
    let [outcome, age] = ["outcome of Memorize demo 1 of default", "age {} µs of Memorize demo 1 of default"];
    let age = |time: i64| age.replace("{}", &time.to_string());
    assert_eq!(
        good.without::<OutcomeAges>((time, name.clone())),
        [format!("{outcome}: there is no {}", age(time.0))]
    );
    let uncalled = |time| format!("{}: nothing stored calls for it", age(time));
    assert_eq!(good.without::<Outcomes>(name.clone()), [uncalled(time.0)]);
    assert_eq!(good.put::<OutcomeAges>((Timestamp(9), name.clone()), ()), [uncalled(9)]);
    assert_eq!(
        good.edit::<Outcomes>(name, |outcome| outcome.time = Timestamp(9)),
        [format!("{outcome}: there is no {}", age(9)), uncalled(time.0)]
    );
}
