//! The parts of a context.

use std::sync::Arc;

use super::{super::*, talk::*};
use crate::{
    ConversationId, Marks, More, Policy, Role, Sequence, Timestamp, TokenCounter, Utterance,
    testing::{Talk, needed, o200k},
};

#[test]
fn results_follow_their_calls_and_the_rest_follows_them() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Hi").call("", &["a", "b"]).say(Role::System, "Be quick.");
    talk.answer("b", "B").call("More.", &["c"]).answer("c", "C").answer("a", "A");
    let context = talk.context(&unlimited());
    let wanted =
        ["user Hi", "assistant a+b", "tool A", "tool B", "system Be quick.", "assistant More.c", "tool C"];
    assert_eq!(told(&context), wanted);
    assert_eq!(context.messages[3].answers, 1);
    assert_eq!(context.tokens, context.messages.iter().map(|message| message.tokens).sum::<u32>());
    assert_eq!(u64::from(context.tokens), talk.0.window.tokens());
}

#[test]
fn an_id_that_comes_twice_is_answered_in_order() {
    let mut talk = Talk::session();
    talk.call("", &["a", "a"]).answer("a", "first").answer("a", "second");
    talk.call("", &["a"]).answer("a", "third");
    let context = talk.context(&unlimited());
    // the first open call of the nearest message is answered
    let opening = format!("user {}", wording::OPENING);
    assert_eq!(
        told(&context),
        [&opening, "assistant a+a", "tool first", "tool second", "assistant a", "tool third"]
    );
}

#[test]
fn unanswered_calls_are_left_out_or_closed() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Hi").call("", &["a", "b"]).answer("a", "A");
    let left_out = talk.context(&unlimited());
    assert_eq!(told(&left_out), ["user Hi"]);
    assert_eq!(omitted(&left_out), [(Omission::UnansweredCall, "2-3".into())]);
    assert_eq!(left_out.stable, 1);
    let closed = talk.context(&Request { unanswered: Unanswered::Placeholder, ..unlimited() });
    let placeholder = "tool [no result: the call of lookup_order was not answered]";
    assert_eq!(told(&closed), ["user Hi", "assistant a+b", "tool A", placeholder]);
    assert_eq!(closed.stable, 1, "a result may still come");
    talk.say(Role::User, "Never mind.");
    let abandoned = talk.context(&Request { unanswered: Unanswered::Placeholder, ..unlimited() });
    assert_eq!(abandoned.stable, abandoned.messages.len());
}

/// An agent that was killed in the middle of a call asks its model again, without a user utterance in between.
#[test]
fn what_is_answered_stays_beside_a_call_that_is_not() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Hi").call("", &["a"]).call("", &["b"]).answer("b", "B").say(Role::Assistant, "So.");
    let context = talk.context(&unlimited());
    assert_eq!(told(&context), ["user Hi", "assistant b", "tool B", "assistant So."]);
    assert_eq!(omitted(&context), [(Omission::UnansweredCall, "2".into())]);
    assert_eq!(context.stable, 1, "the other result may still come");
}

#[test]
fn what_takes_no_part_is_named() {
    let mut talk = Talk::session();
    talk.say(Role::User, "One").say(Role::User, "Two").answer("x", "orphan").say(Role::Assistant, "");
    talk.forget("sequence:2");
    let context = talk.context(&unlimited());
    assert_eq!(told(&context), ["user One"]);
    let wanted = [
        (Omission::Forgotten, "2".to_owned()),
        (Omission::Aside, "3".to_owned()),
        (Omission::Empty, "4".to_owned()),
    ];
    assert_eq!(omitted(&context), wanted);
}

#[test]
fn turns_leave_in_steps() {
    let first = |count: usize| {
        let request = Request { max_turns: Some(10), stable_steps: Some(true), ..Request::default() };
        let context = turns(count).context(&request);
        (sequences(&context)[0], omitted(&context))
    };
    assert_eq!(first(10), (1, Vec::new()));
    assert_eq!(first(11).0, 7, "turn 4 begins a step");
    assert_eq!(first(13), (7, vec![(Omission::MaxTurns, "1-6".into())]));
    assert_eq!(first(14).0, 15);
    assert_eq!(first(17).0, 15);
    assert_eq!(first(18).0, 23);
}

