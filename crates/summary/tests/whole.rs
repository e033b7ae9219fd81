//! Summaries of whole conversations: what a reader needs is in them, and what must not be is not.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "whole/replaced.rs"]
mod replaced;

use std::sync::LazyLock;

use proptest::prelude::*;
use tiktoken_rs::CoreBPE;
use utterd_summary::{
    analysis::analyse,
    closing::closing,
    compose::{Summary, Wanted, summarise},
    item::Item,
    message::{Answer, Call, Message, Role},
    settle::Part,
};

static ENCODING: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().expect("it is built in"));

fn count(text: &str) -> u32 {
    ENCODING.encode_ordinary(text).len() as u32
}

fn message<'a>(sequence: u64, role: Role, text: &'a str) -> Message<'a> {
    Message { sequence, role, name: None, time: None, text, calls: Vec::new() }
}

/// Users and the assistant take turns.
fn talk<'a>(lines: &[&'a str]) -> Vec<Message<'a>> {
    let role = |at| if at % 2 == 0 { Role::User } else { Role::Assistant };
    (1..).zip(lines).map(|(at, text)| message(at, role(at - 1), text)).collect()
}

fn calling<'a>(sequence: u64, tool: &'a str, arguments: &'a str, result: &'a str) -> Message<'a> {
    let result = Answer { sequence: sequence + 1, text: result };
    let call = Call { tool, arguments, result: Some(result) };
    Message { calls: vec![call], ..message(sequence, Role::Assistant, "") }
}

