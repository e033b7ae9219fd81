//! Contexts as a whole: what always holds, and what the parts come to.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::domain::{
    AssignedId, Conversation, ConversationId, ConversationKey, Draft, Encoding, Identity, LineageId, Loaded,
    Marks, More, Namespace, Policy, Ranges, RecipientId, Refusal, Role, Sequence, Timestamp, TokenCounter,
    ToolCall, Utterance, Verdict, change,
    extractive::tests::o200k,
    forget::{Forget, forget},
    forgetting,
    memorize::{Memorize, memorize},
    update::{UpdateUtterance, update_utterance},
};

/// A conversation that tests talk in, and what left its window.
#[derive(Clone, Debug)]
pub(crate) struct Talk(pub(crate) Conversation, Vec<Arc<Utterance>>);

const LINEAGE: LineageId = LineageId([7; 16]);

impl Talk {
    pub(crate) fn with(policy: Policy) -> Self {
        let key = ConversationKey { namespace: Namespace::default(), id: ConversationId::assigned(1) };
        let identity = Identity {
            key,
            recipient: RecipientId::default(),
            lineage: LINEAGE,
            start_time: Timestamp(0),
            encoding: Encoding::O200kBase,
        };
        Self(Conversation::new(identity, policy), Vec::new())
    }

    pub(crate) fn session() -> Self {
        Self::with(Policy::SESSION)
    }

    pub(crate) fn say(&mut self, role: Role, content: &str) -> &mut Self {
        self.add(role, content, More::default())
    }

    pub(crate) fn call(&mut self, content: &str, ids: &[&str]) -> &mut Self {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "lookup_order".into(),
            arguments_json: r#"{"order": 7}"#.into(),
        };
        let tool_calls = ids.iter().map(call).collect();
        self.add(Role::Assistant, content, More { tool_calls, ..More::default() })
    }

    pub(crate) fn answer(&mut self, id: &str, content: &str) -> &mut Self {
        self.add(Role::Tool, content, More { tool_call_id: Some(id.into()), ..More::default() })
    }

    pub(crate) fn add(&mut self, role: Role, content: &str, more: More) -> &mut Self {
        let more = (more != More::default()).then(|| Box::new(more));
        let draft = Draft {
            id: None,
            role,
            content: content.into(),
            turn: None,
            create_time: None,
            pinned: false,
            more,
        };
        let tokens = vec![draft.tokens(o200k())];
        let command = Memorize {
            drafts: vec![draft],
            tokens,
            encoding: Encoding::O200kBase,
            expected: None,
            lenient: true,
        };
        self.change(|before, context| {
            let memorized = memorize(before, &command, context).unwrap();
            decided(memorized).transition.after
        })
    }

    pub(crate) fn forget(&mut self, instruction: &str) -> &mut Self {
        let instruction = forgetting::parse(instruction).unwrap();
        let command = Forget { instruction, hard: false, expected: None };
        self.change(|before, context| {
            let forgotten = decided(forget(before, &command, context).unwrap());
            forgotten.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    pub(crate) fn pin(&mut self, sequence: u64) -> &mut Self {
        let id = AssignedId(LINEAGE, Sequence(sequence)).text().into();
        let command =
            UpdateUtterance { id, pinned: Some(true), metadata: None, content: None, expected: None };
        self.change(|before, context| {
            let updated = decided(update_utterance(before, &command, context).unwrap());
            updated.transition.map_or_else(|| before.clone(), |transition| transition.after)
        })
    }

    fn change(
        &mut self,
        decide: impl FnOnce(&Conversation, &change::Context<'_>) -> Conversation,
    ) -> &mut Self {
        let mut loaded = Loaded::default();
        loaded.add_archive(&self.0.head.archived, self.1.clone());
        let context = change::Context { now: Timestamp(0), counter: o200k(), loaded: &loaded, llm: false };
        let after = decide(&self.0, &context);
        let left = |said: &&Arc<Utterance>| after.window.get(said.sequence).is_none();
        self.1.extend(self.0.window.iter().filter(left).cloned());
        self.0 = after;
        self
    }

    pub(crate) fn context(&self, request: &Request) -> Context {
        build(&self.0, &[], request, o200k()).unwrap()
    }
}

fn decided<T>(verdict: Verdict<T>) -> T {
    match verdict {
        Verdict::Decided(value) => value,
        Verdict::Need(need) => panic!("nothing is archived: {need:?}"),
    }
}

/// What the messages say, in short.
fn told(context: &Context) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<_> = message.tool_calls().iter().map(|call| &*call.id).collect();
        format!("{} {}{}", message.role, message.text(), calls.join("+"))
    };
    context.messages.iter().map(line).collect()
}

fn sequences(context: &Context) -> Vec<u64> {
    context.messages.iter().filter_map(|message| Some(message.utterance.as_ref()?.sequence.get())).collect()
}

fn omitted(context: &Context) -> Vec<(Omission, String)> {
    context.omitted.iter().map(|(omission, ranges)| (*omission, ranges.to_string())).collect()
}

fn unlimited() -> Request {
    Request { max_turns: None, ..Request::default() }
}

fn within(budget: u32) -> Request {
    Request { budget: Some(budget), ..unlimited() }
}

/// Two of a user's and an assistant's words, as many turns.
fn turns(count: usize) -> Talk {
    let mut talk = Talk::session();
    for turn in 1..=count {
        talk.say(Role::User, &format!("Question {turn}: where is order {turn}?"));
        talk.say(Role::Assistant, &format!("Order {turn} is on its way to you."));
    }
    talk
}

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
    // the nearest open call is answered first
    assert_eq!(told(&context), ["assistant a+a", "tool second", "tool first", "assistant a", "tool third"]);
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
    // an answer goes with what was asked
    let turn = context.messages[0].tokens + context.messages[1].tokens;
    assert!((500 - turn..=500).contains(&context.tokens), "{}", context.tokens);
}

