//! BuildContext: what goes to the model, in one call and under one budget.

use crate::support::prelude::*;

async fn build(session: &Session, request: BuildContextRequest) -> BuildContextResponse {
    session.context().build_context(request).await.reply()
}

fn messages(context: &BuildContextResponse) -> Vec<Value> {
    serde_json::from_str(&context.messages_json).expect("a JSON array")
}

/// The sequences that are rendered, and how.
fn rendered(context: &BuildContextResponse) -> Vec<(i64, RenderedAs)> {
    context.utterances.iter().map(|utterance| (utterance.sequence, utterance.rendered_as())).collect()
}

fn omitted(context: &BuildContextResponse) -> Vec<(OmissionReason, Vec<(i64, i64)>)> {
    context.omitted.iter().map(|left| (left.reason(), ranges(&left.sequences))).collect()
}

fn anthropic() -> BuildContextRequest {
    BuildContextRequest { format: ContextFormat::AnthropicMessages.into(), ..Default::default() }
}

fn within(token_budget: i32) -> BuildContextRequest {
    BuildContextRequest { token_budget: Some(token_budget), max_turns: Some(0), ..Default::default() }
}

/// A conversation without limits.
async fn long_session() -> Session {
    let session = Session::new().await;
    session.create_with(Policy { preset: PolicyPreset::Session.into(), ..Default::default() }).await;
    session
}

async fn orders(session: &Session, turns: i32) {
    for turn in 1..=turns {
        let question = user(&format!("Where is order {turn} of the blue lamps?"));
        session.say(vec![question, assistant(&format!("Order {turn} left on day {turn}."))]).await;
    }
}

/// Each utterance names the message that renders it, in each format, even if it was recalled or several share
/// a message.
#[tokio::test]
async fn each_utterance_tells_its_message() {
    let session = Session::new().await;
    session.say(vec![system("You keep a food diary."), user("The zebra ate my lunch")]).await;
    for turn in 1..=8 {
        session.say(vec![user(&format!("Log meal {turn}")), calls(&["one", "two"])]).await;
        session.say(vec![result("two", &format!("saved {turn}")), result("one", "found")]).await;
        session.say(vec![assistant(&format!("Meal {turn} is logged."))]).await;
    }
    let recall = Some(ContextRecall { prompt: "zebra".to_owned(), ..Default::default() });
    for format in [ContextFormat::OpenaiChat, ContextFormat::AnthropicMessages, ContextFormat::Text] {
        let request =
            BuildContextRequest { format: format.into(), recall: recall.clone(), ..Default::default() };
        let context = build(&session, request).await;
        let messages = if context.messages_json.is_empty() { Vec::new() } else { messages(&context) };
        let (mut seen, mut apart) = (Vec::new(), Vec::new());
        for utterance in &context.utterances {
            let said = session.stored().await.into_iter().find(|said| said.sequence == utterance.sequence);
            let said = said.unwrap();
            let Some(index) = utterance.message_index else {
                apart.push(said.role());
                continue;
            };
            let message = messages[usize::try_from(index).unwrap()].to_string();
            assert!(message.contains(&said.content), "{format:?}, {}: {message}", said.content);
            let is_quoted = utterance.rendered_as() == RenderedAs::Recalled;
            let call = if is_quoted { "[called find(" } else { "\"two" };
            assert!(said.tool_calls.is_empty() || message.contains(call), "{message}");
            seen.push((utterance.rendered_as(), index));
        }
        match format {
            ContextFormat::Text => assert_eq!((seen.len(), apart.len()), (0, context.utterances.len())),
            ContextFormat::AnthropicMessages => assert_eq!(apart, [Role::System]),
            _ => assert!(apart.is_empty()),
        }
        let is_text = format == ContextFormat::Text;
        assert!(is_text || seen.iter().any(|(how, _)| *how == RenderedAs::Recalled), "{seen:?}");
        assert!(seen.is_sorted_by_key(|(_, index)| *index), "{seen:?}");
    }
}

