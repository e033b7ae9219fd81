//! What an agent needs to go on from a summary, by its text.

use super::*;

fn told(source: Vec<Utterance>) -> String {
    text(source, &Focus::none(), 300)
}

/// A talk in which users and assistants take turns.
fn talk(said_all: &[&str]) -> Vec<Utterance> {
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let numbered = said_all.iter().zip(roles).zip(1..);
    numbered.map(|((content, role), sequence)| said(sequence, role, content)).collect()
}

fn shared(source: Vec<Utterance>) -> Vec<Arc<Utterance>> {
    source.into_iter().map(Arc::new).collect()
}

/// An assistant's words with one call, and its result.
fn called_at(sequence: u64, words: &str, name: &str, arguments: &str, result: &str) -> [Utterance; 2] {
    let call = Utterance { content: words.into(), ..calling(sequence, "c", name, arguments) };
    [call, answering(sequence + 1, "c", result)]
}

fn bash(commands: &[(&str, &str)]) -> Vec<Utterance> {
    let arguments: Vec<String> =
        commands.iter().map(|(command, _)| format!("{{\"command\":\"{command}\"}}")).collect();
    let all: Vec<_> = arguments
        .iter()
        .zip(commands)
        .map(|(arguments, (_, result))| ("bash", &**arguments, *result))
        .collect();
    calls(&all)
}

#[test]
fn an_error_that_was_solved_is_told_as_solved() {
    let failed = ("python repro.py", "Traceback\\nValueError: no such table\\nexit code: 1");
    let source = bash(&[failed, failed, ("python repro.py", "fine"), ("pytest", "3 passed")]);
    assert!(told(source).contains("Error: (solved) python repro.py: "), "of all its failures");
    let open = bash(&[failed, ("pytest", "3 passed")]);
    let open = told(open);
    assert!(open.contains("Error: python repro.py: "), "{open}");
}

#[test]
fn a_check_that_failed_says_what_is_wrong() {
    let solved = "exit code: 1\nTypeError: the parser of the settings wants a path, not the text of the file";
    let wrong = "Argument of type 'string' is not assignable to parameter of type 'Settings'";
    let failed =
        format!("exit code: 2\nsrc/modes/interactive/commands/settings.ts(706,40): error TS2345: {wrong}");
    let source = [("npm test", solved), ("npm test", "exit code: 0"), ("npm run build", &*failed)];
    let told = text(bash(&source), &Focus::none(), 240);
    assert!(told.contains(&format!("→ error: settings.ts(706,40): error TS2345: {wrong}\n")), "{told}");
}

#[test]
fn a_call_that_somebody_stopped_is_not_done() {
    for stopped in ["Command aborted", "The user doesn't want to proceed with this tool use."] {
        let told = told(calls(&[("write_file", "{\"path\":\"src/a.rs\"}", stopped)]));
        assert!(told.contains("error: ") && !told.contains("→ ok"), "{told}");
    }
}

#[test]
fn a_call_that_was_refused_for_its_form_was_never_made() {
    let refused = "Please always provide EXACTLY ONE action, found 2 actions.";
    let told = told(bash(&[("sed -i s/a/b/ src/a.py", "exit code: 0"), ("touch fix.py", refused)]));
    assert!(told.contains("bash(sed src/a.py) → ok\n") && !told.contains("(touch"), "{told}");
}

#[test]
fn a_check_that_shows_a_fault_is_not_ok_whatever_its_exit_code() {
    let told = told(bash(&[("python repro.py", "start\nCrashed with error: bad set\nexit code: 0")]));
    assert!(told.contains("Check: python repro.py → Crashed with error: bad set\n"), "{told}");
}