#[test]
fn what_no_summary_covers_is_counted_when_it_is_left_out() {
    let mut talk = turns(13);
    talk.forget("sequence:4").pin(3).pin(7);
    let context = talk.context(&Request { max_turns: Some(5), ..Request::default() });
    assert_eq!(context.uncovered, Uncovered { utterances: 16 - 3, turns: 8 });
    let [warning] = context.warnings[..] else { panic!("{:?}", context.warnings) };
    assert_eq!(
        warning.to_string(),
        "13 utterances are left out that no summary covers, 8 whole turns of the window among them; omitted \
         tells by which limit"
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
fn results_of_older_turns_are_masked() {
    let mut talk = Talk::session();
    let long = "The order has many lines. ".repeat(40);
    for _ in 0..5 {
        talk.say(Role::User, "Look it up.").call("", &["a"]).answer("a", &long);
    }
    talk.say(Role::User, "Again.").call("", &["b"]).answer("b", "Short.");
    let context = talk.context(&Request { mask_after_turns: Some(2), ..unlimited() });
    let how: Vec<How> = context.messages.iter().map(|message| message.how).collect();
    let masked: Vec<usize> = (0..how.len()).filter(|at| how[*at] == How::Masked).collect();
    assert_eq!(masked, [2, 5, 8], "turns 1 to 3 of 6");
    let text = context.messages[2].text();
    assert_eq!(text, "[result of lookup_order, 245 tokens, omitted; sequence 3]");
    assert_eq!(context.messages[2].tokens, 4 + o200k().count(text));
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
    assert_eq!(context.stable, 3, "it stays as it is");
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

fn needed(refusal: &Refusal) -> u32 {
    let text = refusal.to_string();
    let (_, rest) = text.split_once("accepted are ").expect("what is accepted");
    assert!(text.starts_with("token_budget: "), "{text}");
    rest.split_once(' ').unwrap().0.parse().unwrap()
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
        assert_eq!(at, 1, "behind the instructions");
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

#[test]
fn pinned_units_stay_when_their_place_is_cut() {
    let mut talk = turns(60);
    talk.pin(3).pin(118);
    let context = talk.context(&within(500));
    let rendered = sequences(&context);
    assert_eq!(rendered[0], 3);
    assert_eq!(context.messages[0].how, How::Pinned);
    let at = rendered.iter().position(|sequence| *sequence == 118).unwrap();
    assert_eq!(context.messages[at].how, How::Whole, "in its place");
    let gap = rendered[1];
    assert_eq!(omitted(&context), [(Omission::Budget, format!("1-2, 4-{}", gap - 1))]);
}

#[test]
fn what_is_recalled_stands_before_the_newest_user_utterance() {
    let talk = turns(60);
    let found: Vec<_> = [9, 4, 118].iter().map(|at| talk.0.window.at(at - 1).unwrap().clone()).collect();
    let request = Request { recall: Some(RECALL_PERCENT), ..within(500) };
    let context = build(&talk.0, &found, &request, o200k()).unwrap();
    let at = context.messages.iter().position(|message| message.how == How::Recalled).unwrap();
    assert_eq!((at, context.messages[at + 1].role), (context.messages.len() - 3, Role::User));
    assert_eq!(context.stable, at);
    assert_eq!(
        context.messages[at].text(),
        "[Recalled from earlier in this conversation]\n\
         Assistant (turn 2): Order 2 is on its way to you.\n\
         User (turn 5): Question 5: where is order 5?\n\
         [End of what was recalled]",
        "in the order said, without what is there anyway"
    );
    let recalled: Vec<u64> = context.recalled.iter().map(|found| found.utterance.sequence.get()).collect();
    assert_eq!(recalled, [4, 9]);
    assert!(omitted(&context)[0].1.starts_with("1-3, 5-8, 10-"));
    assert!(context.tokens <= 500);
}

/// The recalled have the share that the request names, and what they do not need of it is the recent units'.
#[test]
fn what_the_recalled_leave_of_their_share_is_for_recent_units() {
    let talk = turns(60);
    let found: Vec<_> = talk.0.window.iter().take(40).cloned().collect();
    let quoted = |percent: Option<u32>, found: &[Arc<Utterance>]| {
        let request = Request { recall: percent, stable_steps: Some(false), ..within(1_000) };
        let context = build(&talk.0, found, &request, o200k()).unwrap();
        let recalled = context.messages.iter().find(|message| message.how == How::Recalled);
        (recalled.map_or(0, |message| message.tokens), context.tokens)
    };
    for (percent, least, most) in [(10, 60, 100), (40, 340, 400), (100, 600, 1_000)] {
        let (tokens, all) = quoted(Some(percent), &found);
        assert!((least..=most).contains(&tokens), "{tokens} of {percent} %");
        assert!((950..=1_000).contains(&all), "{all}");
    }
    let (tokens, all) = quoted(Some(40), &found[..1]);
    assert!(tokens < 60 && (950..=1_000).contains(&all), "{tokens} of {all}");
    assert_eq!(quoted(None, &found).0, 0);
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
    let of =
        |source: Option<&Arc<Source>>, sequence| Found { source: source.cloned(), utterance: said(sequence) };
    let found =
        [of(Some(&untitled), 1), of(Some(&lamps), 4), of(None, 2), of(Some(&lamps), 1), of(Some(&lamps), 4)];
    talk.say(Role::User, "And now?");
    let request = Request { max_turns: Some(1), recall: Some(RECALL_PERCENT), ..Request::default() };
    let archived = Archived { recalled: &found, ..Archived::default() };
    let context = build_with(&talk.0, archived, &request, o200k()).unwrap();
    let wanted = "[Recalled from earlier conversations]\n\
         From \"Lamps\" of 2024-10-04:\n\
         User (turn 1): Question 1: where is order 1?\n\
         Assistant (turn 2): Order 2 is on its way to you.\n\
         From a conversation of 2024-10-05:\n\
         User (turn 1): Question 1: where is order 1?\n\
         From this conversation:\n\
         Assistant (turn 1): Order 1 is on its way to you.\n\
         [End of what was recalled]";
    let message = context.messages.iter().find(|message| message.how == How::Recalled).unwrap();
    assert_eq!((message.text(), message.tokens), (wanted, 4 + o200k().count(wanted)));
    assert_eq!(context.recalled, [&found[3], &found[1], &found[0], &found[2]].map(Clone::clone));
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

/// What is said next in a conversation made by chance.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say(Role, String, Option<&'static str>),
    Call(String, usize),
    Answer(usize, String),
    Forget(u64),
    Pin(u64),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || {
        let long = (100..400usize).prop_map(|count| "The order is late. ".repeat(count / 4));
        prop_oneof![6 => "[a-z]{1,8}( [a-z]{1,9}){0,25}\n?", 1 => Just(String::new()), 1 => long]
    };
    let role = prop_oneof![4 => Just(Role::User), 4 => Just(Role::Assistant), 1 => Just(Role::System)];
    let name = prop_oneof![6 => Just(None), 1 => Just(Some("Ada")), 1 => Just(Some("a b<c>"))];
    let step = prop_oneof![
        5 => (role, words(), name).prop_map(|(role, text, name)| Step::Say(role, text, name)),
        4 => (words(), 1..4usize).prop_map(|(text, calls)| Step::Call(text, calls)),
        8 => (0..4usize, words()).prop_map(|(call, text)| Step::Answer(call, text)),
        1 => (1..60u64).prop_map(Step::Forget),
        1 => (1..60u64).prop_map(Step::Pin),
    ];
    prop::collection::vec(step, 1..70)
}

impl Talk {
    /// The id of an abandoned call, if the nearest with that id is in the window.
    fn abandoned(&self) -> Option<Box<str>> {
        let id = &self.0.head.abandoned.iter().rfind(|call| call.answer.is_none())?.id;
        let nearest = self.0.head.abandoned_with(id).find(|call| call.answer.is_none())?;
        self.0.window.get(nearest.caller).map(|_| id.clone())
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Say(role, text, name) => {
                self.add(*role, text, More { name: name.map(Into::into), ..More::default() });
            }
            Step::Call(text, calls) => {
                self.call(text, &["a", "b", "a"][..*calls]);
            }
            // mostly one that is open, else a late one, else an orphan
            Step::Answer(call, text) => {
                let open = self.0.head.open.as_ref().and_then(|open| open.calls.get(*call).cloned());
                let id = open.or_else(|| self.abandoned()).unwrap_or_else(|| "z".into());
                self.answer(&id, text);
            }
            // what covers the archive would have to be loaded
            _ if !self.0.head.archived.is_empty() => {}
            Step::Forget(sequence) if self.0.window.get(Sequence(*sequence)).is_some() => {
                self.forget(&format!("sequence:{sequence}"));
            }
            Step::Pin(sequence) if self.0.window.get(Sequence(*sequence)).is_some() => {
                self.pin(*sequence);
            }
            Step::Forget(_) | Step::Pin(_) => {}
        }
    }
}

pub(crate) fn requests() -> impl Strategy<Value = Request> {
    let formats = [Format::OpenAiChat, Format::AnthropicMessages, Format::Text];
    let placements = [SummaryPlacement::System, SummaryPlacement::UserMessage];
    (
        prop::sample::select(formats.to_vec()),
        prop::option::of(40..3_000u32),
        prop::option::of(1..8u32),
        prop::sample::select(placements.to_vec()),
        prop::option::of(1..=100u32),
        prop::option::of(1..4u32),
        prop::sample::select(vec![Unanswered::Omit, Unanswered::Placeholder]),
        any::<Option<bool>>(),
        prop::option::of("[a-z ]{0,60}"),
    )
        .prop_map(
            |(
                format,
                budget,
                max_turns,
                summary,
                recall,
                mask_after_turns,
                unanswered,
                stable_steps,
                given,
            )| {
                Request {
                    stable_steps,
                    instructions: given.map(Into::into),
                    format,
                    budget,
                    max_turns,
                    summary,
                    recall,
                    mask_after_turns,
                    unanswered,
                }
            },
        )
}

/// Calls are answered directly behind them, each once and in the order made.
fn check_exchanges(context: &Context) -> Result<(), TestCaseError> {
    let mut open = 0..0;
    for message in &context.messages {
        if message.role == Role::Tool {
            prop_assert_eq!(open.next(), Some(message.answers));
            continue;
        }
        prop_assert!(open.is_empty(), "{:?}", told(context));
        if context.format != Format::Text {
            open = 0..message.tool_calls().len();
        }
    }
    prop_assert!(open.is_empty());
    Ok(())
}

/// Everything said is rendered or left out for a reason, and nothing is both.
fn check_account(talk: &Talk, context: &Context) -> Result<(), TestCaseError> {
    let mut rendered: Ranges = sequences(context).into_iter().map(Sequence).collect();
    prop_assert_eq!(rendered.count(), sequences(context).len() as u64, "nothing twice");
    context.recalled.iter().for_each(|found| rendered.add(found.utterance.sequence));
    let mut all = rendered.clone();
    let mut count = rendered.count();
    for (_, ranges) in &context.omitted {
        all.union(ranges);
        count += ranges.count();
    }
    prop_assert_eq!(count, all.count(), "{:?} {:?}", rendered, &context.omitted);
    prop_assert_eq!(all.count(), talk.0.head.next.get() - 1, "{:?} {:?}", rendered, &context.omitted);
    Ok(())
}

fn of(context: &Context, wanted: &[Omission]) -> Vec<(Omission, String)> {
    let mut omitted = omitted(context);
    omitted.retain(|(omission, _)| wanted.contains(omission));
    omitted
}

/// A unit that is pinned while it is the newest has its own share; later it has the pinned ones', and
/// a long result before it what is left beside that.
#[test]
fn nothing_is_stable_beside_a_pinned_newest_unit() {
    let mut talk = Talk::session();
    talk.say(Role::User, "Where is it?").call("", &["a"]);
    talk.answer("a", &"The order is late. ".repeat(200));
    talk.say(Role::User, &"Think of this. ".repeat(20)).pin(4);
    let request = Request { budget: Some(900), ..Request::default() };
    let pinned_last = talk.context(&request);
    assert_eq!(pinned_last.stable, 0);
    let later = talk.say(Role::User, "And?").context(&request);
    assert_ne!(told(&pinned_last)[2], told(&later)[2], "the result is shorter now");
    assert_eq!(later.stable, later.messages.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn contexts_are_whole_and_within_their_budget(
        steps in steps(),
        request in requests(),
        window in 4..60u32,
    ) {
        let policy = Policy { utterances: Some(Marks::of(window)), ..Policy::ROLLING };
        let mut talk = Talk::with(policy);
        steps.iter().for_each(|step| talk.step(step));
        let found: Vec<_> = talk.0.window.iter().step_by(3).cloned().collect();
        let context = match build(&talk.0, &found, &request, o200k()) {
            Ok(context) => context,
            Err(refusal) => {
                let needed = needed(&refusal);
                prop_assert!(Some(needed) > request.budget);
                let enough = Request { budget: Some(needed), ..request.clone() };
                let context = build(&talk.0, &found, &enough, o200k()).unwrap();
                prop_assert!(context.tokens <= needed);
                context
            }
        };
        check_exchanges(&context)?;
        check_account(&talk, &context)?;
        prop_assert!(context.stable <= context.messages.len() && context.head <= context.messages.len());
        let budget = request.budget.or(Request::default_budget(&talk.0));
        if request.budget.is_none() {
            prop_assert!(budget.is_none_or(|budget| context.tokens <= budget));
        }
        for message in context.messages.iter().filter(|_| context.format != Format::Text) {
            prop_assert!(message.instead.is_none() || message.role == Role::Assistant
                || message.tokens == 4 + o200k().count(message.text()), "{:?}", message);
        }
    }

    /// With what the user asked and what is pinned, both out of the window.
    #[test]
    fn what_comes_from_the_archive_fits_too(steps in steps(), request in requests(), long in 0..60usize) {
        let mut talk = Talk::session();
        talk.say(Role::User, &"word ".repeat(long)).say(Role::User, "Go on.");
        let from_archive: Vec<_> = talk.0.window.iter().cloned().collect();
        talk.0.window.remove(&Ranges::of(Sequence(1), Sequence(2)));
        talk.0.head.left = Arc::new(Ranges::of(Sequence(1), Sequence(2)));
        let later = |step: &&Step| !matches!(step, Step::Say(Role::User, ..) | Step::Forget(_) | Step::Pin(_));
        steps.iter().filter(later).for_each(|step| talk.step(step));
        let asked = asked_before(&talk.0).map(|turn| {
            prop_assert_eq!(turn, 2);
            Ok(&from_archive[1])
        });
        let asked = asked.transpose()?;
        prop_assert_eq!(asked.is_some(), !talk.0.window.is_empty());
        let archived = Archived { pinned: &from_archive[..1], asked, recalled: &[] };
        let build = |request: &Request| build_with(&talk.0, archived, request, o200k());
        let context = match build(&request) {
            Ok(context) => context,
            Err(refusal) => {
                let within = |budget| build(&Request { budget: Some(budget), ..request.clone() });
                let needed = needed(&refusal);
                prop_assert!(within(needed - 1).is_err());
                let context = within(needed).unwrap();
                prop_assert!(context.tokens <= needed);
                context
            }
        };
        check_exchanges(&context)?;
        check_account(&talk, &context)?;
        prop_assert!(request.budget.is_none_or(|budget| context.tokens <= budget || build(&request).is_err()));
        let said = context.messages.iter().any(|message| message.how == How::Whole);
        if said && asked.is_some() {
            prop_assert!(sequences(&context).contains(&2), "{:?}", told(&context));
        }
    }

    #[test]
    fn a_stable_prefix_stays_while_nothing_is_cut(steps in steps(), request in requests()) {
        let mut talk = Talk::session();
        let mut before: Option<Context> = None;
        for step in &steps {
            talk.step(step);
            let changed = matches!(step, Step::Forget(_) | Step::Pin(_));
            let now = build(&talk.0, &[], &request, o200k()).ok();
            if let Some((before, now)) = before.as_ref().zip(now.as_ref()).filter(|_| !changed) {
                let cuts = [Omission::Budget, Omission::MaxTurns];
                let masks = |context: &Context| context.messages.iter().filter(|m| m.how == How::Masked).count();
                if of(before, &cuts) == of(now, &cuts) && masks(before) == masks(now) {
                    prop_assert_eq!(&told(before)[..before.stable], &told(now)[..before.stable]);
                }
            }
            before = now;
        }
    }
}
