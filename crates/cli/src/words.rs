//! The names of request fields on the command line.

use clap::{Arg, ArgMatches, Command};

/// The arguments of one command, by the fields that they fill: an argument's id is its field's name.
#[derive(Default)]
pub struct Words {
    arguments: Vec<(String, String)>,
    is_secured: bool,
}

impl Words {
    /// The words of the command of `program` that `matches` selects. `--json` fills no field, whatever a field is called.
    pub fn of(program: &Command, matches: &ArgMatches) -> Self {
        let (mut command, mut matches) = (program, matches);
        while let Some((name, inner)) = matches.subcommand() {
            let Some(named) = command.find_subcommand(name) else { break };
            (command, matches) = (named, inner);
        }
        let named = |argument: &Arg| (argument.get_id().to_string(), word(argument));
        let server = matches.try_get_one::<String>("server").ok().flatten();
        Self {
            arguments: command.get_arguments().filter(|it| it.get_id() != "json").map(named).collect(),
            is_secured: server.is_some_and(|server| server.to_ascii_lowercase().starts_with("https:")),
        }
    }

    /// Whether the command calls a server over TLS.
    pub fn is_secured(&self) -> bool {
        self.is_secured
    }

    /// The command's name for a field: `content` is `TEXT`, `policy.max_tokens` is `--max-tokens`. `None` if no
    /// argument fills it.
    pub fn spoken(&self, field: &str) -> Option<String> {
        let parts: Vec<&str> = field.split('.').collect();
        let spans =
            (0..parts.len()).flat_map(|start| (start..parts.len()).rev().map(move |end| (start, end)));
        spans.into_iter().find_map(|(start, end)| {
            let named = &parts[start..=end];
            let id = named.iter().map(|part| part.split('[').next().unwrap_or(part)).collect::<Vec<_>>();
            let (_, word) = self.arguments.iter().find(|(known, _)| *known == id.join("_"))?;
            let rest = parts[end + 1..].iter().map(|part| format!(".{part}")).collect::<String>();
            Some(format!("{word}{rest}"))
        })
    }
}

/// A flag, such as `--budget`, or the name of a positional argument, such as `TEXT`.
fn word(argument: &Arg) -> String {
    let value = || argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => value().unwrap_or_else(|| argument.get_id().as_str().to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        let command = Command::new("utterd").subcommand(
            Command::new("compact")
                .arg(Arg::new("content").value_name("TEXT"))
                .arg(Arg::new("max_tokens").long("most"))
                .arg(Arg::new("tool_calls").long("tool-calls"))
                .arg(Arg::new("recall_limit").long("recall-limit")),
        );
        let matches = command.clone().get_matches_from(["utterd", "compact"]);
        Words::of(&command, &matches)
    }

    #[test]
    fn a_field_is_called_as_its_argument() {
        let words = words();
        let spoken = |field| words.spoken(field).unwrap_or_default();
        assert_eq!(spoken("content"), "TEXT");
        assert_eq!(spoken("policy.max_tokens"), "--most");
        assert_eq!(spoken("recall.limit"), "--recall-limit");
        assert_eq!(spoken("utterances[0].tool_calls[1].id"), "--tool-calls.id");
        assert_eq!(words.spoken("request_id"), None);
    }
}
