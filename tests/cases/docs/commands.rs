//! The commands of a page, run in a shell.

use std::{
    env, fs,
    io::{BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    sync::LazyLock,
};

use regex_automata::meta::Regex;
use tempfile::TempDir;

use crate::{
    docs::page::{Block, Page, root},
    support::binary::{Process, Server, UTTERD, line_with, within},
};

/// The default address of the server in the pages.
const ADDRESS: &str = "127.0.0.1:50051";
/// What differs between runs, and its replacement for comparing outputs.
static OWN: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
    [
        (r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", "ID"),
        (r"\d{4}-\d{2}-\d{2}[T ][\d:.]+(Z| UTC)?", "TIME"),
        (r"\b[\d.]+ s\b", "DURATION"),
        (r"\b[\d.]+ ([KM]i)?B\b", "SIZE"),
    ]
    .map(|(pattern, name)| (Regex::new(pattern).expect("a pattern"), name))
});

/// Runs the commands of a page in order; the error names the one that fails or prints something else.
pub fn run(page: &Page) -> Result<(), String> {
    let blocks = page.blocks();
    if !blocks.iter().any(|block| matches!(block.kind, "console" | "sh")) {
        return Ok(());
    }
    let shell = Shell::new();
    for block in blocks {
        let ran = match block.kind {
            "console" => session(&block).try_for_each(|command| shell.shows(&command)),
            "sh" => shell.script(&block),
            _ => Ok(()),
        };
        ran.map_err(|error| format!("{}:{}: {error}", page.name, block.line))?;
    }
    Ok(())
}

/// Whether a program is installed.
pub fn is_installed(program: &str) -> bool {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|path| path.join(program).is_file())
}

/// A command and its output on the page.
struct Shown {
    command: String,
    output: String,
}

fn session<'a>(block: &Block<'a>) -> impl Iterator<Item = Shown> + use<'a> {
    let commands = block.text.strip_prefix("$ ").unwrap_or_default().split("\n$ ");
    commands.map(|text| {
        let mut lines = text.lines().peekable();
        let mut command = lines.next().unwrap_or_default().to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            command.push('\n');
            command.push_str(&more[2..]);
        }
        Shown { command, output: lines.collect::<Vec<_>>().join("\n") }
    })
}

/// The directory and server that the commands of a page share.
struct Shell {
    directory: TempDir,
    server: Server,
}

impl Shell {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        copy(&root().join("examples"), &directory.path().join("examples"));
        Self { directory, server: Server::start(&[]) }
    }

    /// Runs a command, and compares its output if the page shows any.
    fn shows(&self, shown: &Shown) -> Result<(), String> {
        let program = shown.command.split_whitespace().next().unwrap_or_default();
        let elsewhere = program == "grpcurl" || program == "buf" && !is_installed("buf");
        if elsewhere || shown.command == "utterd serve &" {
            return Ok(());
        }
        let printed = self.run(&shown.command, &self.server.address)?;
        match shown.output.is_empty() || masked(&shown.output) == masked(&printed) {
            true => Ok(()),
            false => Err(format!("`{}` prints\n{printed}\nand not\n{}", shown.command, shown.output)),
        }
    }

    /// Runs the paragraphs of a script; those that serve run next to the others.
    fn script(&self, block: &Block<'_>) -> Result<(), String> {
        let (mut address, mut servers) = (self.server.address.clone(), Vec::new());
        for paragraph in block.text.split("\n\n").map(str::trim).filter(|text| !text.is_empty()) {
            if paragraph.starts_with("utterd serve") || paragraph.starts_with("utterd --listen") {
                let (server, at) = self.serve(paragraph);
                servers.push(server);
                address = at;
            } else if !paragraph.starts_with("grpcurl ") {
                self.run(paragraph, &address)?;
            }
        }
        Ok(())
    }

    /// Starts a separate server; also returns its address.
    fn serve(&self, command: &str) -> (Process, String) {
        let place = if command.contains("--listen") { "" } else { " --listen 127.0.0.1:0" };
        let mut shell = self.shell(&format!("exec {command}{place}"), "");
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let line = line_with(&mut stdout, "listening on ");
        let (_, address) = line.split_once("listening on ").expect("just found");
        let address = address.trim_end().to_owned();
        // Keep reading, so that it can print.
        std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
        (Process(child), address)
    }

    /// Runs a script against the server at `address`, and returns its output, including stderr.
    fn run(&self, script: &str, address: &str) -> Result<String, String> {
        let script = script.replace(ADDRESS, address);
        let output = self.shell(&format!("exec 2>&1; {script}"), address).output().expect("a shell");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.success() {
            true => Ok(printed),
            false => Err(format!("`{script}` fails: {printed}")),
        }
    }

    /// A shell in the directory, with the binary on its path.
    fn shell(&self, script: &str, address: &str) -> Command {
        let binary = Path::new(UTTERD).parent().expect("a directory").to_owned();
        let before = env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(binary).chain(env::split_paths(&before));
        let mut shell = within(self.directory.path(), "sh");
        shell.args(["-ec", script]).env("PATH", env::join_paths(paths).expect("paths"));
        if !address.is_empty() {
            shell.env("UTTERD_SERVER", address);
        }
        shell
    }
}

/// The parts of an output that do not differ between runs.
fn masked(text: &str) -> String {
    let mut masked = text.trim().to_owned();
    for (pattern, name) in OWN.iter() {
        masked = replaced(pattern, &masked, name);
    }
    masked
}

fn replaced(pattern: &Regex, text: &str, by: &str) -> String {
    let (mut output, mut end) = (String::new(), 0);
    for found in pattern.find_iter(text) {
        output.push_str(&text[end..found.start()]);
        output.push_str(by);
        end = found.end();
    }
    output + &text[end..]
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory is read") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_file() {
            fs::copy(&path, &target).expect("a file is copied");
        } else if path.ends_with("data") {
            copy(&path, &target);
        }
    }
}