/// Between two evictions, each context begins like the previous one.
#[tokio::test]
async fn prefixes_are_stable_between_evictions() {
    let session = Session::new().await;
    session.say(vec![system("You ship lamps.")]).await;
    let (mut before, mut stable, mut kept, mut steps) = (Vec::new(), 0, 0, 0);
    for number in 1..=60 {
        let said = if number % 2 == 1 { user("And the next?") } else { assistant("It left.") };
        let evicted = !session.say(vec![said]).await.evicted.is_empty();
        let context = build(&session, BuildContextRequest::default()).await;
        let now = messages(&context);
        if !evicted && number > 1 {
            assert_eq!(now[..stable], before[..stable]);
            kept += 1;
        }
        steps += 1;
        assert_eq!(usize::try_from(context.stable_prefix_messages()).unwrap(), now.len());
        (stable, before) = (now.len(), now);
    }
    assert!(kept * 4 >= steps * 3, "{kept} of {steps}");
}

#[tokio::test]
async fn a_budget_holds_and_says_what_it_left_out() {
    let session = long_session().await;
    orders(&session, 40).await;
    let context = build(&session, within(300)).await;
    let first = context.utterances[0].sequence;
    assert!(context.token_count() <= 300 && context.token_count() > 180);
    assert_eq!(omitted(&context), [(OmissionReason::Budget, vec![(1, first - 1)])]);
    assert_eq!(messages(&context)[0]["role"], "user", "a cut at a turn");
    let all = build(&session, BuildContextRequest { max_turns: Some(0), ..Default::default() }).await;
    assert_eq!((all.utterances.len(), all.token_budget), (80, None));
}

/// Turns that a limit leaves out are reported, unless a summary covers them.
#[tokio::test]
async fn no_turn_is_left_out_silently() {
    let session = long_session().await;
    orders(&session, 40).await;
    let all = build(&session, BuildContextRequest::default()).await;
    assert_eq!((all.utterances.len(), all.warnings.len()), (80, 0), "all that fit");
    assert_eq!((all.uncovered_utterance_count, all.uncovered_turn_count), (Some(0), Some(0)));
    let last = |turns: i32, stable_steps: Option<bool>| BuildContextRequest {
        max_turns: Some(turns),
        stable_steps,
        ..Default::default()
    };
    let ten = build(&session, last(10, None)).await;
    assert_eq!(omitted(&ten), [(OmissionReason::MaxTurns, vec![(1, 60)])]);
    assert_eq!((ten.uncovered_utterance_count, ten.uncovered_turn_count), (Some(60), Some(30)));
    let [warning] = &ten.warnings[..] else { panic!("{:?}", ten.warnings) };
    assert_eq!(warning.kind(), WarningKind::UncoveredLeftOut);
    assert!(warning.text.starts_with("60 utterances that no summary covers are left out"), "{warning:?}");
    let steps = build(&session, last(10, Some(true))).await;
    assert_eq!(steps.uncovered_turn_count, Some(31), "steps are of four turns");

    session.compactions().compact_conversation(CompactConversationRequest::default()).await.reply();
    let covered = build(&session, last(3, None)).await;
    assert_eq!(covered.uncovered_turn_count, Some(5));
    assert_eq!(omitted(&covered)[0], (OmissionReason::Evicted, vec![(1, 65)]));
}

