//! Request ids: a repeated attempt gets its first outcome and changes nothing.

use utterd::proto::state_value::Value;

use crate::support::prelude::*;

fn attempt(id: &str, text: &str) -> MemorizeRequest {
    MemorizeRequest { request_id: id.to_owned(), ..memorize(vec![user(text)]) }
}

on_each_store! {
    an_id_is_free_after_24_hours
    every_replay_is_the_first_answer
    a_replay_after_a_hard_forget_holds_no_text
    a_replay_after_a_deletion_tells_of_no_other_conversation
}

#[tokio::test]
async fn an_id_is_free_after_24_hours() {
    let session = Session::new().await;
    session.memory().memorize(attempt("r", "hello")).await.reply();
    session.clock.advance(Duration::from_secs(24 * 3_600));
    assert!(session.memory().memorize(attempt("r", "hello")).await.reply().replayed, "24 hours are kept");
    session.clock.advance(Duration::from_micros(1));
    let later = session.memory().memorize(attempt("r", "another text")).await.reply();
    assert_eq!((later.replayed, later.revision), (false, 1));
    assert_ne!(later.ended_conversation_id, "", "a day later it is another conversation");
    session.clock.advance(Duration::from_secs(24 * 3_600 + 1));
    session.server.engine().sweep().await.unwrap();
    assert!(!session.memory().memorize(attempt("r", "and one more")).await.reply().replayed);
}

/// Calls twice, and does what is `$between`; the responses must be equal except for `replayed` and what `$but`
/// removes from both. Returns the first one.
macro_rules! is_repeated {
    ($client:expr, $call:ident, $request:expr $(, $but:expr)? $(; $between:expr)?) => {{
        let request = $request;
        let first = $client.$call(request.clone()).await.reply();
        $($between;)?
        let mut again = $client.$call(request).await.reply();
        assert!(again.replayed && !first.replayed, concat!(stringify!($call), ": {:?}"), again);
        again.replayed = false;
        #[allow(unused_mut)] // if there is no exception
        let mut both = [first.clone(), again];
        $(both.iter_mut().for_each($but);)?
        assert_eq!(both[0], both[1], stringify!($call));
        first
    }};
}

