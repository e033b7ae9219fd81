//! Titles and closing summaries of small conversations, as a person would read them.

use proptest::prelude::*;

use super::*;
use crate::{
    ConversationId, ConversationKey, Encoding, Identity, LineageId, More, Namespace, Policy, Ranges,
    RecipientId, Role, Sequence, Timestamp, ToolCall, Utterance,
    limits::MAX_TITLE_BYTES,
    testing::{o200k, said},
};

fn conversation(said: impl IntoIterator<Item = Utterance>) -> Conversation {
    let identity = Identity {
        key: ConversationKey { namespace: Namespace::default(), id: ConversationId::new("c").unwrap() },
        recipient: RecipientId::default(),
        lineage: LineageId([0; 16]),
        start_time: Timestamp(0),
        encoding: Encoding::O200kBase,
    };
    let mut conversation = Conversation::new(identity, Policy::SESSION);
    said.into_iter().for_each(|utterance| conversation.window.push(Arc::new(utterance)));
    conversation
}

fn talk(lines: &[(Role, &str)]) -> Conversation {
    conversation(lines.iter().zip(1..).map(|((role, text), sequence)| said(sequence, *role, text)))
}

fn closing(conversation: &Conversation) -> (String, String) {
    let text = |text: Option<Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    (text(title(conversation, o200k())), text(summary(conversation, o200k())))
}

fn title_of(request: &str) -> String {
    closing(&talk(&[(Role::User, request)])).0
}