/// What was asked has left the window, and the resulting call waits for its result: only what was asked goes
/// out, and it counts against the budget.
#[tokio::test]
async fn what_is_left_of_a_turn_without_units_is_within_the_budget() {
    let words = "one two three four five six seven eight nine ten eleven twelve".to_owned();
    for (asked, policy, budget) in [
        (words, Policy { max_tokens: Some(20), ..Default::default() }, 1),
        ("word ".repeat(7_990), Policy::default(), 500),
    ] {
        let session = Session::new().await;
        session.create_with(policy).await;
        session.say(vec![user(&asked)]).await;
        let evicted = session.say(vec![calls(&["a"])]).await.evicted;
        assert_eq!(evicted.len(), 1);
        let whole = |budget| BuildContextRequest { whole_messages: true, ..within(budget) };
        let refusal = session.context().build_context(whole(budget)).await.refusal();
        let (_, rest) = refusal.message().split_once("accepted: ").unwrap();
        let needed: i32 = rest.split_once(' ').unwrap().0.parse().unwrap();
        let context = build(&session, whole(needed)).await;
        assert_eq!(rendered(&context), [(1, RenderedAs::Whole)]);
        assert_eq!(context.token_count(), needed);
        let context = build(&session, within(needed - 1)).await;
        assert_eq!(rendered(&context), [(1, RenderedAs::Trimmed)]);
        assert!(context.token_count() < needed);
        let mut warnings = context.warnings.iter().map(|warning| warning.kind());
        assert!(warnings.any(|kind| kind == WarningKind::MessagesTrimmed));
    }
}

/// What is not otherwise in the context is found, from the archive and from before the cut.
#[tokio::test]
async fn older_utterances_are_recalled() {
    let session = Session::new().await;
    session.say(vec![user("My parrot is called Captain Flint."), assistant("A fine name.")]).await;
    orders(&session, 12).await;
    let recall = |prompt: &str| BuildContextRequest {
        recall: Some(ContextRecall { prompt: prompt.to_owned(), limit: Some(2), ..Default::default() }),
        ..Default::default()
    };
    let context = build(&session, recall("What is the parrot's name?")).await;
    let recalled: Vec<i64> = rendered(&context)
        .into_iter()
        .filter(|(_, how)| *how == RenderedAs::Recalled)
        .map(|(sequence, _)| sequence)
        .collect();
    assert!(recalled.contains(&1), "{recalled:?}");
    let all = messages(&context);
    let at = all.iter().position(|m| m["content"].as_str().unwrap().starts_with("[Recalled")).unwrap();
    assert_eq!((at, &all[at + 1]["role"]), (all.len() - 3, &json!("user")));
    assert!(all[at]["content"].as_str().unwrap().contains("\nUser: My parrot is called Captain Flint.\n"));
    assert_eq!(context.stable_prefix_messages(), i32::try_from(at).unwrap());
    assert!(!ranges(&context.omitted[0].sequences).iter().any(|(first, last)| (*first..=*last).contains(&1)));

    session.forget("sequence:1", ForgetMode::Soft).await;
    let context = build(&session, recall("What is the parrot's name?")).await;
    assert!(!context.messages_json.contains("Flint"), "{}", context.messages_json);
}

/// As many as fit are recalled, in whole exchanges from the archive, and none that is shown anyway; those that have only
/// a common word, if the request accepts any relevance.
#[tokio::test]
async fn exchanges_are_recalled_as_many_as_fit() {
    let session = Session::new().await;
    let found = vec![calls(&["a", "b"]), result("a", "Flint sits in the oak."), result("b", "It is empty.")];
    session.say(vec![user("Where are the bird and its cage? Look for both of them, please.")]).await;
    session.say(found).await;
    orders(&session, 30).await;
    let request = |min_relevance| BuildContextRequest {
        recall: Some(ContextRecall {
            prompt: "in which oak is the order".to_owned(),
            min_relevance,
            ..Default::default()
        }),
        ..within(900)
    };
    let recalled = |context: &BuildContextResponse| -> Vec<i64> {
        let recalled = rendered(context).into_iter().filter(|(_, how)| *how == RenderedAs::Recalled);
        recalled.map(|(sequence, _)| sequence).collect()
    };
    assert_eq!(recalled(&build(&session, request(None)).await), [1, 2, 3, 4, 5]);
    let context = build(&session, request(Some(0.0))).await;
    let recalled = recalled(&context);
    assert!(recalled.len() > 10 && recalled.is_sorted(), "{recalled:?}");
    assert!([2, 3, 4].iter().all(|sequence| recalled.contains(sequence)), "{recalled:?}");
    assert!(context.token_count() > 800, "{}", context.token_count());
    let mut all: Vec<i64> = rendered(&context).into_iter().map(|(sequence, _)| sequence).collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "nothing twice: {all:?}");
    let quoted = messages(&context).into_iter().find_map(|message| {
        let text = message["content"].as_str().filter(|text| text.starts_with("[Recalled"))?.to_owned();
        Some(text)
    });
    let quoted = quoted.expect("something is recalled");
    assert!(quoted.contains("[called ") && quoted.contains(": Flint sits in the oak.\n"), "{quoted}");
}

