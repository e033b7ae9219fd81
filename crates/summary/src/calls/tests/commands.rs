//! Scripts of commands.

use super::*;

#[test]
fn a_script_changes_something_or_reads() {
    let rows = table(include_str!("commands.tsv"));
    let lines = [
        ("changes", "cat > a.py <<'EOF'\nprint(1 < 2)\nEOF"),
        ("changes", "cat <<EOF > a.py\nx\nEOF"),
        ("reads", "# rm a\nls"),
        ("reads", ""),
        ("reads", "cat <<EOF\nrm a > b\nEOF"),
    ];
    for (does, script) in rows.chain(lines) {
        let deeds = ran(script);
        assert_eq!(deeds.iter().any(|deed| deed.changed()), does == "changes", "{script}: {deeds:?}");
    }
}

#[test]
fn a_deed_names_the_program_and_its_objects() {
    for (script, tool, expected) in [
        ("sed -i '' 's|a/b|c/d|' src/x.ts", "sed -i", &["src/x.ts"][..]),
        ("sed -i 's/a/b/' a.rs b.rs", "sed -i", &["a.rs", "b.rs"]),
        ("sed -i '848i\\    def f(self):\\\n      return 1' lib/a.py", "sed -i", &["lib/a.py"]),
        ("git commit -F - <<'EOF'\nMend the gate\n\nIt hung.\nEOF", "git commit", &["Mend the gate"]),
        ("perl -pi -e 's/a/b/' x.txt", "perl -pi", &["x.txt"]),
        ("git commit -m 'Fix the pump'", "git commit", &["Fix the pump"]),
        ("git commit -am 'Fix it' -m 'Because.'", "git commit", &["Fix it"]),
        (
            "git commit -m \"$(cat <<'EOF'\nSay \"why\" (it's needed)\n\nCo-Authored-By: A <a@b.c>\nEOF\n)\"",
            "git commit",
            &["Say \"why\" (it's needed)"],
        ),
        ("git checkout -b fix", "git checkout", &["fix"]),
        ("git -C /x push origin main", "git push", &["origin", "main"]),
        ("cat > notes/a.md <<'EOF'\nrm -rf /\nEOF", "cat >", &["notes/a.md"]),
        ("echo x >> \"a b.txt\"", "echo >>", &["a b.txt"]),
        ("chmod +x run.sh", "chmod", &["+x", "run.sh"]),
        ("mv a.rs b.rs", "mv", &["a.rs", "b.rs"]),
        ("npm install lodash axios", "npm install", &["lodash", "axios"]),
        ("kubectl delete pod web-1", "kubectl delete", &["pod", "web-1"]),
        ("sudo /usr/bin/rm -f /etc/x.conf", "rm", &["/etc/x.conf"]),
        ("curl -X POST https://a.b/c -d x=1", "curl -X", &["https://a.b/c"]),
    ] {
        let deeds = ran(script);
        assert_eq!((&*deeds[0].tool, objects(&deeds[0])), (tool, expected.to_vec()), "{script}");
    }
}

#[test]
fn a_check_is_the_command_as_it_is_written() {
    for (script, check) in [
        ("cd /a && cargo test --all 2>&1 | tail -5", "cargo test --all"),
        ("timeout 60 npm run check > log.txt 2>&1", "npm run check"),
        ("python -m pytest tests/a.py -k \"not slow\"", "pytest tests/a.py -k \"not slow\""),
        ("bash -lc 'cd x && go test ./...'", "go test ./..."),
        ("CI=1 ./gradlew build", "./gradlew build"),
        ("npx tsgo --noEmit", "tsgo --noEmit"),
        ("python3 repro.py", "python3 repro.py"),
        ("ponyc a.pony -o .", "ponyc a.pony -o ."),
    ] {
        let deeds = ran(script);
        assert_eq!(deeds.iter().find_map(|deed| deed.check.as_deref()), Some(check), "{script}: {deeds:?}");
    }
}

#[test]
fn a_script_that_only_reads_is_one_deed() {
    let deeds = ran("cd /a && grep -n x src/a.rs | head -3; cat b.md");
    assert_eq!((deeds.len(), &*deeds[0].tool, objects(&deeds[0])), (1, "grep", vec!["src/a.rs"]));
    let deeds = ran("cd /a && mkdir b && npm test");
    assert_eq!(deeds.iter().map(|deed| &*deed.tool).collect::<Vec<_>>(), ["mkdir", "npm test"]);
}

#[test]
fn shells_are_called_in_many_ways() {
    for (tool, arguments) in [
        ("shell", r#"{"command":["bash","-lc","rm 'a b'"]}"#),
        ("container.exec", r#"{"cmd":["rm","-r","a"]}"#),
        ("local_shell", r#"{"action":{"type":"exec","command":["bash","-lc","cd x && rm a"]}}"#),
        ("run_process", r#"{"command":"rm","args":["-r","a b"]}"#),
        ("run_terminal_cmd", r#"{"command":"rm a","is_background":false}"#),
        ("run_in_terminal", r#"{"explanation":"make it go","command":"rm a"}"#),
        ("terminal", r#"{"input":"rm a"}"#),
        ("Bash", r#"{"description":"Remove it","command":"rm a"}"#),
        ("run", "rm a"),
    ] {
        let deeds = done(tool, arguments);
        assert_eq!((&*deeds[0].tool, deeds[0].changed()), ("rm", true), "{tool}: {deeds:?}");
        let looks = done(tool, &arguments.replace("rm", "ls"));
        assert!(!looks[0].changed(), "{tool}: {looks:?}");
    }
    assert!(ran("ls;rm").iter().any(|deed| deed.changed()));
    let looks = &done("BashOutput", r#"{"bash_id":"b1"}"#)[0];
    assert_eq!((&*looks.tool, looks.changed(), &looks.check), ("BashOutput", false, &None));
    assert!(done("KillShell", r#"{"shell_id":"b1"}"#)[0].changed());
}