#[test]
fn as_many_turns_come_as_are_asked_for() {
    let first = |count: usize, most: Option<u32>| {
        let context = turns(count).context(&Request { max_turns: most, ..Request::default() });
        sequences(&context)[0]
    };
    assert_eq!((10..=14).map(|count| first(count, Some(10))).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    assert_eq!([first(60, None), first(60, Some(0))], [1, 1], "all that fit");
    let mut talk = turns(13);
    talk.0.head.policy = Policy::TURNS;
    assert_eq!(sequences(&talk.context(&Request::default()))[0], 7, "the policy's ten, in steps");
}

#[test]
fn without_steps_the_budget_is_filled() {
    let talk = turns(60);
    let context = talk.context(&Request { stable_steps: Some(false), ..within(500) });
    // an answer leaves together with its question
    let turn = context.messages[0].tokens + context.messages[1].tokens;
    assert!((500 - turn..=500).contains(&context.tokens), "{}", context.tokens);
}

#[test]
fn what_no_summary_covers_is_counted_when_it_is_left_out() {
    let mut talk = turns(13);
    talk.forget("sequence:4").pin(3).pin(7);
    let context = talk.context(&Request { max_turns: Some(5), ..Request::default() });
    assert_eq!(context.uncovered, Uncovered { utterances: 16 - 3, turns: 8 });
    let [warning] = &context.warnings[..] else { panic!("{:?}", context.warnings) };
    assert_eq!(
        warning.to_string(),
        "13 utterances that no summary covers are left out, including 8 whole turns of the window; see omitted \
         for the limits"
    );
    let all = talk.context(&unlimited());
    assert_eq!((all.uncovered, all.warnings.len()), (Uncovered::default(), 0));

    let five = Policy { utterances: Some(Marks::of(5)), ..Policy::ROLLING };
    for (summarization_enabled, utterances) in [(true, 0), (false, 2)] {
        let mut talk = Talk::with(Policy { summarization_enabled, ..five.clone() });
        (1..=7).for_each(|number| _ = talk.say(Role::User, &format!("Ship order {number} to dock 7.")));
        let context = talk.context(&unlimited());
        assert_eq!(omitted(&context), [(Omission::Evicted, "1-2".to_owned())]);
        assert_eq!(context.uncovered, Uncovered { utterances, turns: 0 });
        assert_eq!(context.warnings.len(), usize::from(!summarization_enabled));
    }
}

#[test]
fn a_cut_in_a_turn_keeps_what_the_user_asked() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Count to a hundred with the tool.");
    for number in 1..=100 {
        talk.call("", &["n"]).answer("n", &format!("The counter stands at {number} now."));
    }
    let context = talk.context(&within(600));
    let rendered = sequences(&context);
    assert_eq!((rendered[0], rendered.last()), (1, Some(&201)));
    assert!(rendered[1] > 100 && rendered.len() > 20);
    assert_eq!(omitted(&context), [(Omission::Budget, format!("2-{}", rendered[1] - 1))]);
    assert!(context.tokens > 600 * 3 / 5 && context.tokens <= 600);
}

#[test]
fn a_result_too_long_keeps_both_ends() {
    let mut talk = Talk::session();
    let long: String = (1..=2_000).map(|line| format!("line {line}\n")).collect();
    talk.say(Role::User, "Read the file.").call("", &["a"]).answer("a", &long);
    let context = talk.context(&within(1_000));
    let result = context.messages.last().unwrap();
    assert_eq!(result.how, How::Trimmed);
    assert!(result.text().starts_with("line 1\nline 2\n") && result.text().ends_with("line 2000\n"));
    assert!(result.text().contains(" tokens left out …]\n"));
    assert!((650..=750).contains(&result.tokens), "about three quarters of the budget: {}", result.tokens);
    assert_eq!(context.stable, 3, "it does not change");
}

#[test]
fn a_budget_too_small_names_the_one_needed() {
    let mut talk = Talk::session();
    talk.say(Role::System, "You are careful.").say(Role::User, "Read the file.").call("", &["a", "b"]);
    talk.answer("a", &"word ".repeat(5_000)).answer("b", &"other ".repeat(70));
    let needed = needed(&build(&talk.0, &[], &within(20), o200k()).unwrap_err());
    assert_eq!(talk.context(&within(needed)).tokens, needed);
    assert!(build(&talk.0, &[], &within(needed - 1), o200k()).is_err());
}

