//! Forget: what an instruction selects, soft or hard.

use tonic::Code;
use utterd::proto::{
    ForgetMode, ForgetRequest, ForgetResponse, ListUtterancesRequest, NewUtterance, RememberRequest,
    SummarizeRequest, UtteranceState, WarningKind,
};

use crate::support::session::{
    Reply, Session, assistant, calls, forget, memorize, ranges, result, sequences, sequences_of, system, user,
};

/// Two turns, an exchange in the second: sequences 1 to 7.
async fn talk() -> Session {
    let session = Session::new().await;
    let named = NewUtterance { name: "Ann".to_owned(), ..user("What is the capital of France?") };
    session
        .say(vec![
            system("Be brief."),
            named,
            assistant("Paris is the capital of France."),
            user("And its weather?"),
            calls(&["w"]),
            result("w", "Sunny in Paris, 21 degrees"),
            assistant("Sunny."),
        ])
        .await;
    session
}

/// The kinds of a response's warnings.
fn warned(response: &ForgetResponse) -> Vec<WarningKind> {
    response.warnings.iter().map(|warning| warning.kind()).collect()
}

/// Instructions, each with what it selects in [`talk`].
const SELECTIONS: [(&str, &[i64]); 17] = [
    ("oldest", &[2]),
    ("newest", &[7]),
    ("last:2", &[5, 6, 7]),
    ("position:3", &[3]),
    ("position:3-4", &[3, 4]),
    ("before:turn_2", &[2, 3]),
    ("after:turn_1", &[4, 5, 6, 7]),
    ("turn:2", &[4, 5, 6, 7]),
    ("speaker:user", &[2, 4]),
    ("speaker:tool", &[5, 6]),
    ("speaker:system", &[1]),
    ("name:Ann", &[2]),
    ("sequence:1", &[1]),
    ("sequence:3-4", &[3, 4]),
    ("about:Paris", &[3, 5, 6]),
    ("all", &[2, 3, 4, 5, 6, 7]),
    ("forget everything the user said", &[2, 4]),
];

on_each_store! {
    hard_forgotten_utterances_are_gone
    the_archive_and_the_summary_forget
}

/// Selecting part of a unit selects all of it; head instructions are only forgotten if they are named.
#[tokio::test]
async fn an_instruction_selects_whole_units() {
    let session = talk().await;
    for (instructions, selected) in SELECTIONS {
        let dry = ForgetRequest { dry_run: true, ..forget(instructions, ForgetMode::Hard) };
        let response = session.memory().forget(dry).await.reply();
        assert_eq!(sequences(&response.forgotten), selected, "{instructions}");
        assert_eq!(
            response.capacity.unwrap().utterance_count,
            Some(7 - selected.len() as i32),
            "{instructions}"
        );
    }
    assert_eq!(session.capacity().await.revision, 1, "nothing was forgotten");
}

#[tokio::test]
async fn a_dry_run_tells_what_the_call_does() {
    for mode in [ForgetMode::Soft, ForgetMode::Hard] {
        let session = talk().await;
        let dry = ForgetRequest { dry_run: true, ..forget("turn:2", mode) };
        let mut told = session.memory().forget(dry).await.reply();
        assert_eq!(session.window().await.len(), 7);
        let expected_revision = Some(told.revision);
        let request = ForgetRequest { expected_revision, ..forget("turn:2", mode) };
        let done = session.memory().forget(request).await.reply();
        told.revision += 1;
        told.capacity.as_mut().unwrap().revision += 1;
        assert_eq!(done, told);
    }
}

/// A selection of nothing says so, in every form, in a dry run, and when repeated.
#[tokio::test]
async fn a_selection_of_nothing_warns() {
    let session = talk().await;
    for instructions in ["position:99", "turn:7-8", "about:Tokyo", "name:Bob", "the messages about Tokyo"] {
        let dry = ForgetRequest { dry_run: true, ..forget(instructions, ForgetMode::Soft) };
        for request in [dry, forget(instructions, ForgetMode::Hard)] {
            let response = session.memory().forget(request).await.reply();
            assert_eq!(warned(&response), [WarningKind::NothingForgotten], "{instructions}");
            assert!(response.warnings[0].text.contains(&response.understood_as), "{response:?}");
        }
    }
    let named = ForgetRequest { request_id: "r".to_owned(), ..forget("position:99", ForgetMode::Soft) };
    let first = session.memory().forget(named.clone()).await.reply();
    let replayed = session.memory().forget(named).await.reply();
    assert!(replayed.replayed && replayed.warnings == first.warnings);
    assert!(session.forget("position:2", ForgetMode::Soft).await.warnings.is_empty());
}

