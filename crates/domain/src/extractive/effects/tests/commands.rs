//! The effects of shell commands.

use super::*;

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