#[test]
fn the_default_budget_gives_way_to_the_newest() {
    let mut talk = Talk::with(Policy { tokens: Some(Marks::of(100)), ..Policy::ROLLING });
    talk.say(Role::User, "Hi").say(Role::Assistant, "Hello").say(Role::User, &"word ".repeat(3_000));
    let context = talk.context(&Request::default());
    let said = context.messages.last().unwrap().tokens;
    assert_eq!((context.tokens, context.budget), (said, Some(said)));
}

#[test]
fn the_summary_has_a_quarter_of_a_tight_budget() {
    let mut talk = Talk::with(Policy { utterances: Some(Marks::of(20)), ..Policy::ROLLING });
    talk.say(Role::System, "You ship orders.");
    for turn in 1..=120 {
        talk.say(Role::User, &format!("Ship order {turn} with {} lamps to dock {}.", turn * 3, turn % 7));
        talk.say(Role::Assistant, &format!("Order {turn} leaves on day {} by truck {turn}.", turn + 1));
    }
    let summary = |budget: u32| {
        let context = talk.context(&within(budget));
        let at = context.messages.iter().position(|message| message.how == How::Summary)?;
        assert_eq!(at, 1, "after the instructions");
        let message = &context.messages[at];
        assert_eq!(message.tokens, 4 + o200k().count(message.text()));
        Some(message.tokens)
    };
    assert!(summary(9_000).unwrap() > talk.0.summary.tokens());
    assert!((150..=200).contains(&summary(800).unwrap()));
    let warns = |budget: u32| talk.context(&within(budget)).warnings.contains(&Warning::SummaryCut);
    assert_eq!([9_000, 800, 80].map(warns), [false, true, true]);
    let request = Request { summary: SummaryPlacement::UserMessage, ..within(9_000) };
    let context = talk.context(&request);
    let message = &context.messages[1];
    assert_eq!(message.role, Role::User);
    let covered = talk.0.summary.covered_count();
    assert!(message.text().starts_with(&format!("[CONVERSATION HISTORY SUMMARY - {covered} messages]\n\n")));
    assert!(message.text().ends_with("\n\n[END SUMMARY - Recent conversation continues below]"));
    assert_eq!(message.tokens, 4 + o200k().count(message.text()));
}

/// Recalled utterances have the share that the request names, or else half the budget and what the recent
/// units leave.
#[test]
fn what_one_part_leaves_is_for_the_other() {
    let talk = turns(60);
    let found: Vec<_> = talk.0.window.iter().take(60).cloned().collect();
    let quoted = |limits: Option<RecallLimits>, found: &[Arc<Utterance>], max_turns| {
        let request = Request { recall: limits, stable_steps: Some(false), max_turns, ..within(1_000) };
        let context = build(&talk.0, found, &request, o200k()).unwrap();
        let recalled = context.messages.iter().find(|message| message.how == How::Recalled);
        (recalled.map_or(0, |message| message.tokens), context.tokens)
    };
    let percent = |percent| Some(RecallLimits { percent, ..RecallLimits::default() });
    for (share, least, most) in [(10, 60, 100), (40, 340, 400), (100, 500, 1_000)] {
        let (tokens, all) = quoted(percent(Some(share)), &found, None);
        assert!((least..=most).contains(&tokens), "{tokens} of {share} %");
        assert!((950..=1_000).contains(&all) || share == 100, "{all}");
    }
    let (tokens, all) = quoted(percent(None), &found, None);
    assert!((440..=540).contains(&tokens) && all > 950, "{tokens} of {all}");
    let (tokens, all) = quoted(percent(None), &found, Some(10));
    assert!(tokens > 520, "{tokens} of {all}: ten turns leave more than half");
    assert!(quoted(percent(Some(10)), &found, Some(2)).0 <= 100);
    assert_eq!(quoted(None, &found, None).0, 0);
    let two = Some(RecallLimits { matches: Some(2), ..RecallLimits::default() });
    assert!((50..100).contains(&quoted(two, &found, None).0));
}

