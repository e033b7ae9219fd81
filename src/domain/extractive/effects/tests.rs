use super::*;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: "1".into(), name: name.into(), arguments_json: arguments.into() }
}

fn effect_of(call: &ToolCall, success: Option<&str>, after: &str) -> Effect {
    effects(&[Made { call, success, after }])[0]
}

#[track_caller]
fn all(names: &[&str], expected: Effect) {
    for name in names {
        assert_eq!(effect_of(&call(name, "{}"), Some("{}"), ""), expected, "{name}");
    }
}

#[test]
fn a_name_says_by_its_verb_what_a_tool_does() {
    let changing = [
        "book_reservation",
        "cancel_reservation",
        "update_reservation_flights",
        "transfer_to_human_agents",
        "send_certificate",
        "exchange_delivered_order_items",
        "return_delivered_order_items",
        "modify_pending_order_address",
        "place_order",
        "createIssue",
        "create-pull-request",
        "mcp__github__merge_pull_request",
        "github.add_issue_comment",
        "slack_post_message",
        "slack_add_reaction",
        "API-post-page",
        "stripe_create_refund",
        "stripe.issue_refund",
        "NotebookEdit",
        "Write",
        "MultiEdit",
        "move_file",
        "edit_file",
        "create_directory",
        "kubectl_apply",
        "k8s_scale_deployment",
        "browser_file_upload",
        "insertRow",
        "findOneAndUpdate",
        "get_or_create_user",
        "find_and_replace",
        "search_replace",
        "checkInPassenger",
        "check_out",
        "open_ticket",
        "close_issue",
        "resolve_incident",
        "issue_certificate",
        "order_pizza",
        "schedule_meeting",
        "post_tweet",
        "apply_patch",
        "git_commit",
        "git_add",
        "git_checkout",
        "user_create",
        "create_todo",
        "set_thermostat",
        "turn_on_light",
        "KillShell",
        "pay_invoice",
        "submit",
        "HTTPRequestCancel",
        "gmail_archive_email",
        "enable_roaming",
        "refuel_and_pay",
    ];
    all(&changing, Effect::Changes);
    let reading = [
        "get_user_details",
        "search_direct_flight",
        "list_all_airports",
        "calculate",
        "think",
        "find_file",
        "open",
        "open_file",
        "goto",
        "Glob",
        "Grep",
        "Read",
        "LS",
        "WebFetch",
        "WebSearch",
        "TodoWrite",
        "write_todos",
        "update_plan",
        "sequentialthinking",
        "mcp__filesystem__read_text_file",
        "filesystem.list_directory",
        "getIssue",
        "github_list_merge_requests",
        "slack_list_channels",
        "slack_get_channel_history",
        "resolve-library-id",
        "get-library-docs",
        "describe_table",
        "order_status",
        "check_order_status",
        "book_search",
        "exchange_rate",
        "get_updates",
        "retrieve_balance",
        "BashOutput",
        "git_status",
        "git_diff_staged",
        "browser_snapshot",
        "browser_take_screenshot",
        "finish",
        "weather",
        "is_available",
        "verify_identity",
        "kubectl_get",
        "kubectl_logs",
        "list_scheduled_jobs",
        "ask_user",
        "x",
        "",
    ];
    all(&reading, Effect::Reads);
}