/// Every call with a request id repeats its first response. A replay does not know what was irregular or how
/// the summary changed.
#[tokio::test]
async fn every_replay_is_the_first_answer() {
    let session = Session::new().await;
    let id = || "same".to_owned();
    let (memory, conversations) = (|| session.memory(), || session.conversations());
    let create = CreateConversationRequest { request_id: id(), title: "A".to_owned(), ..Default::default() };
    is_repeated!(conversations(), create_conversation, create);
    session.say_many(20).await;
    let said =
        is_repeated!(memory(), memorize, attempt("same", "the 21st"), |response| response.summary = None);
    assert!(said.evicted.len() > 1 && said.summary.is_some());
    let (oldest, newest) = (said.evicted[0].utterance_id.clone(), said.memorized[0].utterance_id.clone());

    let orphan = NewUtterance { tool_call_id: "none".to_owned(), role: Role::Tool.into(), ..user("42") };
    let lenient =
        MemorizeRequest { request_id: "odd".to_owned(), lenient: true, ..memorize(vec![orphan, user("so")]) };
    let odd = is_repeated!(memory(), memorize, lenient, |response| response.irregularities.clear());
    assert_eq!(odd.irregularities.len(), 1);

    let pin = |utterance_id: &str, more: UpdateUtteranceRequest| UpdateUtteranceRequest {
        utterance_id: utterance_id.to_owned(),
        ..more
    };
    let edit = |id: &str, mode: EditMode| UpdateUtteranceRequest {
        request_id: id.to_owned(),
        content: "said anew".to_owned(),
        update_mask: mask(&["content"]),
        edit_mode: mode.into(),
        ..Default::default()
    };
    is_repeated!(conversations(), update_utterance, pin(&oldest, edit("a", EditMode::InPlace)));
    is_repeated!(conversations(), update_utterance, pin(&newest, edit("b", EditMode::InPlace)));
    let unchanged = pin(&newest, edit("c", EditMode::InPlace));
    is_repeated!(conversations(), update_utterance, unchanged);
    let forked = is_repeated!(conversations(), update_utterance, pin(&newest, edit("d", EditMode::Fork)));
    assert!(forked.utterance.is_some() && !forked.forked_conversation_id.is_empty());

    let soft = ForgetRequest { request_id: id(), ..forget("last:2", ForgetMode::Soft) };
    let forgotten = is_repeated!(memory(), forget, soft).forgotten;
    let utterance_ids: Vec<_> = forgotten.into_iter().map(|utterance| utterance.utterance_id).collect();
    let restore = RestoreRequest { request_id: id(), utterance_ids, ..Default::default() };
    assert!(!is_repeated!(memory(), restore, restore).restored.is_empty());
    let hard = ForgetRequest { request_id: "hard".to_owned(), ..forget("newest", ForgetMode::Hard) };
    let gone = is_repeated!(memory(), forget, hard);
    assert_eq!((gone.forgotten.len(), gone.forgotten[0].role), (1, Role::User.into()));

    let fork = ForkConversationRequest { request_id: id(), at_sequence: Some(10), ..Default::default() };
    is_repeated!(conversations(), fork_conversation, fork);
    let policy = Policy { max_utterances: Some(16), ..Default::default() };
    let update = UpdateConversationRequest { request_id: id(), ..policy_update(policy) };
    let updated =
        is_repeated!(conversations(), update_conversation, update, |response| response.summary = None);
    assert!(!updated.evicted.is_empty() && updated.summary.is_some());

    let (compactions, keep_recent) = (|| session.compactions(), Some(3));
    let undo = |id: &str| UndoCompactionRequest { request_id: id.to_owned(), ..Default::default() };
    is_repeated!(compactions(), undo_compaction, undo("a"));
    let wide = policy_update(Policy { max_utterances: Some(100), ..Default::default() });
    session.conversations().update_conversation(wide).await.reply();
    session.say_many(40).await;
    let compact = CompactConversationRequest { request_id: id(), keep_recent, ..Default::default() };
    assert!(is_repeated!(compactions(), compact_conversation, compact).compaction.is_some());
    assert!(!is_repeated!(compactions(), undo_compaction, undo("b")).restored.is_empty());
    for (id, answer) in [("a", CompactionAnswer::NotNow), ("b", CompactionAnswer::CompactNow)] {
        let keep_recent = keep_recent.filter(|_| answer == CompactionAnswer::CompactNow);
        let (request_id, answer) = (id.to_owned(), answer.into());
        let answer = AnswerCompactionPromptRequest { request_id, answer, keep_recent, ..Default::default() };
        is_repeated!(compactions(), answer_compaction_prompt, answer);
    }
    let conversation_id = said.conversation_id;
    let end = EndConversationRequest { request_id: id(), conversation_id, ..Default::default() };
    assert!(is_repeated!(conversations(), end_conversation, end).conversation.unwrap().end_time.is_some());
}

/// Of what was hard-forgotten, a replay has what it had at first: references, and no text.
#[tokio::test]
async fn a_replay_after_a_hard_forget_holds_no_text() {
    let session = Session::new().await;
    let mut utterance = user("my secret is xyzzy");
    utterance.utterance_id = "mine".to_owned();
    utterance.name = "xyzzy".to_owned();
    let request = || MemorizeRequest {
        request_id: "r".to_owned(),
        ..memorize(vec![utterance.clone(), user("and on")])
    };
    let first = session.memory().memorize(request()).await.reply();
    let pin = UpdateUtteranceRequest {
        utterance_id: "mine".to_owned(),
        update_mask: mask(&["metadata"]),
        metadata: [("kind".to_owned(), "xyzzy".to_owned())].into(),
        request_id: "pin".to_owned(),
        ..Default::default()
    };
    session.conversations().update_utterance(pin.clone()).await.reply();
    session.forget("sequence:1", ForgetMode::Hard).await;
    let again = session.memory().memorize(request()).await.reply();
    assert!(again.replayed);
    assert!(!format!("{again:?}").contains("xyzzy"), "{again:?}");
    assert_eq!(again, MemorizeResponse { replayed: true, ..first });
    assert_eq!(again.memorized[0].utterance_id, "mine");
    let pinned = session.conversations().update_utterance(pin).await.reply();
    assert!(pinned.replayed && pinned.utterance.is_none(), "{pinned:?}");
}