#[test]
fn what_is_recalled_of_another_conversation_names_it() {
    let mut talk = turns(2);
    let source = |id: u128, title: Option<&str>, day: i64| Source {
        id: ConversationId::assigned(id),
        title: title.map(Into::into),
        start_time: Timestamp(day * 86_400_000_000),
    };
    let [lamps, untitled] = [source(2, Some("Lamps"), 20_000), source(3, None, 20_001)].map(Arc::new);
    let said = |sequence: u64| talk.0.window.get(Sequence(sequence)).unwrap().clone();
    let of = |source: Option<&Arc<Source>>, sequence| {
        let found = Found { source: source.cloned(), utterance: said(sequence), quoted: Vec::new() };
        Match { found, matched: Vec::new(), around: Vec::new() }
    };
    let matches =
        [of(Some(&untitled), 1), of(Some(&lamps), 4), of(None, 2), of(Some(&lamps), 1), of(Some(&lamps), 4)];
    talk.say(Role::User, "And now?");
    let request = Request { max_turns: Some(1), recall: Some(RecallLimits::default()), ..Request::default() };
    let archived = Archived { recalled: &matches, ..Archived::default() };
    let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
    let wanted = "[Recalled from earlier conversations]\n\
         From \"Lamps\" of 2024-10-04:\n\
         On Thu 1970-01-01:\n\
         User: Question 1: where is order 1?\n\
         Assistant: Order 2 is on its way to you.\n\
         From a conversation of 2024-10-05:\n\
         On Thu 1970-01-01:\n\
         User: Question 1: where is order 1?\n\
         From this conversation:\n\
         On Thu 1970-01-01:\n\
         Assistant: Order 1 is on its way to you.\n\
         [End of what was recalled]";
    let message = context.messages.iter().find(|message| message.how == How::Recalled).unwrap();
    assert_eq!((message.text(), message.tokens), (wanted, 4 + o200k().count(wanted)));
    assert_eq!(context.recalled, [3, 1, 0, 2].map(|place: usize| matches[place].found.clone()));
    assert_eq!(
        omitted(&context),
        [(Omission::MaxTurns, "1, 3-4".to_owned())],
        "the others are no part of this one"
    );
}

#[test]
fn given_instructions_stand_first_and_count() {
    let mut talk = Talk::with(Policy { tokens: Some(Marks::of(100)), ..Policy::ROLLING });
    talk.say(Role::System, "Be kind.").say(Role::User, "Hi");
    let request = Request { instructions: Some("Be brief.".into()), ..Request::default() };
    let context = talk.context(&request);
    assert_eq!(told(&context), ["system Be brief.", "system Be kind.", "user Hi"]);
    assert_eq!(
        (context.head, context.stable, context.messages[0].tokens),
        (2, 3, 4 + o200k().count("Be brief."))
    );
    let plain = talk.context(&Request::default());
    let more = 4 + o200k().count("Be brief.");
    assert_eq!(
        (context.tokens, context.budget),
        (plain.tokens + more, plain.budget.map(|budget| budget + more))
    );
    let blank = Request { instructions: Some(" \n".into()), ..Request::default() };
    assert_eq!(talk.context(&blank), plain);
    let refused =
        build(&talk.0, &[], &Request { budget: Some(plain.tokens), ..request }, o200k()).unwrap_err();
    assert_eq!(needed(&refused), context.tokens);
}

#[test]
fn anthropic_begins_with_a_user_and_ends_without_white_space() {
    let mut talk = Talk::session();
    talk.say(Role::System, "Be kind.").say(Role::Assistant, "Welcome!\n\n");
    let request = Request { format: Format::AnthropicMessages, ..unlimited() };
    let context = talk.context(&request);
    assert_eq!(told(&context), ["system Be kind.", "user [The conversation goes on.]", "assistant Welcome!"]);
    assert_eq!((context.head, context.stable), (1, 2));
    let words = ["Be kind.", wording::OPENING, "Welcome!"];
    assert_eq!(context.tokens, words.iter().map(|text| 4 + o200k().count(text)).sum::<u32>());
}

