//! Finds the shell commands that change something.

/// What a piece of a command line changes: the word for the action, and the object.
pub struct Command {
    pub act: String,
    pub which: Vec<String>,
}

/// Programs that change the files they name.
const PROGRAMS: &[&str] = &[
    "rm", "mv", "cp", "mkdir", "rmdir", "touch", "tee", "chmod", "ln", "kill", "unzip", "patch", "truncate",
];
/// Programs with subcommands that change something.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "commit", "push", "checkout", "merge", "reset", "rebase", "stash", "clone", "rm", "mv", "tag",
            "revert",
        ],
    ),
    ("npm", &["install", "i", "uninstall", "publish"]),
    ("pip", &["install", "uninstall"]),
    ("pip3", &["install", "uninstall"]),
    ("cargo", &["install", "add", "new", "init", "publish"]),
    ("apt", &["install", "remove"]),
    ("apt-get", &["install", "remove"]),
    ("kubectl", &["apply", "delete", "create", "scale"]),
    ("docker", &["run", "rm", "stop"]),
];

/// The pieces of `line` that change something.
pub fn changing(line: &str) -> Vec<Command> {
    pieces(line).iter().filter_map(|words| command(words)).collect()
}

fn command(words: &[String]) -> Option<Command> {
    let start = words.iter().position(|word| word != "sudo" && !word.contains('='))?;
    let (program, rest) = words[start..].split_first()?;
    let named = |rest: &[String]| -> Vec<String> {
        let named = rest.iter().filter(|word| !word.starts_with('-') && word.len() > 1);
        named.map(|word| last(word).to_owned()).collect()
    };
    let subcommands =
        SUBCOMMANDS.iter().find(|(name, _)| name == program).map(|(_, subcommands)| subcommands);
    let act = rest.first().filter(|word| subcommands.is_some_and(|all| all.contains(&word.as_str())));
    let written = rest.iter().position(|word| word == ">").and_then(|at| rest.get(at + 1));
    if let Some(act) = act {
        Some(Command { act: act.clone(), which: named(&rest[1..]) })
    } else if PROGRAMS.contains(&&**program)
        || program == "sed" && rest.iter().any(|word| word.starts_with("-i"))
    {
        Some(Command { act: program.clone(), which: named(rest) })
    } else {
        let file = written.filter(|file| !file.starts_with("/dev/") && !file.starts_with('&'))?;
        Some(Command { act: program.clone(), which: vec![last(file).to_owned()] })
    }
}

/// The last part of a path; for a text, its first characters.
fn last(word: &str) -> &str {
    match word.find([' ', '\n']) {
        Some(_) => word.char_indices().nth(12).map_or(word, |(at, _)| &word[..at]),
        None => word.trim_end_matches('/').rsplit('/').next().unwrap_or(word),
    }
}

/// The words of each command in a line: quoted text is one word, and here-documents are left out.
fn pieces(line: &str) -> Vec<Vec<String>> {
    let (mut pieces, mut word, mut quote) = (vec![Vec::new()], String::new(), None);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '<') if chars.peek() == Some(&'<') => break,
            (None, c) if !c.is_whitespace() && !matches!(c, '&' | ';' | '|' | '>') => word.push(c),
            (None, c) => {
                let complete = std::mem::take(&mut word);
                pieces
                    .last_mut()
                    .unwrap()
                    .extend((!complete.is_empty() && complete != "2").then_some(complete));
                match c {
                    '>' if chars.peek() == Some(&'&') => _ = chars.next(),
                    '>' => pieces.last_mut().unwrap().push(">".to_owned()),
                    '&' | ';' | '|' | '\n' => pieces.push(Vec::new()),
                    _ => {}
                }
            }
        }
    }
    pieces.last_mut().unwrap().extend((!word.is_empty()).then_some(word));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