fn words(title: &str) -> usize {
    title.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Seed 000's example of a closing: a request, what was done, how it ended.
#[test]
fn a_request_and_what_came_of_it() {
    let meeting = talk(&[
        (Role::User, "Hi! Can you please create meeting notes for today's planning session? Thanks!"),
        (Role::Assistant, "Sure! Which folder should they go to?"),
        (Role::User, "Put them into the Journal folder."),
        (Role::Assistant, "I created 'Meeting Notes.md' in the Journal folder."),
        (Role::User, "Great, thank you!"),
        (Role::Assistant, "You're welcome! Let me know if you need anything else."),
    ]);
    let (title, summary) = closing(&meeting);
    assert_eq!(title, "Create meeting notes for today's planning session");
    assert_eq!(
        summary,
        "User: Can you please create meeting notes for today's planning session? \
         Put them into the Journal folder. \
         Assistant: I created 'Meeting Notes.md' in the Journal folder."
    );
}

#[test]
fn titles_leave_politeness_out_and_end_where_a_reader_pauses() {
    let cases = [
        (
            "I'd like to change my flight from Denver to Houston, please.",
            "Change my flight from Denver to Houston",
        ),
        (
            "I have a meeting tomorrow, could you help me write an agenda for the board?",
            "Write an agenda for the board",
        ),
        ("please fix the panic in src/store/memory/mod.rs", "Fix the panic in src/store/memory/mod.rs"),
        (
            "src/main.rs does not compile with the new toolchain",
            "src/main.rs does not compile with the new toolchain",
        ),
        (
            "Ich möchte meinen Flug von Berlin nach Rom am 3. Mai umbuchen, bitte",
            "Ich möchte meinen Flug von Berlin nach Rom",
        ),
        ("Hola, ¿puedes reservar una mesa para dos mañana?", "¿puedes reservar una mesa para dos mañana"),
        ("I want to cancel my order.", "I want to cancel my order"),
        ("Explain (in detail, with all steps and each lemma of it) why", "Explain in detail, with all steps"),
    ];
    for (request, expected) in cases {
        let title = title_of(request);
        assert_eq!(title, expected);
    }
}

#[test]
fn scripts_without_blanks_count_two_characters_a_word() {
    let title = title_of("请帮我写一封关于数据库迁移计划的电子邮件，发给整个工程团队。");
    assert_eq!(title, "写一封关于数据库迁移计划");
    assert_eq!(
        title_of("你好，我想找一家评分4.5分以上，人均消费150-500元的餐馆吃饭。"),
        "找一家评分4.5分以上"
    );
    assert_eq!(title_of("来週の東京出張のホテルを予約してください。"), "来週の東京出張のホテルを予約");
    let (_, summary) = closing(&talk(&[
        (Role::User, "今天东京的天气怎么样？明天会下雨吗"),
        (Role::Assistant, "今天东京晴，最高气温二十四度"),
    ]));
    assert!(summary.ends_with("二十四度。"), "{summary}");
}

#[test]
fn a_short_request_is_continued() {
    let weather = talk(&[
        (Role::User, "What's the weather?"),
        (Role::Assistant, "It is 18 °C in Paris."),
        (Role::User, "How about tomorrow?"),
    ]);
    assert_eq!(closing(&weather).0, "What's the weather? How about tomorrow");
    assert_eq!(title_of("weather Paris"), "Weather Paris");
    let greeting = talk(&[(Role::User, "hi"), (Role::Assistant, "Hello! How can I help you?")]);
    let told =
        ("Hi, How can I help you".to_owned(), "User: hi. Assistant: Hello! How can I help you?".to_owned());
    assert_eq!(closing(&greeting), told, "however little was said");
}

/// Rules for the work and examples follow the request, and are longer.
#[test]
fn a_long_request_is_known_by_its_beginning() {
    let request = "We're solving the following issue. Here's the issue text: Rounding of TimeDelta loses precision.\n\n\
        INSTRUCTIONS:\nRemember that YOU CAN ONLY ENTER ONE COMMAND AT A TIME in /usr/bin/bash.\n\
        Please make sure that src/fields.py and tests/test_fields.py are indented correctly, with PEP8.";
    let title = title_of(request);
    assert!(title.contains("Rounding of TimeDelta"), "{title}");
}

#[test]
fn an_issue_gives_its_own_title() {
    let issue = "Here's the task:\n<issue_description>\n[Bug]: offset dash linestyle has no effect\n### Bug summary\n\
        When setting the linestyle the offset has no effect.\n</issue_description>\nYour terminal session has started.";
    assert_eq!(title_of(issue), "Offset dash linestyle has no effect");
}

#[test]
fn nothing_said_is_no_title_and_no_summary() {
    assert_eq!(closing(&conversation([])), (String::new(), String::new()));
    let mut rules = said(1, Role::System, "Answer in French, never mention prices of hotels.");
    rules.instruction = true;
    let mut forgotten = said(2, Role::User, "My account number is 4711, please cancel it.");
    forgotten.forgotten = true;
    let mut aside = said(3, Role::Tool, "Account 4711 is overdrawn by 300 euros.");
    aside.aside = true;
    assert_eq!(closing(&conversation([rules, forgotten, aside])), (String::new(), String::new()));
}

#[test]
fn a_run_of_calls_is_told_by_its_calls() {
    let call =
        ToolCall { id: "1".into(), name: "read_file".into(), arguments_json: "{\"path\":\"a.rs\"}".into() };
    let mut calling = said(2, Role::Assistant, "");
    calling.more = Some(Box::new(More { tool_calls: vec![call], ..More::default() }));
    let mut answer = said(3, Role::Tool, "Error: no such file");
    answer.more = Some(Box::new(More { tool_call_id: Some("1".into()), ..More::default() }));
    let (_, summary) =
        closing(&conversation([said(1, Role::User, "Show me the file a.rs"), calling, answer]));
    assert_eq!(
        summary,
        "User: Show me the file a.rs. \
         Assistant called read_file(a.rs) → error: no such file."
    );
}

fn calls(at: u64, name: &str, arguments: &str, result: &str) -> [Utterance; 2] {
    let id: Box<str> = at.to_string().into();
    let call = ToolCall { id: id.clone(), name: name.into(), arguments_json: arguments.into() };
    let mut calling = said(at, Role::Assistant, "");
    calling.more = Some(Box::new(More { tool_calls: vec![call], ..More::default() }));
    let mut answer = said(at + 1, Role::Tool, result);
    answer.unit = Sequence(at);
    answer.more = Some(Box::new(More { tool_call_id: Some(id), ..More::default() }));
    [calling, answer]
}

#[test]
fn what_was_done_last_is_told_with_which_and_no_courtesy_after_it() {
    let mut told = vec![said(1, Role::User, "I need to cancel my two trips to Boston and Denver, please.")];
    told.extend(calls(2, "get_reservation_details", r#"{"reservation_id":"LU15PA"}"#, "a\nb"));
    told.extend(calls(
        4,
        "cancel_reservation",
        r#"{"reservation_id":"LU15PA"}"#,
        "{\"status\": \"cancelled\"}",
    ));
    told.extend(calls(6, "cancel_reservation", r#"{"reservation_id":"9HBUV8"}"#, "Error: already flown"));
    told.extend(calls(
        8,
        "cancel_reservation",
        r#"{"reservation_id":"MSJ4OA"}"#,
        "{\"status\": \"cancelled\"}",
    ));
    told.extend(calls(10, "get_user_details", r#"{"user_id":"mia_li_3668"}"#, "a\nb"));
    told.push(said(
        12,
        Role::Assistant,
        "Both trips have been cancelled, and $385 goes back to your Visa card.",
    ));
    told.push(said(13, Role::User, "Great, thank you!"));
    told.push(said(14, Role::Assistant, "Is there anything else I can help you with today, 7 days a week?"));
    told.push(said(15, Role::Assistant, "I hope that you have a pleasant trip on flight HAT136 on May 20."));
    let (title, summary) = closing(&conversation(told));
    assert_eq!(title, "Cancel my two trips to Boston and Denver");
    assert_eq!(
        summary,
        "User: I need to cancel my two trips to Boston and Denver, please. \
         Assistant called cancel_reservation(LU15PA; MSJ4OA) → ok. \
         Assistant: Both trips have been cancelled, and $385 goes back to your Visa card."
    );
}

#[test]
fn a_title_is_a_whole_phrase() {
    let cases = [
        (
            "I'm kinda stuck, I'm 28 and living in East Janethaven, how can I make my personal statement stand out \
             for global opportunities?",
            "Make my personal statement stand out",
        ),
        (
            "I have much to do, can you help me create a schedule to ensure I meet my deadlines by March?",
            "Create schedule to ensure I meet my deadlines",
        ),
        (
            "Add a function called multiply(a: int, b: int) -> int that multiplies two numbers together",
            "Add function called multiply(a: int, b: int) -> int",
        ),
        (
            "Um we need to uh reschedule the {vocalsound} design meeting on Monday",
            "Reschedule the design meeting on Monday",
        ),
    ];
    for (request, expected) in cases {
        assert_eq!(title_of(request), expected);
    }
}

#[test]
fn a_talk_of_people_is_called_by_what_they_come_back_to() {
    let lines = [
        "Have you heard back from the adoption agency about the papers?",
        "The adoption agency wants two more letters before the summer.",
        "My sister sings in the church choir every Sunday, she never stops.",
        "The church choir practises in our old school, and it is loud!",
    ];
    let talk = conversation((1..=32).map(|at| {
        let mut said = said(at, Role::User, &format!("{} That makes {at}.", lines[at as usize % 4]));
        let name = if at % 2 == 0 { "Ann" } else { "Bob" };
        said.more = Some(Box::new(More { name: Some(name.into()), ..More::default() }));
        said
    }));
    let (title, summary) = closing(&talk);
    assert_eq!(title, "Bob and Ann: adoption agency, church choir");
    assert!(summary.contains("Ann: ") && summary.contains("Bob: "), "{summary}");
    assert!(summary.contains("adoption agency") && summary.contains("church choir"), "{summary}");
}

#[test]
fn what_left_the_window_still_gives_the_title_until_it_is_erased() {
    let mut moved = talk(&[(Role::Assistant, "The migration of the customers table is finished.")]);
    let left = [said(1, Role::User, "Move the table customers to the new database server")];
    let left: Vec<_> = left.into_iter().map(Arc::new).collect();
    moved.summary = moved.summary.write(&left, &[], &summary_context());
    let (title, summary) = closing(&moved);
    assert_eq!(title, "Move table customers to new database server");
    assert!(summary.starts_with("User: Move the table customers"), "{summary}");

    let gone: Ranges = [left[0].sequence].into_iter().collect();
    moved.summary = moved.summary.erase(&gone, &summary_context());
    let (title, summary) = closing(&moved);
    assert!(!title.contains("Move") && !summary.contains("Move"), "{title} {summary}");
    assert!(summary.contains("migration"), "{summary}");
}

#[test]
fn the_ends_of_a_long_window_are_read() {
    let mut lines = vec![(Role::User, "Port the billing service from Python to Rust")];
    lines.extend([(Role::Assistant, "Looking at the next module of the service."); 5_000]);
    lines.push((Role::Assistant, "All modules are ported and the tests passed."));
    let (title, summary) = closing(&talk(&lines));
    assert_eq!(title, "Port the billing service from Python to Rust");
    assert!(summary.ends_with("All modules are ported and the tests passed."), "{summary}");
}

proptest! {
    #[test]
    fn any_text_has_a_title_of_at_most_eight_words(texts in proptest::collection::vec("\\PC{0,120}", 1..6)) {
        let roles = [Role::User, Role::Assistant].into_iter().cycle();
        let lines: Vec<_> = roles.zip(texts.iter().map(String::as_str)).collect();
        let (title, summary) = closing(&talk(&lines));
        prop_assert!(words(&title) <= 8, "{title}");
        prop_assert!(title.len() <= MAX_TITLE_BYTES);
        prop_assert!(!title.chars().chain(summary.chars()).any(char::is_control));
        prop_assert_eq!(title.trim(), &title);
    }

    #[test]
    fn enough_words_make_a_title_of_five_to_eight(said in proptest::collection::vec("[a-z]{4,9}", 5..40)) {
        let title = title_of(&said.join(" "));
        prop_assert!((5..=8).contains(&words(&title)), "{title}");
    }
}

fn summary_context() -> crate::segment::SummaryContext<'static> {
    crate::segment::SummaryContext {
        limit: None,
        counter: o200k(),
        awaits: None,
        window: None,
        compacts: false,
    }
}

#[test]
fn what_a_model_tells_is_read() {
    let read =
        |text: &str| told(text, o200k()).map(|told| (told.title.to_string(), told.summary.to_string()));
    let plain = ("Pump of T-7 replaced".to_owned(), "It failed. It was replaced.".to_owned());
    assert_eq!(read("Title: Pump of T-7 replaced\nSummary: It failed. It was replaced."), Ok(plain.clone()));
    let marked =
        "Sure:\n\n**Title:** \"Pump of T-7 replaced.\"\n\n**Summary:** It failed.\n It was  replaced.\n";
    assert_eq!(read(marked), Ok(plain));
    assert_eq!(read("It was about a pump."), Err(Unfit::Missing("Title:")));
    assert_eq!(read("Title: A pump\nIt failed."), Err(Unfit::Missing("Summary:")));
    assert_eq!(read("Title: \"\"\nSummary: It failed."), Err(Unfit::Missing("Title:")));
    let long = format!("Title: {}\nSummary: x", "word ".repeat(9));
    assert_eq!(read(&long), Err(Unfit::LongTitle { words: 9 }));
    let long = format!("Title: A pump\nSummary: {}", "It failed. ".repeat(99));
    assert!(matches!(read(&long), Err(Unfit::LongSummary { tokens }) if tokens > 160));
}