/// A replay after the conversation was deleted tells what happened then, and nothing of a new one with its id.
#[tokio::test]
async fn a_replay_after_a_deletion_tells_of_no_other_conversation() {
    let session = Session::new().await;
    let request = || MemorizeRequest { conversation_id: "c".to_owned(), ..attempt("r", "the old secret") };
    let first = session.memory().memorize(request()).await.reply();
    session.delete("c").await;
    session.clock.advance(Duration::from_secs(1));
    let create = CreateConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    session.conversations().create_conversation(create).await.reply();
    let again = session.memory().memorize(request()).await.reply();
    assert_eq!((again.replayed, &again.memorized), (true, &first.memorized));
    let capacity = again.capacity.unwrap();
    assert_eq!((capacity.utterance_count, capacity.recipient_id.as_str()), (Some(1), ""));
    let get = GetConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    let conversation = session.conversations().get_conversation(get).await.reply().conversation.unwrap();
    assert_eq!((conversation.revision, conversation.utterance_count), (1, Some(0)));
}

/// A conversation with exchanges of different lengths, twelve of its utterances in the window.
async fn talk() -> Session {
    let session = Session::new().await;
    session
        .create_with(Policy { max_utterances: Some(12), keep_utterances: Some(12), ..Default::default() })
        .await;
    for number in 1..=8 {
        session.say(vec![user(&"so it is ".repeat(number)), assistant("I see.")]).await;
    }
    session
}

/// Says more, and edits, forgets and evicts what there is.
async fn disturb(session: &Session) {
    session.say(vec![user("And what now?"), assistant("We go on.")]).await;
    for utterance in session.stored().await {
        let instructions = format!("sequence:{}", utterance.sequence);
        // some cannot be edited any more, or are gone with their exchange
        match utterance.sequence % 4 {
            0 => drop(session.memory().forget(forget(&instructions, ForgetMode::Hard)).await),
            1 => drop(session.memory().forget(forget(&instructions, ForgetMode::Soft)).await),
            _ => drop(session.conversations().update_utterance(edit(&utterance.utterance_id)).await),
        }
    }
    let few = Policy { max_utterances: Some(4), keep_utterances: Some(4), ..Default::default() };
    session.update_policy(few).await;
}

fn edit(utterance_id: &str) -> UpdateUtteranceRequest {
    UpdateUtteranceRequest {
        utterance_id: utterance_id.to_owned(),
        content: "said in many more words than before, and at greater length".to_owned(),
        update_mask: mask(&["content"]),
        ..Default::default()
    }
}

/// The call is repeated after what it named was edited, forgotten or evicted.
macro_rules! outlasts {
    ($session:expr, $client:ident, $call:ident, $request:expr $(, $but:expr)?) => {{
        let (session, mut request) = ($session, $request);
        request.request_id = "again".to_owned();
        is_repeated!(session.$client(), $call, request $(, $but)?; disturb(&session).await)
    }};
}