#[test]
fn a_check_says_that_it_is_older_than_the_last_change() {
    let check = ("cargo test", "23 passed");
    let edit = ("sed -i s/a/b/ src/a.rs", "");
    let line = |commands: &[(&str, &str)]| {
        told(bash(commands)).lines().find(|line| line.starts_with("Check:")).map(str::to_owned)
    };
    let current = "Check: cargo test → ok: 23 passed";
    let old = "Check: (before the last change) cargo test → ok: 23 passed";
    assert_eq!(line(&[edit, check]).as_deref(), Some(current));
    assert_eq!(line(&[check, edit]).as_deref(), Some(old));
    assert_eq!(line(&[check, ("touch repro.py", ""), ("git commit -m 'x'", "")]).as_deref(), Some(current));
    assert_eq!(line(&[edit, check, ("git checkout .", "")]), None, "what was checked was taken back");
    let mut lines = summarise(&shared(bash(&[check])), &Focus::none(), 300, o200k());
    for _ in 0..2 {
        let mut later = bash(&[edit]);
        later.iter_mut().for_each(|said| said.sequence = Sequence(said.sequence.0 + 10));
        lines = retell(&lines, &shared(later), &Focus::none(), 300, o200k());
        assert!(lines.iter().any(|line| line.text.trim_end() == old), "after a fold: {lines:?}");
    }
}

#[test]
fn what_cannot_be_done_twice_is_told_rather_than_edits() {
    let title = "Move the settings to the root of the package, and read them once when the program starts";
    let commit = format!("git commit -m '{title}'");
    let mut commands = vec![("mv src/a/config.ts src/config.ts".to_owned(), "")];
    commands.extend((0..30).map(|at| (format!("sed -i s/a/b/ src/module_{at}/file_{at}.ts"), "")));
    commands.insert(3, (commit, ""));
    let commands: Vec<(&str, &str)> =
        commands.iter().map(|(command, result)| (command.as_str(), *result)).collect();
    let told = text(bash(&commands), &Focus::none(), 160);
    assert!(told.contains("mv src/a/config.ts src/config.ts; "), "{told}");
    assert!(told.contains(&format!("git commit \"{title}\"")) && told.contains(" more"), "{told}");
}

#[test]
fn titles_of_commits_are_shortened_before_commits_are_only_counted() {
    let commits: Vec<String> = (1..8)
        .map(|at| {
            format!("git commit -m 'Part {at}: move what reads the settings of the program into a module'")
        })
        .collect();
    let commands: Vec<(&str, &str)> = commits.iter().map(|commit| (commit.as_str(), "")).collect();
    let told = told(bash(&commands));
    assert!((1..8).all(|at| told.contains(&format!("Part {at}: move"))), "{told}");
    assert!(told.contains("Part 7: move what reads the settings of the program into a module"), "{told}");
}

#[test]
fn what_was_agreed_to_or_announced_and_done_is_not_open() {
    let ask = ["I want to cancel.", "Shall I cancel order W77?", "Yes, that is correct.", "One moment."];
    let mut agreed = talk(&ask);
    agreed.truncate(3);
    assert!(told(agreed.clone()).contains("Open: "));
    agreed.extend(called_at(
        4,
        "Cancelling it.",
        "cancel_order",
        "{\"order_id\":\"W77\"}",
        "{\"status\":\"cancelled\"}",
    ));
    assert!(!told(agreed.clone()).contains("Open: "), "{}", told(agreed));
    let mut checked = vec![said(1, Role::User, "Fix the parser of dates.")];
    checked.extend(called_at(
        2,
        "Let's run the tests of the parser.",
        "bash",
        "{\"command\":\"pytest\"}",
        "3 passed",
    ));
    assert!(!told(checked.clone()).contains("Open: "), "{}", told(checked));
}

#[test]
fn the_prompt_of_a_terminal_is_not_open() {
    let printed = "Cloned.\n(Open file: n/a)\nbash-$";
    let source = talk(&["Fix the parser of dates.", "I clone the project first.", printed]);
    assert!(!told(source).contains("Open: User"));
}

#[test]
fn an_edit_that_was_taken_back_is_not_done() {
    let mut source = calls(&[
        ("edit_file", "{\"path\":\"src/a.rs\"}", "edited"),
        ("bash", "{\"command\":\"git commit -am 'one'\"}", "done"),
        ("edit_file", "{\"path\":\"src/b.rs\"}", "edited"),
        ("bash", "{\"command\":\"git checkout .\"}", "done"),
        ("edit_file", "{\"path\":\"src/c.rs\"}", "edited"),
    ]);
    let edited = |source| told(source).lines().find(|line| line.contains("edit_file")).map(str::to_owned);
    assert_eq!(edited(source.clone()).as_deref(), Some("edit_file → ok: src/a.rs; src/c.rs"));
    source.truncate(6);
    assert_eq!(edited(source).as_deref(), Some("edit_file → ok: src/a.rs; src/b.rs"));
}

