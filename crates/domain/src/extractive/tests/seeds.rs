//! What the seeds ask of a summary, by its text.

use super::*;

/// Seed 004's session: a request, a correction, a change, a failure that was made good, a check, work left.
fn session() -> Vec<Utterance> {
    let mut said_first = vec![
        said(
            1,
            Role::User,
            "I want conversations to survive a restart. Please add the commands /save and /load.",
        ),
        said(2, Role::Assistant, "I propose to keep them in ~/.config/agent/sessions.db."),
        said(
            3,
            Role::User,
            "No, keep them in the project, in .agent/conversations/. No file may have more than 10 MB.",
        ),
    ];
    let done = [
        ("write_file", r#"{"path":"src/conversations/store.rs"}"#, "written"),
        (
            "bash",
            r#"{"command":"cargo test 2>&1 | tail -3"}"#,
            "test t5 ... FAILED\ntest result: FAILED. 22 passed; 1 failed",
        ),
        ("edit_file", r#"{"path":"src/conversations/store.rs"}"#, "edited"),
        ("bash", r#"{"command":"cargo test 2>&1 | tail -3"}"#, "test result: ok. 23 passed; 0 failed"),
    ];
    for ((name, arguments, result), at) in done.into_iter().zip((4..).step_by(2)) {
        let id = format!("c{at}");
        said_first.extend([calling(at, &id, name, arguments), answering(at + 1, &id, result)]);
    }
    said_first.push(said(
        12,
        Role::Assistant,
        "Fixed. TODO: add error handling for corrupted conversation files.",
    ));
    said_first
}

#[test]
fn a_session_can_be_gone_on_with() {
    let told = text(session(), &Focus::none(), 300);
    for kept in [
        "Goal: I want conversations to survive a restart.",
        "keep them in the project, in .agent/conversations/",
        "No file may have more than 10 MB.",
        "edit_file",
        "Check: cargo test → ok",
        "23 passed",
        "TODO: add error handling for corrupted conversation files",
    ] {
        assert!(told.contains(kept), "{kept}: {told}");
    }
    assert!(!told.contains("sessions.db"), "what was turned down: {told}");
}

#[test]
fn a_failed_check_is_told_as_failed() {
    let told = text(session().into_iter().take(7).collect(), &Focus::none(), 300);
    assert!(told.contains("Check: cargo test → error: "), "{told}");
}

#[test]
fn a_goal_outlives_every_fold() {
    let source: Vec<_> = session().into_iter().map(Arc::new).collect();
    let mut lines = summarise(&source, &Focus::none(), 300, o200k());
    for budget in [200, 120, 80] {
        lines = select(&lines, &Focus::none(), budget, o200k());
        assert!(lines[0].text.starts_with("Goal: I want conversations to survive"), "{lines:?}");
    }
}

#[test]
fn constraints_are_kept_in_other_languages() {
    for (request, constraint) in [
        ("请帮我写一个网站。我们有很多图片和文章需要展示给用户。", "不要修改主题颜色。"),
        (
            "Bitte schreibe eine Webseite für unseren Verein mit vielen Bildern.",
            "Ändere auf keinen Fall die Farben des Themas.",
        ),
    ] {
        let source = vec![
            said(1, Role::User, request),
            said(2, Role::Assistant, "OK."),
            said(3, Role::User, constraint),
        ];
        assert!(
            text(source, &Focus::none(), 80).contains(constraint.trim_end_matches(['.', '。'])),
            "{constraint}"
        );
    }
}

/// A line goes with every utterance that its words are from: a hard forget must find nothing of it.
#[test]
fn what_a_line_tells_goes_with_the_utterance_it_is_from() {
    let tells = |source: Vec<Utterance>, words: &str, from: u64| {
        let source: Vec<_> = source.into_iter().map(Arc::new).collect();
        let lines = summarise(&source, &Focus::none(), 300, o200k());
        assert!(lines.iter().any(|line| line.text.contains(words)), "{words}: {lines:?}");
        let gone = |sequence| sequence == Sequence(from);
        let left: Vec<_> = lines.iter().filter_map(|line| line.without(gone, o200k())).collect();
        assert!(!left.iter().any(|line| line.text.contains(words)), "{words}: {left:?}");
    };
    let agreed = vec![
        said(1, Role::User, "I want to travel to Lisbon in the spring with my brother."),
        said(2, Role::Assistant, "Shall I book the Casa do Miradouro for four nights?"),
        said(3, Role::User, "Yes, please."),
    ];
    tells(agreed, "Casa do Miradouro", 2);
    let edited = vec![
        said(1, Role::User, "Please mend the greeting of the program."),
        calling(2, "c2", "open", "{\"path\":\"src/secret.py\"}"),
        answering(3, "c2", "def f(): pass"),
        calling(4, "c4", "edit", "{\"search\":\"hello\",\"replace\":\"good day\"}"),
        answering(5, "c4", "The text was replaced."),
    ];
    tells(edited, "secret.py", 2);
}