#[tokio::test]
async fn the_response_names_the_mode() {
    let session = talk().await;
    for (asked, done) in [
        (ForgetMode::Unspecified, ForgetMode::Soft),
        (ForgetMode::Soft, ForgetMode::Soft),
        (ForgetMode::Hard, ForgetMode::Hard),
    ] {
        assert_eq!(session.forget("newest", asked).await.mode(), done);
    }
}

/// A forgotten utterance keeps its place, counts nothing, and appears nowhere.
#[tokio::test]
async fn soft_forgotten_utterances_keep_their_places() {
    let session = talk().await;
    let before = session.capacity().await;
    let response = session.forget("about:Paris", ForgetMode::Soft).await;
    assert_eq!((response.revision, response.understood_as.as_str()), (2, "about:Paris"));
    assert_eq!(sequences(&response.forgotten), [3, 5, 6]);
    let positions: Vec<_> = response.forgotten.iter().map(|utterance| utterance.position).collect();
    assert_eq!(positions, [Some(3), Some(5), Some(6)]);
    let after = response.capacity.unwrap();
    assert_eq!((after.utterance_count, after.soft_deleted_count), (Some(7), Some(3)));
    let gone: i32 = response.forgotten.iter().map(|utterance| utterance.token_count()).sum();
    assert_eq!(after.token_count, Some(before.token_count.unwrap() - gone));
    assert_eq!(sequences_of(&session.window().await), [1, 2, 4, 7]);
    let with_forgotten = ListUtterancesRequest { include_forgotten: true, ..Default::default() };
    let listed = session.list(with_forgotten).await;
    assert_eq!(listed.len(), 7);
    assert_eq!((listed[2].state, listed[2].position), (UtteranceState::Forgotten.into(), Some(3)));
    let find = RememberRequest { prompt: "Paris".to_owned(), ..Default::default() };
    let found = session.memory().remember(find).await.reply().matches;
    assert!(found.iter().all(|found| ![3, 5, 6].contains(&found.utterance.as_ref().unwrap().sequence)));
    let text = session.memory().summarize(SummarizeRequest::default()).await.reply().text;
    assert!(!text.contains("Paris"), "{text}");
    let again = session.forget("about:Paris", ForgetMode::Soft).await;
    assert!(again.forgotten.is_empty() && again.revision == 2, "there is nothing more to forget");
    assert_eq!(warned(&again), [WarningKind::NothingForgotten]);
}

#[tokio::test]
async fn hard_forgotten_utterances_are_gone() {
    let session = talk().await;
    let response = session.forget("about:Paris", ForgetMode::Hard).await;
    assert_eq!(sequences(&response.forgotten), [3, 5, 6]);
    assert!(response.forgotten.iter().all(|utterance| utterance.position.is_none()));
    assert_eq!(response.capacity.unwrap().utterance_count, Some(4));
    let left = session.stored().await;
    assert_eq!(sequences_of(&left), [1, 2, 4, 7]);
    assert_eq!(
        left.iter().map(|utterance| utterance.position).collect::<Vec<_>>(),
        (1..=4).map(Some).collect::<Vec<_>>()
    );
    assert!(!format!("{left:?}").contains("Paris"));
    let next = session.say(vec![user("next")]).await;
    assert_eq!(next.memorized[0].sequence, 8, "a sequence is never used again");
    let late = session.memory().memorize(memorize(vec![result("w", "late")])).await.refusal();
    late.is(Code::FailedPrecondition, "NO_OPEN_CALL");
}

/// Soft-forgotten utterances can be hard-forgotten.
#[tokio::test]
async fn a_hard_forget_reaches_the_soft_forgotten() {
    let session = talk().await;
    session.forget("turn:1", ForgetMode::Soft).await;
    let response = session.forget("turn:1", ForgetMode::Hard).await;
    assert_eq!(sequences(&response.forgotten), [2, 3]);
    assert_eq!(response.capacity.unwrap().soft_deleted_count, Some(0));
    assert_eq!(sequences_of(&session.stored().await), [1, 4, 5, 6, 7]);
}

/// A call that waits for results is no longer open once it is forgotten.
#[tokio::test]
async fn a_forgotten_exchange_takes_no_results() {
    for mode in [ForgetMode::Soft, ForgetMode::Hard] {
        let session = Session::new().await;
        session.say(vec![user("go"), calls(&["a", "b"]), result("a", "1")]).await;
        let response = session.forget("speaker:tool", mode).await;
        assert_eq!(sequences(&response.forgotten), [2, 3]);
        let late = session.memory().memorize(memorize(vec![result("b", "2")])).await.refusal();
        late.is(Code::FailedPrecondition, "NO_OPEN_CALL").says("no call is open");
    }
}

