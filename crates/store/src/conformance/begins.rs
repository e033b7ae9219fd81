//! The reads before a call is decided, in one round trip.

use super::support::*;
use crate::{Begin, Newer, StateOf};

/// Creates the active conversation of [`RECIPIENT`].
async fn active(store: &Arc<dyn Store>, id: &str) -> Script {
    let mut script = Script::new(store, id);
    let step = script.saying(users(3)).await;
    let pointers = vec![activating(&script.recipient(), id)];
    script.apply_in(Commit { pointers, ..step.commit() }, &step).await;
    script
}

/// The state that `begin` returns for the recipient's active conversation.
async fn state(
    store: &Arc<dyn Store>,
    recipient: &RecipientKey,
    known: Option<(&ConversationId, ChangeId)>,
) -> Newer {
    let state = Some(StateOf::Active(known));
    let begin = Begin { recipient: Some(recipient), outcome: None, state };
    store.begin(begin).await.expect("it is answered").state
}

/// Each part is returned if it is requested, and only then.
pub async fn a_call_is_told_what_it_asks_for(store: Arc<dyn Store>) {
    let script = active(&store, "c").await;
    let (ann, kept) = (recipient(RECIPIENT), outcome(&script.state, START));
    let outcomes = vec![(attempt("r"), kept.clone())];
    store.commit(Commit { outcomes, ..Commit::default() }).await.expect("nothing is kept yet");

    let nothing = store.begin(Begin::default()).await.expect("it is answered");
    assert_eq!((nothing.active, nothing.outcome, nothing.state), (None, None, Newer::Known));
    let key = attempt("r");
    let all =
        Begin { recipient: Some(&ann), outcome: Some((&key, START)), state: Some(StateOf::Active(None)) };
    let begun = store.begin(all).await.expect("it is answered");
    assert_eq!((begun.active, begun.outcome), (Some(script.key().id.clone()), Some(kept)));
    assert_eq!(begun.state, Newer::State(script.state.clone()));
    let later = Some((&key, Timestamp(START.0 + 1)));
    let late = store.begin(Begin { outcome: later, ..all }).await.expect("it is answered");
    assert_eq!(late.outcome, None, "it is too old");
}

/// A named conversation is returned unless it is in the known state.
pub async fn a_named_state_is_told_unless_it_is_known(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "c");
    let (key, other) = (key("c"), key_in("other", "c"));
    let told = async |key, known| {
        let state = Some(StateOf::One(key, known));
        store.begin(Begin { state, ..Begin::default() }).await.expect("it is answered").state
    };
    assert_eq!(told(&key, None).await, Newer::Absent);
    script.say(users(2)).await;
    let first = script.state.head.change;
    assert_eq!(told(&key, None).await, Newer::State(script.state.clone()));
    assert_eq!(told(&key, Some(first)).await, Newer::Known);
    assert_eq!(told(&other, Some(first)).await, Newer::Absent);
    script.say(vec![user("more")]).await;
    assert_eq!(told(&key, Some(first)).await, Newer::State(script.state.clone()));
    script.delete().await;
    assert_eq!(told(&key, Some(first)).await, Newer::Absent);
}

/// The state of the active conversation is returned unless the known state is of the same conversation.
pub async fn an_active_state_is_told_unless_it_is_known(store: Arc<dyn Store>) {
    let ann = recipient(RECIPIENT);
    assert_eq!(state(&store, &ann, None).await, Newer::Absent);
    let mut script = active(&store, "c").await;
    let (id, other) = (key("c").id, key("other").id);
    let first = script.state.head.change;
    let whole = Newer::State(script.state.clone());
    assert_eq!(state(&store, &ann, None).await, whole);
    assert_eq!(state(&store, &ann, Some((&other, first))).await, whole, "another's state of that name");
    assert_eq!(state(&store, &ann, Some((&id, first))).await, Newer::Known);
    assert_eq!(state(&store, &recipient("bob"), Some((&id, first))).await, Newer::Absent);

    script.say(vec![user("more")]).await;
    assert_eq!(state(&store, &ann, Some((&id, first))).await, Newer::State(script.state.clone()));
    let pointers = vec![PointerWrite { before: Some(id.clone()), after: None, recipient: ann.clone() }];
    store.commit(Commit { pointers, ..Commit::default() }).await.expect("it is the active one");
    assert_eq!(state(&store, &ann, Some((&id, script.state.head.change))).await, Newer::Absent);
}
