//! The commands. Each has its own file.

use clap::{CommandFactory, Parser, Subcommand};

use super::{
    chat::{self, args::Chat},
    client::block_on,
    completions,
    conversations::{
        create, delete, delete_recipient, end, export, fork, import, list, policy, rename, share, show,
        state, stats, watch,
    },
    demo,
    errors::{CliError, EXIT_CODES},
    health,
    mcp::{self, args::Mcp},
    messages::{
        capacity, compact, context, count, edit, forget, memorize, pin, prepare, remember, restore, summarize,
    },
    serve,
    stores::{backup, copy, migrate, reindex, scrub, verify},
    token,
};

const EXAMPLES: &str = "\
Examples:
  utterd demo                    look around in example conversations
  utterd serve --backend fjall   keep conversations in files, in ./utterd-data
  utterd memorize 'The train leaves at nine.'
  utterd show                    show the active conversation
  utterd show trip               show the conversation trip

`utterd COMMAND --help` shows the options of a command, and examples. Without a
command, utterd serves, and takes the options of `serve`.";

/// Conversation memory for LLM agents: a gRPC server, and its command line.
#[derive(Debug, Parser)]
#[command(name = "utterd", version, after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Option<Command>,
    /// How to serve when there is no command.
    #[command(flatten)]
    serve: serve::Serve,
}