#[test]
fn an_argument_says_what_a_tool_of_many_actions_does() {
    let cases = [
        ("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#, Effect::Reads),
        ("str_replace_editor", r#"{"command":"create","path":"a.rs"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"command":"str_replace","path":"a.rs"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"path":"a.rs","command":"insert"}"#, Effect::Changes),
        ("str_replace_editor", r#"{"command":"undo_edit","path":"a.rs"}"#, Effect::Changes),
        ("edit", r#"{"path":"a.rs","oldText":"a","newText":"command"}"#, Effect::Changes),
        ("calendar", r#"{"action":"delete_event","id":"E1"}"#, Effect::Changes),
        ("calendar", r#"{"action":"list"}"#, Effect::Reads),
        ("use_mcp_tool", r#"{"server_name":"x","tool_name":"send_mail","arguments":{}}"#, Effect::Changes),
        ("http_request", r#"{"method":"GET","url":"https://a.b"}"#, Effect::Reads),
        ("fetch", r#"{"method":"post","url":"https://a.b"}"#, Effect::Changes),
        ("fetch", r#"{"url":"https://a.b"}"#, Effect::Reads),
        ("query", r#"{"sql":"SELECT * FROM a WHERE updated > 1"}"#, Effect::Reads),
        ("query", r#"{"sql":"-- fix\nUPDATE a SET b = 1"}"#, Effect::Changes),
        ("execute_sql", r#"{"query":"WITH x AS (SELECT 1) DELETE FROM a USING x"}"#, Effect::Changes),
        ("execute_sql", r#"{"query":"with x as (select 1) select * from x"}"#, Effect::Reads),
        ("run_query", r#"{"query":"create table a (b int)"}"#, Effect::Changes),
        ("graphql", r#"{"query":"mutation { addStar(id: 1) { id } }"}"#, Effect::Changes),
        ("graphql", r#"{"query":"query { viewer { login } }"}"#, Effect::Reads),
        ("search", r#"{"query":"update the password"}"#, Effect::Reads),
        ("create_user", r#"{"name":"a","dry_run":true}"#, Effect::Reads),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(effect_of(&call(name, arguments), Some("{}"), ""), expected, "{name} {arguments}");
    }
}

fn runs(command: &str) -> Effect {
    let arguments = serde_json::json!({ "command": command }).to_string();
    effect_of(&call("bash", &arguments), Some("exit 0"), "")
}

#[test]
fn commands_that_change_something() {
    let commands = [
        "rm -rf build",
        "cd /a/b && mv x y",
        "mkdir -p a && ls a",
        "git -C /x commit -m 'a > b'",
        "git add -A",
        "git checkout -b fix",
        "git push origin main 2>&1 | tail -3",
        "git branch -D old",
        "git branch fix",
        "git stash",
        "git tag v1",
        "git config user.name Ann",
        "npm install --save x",
        "npm i",
        "pip install -e .[dev]",
        "sudo apt-get update && sudo apt-get install -y llvm",
        "sed -i '' 's/a/b/' x.ts",
        "sed -i.bak s/a/b/ x",
        "echo hi > a.txt",
        "echo hi >> a.txt",
        "cat > a.py <<'EOF'\nprint(1 < 2)\nEOF",
        "cat <<EOF > a.py\nx\nEOF",
        "tee a.txt < b",
        "curl -X POST https://a.b -d '{}'",
        "curl -XDELETE https://a.b",
        "curl -d a=1 https://a.b",
        "curl -sSL https://a.b -o out.zip",
        "wget https://a.b/c.zip",
        "kill -9 77",
        "docker run -d redis",
        "docker compose up -d",
        "make",
        "make -j8 install",
        "cargo add serde",
        "cargo fmt",
        "just format 2>&1",
        "find . -name '*.pyc' -delete",
        "find . -name '*.o' -exec rm {} +",
        "ls | xargs rm",
        "touch a",
        "ln -s a b",
        "bash -c 'rm a'",
        "bash -lc \"cd x && rm a\"",
        "FOO=1 rm a",
        "timeout 5 rm a",
        "for f in *; do rm $f; done",
        "if [ -f a ]; then rm a; fi",
        "python -c \"open('a','w').write('x')\"",
        "python manage.py migrate",
        "./deploy.sh prod",
        "kubectl apply -f a.yaml",
        "kubectl delete pod a",
        "helm upgrade a b",
        "terraform apply",
        "gh pr create --title x",
        "gh issue close 7",
        "aws s3 rm s3://a/b",
        "aws s3 cp a s3://b",
        "systemctl restart x",
        "psql -c 'delete from a where b = 1'",
        "ssh host 'rm a'",
        "docker exec -it db rm a",
        "tar xzf a.tgz",
        "chmod +x a.sh && ./a.sh",
        "npx prettier --write src",
        "eslint --fix src",
        "go get x",
        "crontab new.txt",
        "python3 - <<'EOF'\nfrom pathlib import Path\nPath('a').write_text('b')\nEOF",
        "npm run deploy",
        "git commit -m \"$(cat <<'EOF'\nsay it\nEOF\n)\"",
    ];
    for command in commands {
        assert_eq!(runs(command), Effect::Changes, "{command}");
    }
}

#[test]
fn commands_that_only_read() {
    let commands = [
        "ls -la",
        "cd /a && ls",
        "cat a | grep 'x > y' | head -3",
        "grep -rn \"git commit\" .",
        "find . -name '*.rs'",
        "git status",
        "git log --oneline -3",
        "git diff HEAD~1",
        "git branch -a",
        "git branch",
        "git stash list",
        "git config --get user.name",
        "git --no-pager show HEAD",
        "git remote -v",
        "cargo test 2>&1 | tail -5",
        "cargo build --release",
        "pytest -q tests > /dev/null",
        "python -m pytest -v",
        "npm run check 2>&1 | head",
        "npm test",
        "npx tsc --noEmit",
        "echo done >&2",
        "ls 2>/dev/null",
        "curl https://a.b",
        "curl -s https://a.b | jq .x",
        "curl -o /dev/null https://a.b",
        "wget -qO- https://a.b",
        "docker ps -a",
        "docker logs -f a",
        "kubectl get pods",
        "kubectl describe pod a",
        "terraform plan",
        "make test",
        "make -n build",
        "gh pr view 7",
        "gh pr list",
        "aws s3 ls",
        "aws ec2 describe-instances",
        "systemctl status x",
        "psql -c 'select * from a'",
        "rm --help",
        "cargo fmt --check",
        "sed -n 1,20p a.rs",
        "awk '{print $1 > 2}' a",
        "which python && python --version",
        "tar tzf a.tgz",
        "python script.py",
        "# rm a\nls",
        "node -e 'console.log(1)'",
        "sleep 5; ps aux | grep x",
        "",
        "diff <(sort a) <(sort b)",
        "cat <<EOF\nrm a > b\nEOF",
        "pip list",
        "pip show x",
        "npm ls",
        "env | sort",
    ];
    for command in commands {
        assert_eq!(runs(command), Effect::Reads, "{command}");
    }
}

#[test]
fn shells_are_called_in_many_ways() {
    let cases = [
        ("shell", r#"{"command":["bash","-lc","rm a"]}"#),
        ("container.exec", r#"{"cmd":["rm","-r","a"]}"#),
        ("run_terminal_cmd", r#"{"command":"rm a","is_background":false}"#),
        ("execute_command", r#"{"command":"rm a"}"#),
        ("run_in_terminal", r#"{"explanation":"look","command":"rm a"}"#),
        ("terminal", r#"{"input":"rm a"}"#),
    ];
    for (name, arguments) in cases {
        assert_eq!(effect_of(&call(name, arguments), Some(""), ""), Effect::Changes, "{name}");
        let looks = arguments.replace("rm", "ls");
        assert_eq!(effect_of(&call(name, &looks), Some(""), ""), Effect::Reads, "{name}");
    }
}

#[test]
fn a_name_that_says_nothing_is_told_by_what_came_of_it() {
    let robot = call("robot", r#"{"n":1}"#);
    assert_eq!(effect_of(&robot, Some("Two seats have been booked."), ""), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "I've cancelled your order."), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("Order cancelled"), ""), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "Your order was shipped and is on its way."), Effect::Changes);
    assert_eq!(effect_of(&robot, Some("x"), "It can be cancelled at any time."), Effect::Reads);
    assert_eq!(effect_of(&robot, Some(r#"{"status":"cancelled"}"#), ""), Effect::Reads);
    assert_eq!(effect_of(&robot, None, "I've cancelled your order."), Effect::Reads);
    let made = Made { call: &robot, success: Some("Two seats have been booked."), after: "" };
    assert_eq!(effects(&[made, made]), [Effect::Reads; 2], "made twice, it does no harm");
    let books = call("book", "{}");
    let made = Made { call: &books, success: Some("ok"), after: "" };
    assert_eq!(effects(&[made, made]), [Effect::Changes; 2], "a name is believed");
}

#[test]
fn the_argument_that_says_which() {
    let cases = [
        ("cancel_reservation", r#"{"reservation_id":"GV1N64"}"#, "reservation_id", "GV1N64"),
        (
            "update_reservation_flights",
            r#"{"user_id":"mia_li_3668","reservation_id":"JG7FMM"}"#,
            "reservation_id",
            "JG7FMM",
        ),
        ("get_user_details", r#"{"user_id":"mia_li_3668"}"#, "user_id", "mia_li_3668"),
        ("send_certificate", r#"{"user_id":"mia_li_3668","amount":150}"#, "user_id", "mia_li_3668"),
        (
            "book_reservation",
            r#"{"user_id":"mia_li_3668","origin":"JFK","flights":[{"flight_number":"HAT136","date":"2024-05-20"}]}"#,
            "flight_number",
            "HAT136",
        ),
        ("edit", r#"{"oldText":"a","newText":"b","path":"src/a b.rs"}"#, "path", "src/a b.rs"),
        ("slack_post_message", r#"{"text":"hello all","channel_id":"C07"}"#, "channel_id", "C07"),
        ("send_email", r#"{"body":"hi","to":"ann@x.org","subject":"hi"}"#, "to", "ann@x.org"),
        ("get_issue", r#"{"owner":"o","repo":"r","issue_number":12}"#, "issue_number", "12"),
        ("weather", r#"{"unit":"C","city":"Paris"}"#, "city", "Paris"),
        (
            "bash",
            r#"{"command":"cd /a && npm test && git add -A && git commit -m \"x y\" 2>&1 | tail -1"}"#,
            "command",
            "git add -A && git commit -m \"x y\" 2>&1",
        ),
        ("bash", r#"{"command":"for f in a b; do\n  rm $f\ndone"}"#, "command", "rm $f"),
        (
            "bash",
            r#"{"command":"git commit -m \"$(cat <<'EOF'\nSay why\n\nEOF\n)\""}"#,
            "command",
            "git commit -m \"$(cat <<'EOF' Say why",
        ),
        ("bash", r#"{"command":"ls -la"}"#, "command", "ls -la"),
        ("calculate", r#"{"expression":"1 + 2"}"#, "expression", "1 + 2"),
        ("apply_patch", "*** Update File: a.rs", "", "*** Update File: a.rs"),
    ];
    for (name, arguments, of, value) in cases {
        let call = call(name, arguments);
        let key = key(&call).expect(name);
        assert_eq!((key.name, &*key.value), (of, value), "{name}");
    }
    assert_eq!(key(&call("submit", "{}")), None);
    assert_eq!(key(&call("set_volume", r#"{"level":7,"loud":true}"#)), None);
}

#[test]
fn whatever_stands_in_a_call_is_read() {
    for broken in
        ["{", "\"", "{\"a\":", "{\"a\":\"b", "[[[", "{\"command\":\"a 'b\\", "\u{0}", "{\"a\":\"\\u12\"}"]
    {
        let call = call("bash", broken);
        assert_eq!(effects(&[Made { call: &call, success: None, after: "" }]).len(), 1);
        let _ = key(&call);
    }
}
