//! The commands. Each has its own file.

use clap::{CommandFactory, Parser, Subcommand};

use super::{
    call,
    chat::{self, args::Chat},
    client::block_on,
    completions,
    conversations::{delete, end, export, import, list, show},
    demo,
    errors::{CliError, EXIT_CODES},
    health,
    mcp::{self, args::Mcp},
    messages::{capacity, compact, context, forget, memorize, prepare, remember, restore, summarize},
    serve,
    stores::{backup, migrate, scrub, verify},
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

/// Defines the commands: the arguments of each, and the function that it runs or awaits.
macro_rules! commands {
    ($($(#[$attribute:meta])* $command:ident($args:ty) $how:ident $run:path,)*) => {
        /// What to do. Each command's help is next to its arguments.
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$attribute])* $command($args),)*
        }

        impl Command {
            fn run(self) -> Result<(), CliError> {
                match self {
                    $(Self::$command(args) => commands!(@$how $run, args),)*
                }
            }
        }
    };
    (@runs $run:path, $args:ident) => { $run($args) };
    (@awaits $run:path, $args:ident) => { block_on($run($args)) };
}

commands! {
    Serve(serve::Serve) runs serve::serve,
    Demo(demo::Demo) awaits demo::demo,
    Chat(Chat) awaits chat::chat,
    #[command(about = "Offer the memory to models as MCP tools")]
    Mcp(Mcp) runs mcp::mcp,
    Memorize(memorize::Memorize) awaits memorize::memorize,
    Remember(remember::Remember) awaits remember::remember,
    Forget(forget::Forget) awaits forget::forget,
    Restore(restore::Restore) runs restore::restore,
    Summarize(summarize::Summarize) awaits summarize::summarize,
    Context(context::Context) awaits context::context,
    Prepare(prepare::Prepare) awaits prepare::prepare,
    List(list::List) awaits list::list,
    Show(show::Show) awaits show::show,
    Capacity(capacity::AskCapacity) awaits capacity::capacity,
    Compact(compact::Compact) awaits compact::compact,
    End(end::End) awaits end::end,
    Delete(delete::Delete) awaits delete::delete,
    Import(import::Import) awaits import::import,
    Export(export::Export) awaits export::export,
    Call(call::Call) awaits call::call,
    Backup(backup::Backup) runs backup::backup,
    Verify(verify::VerifyStore) runs verify::verify,
    Scrub(scrub::ScrubStore) runs scrub::scrub,
    Migrate(migrate::Migrate) awaits migrate::migrate,
    #[command(subcommand)]
    Token(token::Token) runs token::token,
    Health(health::Health) awaits health::health,
    Completions(completions::Completions) runs complete,
    Config(serve::Configuration) runs serve::show_configuration,
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> Result<(), CliError> {
        self.command.unwrap_or(Command::Serve(self.serve)).run()
    }
}

fn complete(args: completions::Completions) -> Result<(), CliError> {
    completions::completions(args, Cli::command())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::arranged;

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
        let mut program = arranged(Cli::command());
        program.try_get_matches_from_mut(arguments).unwrap_err().render().to_string()
    }

    /// All names of commands.
    fn commands() -> Vec<String> {
        let program = Cli::command();
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect()
    }

    #[test]
    fn the_short_help_shows_a_commands_own_options_alone() {
        for name in commands() {
            let [short, long] = ["-h", "--help"].map(|flag| help_of(&["utterd", &name, flag]));
            assert!(!short.contains("Connection:") && !short.contains("Settings:"), "{short}");
            assert!(short.lines().count() <= 50, "{short}");
            assert_eq!(long.contains("--token-file"), long.contains("Connection:"), "{long}");
        }
        assert!(help_of(&["utterd", "serve", "--help"]).contains("Settings:"));
    }
}