fn summary(messages: &[Message<'_>], budget: u32) -> Summary {
    summarise(analyse(messages), &Wanted { budget, ..Wanted::default() }, &count)
}

fn text(messages: &[Message<'_>], budget: u32) -> String {
    summary(messages, budget).text()
}

#[test]
fn a_records_values_are_told_whatever_its_keys_are() {
    let records = [
        ("get_plot", "plot_id", "PL4471", ["barley", "clay", "3 ha", "drip", "Olga Brandt", "leased"]),
        (
            "get_case",
            "case_no",
            "CS-1188",
            ["fraud", "room 4", "Judge Lund", "adjourned", "2 witnesses", "sealed"],
        ),
        (
            "get_vessel",
            "imo",
            "IM93021",
            ["grain", "berth 7", "Captain Ruiz", "7.2 m", "Panama", "quarantine"],
        ),
        (
            "get_bewohner",
            "bewohner_id",
            "BW2291",
            ["Diabetes", "Zimmer 12", "Pfleger Kurt", "salzarm", "Rollstuhl", "Dienstag"],
        ),
        (
            "get_pieza",
            "pieza_id",
            "PZ7710",
            ["roble", "barniz mate", "taller norte", "Luisa Mora", "urgente", "dos cajones"],
        ),
    ];
    let keys = ["alpha", "kind", "where", "note", "who", "state"];
    for (tool, key, id, values) in records {
        let mut record = serde_json::Map::new();
        record.insert(key.into(), id.into());
        for (name, value) in keys.iter().zip(values) {
            record.insert((*name).into(), value.into());
        }
        let (arguments, record) =
            (format!("{{\"{key}\":\"{id}\"}}"), serde_json::Value::Object(record).to_string());
        let asks = format!("Look up {id} and tell me about it.");
        let messages = [
            message(1, Role::User, &asks),
            calling(2, tool, &arguments, &record),
            message(4, Role::Assistant, "I have it. What would you like to do?"),
        ];
        let told = text(&messages, 300);
        let kept = values.iter().filter(|value| told.contains(*value)).count();
        assert!(kept >= 6, "{kept} of {values:?}:\n{told}");
    }
}

#[test]
fn a_choice_is_no_repetition_of_the_offer() {
    for (lines, wanted) in [
        (
            [
                "Should we host it in Oslo or Bergen?",
                "Oslo is cheaper, Bergen is closer to the team.",
                "Bergen.",
                "All right.",
            ],
            "User: Bergen",
        ),
        (
            ["Which font, serif or sans?", "Serif suits print; sans suits screens.", "Sans, then.", "Done."],
            "Sans, then",
        ),
        (
            [
                "Do we ship on Monday or Friday?",
                "Monday leaves no time for tests, Friday does.",
                "We ship on Friday.",
                "Noted.",
            ],
            "We ship on Friday",
        ),
        (
            [
                "¿Usamos cobre o aluminio?",
                "El cobre conduce mejor, el aluminio pesa menos.",
                "Aluminio.",
                "De acuerdo.",
            ],
            "User: Aluminio",
        ),
        (
            [
                "Nehmen wir Holz oder Stahl?",
                "Holz ist leichter, Stahl hält länger.",
                "Wir nehmen Stahl.",
                "Gut.",
            ],
            "Wir nehmen Stahl",
        ),
        (
            [
                "On prend le train ou la voiture ?",
                "Le train est plus rapide, la voiture plus souple.",
                "Le train.",
                "Entendu.",
            ],
            "User: Le train",
        ),
        (
            ["Мы берём синий или зелёный?", "Синий темнее, зелёный ярче.", "Зелёный.", "Хорошо."],
            "User: Зелёный",
        ),
        (["用红色还是蓝色？", "红色醒目，蓝色沉稳。", "蓝色。", "好的。"], "User: 蓝色"),
        (
            ["赤と青のどちらにしますか？", "赤は目立ち、青は落ち着きます。", "青です。", "わかりました。"],
            "User: 青です",
        ),
    ] {
        let told = text(&talk(&lines), 300);
        assert!(told.contains(wanted), "{wanted}:\n{told}");
        let closing = closing(&analyse(&talk(&lines))).expect("something was said");
        assert!(closing.contains(wanted), "{wanted}: {closing}");
    }
}

#[test]
fn of_people_each_is_quoted_with_what_the_talk_is_about() {
    for (lines, about) in [
        (
            [
                "Hi Ben, all well?",
                "Yes, and you?",
                "The roof of our barn came down in the storm last night.",
                "No! Are the horses all right?",
                "They are, but we must rebuild the barn before the winter.",
                "Then take the beams from my old barn.",
                "Great.",
                "See you on Sunday.",
            ],
            "barn",
        ),
        (
            [
                "Hola Ben, ¿todo bien?",
                "Sí, ¿y tú?",
                "El techo de nuestro granero se cayó anoche con la tormenta.",
                "¡No! ¿Están bien los caballos?",
                "Sí, pero hay que reconstruir el granero antes del invierno.",
                "Entonces llévate las vigas de mi viejo granero.",
                "Genial.",
                "Hasta el domingo.",
            ],
            "granero",
        ),
        (
            [
                "小本，你好吗？",
                "很好，你呢？",
                "昨晚暴风雨把我们的谷仓屋顶吹塌了。",
                "真的吗？马没事吧？",
                "马没事，可是冬天以前我们要重建谷仓。",
                "那就用我旧谷仓的木梁吧。",
                "太好了。",
                "星期天见。",
            ],
            "谷仓",
        ),
    ] {
        let name = |at: u64| Some(if at % 2 == 1 { "Ada" } else { "Ben" });
        let said = talk(&lines).into_iter().map(|said| Message { name: name(said.sequence), ..said });
        let told = text(&said.collect::<Vec<_>>(), 60);
        let who: Vec<&str> = told.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        assert!(who.contains(&"Ada") && who.contains(&"Ben") && told.contains(about), "{told}");
        assert!(!told.contains("Open: ") && !told.contains("Goal: "), "nobody is asked to act:\n{told}");
    }
}

#[test]
fn what_was_corrected_is_told_as_it_holds_now() {
    for (first, other, correction, new, old) in [
        (
            "My address is 12 Elm Road.",
            "Send the parcel.",
            "My new address is 9 Oak Lane; forget the old one.",
            "9 Oak Lane",
            "12 Elm Road",
        ),
        (
            "Ship it to the Hamburg depot.",
            "Check the labels.",
            "Actually, ship it to the Bremen depot instead.",
            "Bremen",
            "Hamburg",
        ),
        (
            "Deploy to the eu-west cluster.",
            "The checks are green.",
            "Actually, deploy to us-east instead.",
            "us-east",
            "eu-west",
        ),
        ("The limit is 40 users.", "Write the report.", "The limit is 65 users.", "65", "40"),
        (
            "Der Termin ist am Montag.",
            "Reserviere den Raum.",
            "Nein, der Termin ist am Mittwoch.",
            "Mittwoch",
            "am Montag",
        ),
        (
            "La reunión es el lunes.",
            "Prepara la sala.",
            "En realidad, la reunión es el martes.",
            "martes",
            "lunes",
        ),
        (
            "Das Budget ist 5000 Euro.",
            "Such drei Angebote.",
            "Korrektur: Das Budget ist 8000 Euro.",
            "8000",
            "5000",
        ),
        ("会議は月曜日です。", "部屋を予約してください。", "いいえ、会議は水曜日です。", "水曜日", "月曜日"),
    ] {
        let mut lines = vec![first, "Noted.", other, "Fine.", correction, "Noted."];
        for _ in 0..6 {
            lines.extend(["Also look at the next item of the list when there is time.", "I will."]);
        }
        let told = text(&talk(&lines), 150);
        assert!(told.contains(new) && !told.contains(old), "{correction}:\n{told}");
    }
}

/// Whatever a thing is called, and in each language that has cues: what is new takes the place of what was.
#[test]
fn a_new_value_takes_the_place_of_the_old_one() {
    let forms = [
        ("My {} is {}.", "My new {} is {}.", ["locker", "editor"]),
        ("The {} is {}.", "{} is the host now.", ["host", "host"]),
        ("Mi {} es {}.", "Ahora mi {} es {}.", ["armario", "editor"]),
        ("Mi {} es {}.", "Mi nuevo {} es {}.", ["armario", "editor"]),
        ("Mein {} ist {}.", "Mein neuer {} ist {}.", ["Spind", "Editor"]),
        ("Mon {} est {}.", "Mon nouveau {} est {}.", ["casier", "bureau"]),
        ("Il mio {} è {}.", "Il mio nuovo {} è {}.", ["armadietto", "editor"]),
        ("O meu {} é {}.", "O meu novo {} é {}.", ["cacifo", "editor"]),
        ("Mijn {} is {}.", "Mijn nieuwe {} is {}.", ["kluis", "editor"]),
        ("Мой {} — {}.", "Мой новый {} — {}.", ["шкафчик", "редактор"]),
        ("我的{}是{}。", "我的新{}是{}。", ["柜子", "编辑器"]),
        ("私の{}は{}です。", "私の新しい{}は{}です。", ["部屋", "エディタ"]),
    ];
    for (old, new, things) in forms {
        for (thing, (first, second)) in things.iter().zip([("714", "902"), ("Helix", "Kakoune")]) {
            let said = |form: &str, value: &str| {
                let form = if form.matches("{}").count() > 1 {
                    form.replacen("{}", thing, 1)
                } else {
                    form.to_owned()
                };
                form.replace("{}", value)
            };
            let (before, after) = (said(old, first), said(new, second));
            let told = text(&talk(&[&before, "OK.", &after, "OK."]), 150);
            assert!(told.contains(second) && !told.contains(first), "{after}\n{told}");
        }
    }
}

#[test]
fn a_wish_stays_when_how_it_is_met_changes() {
    for (wish, change) in [
        (
            "I'd like to adjust my return train for the trip from Lyon to Basel.",
            "Actually, I'd like to return to Lyon on the same day, with the fastest train.",
        ),
        (
            "Ich möchte meinen Termin beim Zahnarzt verschieben.",
            "Eigentlich möchte ich den Termin lieber am Nachmittag haben.",
        ),
    ] {
        let told = text(&talk(&[wish, "Which one is it?", change, "I look for one."]), 300);
        assert!(told.contains(wish) && told.contains(change), "{told}");
    }
}

#[test]
fn what_failed_last_is_told_also_if_it_worked_since() {
    let arguments = "{\"command\":\"make check\"}";
    let failed = "error: unknown field `tempo` in the score";
    let messages = [
        message(1, Role::User, "Add the tempo to the score and make it build."),
        calling(2, "bash", arguments, failed),
        calling(4, "edit", "{\"path\":\"src/score.c\"}", "edited"),
        calling(6, "bash", arguments, "ok"),
        message(8, Role::Assistant, "It builds."),
    ];
    let told = text(&messages, 300);
    assert!(told.contains("Error: (solved) make check: unknown field `tempo`"), "{told}");
    assert!(told.contains("Check: make check → ok"), "{told}");
}

#[test]
fn a_test_that_failed_and_was_not_repeated_is_told() {
    let asked: Vec<String> = (0..9).map(|at| format!("Run test t{at} please")).collect();
    let arguments: Vec<String> = (0..9).map(|at| format!("{{\"name\":\"t{at}\"}}")).collect();
    let mut messages = Vec::new();
    for (at, (asked, arguments)) in (0..).zip(asked.iter().zip(&arguments)) {
        let result = if at == 5 { "test t5 ... FAILED\nassertion failed at src/a.rs:5" } else { "ok" };
        messages.push(message(3 * at + 1, Role::User, asked));
        messages.push(calling(3 * at + 2, "run_test", arguments, result));
    }
    let told = text(&messages, 1_000);
    assert!(told.contains("Error: run_test t5: test t5 ... FAILED"), "{told}");
}

#[test]
fn the_last_test_is_told_beside_what_ran_later() {
    let shell = |sequence, command, result| calling(sequence, "bash", command, result);
    let test = r#"{"command":"go test ./..."}"#;
    let messages = [
        message(1, Role::User, "Fix the pump."),
        shell(2, test, "--- FAIL: TestPump (0.01s)\nexit code: 1"),
        shell(4, r#"{"command":"sed -i s/3/4/ pump.go"}"#, ""),
        shell(6, test, "ok  \tex.org/pump\t0.02s"),
        shell(8, r#"{"command":"python3 try.py"}"#, "KeyError: 'pump'"),
        shell(10, r#"{"command":"python3 show.py"}"#, "4"),
    ];
    let told = text(&messages, 300);
    for line in [
        "Check: go test ./... → ok",
        "Check: python3 show.py → ok",
        "Error: python3 try.py: KeyError: 'pump'",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
}

#[test]
fn values_that_records_share_do_not_hide_what_tells_them_apart() {
    let rows: Vec<_> = (0..8)
        .map(|at| serde_json::json!({"berth": format!("BT{at}71"), "day": "2031-04-09", "open": true, "fee": 310 + at}))
        .collect();
    let rows = serde_json::json!(rows).to_string();
    let messages = [
        message(1, Role::User, "Find me a berth for 9 April, the cheapest one."),
        calling(2, "find_berths", "{\"day\":\"2031-04-09\"}", &rows),
        message(4, Role::Assistant, "There are eight. Shall I take the cheapest?"),
    ];
    let told = text(&messages, 110);
    let kept = (0..8).filter(|at| told.contains(&format!("{}", 310 + at))).count();
    assert!(kept == 8 && told.matches("2031-04-09").count() < 6, "{kept}:\n{told}");
}

#[test]
fn no_credential_is_told() {
    let keys =
        ["ghp_Zz91kQpLm38sTnVb72xYcW64rUiOa05eHjKd", "hX7!pqR2vwZk", "sk-ant-api03-Qm4Tz81LwPo93XcVb20NnJs"];
    let printed = format!("GITHUB_TOKEN={}\nDB_PASSWORD={}\nREGION=eu-north-1", keys[0], keys[1]);
    let arguments = serde_json::json!({"service": "web", "api_key": keys[2]}).to_string();
    let messages = [
        message(
            1,
            Role::User,
            "Show me the environment of the build in eu-north-1, then deploy the web service.",
        ),
        calling(2, "bash", "{\"command\":\"cat .env\"}", &printed),
        calling(4, "deploy", &arguments, "deployed web to eu-north-1"),
        message(6, Role::Assistant, "It runs in eu-north-1 with the password hX7!pqR2vwZk."),
    ];
    for budget in [100, 300, 1_000] {
        let told = text(&messages, budget);
        assert!(keys.iter().all(|key| !told.contains(key)) && told.contains("eu-north-1"), "{told}");
    }
}

#[test]
fn facts_of_an_early_message_outlast_small_talk() {
    let facts = ["Heron", "Tromsø", "09:15", "peanuts", "3358", "Ingrid", "Saab", "green binder"];
    let mut lines = vec![
        "Note these: the project is called Heron, the office is in Tromsø, we meet at 09:15, and I cannot eat peanuts.",
        "Noted.",
        "The door code is 3358, my boss is Ingrid, I drive a Saab, and the contract is in the green binder.",
        "Noted.",
    ];
    let asked: Vec<String> =
        (0..48).map(|week| format!("What do you make of the wind in week {week}?")).collect();
    for asked in &asked {
        lines.extend([asked.as_str(), "It looks calm, with a breeze in the evening."]);
    }
    let told = text(&talk(&lines), 300);
    let kept: Vec<_> = facts.iter().filter(|fact| told.contains(*fact)).collect();
    assert!(kept.len() == 8, "{kept:?}:\n{told}");
}

#[test]
fn a_standing_instruction_is_kept() {
    for instruction in [
        "When you finish a task, end your reply with the word DONE.",
        "Before you answer, check the changelog.",
        "For the rest of this session, answer in French.",
        "Never push to main.",
    ] {
        let mut lines = vec!["Please rename the queue module.", "Renamed.", instruction, "Understood."];
        for _ in 0..20 {
            lines.extend([
                "Now go through the next file and fix what the linter reports there.",
                "That file is fixed.",
            ]);
        }
        let told = text(&talk(&lines), 150);
        assert!(told.contains(instruction), "{told}");
    }
}

/// What a lead says of is told with it, and what stands before a task that a program hands over is the user's.
#[test]
fn an_instruction_before_a_task_is_kept_with_its_lead() {
    let instruction = "For the rest of this session. Answer in one sentence.";
    let task = "The queue stalls when it is full, which happens each morning. ".repeat(30);
    let handed = format!("{instruction}\n<task>\nMend the queue\n{task}\n</task>\nThink step by step.");
    let told = text(&talk(&[&handed, "I will look at it."]), 300);
    assert!(told.contains(instruction) && !told.contains("step by step"), "{told}");
}

#[test]
fn a_list_of_tasks_that_is_older_than_the_last_request_says_nothing() {
    let over = "{\"todos\":[{\"content\":\"Rename it\",\"status\":\"completed\"}]}";
    let messages = [
        message(1, Role::User, "Rename the queue module."),
        calling(2, "update_plan", over, "ok"),
        message(4, Role::Assistant, "It is renamed."),
        message(5, Role::User, "Now move it to the engine as well."),
    ];
    let told = text(&messages, 300);
    assert!(!told.contains("To do") && told.contains("Open: User: Now move it"), "{told}");
}

/// What heads a line of values is not told again as a bare name, and neither are labels.
#[test]
fn a_name_is_told_once_and_a_label_is_none() {
    let rows = r#"[{"flight": "KX1201", "fare": 310, "day": "2031-04-09"},
        {"flight": "KX1377", "fare": 295, "day": "2031-04-09"}, {"flight": "KX1409", "fare": 402, "day": "2031-04-09"}]"#;
    let messages = [
        message(1, Role::User, "Find me a flight on 9 April."),
        calling(2, "find_flights", r#"{"day": "2031-04-09"}"#, rows),
        message(
            4,
            Role::Assistant,
            "There are three.\n- **Flight Number:** KX1377\n- **Cabin Class:** First Light",
        ),
        message(5, Role::User, "I take the cheapest of them."),
    ];
    let told = text(&messages, 300);
    let named = told.lines().find(|line| line.starts_with("Named: ")).unwrap_or_default();
    assert!(["Flight Number", "Cabin Class", "KX"].iter().all(|name| !named.contains(name)), "{told}");
    assert!(told.contains("\nKX1377: "), "{told}");
    // what was asked for is known
    assert!(["310", "295", "402"].iter().all(|fare| told.contains(fare)), "{told}");
}

#[test]
fn a_call_without_an_answer_did_not_fail() {
    let mut pending = calling(2, "move_file", r#"{"path": "src/a.rs"}"#, "");
    pending.calls[0].result = None;
    let told = text(&[message(1, Role::User, "Move src/a.rs to the engine."), pending], 300);
    assert!(told.contains("move_file(src/a.rs) → no answer"), "{told}");
}

/// Whatever the budget, an error says why, or only that it failed.
#[test]
fn an_outcome_is_never_only_cut() {
    let why = "../a/very/long/path/to/the/module/that/does/not/compile/in/this/place/main.rs(331,29): error TS2339: \
        Property 'queue' does not exist on type 'InteractiveMode', which is used by the other half of the program.";
    let messages = [
        message(1, Role::User, "Make the module compile, please."),
        calling(2, "bash", r#"{"command": "npm run check"}"#, why),
    ];
    for budget in (40..400).step_by(20) {
        let told = text(&messages, budget);
        assert!(!told.lines().any(|line| line.ends_with(": …")), "{budget}: {told}");
    }
}

#[test]
fn what_one_message_says_holds_together() {
    let told = text(
        &talk(&["I expect 55 rows in the report. Instead, I get 72 rows in the report.", "I look."]),
        300,
    );
    assert!(told.contains("55") && told.contains("72"), "{told}");
}

/// Anything that can be said.
fn texts() -> impl Strategy<Value = String> {
    let strange = prop::sample::select(vec![
        "",
        "…",
        "\u{0}",
        "```",
        "<a>",
        "[x]",
        "| a |",
        "{\"a\":1}",
        "«»",
        "é\u{301}",
    ]);
    prop_oneof![6 => "[A-Za-z0-9 .,?!$:/_-]{0,160}", 2 => "\\PC{0,60}", 1 => strange.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_conversation_has_a_summary_within_its_budget(
        said in prop::collection::vec((0..4usize, texts(), texts()), 0..30),
        budget in prop_oneof![9 => 1..600u32, 1 => any::<u32>()],
    ) {
        let messages: Vec<Message<'_>> = (1..)
            .step_by(2)
            .zip(&said)
            .map(|(sequence, (kind, one, two))| match kind {
                0 => message(sequence, Role::User, one),
                1 => message(sequence, Role::Assistant, one),
                2 => calling(sequence, "bash", one, two),
                _ => calling(sequence, "update_record", two, one),
            })
            .collect();
        let summary = summary(&messages, budget);
        prop_assert!(summary.tokens <= budget);
        prop_assert_eq!(count(&summary.text()), summary.tokens, "{:?}", summary.text());
        for line in &summary.lines {
            let body = line.text.strip_suffix('\n').expect("a line ends");
            prop_assert!(!body.ends_with(char::is_whitespace) && !body.contains('\n') && !body.is_empty());
            prop_assert!(!line.items.is_empty(), "a line has sources");
        }
    }
}

/// What leaves a window part by part ends in a summary that tells what one of all parts tells.
#[test]
fn a_summary_that_grows_tells_what_one_of_all_tells() {
    let facts = ["Heron", "Tromsø", "09:15", "peanuts", "3358", "Ingrid", "Saab", "green binder"];
    let mut lines = vec![
        "Please note these: the project is called Heron, the office is in Tromsø, we meet at 09:15, and I cannot eat peanuts.",
        "Noted.",
        "The door code is 3358, my boss is Ingrid, I drive a Saab, and the contract is in the green binder.",
        "Noted.",
    ];
    let asked: Vec<String> =
        (0..48).map(|week| format!("What do you make of the wind in week {week}?")).collect();
    for asked in &asked {
        lines.extend([asked.as_str(), "It looks calm, with a breeze in the evening."]);
    }
    let told = grown(&talk(&lines), 300);
    let left: Vec<_> = facts.iter().filter(|fact| !told.contains(*fact)).collect();
    assert!(left.is_empty() && count(&told) <= 300, "{left:?}:\n{told}");
}

#[test]
fn what_changed_after_the_last_commit_is_not_committed() {
    let edit = |sequence, file| calling(sequence, "edit", file, "The file was updated.");
    let commit = |sequence| {
        calling(
            sequence,
            "bash",
            r#"{"command":"git commit -m 'Add the tempo'"}"#,
            "[main 1f3a] Add the tempo",
        )
    };
    let [score, player, notes] =
        ["score", "player", "notes"].map(|name| format!("{{\"path\":\"src/{name}.rs\"}}"));
    let mut messages = vec![
        message(1, Role::User, "Add the tempo to the score, and play it."),
        edit(2, &score),
        edit(4, &player),
        commit(6),
        edit(8, &player),
        edit(10, &notes),
    ];
    let open = "edit → ok, not committed yet: src/player.rs; src/notes.rs\n";
    for told in [text(&messages, 300), grown(&messages, 300)] {
        assert!(told.contains(open) && told.contains("edit(src/score.rs) → ok\n"), "{told}");
    }
    messages.push(commit(12));
    assert!(!text(&messages, 300).contains("not committed"), "all is committed");
    messages.retain(|message| !matches!(message.sequence, 6 | 12));
    assert!(!text(&messages, 300).contains("not committed"), "nobody commits");
}

#[test]
fn a_correction_is_told_before_requests_of_one_form() {
    let corrections = [
        "No, the port of the staging server is 8443, not 8080.",
        "Actually, the reviewers are Kim and Ola.",
        "Nein, der Termin ist am Mittwoch, nicht am Montag.",
        "No, el servidor está en Lisboa, no en Oporto.",
        "Non, la livraison est à Lyon, pas à Nantes.",
        "いいえ、会議は水曜日です、月曜日ではありません。",
        "不对,端口是8443,不是8080。",
    ];
    let forms = [
        "Please look at part {}.",
        "Please look at part {} again and only change what is needed.",
        "You must read chapter {}, and never skip its figures.",
        "Bitte prüfe Teil {}, aber ändere nichts.",
    ];
    for (correction, form) in corrections.iter().flat_map(|correction| forms.map(|form| (*correction, form)))
    {
        let asked: Vec<String> = (0..150).map(|part| form.replace("{}", &part.to_string())).collect();
        let mut lines: Vec<&str> = Vec::new();
        for (part, asked) in asked.iter().enumerate() {
            lines.extend([if part == 40 { correction } else { asked }, "It is complete. Shall I go on?"]);
        }
        for told in [text(&talk(&lines), 600), grown(&talk(&lines), 200)] {
            assert!(told.contains(correction), "{correction}\n{told}");
        }
    }
}

#[test]
fn a_correction_takes_the_place_of_one_statement_however_often_it_is_read() {
    for (others, wrong, correction) in [
        (
            ["Ship the chairs to the Bremen depot.", "Ship the desks to the Basel depot."],
            "Ship the lamps to the Hamburg depot.",
            "Actually, ship the lamps to the Kiel depot instead.",
        ),
        (
            ["Die Lampe kommt in den Raum 12.", "Der Tisch kommt in den Raum 14."],
            "Der Stuhl kommt in den Raum 13.",
            "Korrektur: Der Stuhl kommt in den Raum 27.",
        ),
    ] {
        let mut lines = vec![others[0], "Noted.", others[1], "Noted.", wrong, "Noted.", correction, "Noted."];
        for _ in 0..6 {
            lines.extend(["Is the weather calm?", "It is."]);
        }
        for told in [text(&talk(&lines), 300), grown(&talk(&lines), 300)] {
            assert!(others.iter().all(|other| told.contains(other)), "{correction}\n{told}");
            assert!(told.contains(correction) && !told.contains(wrong), "{correction}\n{told}");
        }
    }
}

/// The summary in `budget` tokens of what leaves a window part by part. Each part is a summary before it is folded.
fn grown(messages: &[Message<'_>], budget: u32) -> String {
    let kept = |items: Vec<Item>, part: Part| {
        let wanted = Wanted { budget, part, ..Wanted::default() };
        summarise(items.clone(), &wanted, &count).kept(&items, 2 * budget, &count)
    };
    let mut folded = Vec::new();
    for (at, messages) in messages.chunks(4).enumerate() {
        folded.extend(kept(analyse(messages), if at == 0 { Part::START } else { Part::MIDDLE }));
        folded = kept(folded, Part::START);
    }
    summarise(folded, &Wanted { budget, part: Part::START, ..Wanted::default() }, &count).text()
}

#[test]
fn an_error_that_was_cut_once_takes_its_own_room_when_it_is_whole_again() {
    let error = "src/app/session.ts(706,40): error TS2345: Argument of type '(c: { text: string }) => string' is not \
                 assignable to parameter of type '((value: { type: string; text: string }, index: number) => string)'";
    let standing = "Never push to the main branch without asking me first, whatever the plan says.";
    let checks = |sequence, result| calling(sequence, "bash", r#"{"command":"npm run check"}"#, result);
    let failed = format!("{error}\nexit code 2");
    let early = analyse(&[
        message(1, Role::User, "Move the settings into the session."),
        checks(2, &failed),
        message(4, Role::User, standing),
    ]);
    let cut = summarise(early.clone(), &Wanted { budget: 60, ..Wanted::default() }, &count);
    let mut items = cut.kept(&early, 1_000, &count);
    let edit = r#"{"path":"src/app/session.ts","old":"a","new":"b"}"#;
    items.extend(analyse(&[calling(5, "edit", edit, "ok"), checks(7, "all is well")]));
    for budget in [100, 120, 150] {
        let told = summarise(items.clone(), &Wanted { budget, ..Wanted::default() }, &count);
        let (text, tokens) = (told.text(), told.lines.iter().map(|line| line.tokens).sum::<u32>());
        assert!(tokens <= budget, "{tokens} of {budget}:\n{text}");
        assert!(text.contains(standing) && text.contains("is not assignable"), "{budget}:\n{text}");
    }
}