/// What to do. Each command's help is next to its arguments.
#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Demo(demo::Demo),
    Chat(Chat),
    #[command(about = "Offer the memory to models as MCP tools")]
    Mcp(Mcp),
    Memorize(memorize::Memorize),
    Remember(remember::Remember),
    Forget(forget::Forget),
    Restore(restore::Restore),
    Summarize(summarize::Summarize),
    Context(context::Context),
    Prepare(prepare::Prepare),
    Count(count::Count),
    List(list::List),
    Show(show::Show),
    Capacity(capacity::AskCapacity),
    Stats(stats::AskStats),
    Watch(watch::Watch),
    Compact(compact::Compact),
    Fork(fork::Fork),
    Pin(pin::Pin),
    Unpin(pin::Unpin),
    Edit(edit::Edit),
    #[command(subcommand)]
    State(state::State),
    #[command(subcommand)]
    Policy(policy::Policy),
    Create(create::Create),
    Rename(rename::Rename),
    End(end::End),
    Share(share::Share),
    Delete(delete::Delete),
    DeleteRecipient(delete_recipient::DeleteRecipient),
    Import(import::Import),
    Export(export::Export),
    Backup(backup::Backup),
    Copy(copy::CopyStore),
    Verify(verify::VerifyStore),
    Scrub(scrub::ScrubStore),
    Migrate(migrate::Migrate),
    Reindex(reindex::ReindexStore),
    #[command(subcommand)]
    Token(token::Token),
    Health(health::Health),
    Completions(completions::Completions),
    Config(serve::Configuration),
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<(), CliError> {
        match self.command.unwrap_or(Command::Serve(self.serve)) {
            Command::Serve(args) => serve::serve(args),
            Command::Demo(args) => block_on(demo::demo(args)),
            Command::Memorize(args) => block_on(memorize::memorize(args)),
            Command::Remember(args) => block_on(remember::remember(args)),
            Command::Forget(args) => block_on(forget::forget(args)),
            Command::Restore(args) => restore::restore(args),
            Command::Summarize(args) => block_on(summarize::summarize(args)),
            Command::Context(args) => block_on(context::context(args)),
            Command::Prepare(args) => block_on(prepare::prepare(args)),
            Command::Count(args) => block_on(count::count(args)),
            Command::List(args) => block_on(list::list(args)),
            Command::Pin(args) => block_on(pin::pin(args)),
            Command::Unpin(args) => block_on(pin::unpin(args)),
            Command::Edit(args) => block_on(edit::edit(args)),
            Command::State(command) => block_on(state::state(command)),
            Command::Create(args) => block_on(create::create(args)),
            Command::Rename(args) => block_on(rename::rename(args)),
            Command::Delete(args) => block_on(delete::delete(args)),
            Command::Policy(command) => block_on(policy::policy(command)),
            Command::Health(args) => block_on(health::health(args)),
            Command::Completions(args) => completions::completions(args, Self::command()),
            Command::Chat(args) => block_on(chat::chat(args)),
            Command::Mcp(args) => mcp::mcp(args),
            Command::Compact(args) => block_on(compact::compact(args)),
            Command::Fork(args) => block_on(fork::fork(args)),
            Command::End(args) => block_on(end::end(args)),
            Command::Capacity(args) => block_on(capacity::capacity(args)),
            Command::Stats(args) => block_on(stats::stats(args)),
            Command::Share(args) => block_on(share::share(args)),
            Command::DeleteRecipient(args) => block_on(delete_recipient::delete_recipient(args)),
            Command::Show(args) => block_on(show::show(args)),
            Command::Watch(args) => block_on(watch::watch(args)),
            Command::Import(args) => block_on(import::import(args)),
            Command::Export(args) => block_on(export::export(args)),
            Command::Backup(args) => block_on(backup::backup(args)),
            Command::Copy(args) => copy::copy(args),
            Command::Verify(args) => verify::verify(args),
            Command::Scrub(args) => scrub::scrub(args),
            Command::Migrate(args) => block_on(migrate::migrate(args)),
            Command::Reindex(args) => reindex::reindex(args),
            Command::Token(command) => token::token(command),
            Command::Config(configuration) => serve::show_configuration(configuration),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::cli::help::{GROUPS, arranged};

    #[test]
    fn the_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_shows_how() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            let shows = command.has_subcommands() || command.get_after_help().is_some();
            assert!(shows, "{} has no example", command.get_name());
        }
    }

    #[test]
    fn settings_are_flags_of_the_default_command() {
        let cli = Cli::try_parse_from(["utterd", "--listen", "0.0.0.0:1"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.configuration.flags.0, [("listen", "0.0.0.0:1".to_owned())]);
    }

    /// The help of `utterd demo --help` and the like.
    fn help_of(arguments: &[&str]) -> String {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        let mut program = arranged(Cli::command(), &arguments);
        program.try_get_matches_from_mut(&arguments).unwrap_err().render().to_string()
    }

    /// All names of commands.
    fn commands() -> Vec<String> {
        let program = Cli::command();
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect()
    }

    #[test]
    fn the_help_lists_every_command_once_on_two_screens() {
        let mut grouped: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().map(ToString::to_string)).collect();
        let mut commands = commands();
        grouped.sort();
        commands.sort();
        assert_eq!(grouped, commands);
        let help = help_of(&["utterd", "--help"]);
        assert!(help.lines().count() <= 100, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }

    #[test]
    fn the_page_lists_the_commands_in_the_same_groups() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
        let page = std::fs::read_to_string(path).unwrap();
        let rows = page.lines().skip_while(|line| !line.starts_with("| to | ")).skip(2);
        let rows: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), GROUPS.len(), "{rows:?}");
        for (row, (title, names)) in rows.iter().zip(GROUPS) {
            let mut cells = row.split('|').skip(1).map(str::trim);
            assert_eq!(cells.next().unwrap_or_default(), title.to_lowercase());
            let listed = cells.next().unwrap_or_default();
            let listed: Vec<_> = listed.split('`').skip(1).step_by(2).collect();
            assert_eq!(listed, names, "{row}");
        }
    }

    #[test]
    fn a_commands_own_options_stand_before_those_that_many_share() {
        for name in commands() {
            let help = help_of(&["utterd", &name, "--help"]);
            let (own, connects) = (help.lines().count(), help.contains("--help-connection"));
            assert!(!help.contains("--token-file <"), "{help}");
            assert!(name == "serve" || own <= 50, "{own} lines: {help}");
            if connects {
                let place = |option: &str| help.find(&format!(" {option} ")).unwrap_or(usize::MAX);
                let last = help.find("--help-connection").unwrap_or_default();
                assert!(last > place("--json").min(last - 1), "{help}");
                let connection = help_of(&["utterd", &name, "--help-connection"]);
                assert!(connection.contains("--token-file <FILE>"), "{connection}");
                assert!(!connection.contains("--json"), "{connection}");
            }
        }
    }

    #[test]
    fn settings_are_in_the_help_of_serve_alone() {
        for (name, expected) in [("serve", true), ("migrate", false), ("config", false)] {
            let help = help_of(&["utterd", name, "--help"]);
            assert_eq!(help.contains("--buffer-size"), expected, "{help}");
            assert!(help.contains("utterd serve --help") || expected, "{help}");
        }
    }
}