/// The question that was evicted comes as far as it fits. Whole, it comes only if all of it fits; without it, what
/// answers it is left out too.
#[test]
fn a_question_of_the_archive_comes_if_it_fits() {
    let mut talk = Talk::with(Policy { utterances: Marks::with_keep(6, 5), ..Policy::ROLLING });
    talk.say(Role::System, "Be kind.").say(Role::User, "Hi.").say(Role::System, "Be brief.").pin(3);
    talk.say(Role::User, &"Where is the lamp? ".repeat(30)).say(Role::Assistant, "In Oslo.");
    talk.say(Role::User, "Since when?").say(Role::Assistant, "May.");
    let asked = talk.1.iter().find(|said| said.sequence == Sequence(4));
    let window: Vec<u64> = talk.0.window.iter().map(|said| said.sequence.get()).collect();
    assert_eq!((window, asked_before(&talk.0)), (vec![1, 3, 5, 6, 7], asked.map(|asked| asked.turn)));
    let archived = Archived { asked, ..Archived::default() };
    let shown = |budget, whole_messages| {
        let request = Request { whole_messages, ..within(budget) };
        let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
        assert!(context.tokens <= budget, "{budget}: {:?}", told(&context));
        sequences(&context)
    };
    assert_eq!(shown(400, true), [1, 3, 4, 5, 6, 7]);
    assert_eq!(shown(150, false), [1, 3, 4, 5, 6, 7]);
    assert_eq!(shown(150, true), [1, 3, 6, 7]);
}

/// A message that alone is above the budget.
fn contract() -> String {
    (1..=900).map(|clause| format!("Clause {clause} holds. ")).collect()
}

#[test]
fn a_message_above_the_budget_is_cut() {
    let mut talk = turns(3);
    talk.say(Role::User, &contract());
    let check = |context: &Context| {
        let cut = context.messages.iter().find(|message| message.how == How::Trimmed).unwrap();
        assert!(cut.text().starts_with("Clause 1 holds.") && cut.text().ends_with("Clause 900 holds. "));
        assert!(cut.text().contains(" tokens left out …]\n"));
        assert_eq!(context.warnings.last(), Some(&Warning::MessagesTrimmed(1)));
        cut.tokens
    };
    let newest = talk.context(&within(1_000));
    assert_eq!(sequences(&newest), [7]);
    assert!((900..=1_000).contains(&check(&newest)), "it has all the room: {}", newest.tokens);
    let unlimited = talk.context(&unlimited());
    assert_eq!((sequences(&unlimited).len(), unlimited.warnings.len()), (7, 0));

    talk.say(Role::Assistant, "Signed.").say(Role::User, "What does clause 1 say?");
    let later = talk.context(&within(1_000));
    assert_eq!(sequences(&later).len(), 9, "older turns have the rest");
    assert!((700..=750).contains(&check(&later)), "it has three quarters");
    assert_eq!(later.stable, 9);

    let whole = |budget| Request { whole_messages: true, ..within(budget) };
    assert_eq!(sequences(&talk.context(&whole(1_000)))[..], [9]);
}

#[test]
fn messages_stay_whole_on_request() {
    let mut talk = Talk::session();
    talk.say(Role::User, &contract());
    let request = Request { whole_messages: true, ..within(1_000) };
    let needed = needed(&build(&talk.0, &[], &request, o200k()).unwrap_err());
    assert_eq!(needed, talk.context(&unlimited()).tokens);
}

/// Each step of a tool loop shows the question, cut, and the steps before it.
#[test]
fn a_question_above_the_budget_leaves_room_for_the_steps_of_its_turn() {
    let mut talk = Talk::session();
    talk.say(Role::User, &contract());
    let mut stable: Vec<String> = Vec::new();
    for step in 1..=6 {
        talk.call("", &["a"]).answer("a", &format!("Page {step} is read."));
        let context = talk.context(&within(1_000));
        assert_eq!(sequences(&context).len(), 1 + 2 * step, "{:?}", told(&context));
        assert!(told(&context).starts_with(&stable));
        stable = told(&context)[..context.stable].to_vec();
        assert!(step == 1 || stable.len() == 1 + 2 * step, "{}", stable.len());
    }
}

#[test]
fn results_are_cut_before_what_was_said() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Read it.").call(&"I read. ".repeat(100), &["a"]).answer("a", &contract());
    let context = talk.context(&within(1_000));
    let how: Vec<How> = context.messages.iter().map(|message| message.how).collect();
    assert_eq!(how, [How::Whole, How::Whole, How::Trimmed]);
    let context = talk.context(&within(100));
    let how: Vec<How> = context.messages.iter().map(|message| message.how).collect();
    assert_eq!(how, [How::Whole, How::Trimmed, How::Trimmed]);
}