/// Also in the archive, and in the segments that cover it.
#[tokio::test]
async fn the_archive_and_the_summary_forget() {
    for mode in [ForgetMode::Soft, ForgetMode::Hard] {
        let session = Session::new().await;
        session.say(vec![user("The booking is xyzzy-4711."), user("The meeting is on 12 May 2026.")]).await;
        session.say_many(19).await;
        let before = session.summary().await;
        assert!(before.text.contains("xyzzy-4711") && before.text.contains("12 May"), "{}", before.text);
        assert_eq!(ranges(&before.segments[0].covers), [(1, 5)]);
        let response = session.forget("about:xyzzy-4711", mode).await;
        assert_eq!((sequences(&response.forgotten), response.rebuilt_segments), (vec![1], Some(1)));
        let after = session.summary().await;
        assert!(!after.text.contains("xyzzy") && after.text.contains("12 May"), "{}", after.text);
        let covers = match mode {
            ForgetMode::Hard => (2, 5),
            _ => (1, 5),
        };
        assert_eq!(ranges(&after.segments[0].covers), [covers]);
        assert!(after.token_count < before.token_count);
        let archived = session.capacity().await.archived_utterance_count;
        assert_eq!(archived, Some(if mode == ForgetMode::Hard { 4 } else { 5 }));
        let find = RememberRequest { prompt: "booking xyzzy-4711".to_owned(), ..Default::default() };
        assert!(session.memory().remember(find).await.reply().matches.is_empty());
    }
}

/// Positions and counts refer to the window; everything else also reaches the archive.
#[tokio::test]
async fn positions_are_the_windows() {
    let session = Session::new().await;
    session.say_many(21).await;
    let dry = |text: &str| ForgetRequest { dry_run: true, ..forget(text, ForgetMode::Soft) };
    for (instructions, selected) in
        [("oldest", 6), ("position:1", 6), ("before:turn_2", 1), ("sequence:3", 3)]
    {
        let response = session.memory().forget(dry(instructions)).await.reply();
        assert_eq!(sequences(&response.forgotten), [selected], "{instructions}");
    }
    let all = session.memory().forget(dry("all")).await.reply();
    assert_eq!(sequences(&all.forgotten), (1..=21).collect::<Vec<_>>());
}

#[tokio::test]
async fn everything_can_be_forgotten() {
    let session = talk().await;
    session.say_many(20).await;
    let response = session.forget("all", ForgetMode::Hard).await;
    assert_eq!(response.forgotten.len(), 26);
    assert_eq!(sequences_of(&session.stored().await), [1], "the instructions stay");
    let capacity = response.capacity.unwrap();
    assert_eq!(
        (capacity.archived_utterance_count, capacity.summary.unwrap().segment_count),
        (Some(0), Some(0))
    );
    assert_eq!(session.summary().await.text, "");
    session.forget("speaker:system", ForgetMode::Hard).await;
    assert!(session.stored().await.is_empty());
    assert_eq!(session.say(vec![user("again")]).await.memorized[0].sequence, 28);
}

/// What the archive no longer holds could not be restored: the summary keeps it, and the response says so,
/// even if repeated.
#[tokio::test]
async fn a_soft_forget_leaves_what_only_the_summary_tells() {
    let session = Session::new().await;
    let policy =
        utterd::proto::Policy { max_utterances: Some(3), archive_limit: Some(2), ..Default::default() };
    session.create_with(policy).await;
    for number in 1..=10 {
        session.say(vec![user(&format!("Report {number} is /srv/report-{number}.txt."))]).await;
    }
    let before = session.summary().await.text;
    let dry = ForgetRequest { dry_run: true, ..forget("all", ForgetMode::Soft) };
    let dry = session.memory().forget(dry).await.reply();
    let soft = ForgetRequest { request_id: "once".to_owned(), ..forget("all", ForgetMode::Soft) };
    let response = session.memory().forget(soft.clone()).await.reply();
    assert_eq!(sequences(&response.forgotten), [7, 8, 9, 10]);
    assert_eq!(ranges(&response.still_summarised), [(1, 6)]);
    assert_eq!(dry.still_summarised, response.still_summarised);
    let again = session.memory().forget(soft).await.reply();
    assert!(again.replayed && again.still_summarised == response.still_summarised);
    let told = session.summary().await.text;
    assert!(told.contains("report-6.txt") && !told.contains("report-7.txt"), "{told}");
    let mut utterance_ids = Vec::new();
    for sequence in 7..=10 {
        utterance_ids.push(session.id_of(sequence).await);
    }
    let restore = utterd::proto::RestoreRequest { utterance_ids, ..Default::default() };
    session.memory().restore(restore).await.reply();
    assert_eq!(session.summary().await.text, before);
    let hard = session.forget("all", ForgetMode::Hard).await;
    assert!(hard.still_summarised.is_empty() && session.summary().await.text.is_empty());
}