#[test]
fn a_yes_or_a_choice_is_told_with_what_was_offered() {
    let offer = "There are two rooms:\n- The Lark, 120 euros, with a bath.\n- The Wren, 90 euros.\nWhich one shall I book?";
    let chosen =
        talk(&["I need a room in Bath for May.", offer, "The second one.", "Noted. What else?", "A taxi."]);
    let chosen = told(chosen);
    assert!(chosen.contains("User said yes to: The second one. The Wren, 90 euros.\n"), "{chosen}");
    let list = "What I would do:\n- Move the parser.\n- Rename the lexer.";
    let order =
        talk(&["Look at the compiler for me.", list, "Yes, do it, but commit first.", "Done.", "Thanks."]);
    assert!(!told(order).contains("said yes"));
    let asks =
        talk(&["Book a table for one.", "Shall I book one at six?", "Yes, and where is the restaurant?"]);
    assert!(told(asks).contains("Open: User: Yes, and where is the restaurant?\n"));
    let asked = "The move costs 40 euros and takes two days. Please confirm.";
    let agreed = talk(&["Can my order W77 go to Bonn?", asked, "Yes, please.", "Noted.", "Thanks a lot."]);
    let agreed = told(agreed);
    assert!(
        agreed.contains("User said yes to: The move costs 40 euros and takes two days. Please confirm.\n"),
        "{agreed}"
    );
    let named = talk(&["I want to cancel.", "Could you please tell me your user ID?", "Sure, it is ann_7."]);
    assert!(told(named).contains("Open: User: Sure, it is ann_7.\n"), "an answer is no agreement");
}

#[test]
fn what_an_assistant_asks_or_does_next_is_clear_on_its_own() {
    let asked =
        talk(&["Move me to economy.", "That saves 80 euros. Please confirm if you want the cheaper cabin."]);
    let open = "Open: Assistant asked: That saves 80 euros. Please confirm if you want the cheaper cabin.\n";
    assert!(told(asked).ends_with(open));
    let mut next =
        said(2, Role::Assistant, "Now the model manager of the session. Let me add those methods:");
    let call = ToolCall { id: "c".into(), name: "read".into(), arguments_json: "{\"path\":\"a.rs\"}".into() };
    next = with(next, More { tool_calls: vec![call], ..More::default() });
    let told = told(vec![said(1, Role::User, "Refactor the session module."), next]);
    assert!(
        told.contains("Next: Now the model manager of the session. Let me add those methods:\n"),
        "{told}"
    );
}

/// A program's instructions around a request are rules that hold until the end.
#[test]
fn the_rules_around_a_request_are_kept() {
    let message = "<task>\nWrong dash offset\nThe offset of a dash has no effect.\n### Version\n3.4.3\n</task>\n\
        # Boundaries\n- DO NOT MODIFY: tests\n\
        # Format\nYour answer MUST hold exactly one command.\n\
        NEVER hold more than exactly one command in your answer.\n\
        # Submission\nWhen the work is complete, submit it with this command:\n\n```bash\necho FINAL_OUTPUT\n```\n";
    let told = told(vec![said(1, Role::User, message), said(2, Role::Assistant, "I read patches.py first.")]);
    for rule in
        ["DO NOT MODIFY: tests", "exactly one command", "submit it with this command: echo FINAL_OUTPUT"]
    {
        assert!(told.contains(rule), "{rule}: {told}");
    }
    assert!(!told.contains("NEVER hold more"), "a repetition: {told}");
    assert!(told.starts_with("Goal: Wrong dash offset.") && !told.contains("3.4.3"), "{told}");
}

#[test]
fn a_cause_is_told_rather_than_a_guess() {
    let mut source = talk(&[
        "Why is the parser slow on long lines?",
        "It seems the tokenizer allocates a buffer for each line of the file. I will look at the benchmark output next.",
        "Go on.",
        "The problem is the regular expression in split_fields: it backtracks on unbalanced quotes.",
        "OK.",
    ]);
    source.extend(bash(&[("pytest", "3 passed")]).into_iter().map(|mut one| {
        one.sequence.0 += 5;
        one
    }));
    let told = text(source, &Focus::none(), 60);
    assert!(told.contains("The problem is the regular expression") && !told.contains("It seems"), "{told}");
}
