//! Summarize: a part of a conversation, within a token limit.

use utterd::proto::{
    CountTokensRequest, ForgetMode, GetSummaryRequest, SummarizeRequest, SummarizeResponse, SummarizeScope,
    SummaryMethod, WarningKind,
};

use crate::support::session::{Reply, Session, assistant, ranges, system, user};

/// Facts of one turn each; every question has its answer.
async fn facts(count: usize) -> Session {
    let session = Session::new().await;
    session.say(vec![system("You keep the books of Smith & Sons.")]).await;
    for number in 1..=count {
        let question =
            user(&format!("Invoice INV-{number:03} of {}.50 EUR is due on {number} May 2026.", number * 7));
        session
            .say(vec![question, assistant(&format!("I decided to pay INV-{number:03} by bank transfer."))])
            .await;
    }
    session
}

async fn summarize(session: &Session, request: SummarizeRequest) -> SummarizeResponse {
    let summary = session.memory().summarize(request).await.reply();
    assert_eq!(summary.method(), SummaryMethod::Extractive);
    assert!(summary.text.is_empty() || summary.text.ends_with('\n'), "{:?}", summary.text);
    assert_eq!(summary.token_count, Some(tokens(session, &summary.text).await), "the count is exact");
    summary
}

async fn tokens(session: &Session, text: &str) -> i32 {
    let request = CountTokensRequest { texts: vec![text.to_owned()], ..Default::default() };
    session.context().count_tokens(request).await.reply().token_counts[0]
}

fn of(scope: SummarizeScope) -> SummarizeRequest {
    SummarizeRequest { scope: scope.into(), ..Default::default() }
}

/// Each scope is made from its sources, and contains nothing else.
#[tokio::test]
async fn scopes_name_their_sources() {
    let session = facts(12).await;
    let capacity = session.capacity().await;
    let evicted = capacity.archived_utterance_count.unwrap();
    assert!(evicted > 0);
    let last = i64::from(evicted) + 1;
    let all = summarize(&session, of(SummarizeScope::All)).await;
    assert_eq!(ranges(&all.sources), [(2, 25)], "instructions are not summarised");
    assert!(all.text.contains("INV-"));
    assert_eq!(summarize(&session, SummarizeRequest::default()).await, all);

    let left = summarize(&session, of(SummarizeScope::Evicted)).await;
    assert_eq!(ranges(&left.sources), [(2, last)]);
    assert!(left.text.contains("INV-001") && !left.text.contains("INV-012"), "{}", left.text);

    let recent = SummarizeRequest { recent_count: Some(2), ..of(SummarizeScope::Recent) };
    let recent = summarize(&session, recent).await;
    assert_eq!(ranges(&recent.sources), [(24, 25)]);
    assert!(recent.text.contains("INV-012") && !recent.text.contains("INV-011"), "{}", recent.text);
    let stored = session.stored().await;
    let source: i32 = stored[23..].iter().map(|utterance| utterance.token_count()).sum();
    assert_eq!(recent.source_token_count, Some(source));

    let turns = SummarizeRequest { first_turn: Some(2), last_turn: Some(3), ..of(SummarizeScope::Turns) };
    let turns = summarize(&session, turns).await;
    assert_eq!(ranges(&turns.sources), [(4, 7)], "the archive is read");
    assert!(
        turns.text.contains("INV-002") && turns.text.contains("INV-003") && !turns.text.contains("INV-004")
    );
    assert_eq!(session.capacity().await, capacity, "nothing was stored");
}

#[tokio::test]
async fn a_limit_holds() {
    let session = facts(30).await;
    let mut longest = 0;
    for limit in [1, 10, 25, 60, 200, 1_000] {
        let request = SummarizeRequest { token_limit: Some(limit), ..Default::default() };
        let count = summarize(&session, request).await.token_count.unwrap();
        assert!(count <= limit, "{count} tokens of {limit}");
        assert!(count >= longest, "a larger limit does not make it shorter");
        longest = count;
    }
    assert!(longest > 100);
}

/// With little room, what the focus names comes first.
#[tokio::test]
async fn a_focus_draws_sentences() {
    let session = facts(12).await;
    for focus in ["INV-009", "INV-011"] {
        let request = SummarizeRequest {
            token_limit: Some(60),
            focus_areas: vec![focus.to_owned()],
            ..Default::default()
        };
        let text = summarize(&session, request).await.text;
        assert!(text.contains(focus), "{focus}: {text}");
    }
}

/// An empty summary says why, and names no source.
#[tokio::test]
async fn an_empty_summary_says_why() {
    use WarningKind::{NothingSelected, NothingToSummarise, TokenLimitTooSmall};
    let session = facts(11).await;
    let greeted = Session::new().await;
    greeted.say(vec![user("Hello!"), assistant("Hi! Thanks.")]).await;
    let limit = |limit| SummarizeRequest { token_limit: Some(limit), ..Default::default() };
    let turns = SummarizeRequest { first_turn: Some(70), last_turn: Some(90), ..of(SummarizeScope::Turns) };
    for (session, request, kind) in [
        (&session, limit(1), TokenLimitTooSmall),
        (&session, turns, NothingSelected),
        (&greeted, limit(1_000), NothingToSummarise),
        (&greeted, limit(1), NothingToSummarise),
    ] {
        let summary = summarize(session, request).await;
        assert_eq!((summary.text.as_str(), summary.source_token_count), ("", Some(0)));
        assert!(summary.sources.is_empty());
        let kinds: Vec<_> = summary.warnings.iter().map(|warning| warning.kind()).collect();
        assert_eq!(kinds, [kind], "{summary:?}");
    }
    let told = summarize(&session, limit(60)).await;
    assert!(told.warnings.is_empty() && !told.sources.is_empty());
}

#[tokio::test]
async fn nothing_makes_an_empty_summary() {
    let session = Session::new().await;
    session.say(vec![system("Be brief."), user("hello there, INV-001 is due")]).await;
    let left = summarize(&session, of(SummarizeScope::Evicted)).await;
    assert_eq!((left.text.as_str(), left.token_count, left.source_token_count), ("", Some(0), Some(0)));
    assert!(left.sources.is_empty());
    let turns = SummarizeRequest { first_turn: Some(7), last_turn: Some(9), ..of(SummarizeScope::Turns) };
    assert_eq!(summarize(&session, turns).await.text, "");
    session.forget("speaker:user", ForgetMode::Soft).await;
    assert_eq!(summarize(&session, SummarizeRequest::default()).await.text, "");
}

/// GetSummary returns the segments of the summary.
#[tokio::test]
async fn segments_cover_what_left_once() {
    let session = facts(40).await;
    let summary = session.conversations().get_summary(GetSummaryRequest::default()).await.reply();
    let texts: String = summary.segments.iter().map(|segment| segment.text.as_str()).collect();
    assert_eq!(summary.text, texts);
    assert_eq!(summary.token_count, Some(tokens(&session, &summary.text).await));
    assert_eq!(summary.revision, session.capacity().await.revision);
    let mut covered = Vec::new();
    for segment in &summary.segments {
        assert_eq!(segment.token_count, Some(tokens(&session, &segment.text).await));
        covered.extend(ranges(&segment.covers).into_iter().flat_map(|(first, last)| first..=last));
    }
    covered.sort_unstable();
    let archived = session.capacity().await.archived_utterance_count.unwrap();
    assert_eq!(covered, (2..=i64::from(archived) + 1).collect::<Vec<_>>());
}
