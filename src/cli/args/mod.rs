//! The commands and their arguments.

mod chat;
mod compactions;
mod contexts;
mod conversations;
mod formats;
mod mcp;
mod sharing;
mod stores;
mod target;
mod utterances;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{settings::SettingFlags, token::Token};
use crate::server::Announce;

pub use chat::{Chat, Preset};
pub use compactions::{Compact, Summarize};
pub use contexts::{Context, ContextFormat};
pub use conversations::{Capacity, DeleteRecipient, End, Fork, Show, Span, Stats, Watch};
pub use formats::{Export, Import};
pub use mcp::Mcp;
pub use sharing::Share;
pub use stores::{Backup, CopyStore, ReindexStore, RestoreBackup, ScrubStore, VerifyStore};
pub use target::{Remote, Target};
pub use utterances::{Forget, Memorize, Remember, Scope, Speaker};

const EXAMPLES: &str = "\
Examples:
  utterd                                  serve on 127.0.0.1:50051
  utterd memorize 'The train leaves at nine.'
  utterd show
  utterd --listen 127.0.0.1:50052 --preset session";

/// Conversation-history memory for LLM agents: keeps a rolling, token-accounted window of each
/// conversation. Without a command, it serves.
#[derive(Debug, Parser)]
#[command(name = "utterd", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to serve when there is no command.
    #[command(flatten)]
    pub serve: Serve,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve (the default)
    #[command(after_help = "Examples:
  utterd serve --listen 127.0.0.1:50052 --buffer-size 50
  utterd serve --backend fjall --migrate data.json
  utterd serve --listen unix:agent.sock --announce json --exit-with-parent")]
    Serve(Serve),
    /// Store an utterance
    #[command(after_help = "Examples:
  utterd memorize 'Where is my order?'
  utterd memorize --tool-calls '[{\"id\":\"c1\",\"function\":{\"name\":\"lookup\",\"arguments\":\"{}\"}}]'
  utterd memorize --tool-call-id c1 - < result.json")]
    Memorize(Memorize),
    /// Find utterances by relevance to a prompt
    #[command(after_help = "Example: utterd remember --role user --limit 3 when does the train leave")]
    Remember(Remember),
    /// Forget what an instruction selects
    #[command(after_help = "Instructions:
  oldest  newest  first:N  last:N  position:N        in the window
  turn:N  before:turn_N  after:turn_N  last:N_turns  of everything stored, as all below
  speaker:ROLE  name:NAME  sequence:N  id:ID         a role is system, user, assistant or tool
  since:TIME  before:TIME                            2026-11-20 or 2026-11-20T10:00:00Z, in UTC
  about:TEXT  about:'\"A\",\"B\"'                      what holds all words of it; of either
  all
  N of turns, positions and sequences may be 3-7, 3- or 2,5-7. Several together select what meets
  all of them.

In plain English the whole sentence is understood, or refused with what may be meant. Times are told
by the server's clock, in UTC: today is its UTC day. A sentence that selects more than half of the
window is refused with the count and the short form to say instead.

Examples:
  utterd forget last:2
  utterd forget 'what I said yesterday about my salary and my address'
  utterd forget --hard --dry-run 'everything the user said before turn 5'")]
    Forget(Forget),
    /// Summarise a conversation or a part of it
    #[command(after_help = "Example: utterd summarize --turns 1-4 --tokens 100 --focus refund")]
    Summarize(Summarize),
    /// Build what goes to the model: messages of OpenAI or Anthropic, or text
    #[command(after_help = "Examples:
  utterd context --format text --tokens 2000
  utterd context --format anthropic --instructions 'Be brief.' --recall 'the refund' --everywhere")]
    Context(Context),
    /// Talk in the terminal: the server keeps the conversation, a model replies if one is named
    ///
    /// What is said is stored before the model is asked, and the model gets what BuildContext answers.
    /// The model is any server of OpenAI's chat completions. /help in the chat tells its commands.
    #[command(after_help = "Examples:
  utterd chat
  utterd chat --recipient alice --model gpt-4o-mini --api-key-file ~/.openai
  utterd chat --conversation demo --model llama3.2 --base-url http://localhost:11434/v1")]
    Chat(Chat),
    /// Offer the memory to models as tools: a server of the Model Context Protocol, over stdio or HTTP
    ///
    /// With --server it offers the conversations of a running server. Without, it is a server of its own: in the
    /// files of --data-dir, or, when nothing is set, in memory, where all is gone when it ends. stdout carries the
    /// protocol alone; what is logged goes to stderr.
    #[command(after_help = "Examples:
  utterd mcp --data-dir ~/.utterd
  utterd mcp --server 127.0.0.1:50051 --recipient alice
  utterd mcp --server 127.0.0.1:50051 --http 127.0.0.1:50080