/// Seed 000's continuity: what was said in ended conversations is recalled in the next one.
#[tokio::test]
async fn ended_conversations_are_recalled_with_their_title_and_date() {
    let session = Session::new().await;
    let head = || system("You talk about parrots, kettles and trains.");
    session.say(vec![head(), user("My parrot is called Captain Flint."), assistant("A fine parrot.")]).await;
    session.say(vec![user("My secret parrot is called Polly.")]).await;
    session.forget("newest", ForgetMode::Soft).await;
    let ended = session.conversations().end_conversation(EndConversationRequest::default()).await.reply();
    let ended = ended.conversation.unwrap().conversation_id;
    session.say(vec![head(), user("What was my parrot called?")]).await;
    let recall = |scope: RememberScope| BuildContextRequest {
        recall: Some(ContextRecall {
            prompt: "parrot".to_owned(),
            scope: scope.into(),
            ..Default::default()
        }),
        earlier: Earlier::None.into(),
        ..Default::default()
    };
    let here = build(&session, recall(RememberScope::Conversation)).await;
    assert!(!here.messages_json.contains("Flint"));
    let all = build(&session, recall(RememberScope::Recipient)).await;
    let quoted = messages(&all)[1]["content"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = quoted.lines().collect();
    assert_eq!(lines[0], "[Recalled from earlier conversations]");
    assert!(lines[1].starts_with("From \"") && lines[1].ends_with("\" of 2026-03-01:"), "{quoted}");
    let wanted = [
        "On Sun 2026-03-01:",
        "User: My parrot is called Captain Flint.",
        "Assistant: A fine parrot.",
        "[End of what was recalled]",
    ];
    assert_eq!(lines[2..], wanted, "neither what is forgotten nor the instructions of then");
    let recalled: Vec<_> =
        all.utterances.iter().map(|one| (one.sequence, one.conversation_id.as_str())).collect();
    assert_eq!(recalled, [(1, ""), (2, &*ended), (3, &*ended), (2, "")]);
    assert_eq!(all.stable_prefix_messages, Some(1));
    assert_eq!(build(&session, recall(RememberScope::Recipient)).await, all);
}

/// What a fork shares with the conversation belongs to the conversation: it is not recalled from the fork.
#[tokio::test]
async fn what_a_fork_shares_is_not_recalled_from_it() {
    let session = Session::new().await;
    session.say(vec![user("My parrot is called Captain Flint."), assistant("A fine name.")]).await;
    session.forget("sequence:1", ForgetMode::Soft).await;
    let request = ForkConversationRequest { new_conversation_id: "fork".to_owned(), ..Default::default() };
    session.conversations().fork_conversation(request).await.reply();
    let request = RestoreRequest { utterance_ids: vec![session.id_of(1).await], ..Default::default() };
    session.memory().restore(request).await.reply();
    let request = BuildContextRequest {
        conversation_id: "fork".to_owned(),
        recall: Some(ContextRecall {
            prompt: "parrot".to_owned(),
            scope: RememberScope::Recipient.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let context = build(&session, request).await;
    assert!(
        !context.messages_json.contains("Flint"),
        "it is forgotten in the fork: {}",
        context.messages_json
    );
}

/// Under the default window of 20 utterances, stored turns fill a budget that has room for them, and the summary says
/// nothing of what is shown.
#[tokio::test]
async fn the_archive_fills_the_budget() {
    let session = Session::new().await;
    session.say(vec![system("You ship lamps.")]).await;
    orders(&session, 300).await;
    let window = build(&session, within(3_000)).await;
    let filled = |budget| BuildContextRequest { include_archive: true, ..within(budget) };
    for format in [ContextFormat::OpenaiChat, ContextFormat::AnthropicMessages, ContextFormat::Text] {
        let context = build(&session, BuildContextRequest { format: format.into(), ..filled(3_000) }).await;
        let tokens = context.token_count();
        assert!((1_800..=3_000).contains(&tokens) && tokens > window.token_count(), "{tokens}");
        let sequences: Vec<i64> = rendered(&context).into_iter().map(|(sequence, _)| sequence).collect();
        let first = sequences[1];
        assert_eq!(first % 2, 0, "the user's questions are even");
        assert_eq!(sequences[1..], (first..=601).collect::<Vec<_>>(), "without gaps");
        assert_eq!(omitted(&context), [(OmissionReason::Evicted, vec![(2, first - 1)])]);
        assert_eq!(context.uncovered_utterance_count, Some(0));
    }
    let whole = build(&session, filled(40_000)).await;
    assert_eq!((whole.omitted.len(), whole.utterances.len()), (0, 601));
    assert!(!whole.messages_json.contains("Summary of the conversation"));
    let limited = BuildContextRequest { max_turns: Some(40), ..filled(40_000) };
    assert_eq!(build(&session, limited).await.utterances.len(), 81);
}

/// Pinned utterances are rendered even after they have left the window.
#[tokio::test]
async fn pinned_utterances_are_rendered_wherever_they_are() {
    let session = Session::new().await;
    session.say(vec![user("My parrot is called Captain Flint."), assistant("A fine name.")]).await;
    orders(&session, 14).await;
    assert!(session.window().await[0].sequence > 2);
    session.pin(1, true).await;
    let context = build(&session, BuildContextRequest::default()).await;
    assert!(rendered(&context).contains(&(1, RenderedAs::Pinned)), "{:?}", rendered(&context));
    assert_eq!(messages(&context)[1]["content"], "My parrot is called Captain Flint.");
    assert_eq!(ranges(&context.omitted[0].sequences)[0].0, 2);
    session.pin(1, false).await;
    let context = build(&session, BuildContextRequest::default()).await;
    assert!(!rendered(&context).iter().any(|(_, how)| *how == RenderedAs::Pinned));
}

/// A long loop of calls still includes what the user asked for, although that has left the window.
#[tokio::test]
async fn what_the_user_asked_stays_in_a_long_turn() {
    let session = Session::new().await;
    session.say(vec![system("You are thorough."), user("First?"), assistant("Yes.")]).await;
    session.say(vec![user("Read all the pages, please.")]).await;
    for page in 1..=60 {
        session.say(vec![calls(&["a"]), result("a", &format!("This is page {page}."))]).await;
    }
    assert!(session.window().await[1].sequence > 4);
    for (request, at) in [(BuildContextRequest::default(), 2), (anthropic(), 0), (within(180), 2)] {
        let context = build(&session, request).await;
        let said = messages(&context)[at].to_string();
        assert!(said.contains("Read all the pages, please."), "{}", context.messages_json);
        assert_eq!(rendered(&context)[1], (4, RenderedAs::Whole));
        assert!(context.messages_json.contains("This is page 60."));
        assert!(context.token_count() <= context.token_budget());
    }
}

#[tokio::test]
async fn old_results_are_masked() {
    let session = long_session().await;
    for turn in 0..6 {
        let long = "A line of the order. ".repeat(30);
        let exchange = vec![user("Look it up."), calls(&["a"]), result("a", &long), assistant("Done.")];
        session.say(exchange).await;
        let request = BuildContextRequest { mask_tool_results_after_turns: Some(2), ..Default::default() };
        let context = build(&session, request).await;
        let masked = rendered(&context).iter().filter(|(_, how)| *how == RenderedAs::Masked).count();
        assert_eq!(masked, [0, 0, 1, 1, 3, 3][turn], "in turn {}", turn + 1);
        if turn == 5 {
            let said = messages(&context)[2]["content"].clone();
            assert_eq!(said, "[result of find, 185 tokens, omitted; sequence 3]");
        }
    }
}