/// Whatever is edited, forgotten or evicted after a call, its replay has the first outcome. Texts are of the moment:
/// those of conversations, utterances, compactions and summaries.
#[tokio::test]
async fn a_replay_is_the_first_outcome_whatever_happened_since() {
    let many = vec![user("One more thing."), assistant("Yes?"), user("It rains."), assistant("So it does.")];
    let said = outlasts!(talk().await, memory, memorize, memorize(many.clone()), |it| it.summary = None);
    assert_eq!((said.memorized.len(), said.evicted.len()), (4, 4));
    let instead = MemorizeRequest { replace_after: Some(8), ..memorize(many) };
    let replaced = outlasts!(talk().await, memory, memorize, instead, |it| it.summary = None);
    assert_eq!((replaced.memorized.len(), replaced.removed.len()), (4, 8));

    let told = |mode| forget("sequence:2-9", mode);
    let soft = outlasts!(talk().await, memory, forget, told(ForgetMode::Soft));
    let hard = outlasts!(talk().await, memory, forget, told(ForgetMode::Hard));
    for forgotten in [soft.forgotten, hard.forgotten] {
        assert!(forgotten.len() == 8 && forgotten.iter().all(|it| it.token_count > Some(0)), "{forgotten:?}");
    }
    let session = talk().await;
    let forgotten = session.forget("last:3", ForgetMode::Soft).await.forgotten;
    let utterance_ids = forgotten.into_iter().map(|utterance| utterance.utterance_id).collect();
    let restore = RestoreRequest { utterance_ids, ..Default::default() };
    assert_eq!(outlasts!(session, memory, restore, restore).restored.len(), 3);

    let create = CreateConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    outlasts!(talk().await, conversations, create_conversation, create, |it| it.conversation = None);
    let few = Policy { max_utterances: Some(6), keep_utterances: Some(6), ..Default::default() };
    let small = policy_update(few);
    let updated = outlasts!(talk().await, conversations, update_conversation, small, |it| {
        (it.summary, it.conversation) = (None, None);
    });
    assert!(!updated.evicted.is_empty());
    let session = talk().await;
    let in_place = edit(&session.id_of(14).await);
    let edited = outlasts!(session, conversations, update_utterance, in_place, |it| it.utterance = None);
    assert!(edited.utterance.is_some());
    let session = talk().await;
    let in_fork =
        UpdateUtteranceRequest { edit_mode: EditMode::Fork.into(), ..edit(&session.id_of(14).await) };
    outlasts!(session, conversations, update_utterance, in_fork, |it| it.utterance = None);
    let fork = ForkConversationRequest { at_sequence: Some(13), ..Default::default() };
    outlasts!(talk().await, conversations, fork_conversation, fork, |it| it.conversation = None);
    let state = StateValue { name: "plan".to_owned(), value: Some(Value::Json("1".to_owned())), version: 0 };
    let change = Some(StateChange { set: vec![state], ..Default::default() });
    let state = UpdateStateRequest { change, ..Default::default() };
    outlasts!(talk().await, conversations, update_state, state);

    let session = long_talk().await;
    let compact = CompactConversationRequest { keep_recent: Some(5), ..Default::default() };
    outlasts!(session, compactions, compact_conversation, compact.clone(), |it| {
        (it.compaction, it.summary) = (None, String::new());
    });
    let session = long_talk().await;
    let advised = AnswerCompactionPromptRequest {
        answer: CompactionAnswer::CompactNow.into(),
        keep_recent: Some(5),
        ..Default::default()
    };
    outlasts!(session, compactions, answer_compaction_prompt, advised, |it| {
        (it.compaction, it.summary) = (None, String::new());
    });
    let session = long_talk().await;
    session.compactions().compact_conversation(compact).await.reply();
    let undo = UndoCompactionRequest::default();
    let undone = outlasts!(session, compactions, undo_compaction, undo, |it| it.compaction = None);
    assert!(undone.restored.len() > 20);
    let end = EndConversationRequest::default();
    outlasts!(talk().await, conversations, end_conversation, end, |it| it.conversation = None);
}

/// A conversation that is long enough to be compacted.
async fn long_talk() -> Session {
    let session = Session::new().await;
    session.create_with(Policy { max_utterances: Some(0), ..Default::default() }).await;
    session.say_many(40).await;
    session
}
