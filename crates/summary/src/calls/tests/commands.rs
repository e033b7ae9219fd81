//! Scripts of commands.

use super::*;

#[test]
fn commands_that_change_something() {
    for command in [
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
        "perl -pi -e 's/a/b/' x.txt",
        "echo hi > a.txt",
        "echo hi >> a.txt",
        "cat > a.py <<'EOF'\nprint(1 < 2)\nEOF",
        "cat <<EOF > a.py\nx\nEOF",
        "tee a.txt < b",
        "ls | tee -a log.txt",
        "curl -X POST https://a.b -d '{}'",
        "curl -XDELETE https://a.b",
        "curl -d a=1 https://a.b",
        "curl -sSL https://a.b -o out.zip",
        "wget https://a.b/c.zip",
        "kill -9 77",
        "docker run -d redis",
        "docker compose up -d",
        "make -j8 install",
        "cargo add serde",
        "cargo fmt",
        "find . -name '*.pyc' -delete",
        "find . -name '*.o' -exec rm {} +",
        "ls | xargs rm",
        "ls | xargs -I{} rm {}",
        "ln -s a b",
        "bash -c 'rm a'",
        "bash -lc \"cd x && rm a\"",
        "FOO=1 rm a",
        "timeout 5 rm a",
        "for f in *; do rm $f; done",
        "if [ -f a ]; then rm a; fi",
        "kubectl apply -f a.yaml",
        "kubectl delete pod a",
        "helm upgrade a b",
        "terraform apply",
        "gh pr create --title x",
        "gh issue close 7",
        "aws s3 rm s3://a/b",
        "aws s3 cp a s3://b",
        "systemctl restart x",
        "ssh web1 'rm a'",
        "docker exec -it db rm a",
        "tar xzf a.tgz",
        "npx prettier --write src",
        "eslint --fix src",
        "go get x",
        "crontab new.txt",
        "env A=b rm a",
        "sudo -u ann touch a",
        "rake db:migrate",
        "composer require a/b",
        "dotnet add package x",
        "(rm a)",
        "echo $(rm a)",
        "true && { rm a; }",
        "rails generate model A",
        "brew install jq",
        "mix ecto.migrate",
    ] {
        assert!(ran(command).iter().any(|deed| deed.changed()), "{command}: {:?}", ran(command));
    }
}

#[test]
fn commands_that_change_nothing() {
    for command in [
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
        "make",
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
        "python3 -c 'import sys; print(1)'",
        "sleep 5; ps aux | grep x",
        "",
        "diff <(sort a) <(sort b)",
        "cat <<EOF\nrm a > b\nEOF",
        "pip list",
        "npm ls",
        "env | sort",
        "mvn -q verify",
        "gradle test",
        "go vet ./...",
        "mix test",
        "swift build",
        "./run.sh",
        "bin/test a",
        "docker build -t x .",
        "echo \"a << b\"; ls",
        "grep -c '$(' a && wc -l b",
    ] {
        assert!(ran(command).iter().all(|deed| !deed.changed()), "{command}: {:?}", ran(command));
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