/// What would be cut for others stays whole if there is nothing to make room for.
#[test]
fn what_fits_altogether_stays_whole() {
    let mut talk = Talk::session();
    talk.say(Role::User, &"word ".repeat(850)).say(Role::Assistant, "Yes.").call("", &["a"]);
    talk.answer("a", &"word ".repeat(50)).say(Role::User, "Go on.");
    let all = talk.context(&unlimited()).tokens;
    let context = talk.context(&within(all));
    assert_eq!((context.tokens, context.warnings.len()), (all, 0));
    assert_eq!(context.stable, 0, "the first is cut when others follow");
    let less = talk.context(&within(all - 1));
    assert_eq!(less.messages[0].how, How::Trimmed);
}

/// Images are shown with their tokens, as far as there is room for them: the oldest are left out first.
#[test]
fn images_that_do_not_fit_are_marked() {
    let mut talk = Talk::session();
    let more = More { extras_tokens: 2_000, extras_json: Some("{}".into()), ..More::default() };
    talk.add(Role::User, "See?", more);
    let mut parts = ContentParts::default();
    let image = |start: usize| Image { place: start..start + 3, tokens: 1_000 };
    let images = vec![image(1), image(5)];
    let original = Original { json: "[old,new]".into(), words: "".into(), tokens: None, images };
    parts.insert(Sequence(1), original, 0);
    let shown = |talk: &Talk, budget, whole_messages| {
        let archived = Archived { content_parts: Some(&parts), ..Archived::default() };
        let request = Request { whole_messages, ..within(budget) };
        let context = build_with(&talk.0, archived, &request, o200k()).ok()?;
        assert!(context.tokens <= budget);
        let parts: String = context.messages.iter().filter_map(Message::content_parts).collect();
        Some((parts, context.messages.len(), context.warnings.len()))
    };
    let is = |parts: &str, messages, warnings| Some((parts.to_owned(), messages, warnings));
    let mark = r#"{"type":"text","text":"[image left out]"}"#;
    let [one, none] = [format!("[{mark},new]"), format!("[{mark},{mark}]")];
    assert_eq!(shown(&talk, 2_100, false), is("[old,new]", 1, 0));
    assert_eq!(shown(&talk, 1_500, false), is(&one, 1, 1));
    assert_eq!(shown(&talk, 900, false), is(&none, 1, 1));
    assert_eq!(shown(&talk, 900, true), None);
    talk.say(Role::Assistant, "A pump.").say(Role::User, "Which?");
    assert_eq!(shown(&talk, 2_100, false), is("[old,new]", 3, 0));
    assert_eq!(shown(&talk, 900, false), is(&none, 3, 1));
    assert_eq!(shown(&talk, 900, true), is("", 1, 1), "the older ones are left out");
}

/// Thoughts of a stored message count, also those before it, and are left out before its text is cut.
#[test]
fn what_is_given_as_it_is_stored_counts() {
    let mut talk = Talk::session();
    let empty = More { extras_json: Some("{}".into()), ..More::default() };
    talk.say(Role::User, "Why?").add(Role::Assistant, "", empty).say(Role::Assistant, "Because.");
    let mut parts = ContentParts::default();
    parts.count_stored(Sequence(2), 500);
    parts.count_stored(Sequence(3), 300);
    parts.leave_out(Sequence(3), vec!["thinking".into()]);
    let shown = |as_stored, budget| {
        let archived = Archived { content_parts: Some(&parts), ..Archived::default() };
        let request = Request { as_stored, ..within(budget) };
        let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
        let last = context.messages.last().unwrap();
        assert_eq!(last.text(), "Because.");
        (context.tokens, last.how, context.warnings.len())
    };
    let (plain, how, warnings) = shown(false, 2_000);
    assert_eq!((how, warnings), (How::Whole, 1));
    assert_eq!(shown(true, 2_000), (plain + 500 + 4 + 300, How::Whole, 0));
    assert_eq!(shown(true, 500), (plain, How::Trimmed, 2));
}