A client starts it by itself, once its configuration has:
  {\"mcpServers\": {\"utterd\": {\"command\": \"utterd\", \"args\": [\"mcp\", \"--data-dir\", \"/home/me/.utterd\"]}}}")]
    Mcp(Mcp),
    /// Fold all but the last utterances of the window into the summary, or take that back
    ///
    /// What is compacted stays in the archive: it can be found, exported and brought back.
    #[command(
        aliases = ["summarize-history", "compress"],
        after_help = "Examples:
  utterd compact
  utterd compact 20 --preview --focus refund
  utterd compact --undo
  utterd compact --list --conversation demo"
    )]
    Compact(Compact),
    /// Start another conversation with what was said in one, up to a point
    #[command(after_help = "Examples:
  utterd fork --activate
  utterd fork --conversation demo --at 12 --id demo-2 --to alice")]
    Fork(Fork),
    /// End a conversation: it gets a title and a closing summary, and what is said next starts another
    #[command(after_help = "Example: utterd end --recipient alice task completed")]
    End(End),
    /// Tell how full the window is
    #[command(after_help = "Example: utterd capacity --watch --recipient alice")]
    Capacity(Capacity),
    /// Count what is stored: by role, by time and by tool, and what summaries save
    #[command(after_help = "Examples:
  utterd stats --conversation demo --by hour
  utterd stats --recipient alice --all")]
    Stats(Stats),
    /// Make a token by which whoever holds it can read a conversation
    #[command(after_help = "Examples:
  utterd share --conversation demo --ttl 1day
  utterd share --list
  utterd share --read utterd_share_…")]
    Share(Share),
    /// Remove everything of a recipient, for good
    #[command(after_help = "Example: utterd delete-recipient --recipient alice")]
    DeleteRecipient(DeleteRecipient),
    /// Show the window as a person reads it
    #[command(after_help = "Example: utterd show --conversation demo")]
    Show(Show),
    /// Follow what happens, a line an event
    #[command(after_help = "Example: utterd watch --recipient alice")]
    Watch(Watch),
    /// Store conversations of other programs with their times and ids
    ///
    /// Reads OpenAI's chat messages and Responses items, Anthropic's messages, PersistedConversations and
    /// the legacy history. Repeated, it stores nothing twice, and goes on where it broke off.
    #[command(after_help = "Examples:
  utterd import --recipient alice chats.jsonl
  utterd import --format anthropic --check log.json
  jq -c '.[]' log.json | utterd import --conversation demo -")]
    Import(Import),
    /// Write a conversation, or all of a recipient's, in a format of other programs
    #[command(after_help = "Examples:
  utterd export demo --format anthropic
  utterd export --recipient alice --format persisted -o alice.json")]
    Export(Export),
    /// Write a backup of all that a running server stores into a file
    ///
    /// It holds what was stored at one moment, of every namespace; the server goes on meanwhile. Where
    /// credentials are configured, it takes one of an admin.
    #[command(after_help = "Examples:
  utterd backup nightly.utterd
  utterd backup - | zstd > nightly.utterd.zst")]
    Backup(Backup),
    /// Make a durable store of a backup
    ///
    /// The file is read and checked as a whole before anything is made. A restore that was interrupted goes
    /// on where it stopped when the command is given again.
    #[command(after_help = "Example: utterd restore nightly.utterd --to fjall:/var/lib/utterd")]
    Restore(RestoreBackup),
    /// Copy a durable store into another, whichever engines keep them
    ///
    /// Neither may be in use by a server. A copy that was interrupted goes on where it stopped when
    /// the command is given again; what was copied is checked at the end.
    #[command(after_help = "Example: utterd copy --from sled:utterd-data --to fjall:/var/lib/utterd")]
    Copy(CopyStore),
    /// Check everything in a durable store that no server uses
    ///
    /// Reads every record, checks that they fit together, and prints a line for each that does not;
    /// the exit code is 1 when there is any. Mends nothing.
    #[command(after_help = "Example: utterd verify fjall:utterd-data")]
    Verify(VerifyStore),
    /// Rewrite the files of a durable store without what was forgotten for good
    ///
    /// A server does so by itself (scrub_interval); this is for a store that no server uses.
    #[command(after_help = "Example: utterd scrub fjall:utterd-data")]
    Scrub(ScrubStore),
    /// Make the search index of a durable store anew
    ///
    /// A store keeps an index of conversations that were searched. All of it is made anew from what is stored, or that
    /// of the conversations named; what cannot be made is removed, for the next search to make. Nothing that was said
    /// is touched. No server may use the store.
    #[command(after_help = "Examples:
  utterd reindex fjall:utterd-data
  utterd reindex fjall:utterd-data --recipient alice")]
    Reindex(ReindexStore),
    /// Make tokens for a server that asks who calls, and list them
    #[command(subcommand)]
    Token(Token),
    /// Print the effective configuration and where each value came from
    #[command(after_help = "Example: utterd config --config utterd.toml > effective.toml")]
    Config(Configuration),
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where settings come from.
    #[command(flatten)]
    pub configuration: Configuration,
    /// How this one start goes.
    #[command(flatten)]
    pub start: Start,
}

/// How one start of the server goes: what no configuration keeps.
#[derive(Debug, Args)]
pub struct Start {
    /// Import this history first, once: data.json of the plugin, its conversationData, or an older history;
    /// the file is left as it is
    #[arg(long, value_name = "FILE")]
    pub migrate: Option<PathBuf>,
    /// How stdout says that it serves, and where: to a person, or to a program as one line of JSON
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub announce: Announce,
    /// End when stdin ends: give it a pipe, and it ends with whoever holds the other end
    #[arg(long)]
    pub exit_with_parent: bool,
}

/// Where settings come from, beside the environment.
#[derive(Debug, Args)]
pub struct Configuration {
    /// The TOML file to read [env: UTTERD_CONFIG] [default: utterd.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One flag for each key.
    #[command(flatten)]
    pub flags: SettingFlags,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn settings_are_flags_of_the_default_command() {
        let cli = Cli::try_parse_from(["utterd", "--listen", "0.0.0.0:1"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.configuration.flags.0, [("listen", "0.0.0.0:1".to_owned())]);
    }
}
