//! The commands and their arguments.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::{access::Access, settings::SettingFlags, token::Token};
use crate::{config::Place, formats::Format, proto};

const EXAMPLES: &str = "\
Examples:
  utterd                                  serve on 127.0.0.1:50051
  utterd memorize 'The train leaves at nine.'
  utterd show
  utterd --listen 127.0.0.1:50052 --preset session";

/// Where a server listens unless it is told otherwise.
const DEFAULT_SERVER: &str = "http://127.0.0.1:50051";

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
    pub configuration: Configuration,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve (the default)
    #[command(after_help = "Examples:
  utterd serve --listen 127.0.0.1:50052 --buffer-size 50
  utterd serve --backend fjall --migrate data.json")]
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
    /// Import this history first, once: data.json of the plugin, its conversationData, or an older history;
    /// the file is left as it is
    #[arg(long, value_name = "FILE")]
    pub migrate: Option<PathBuf>,
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

/// The server to talk to, the conversation meant, and the form of the answer.
#[derive(Debug, Args)]
pub struct Target {
    /// The server's address: host:port, http://, https:// or unix:/path
    #[arg(
        long,
        value_name = "URL",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        default_value = DEFAULT_SERVER
    )]
    pub server: String,
    /// What the server is shown.
    #[command(flatten)]
    pub access: Access,
    /// The conversation; without it the recipient's active one
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub conversation: String,
    /// Whose conversation; without it `default`
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub recipient: String,
    /// Print the response as JSON
    #[arg(long)]
    pub json: bool,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Speaker {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool's result.
    Tool,
}

impl From<Speaker> for proto::Role {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::System => Self::System,
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Tool,
        }
    }
}

/// Arguments of `memorize`.
#[derive(Debug, Args)]
pub struct Memorize {
    #[command(flatten)]
    pub target: Target,
    /// Who speaks [default: user; assistant with --tool-calls, tool with --tool-call-id]
    #[arg(long)]
    pub role: Option<Speaker>,
    /// The participant's or the tool's name
    #[arg(long, default_value = "", hide_default_value = true)]
    pub name: String,
    /// Important: eviction passes over it
    #[arg(long)]
    pub pin: bool,
    /// The turn it belongs to [default: the server counts]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub turn: Option<i32>,
    /// Names this attempt: repeated with the same id, it stores nothing again
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub request_id: String,
    /// The tools it calls, as OpenAI's array of tool calls
    #[arg(long, value_name = "JSON")]
    pub tool_calls: Option<String>,
    /// The open call that it answers
    #[arg(long, value_name = "ID", conflicts_with = "tool_calls")]
    pub tool_call_id: Option<String>,
    /// What was said; `-` reads stdin
    #[arg(required_unless_present_any = ["tool_calls", "tool_call_id"])]
    pub text: Vec<String>,
}

/// Where `remember` looks.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Scope {
    /// The window
    Window,
    /// The window and the archive
    Conversation,
    /// All conversations of the recipient
    Recipient,
}

/// Arguments of `remember`.
#[derive(Debug, Args)]
pub struct Remember {
    #[command(flatten)]
    pub target: Target,
    /// Where to look
    #[arg(long, default_value = "conversation")]
    pub scope: Scope,
    /// Only what these roles said
    #[arg(long)]
    pub role: Vec<Speaker>,
    /// The newest first, not the most relevant
    #[arg(long)]
    pub recent: bool,
    /// The most utterances
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(i32).range(1..=1000))]
    pub limit: i32,
    /// What to look for
    #[arg(required_unless_present = "recent")]
    pub prompt: Vec<String>,
}

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub struct Forget {
    #[command(flatten)]
    pub target: Target,
    /// For good, also from the summary; without it what is forgotten can be restored
    #[arg(long)]
    pub hard: bool,
    /// Tell what would be forgotten and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// What to forget, such as `oldest`, `last:3`, `turn:2`, `speaker:tool`, `about:TEXT`, `all`, or
    /// the same in plain English
    #[arg(required = true)]
    pub instructions: Vec<String>,
}

/// Arguments of `fork`.
#[derive(Debug, Args)]
pub struct Fork {
    #[command(flatten)]
    pub target: Target,
    /// The last sequence that both share [default: the newest]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub at: Option<i64>,
    /// The fork's id [default: the server makes one]
    #[arg(long, value_name = "ID", default_value = "", hide_default_value = true)]
    pub id: String,
    /// Whose conversation the fork is [default: the recipient's it is forked from]
    #[arg(long, value_name = "RECIPIENT", default_value = "", hide_default_value = true)]
    pub to: String,
    /// The fork's title [default: that of the one it is forked from]
    #[arg(long, default_value = "", hide_default_value = true)]
    pub title: String,
    /// Make it its recipient's active conversation, also when there is one already
    #[arg(long)]
    pub activate: bool,
}

/// Arguments of `end`.
#[derive(Debug, Args)]
pub struct End {
    #[command(flatten)]
    pub target: Target,
    /// Why it ends
    #[arg(value_name = "REASON")]
    pub reason: Vec<String>,
}

/// Arguments of `summarize`.
#[derive(Debug, Args)]
pub struct Summarize {
    #[command(flatten)]
    pub target: Target,
    /// Only the last N utterances of the window
    #[arg(long, value_name = "N", group = "scope", allow_negative_numbers = true)]
    pub recent: Option<i32>,
    /// Only what left the window
    #[arg(long, group = "scope")]
    pub evicted: bool,
    /// Only these turns: `3` or `2-5`
    #[arg(long, value_name = "A-B", group = "scope", value_parser = turns)]
    pub turns: Option<(i32, i32)>,
    /// The most tokens [default: the conversation's limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tokens: Option<i32>,
    /// A word that makes a sentence matter more
    #[arg(long, value_name = "WORD")]
    pub focus: Vec<String>,
    /// Wait for the server's model to tell the summary
    #[arg(long)]
    pub wait: bool,
}

/// What a context is written as.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ContextFormat {
    /// Chat messages
    Openai,
    /// Messages, and the system apart
    Anthropic,
    /// Text with times and speakers
    Text,
}

/// Arguments of `context`.
#[derive(Debug, Args)]
pub struct Context {
    #[command(flatten)]
    pub target: Target,
    /// What it is written as
    #[arg(long, default_value = "openai")]
    pub format: ContextFormat,
    /// The most tokens [default: what the conversation's limits allow]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub tokens: Option<i32>,
    /// The last N turns; 0 for all [default: the conversation's limit, or as many as fit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub turns: Option<i32>,
    /// Whether what does not fit leaves in steps, for a prompt cache [default: true without --turns]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub stable_steps: Option<bool>,
    /// A system prompt that is not stored
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub instructions: String,
    /// Adds what is stored about this and not in the context otherwise
    #[arg(long, value_name = "PROMPT")]
    pub recall: Option<String>,
    /// Recall from the recipient's other conversations too
    #[arg(long, requires = "recall")]
    pub everywhere: bool,
    /// The most utterances recalled [default: 5]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_limit: Option<i32>,
    /// The most of the budget that they may have, in per cent [default: 40]
    #[arg(long, value_name = "N", requires = "recall", allow_negative_numbers = true)]
    pub recall_percent: Option<i32>,
    /// Mask tool results so many turns old
    #[arg(long, value_name = "TURNS", allow_negative_numbers = true)]
    pub mask: Option<i32>,
    /// The summary in a marked user message, not in the system's
    #[arg(long)]
    pub summary_as_user: bool,
    /// A placeholder for each missing result, where a unit is left out otherwise
    #[arg(long)]
    pub placeholders: bool,
}

/// The limits that a conversation starts from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Preset {
    /// None: compaction is advised when it gets long
    Session,
    /// 20 utterances and 8,000 tokens
    Rolling,
    /// 10 turns and 8,000 tokens
    Turns,
}

impl Preset {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Session => proto::PolicyPreset::Session.into(),
            Self::Rolling => proto::PolicyPreset::Rolling.into(),
            Self::Turns => proto::PolicyPreset::Turns.into(),
        }
    }
}

/// Arguments of `chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// The server's address: host:port, http://, https:// or unix:/path
    #[arg(
        long,
        value_name = "URL",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        default_value = DEFAULT_SERVER
    )]
    pub server: String,
    /// What the server is shown.
    #[command(flatten)]
    pub access: Access,
    /// The conversation, which is created if there is none; without it the recipient's active one
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub conversation: String,
    /// Whose conversation; without it `default`
    #[arg(long, short, value_name = "ID", default_value = "", hide_default_value = true)]
    pub recipient: String,
    /// The limits of a conversation that the chat creates
    #[arg(long, default_value = "session")]
    pub preset: Preset,
    /// The model that replies; without it what you say is kept and nobody replies. Where the server has models
    /// summarise, a new conversation is summarised by this one too
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Where the model is served, by OpenAI's chat completions [default: OpenAI]
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// The file that holds the key of the model's server [default: OPENAI_API_KEY]
    #[arg(long, value_name = "FILE", requires = "model")]
    pub api_key_file: Option<PathBuf>,
}

/// Arguments of `compact`.
#[derive(Debug, Args)]
pub struct Compact {
    #[command(flatten)]
    pub target: Target,
    /// How many utterances stay, at least [default: 15]
    #[arg(value_name = "KEEP", allow_negative_numbers = true)]
    pub keep: Option<i32>,
    /// Tell what would be compacted and change nothing
    #[arg(long)]
    pub preview: bool,
    /// Wait for a model to tell the summary, where the server has one
    #[arg(long)]
    pub wait: bool,
    /// A word that makes a sentence matter more
    #[arg(long, value_name = "WORDS")]
    pub focus: Vec<String>,
    /// Take the last compaction back instead
    #[arg(long, group = "instead", conflicts_with_all = ["keep", "preview", "wait", "focus"])]
    pub undo: bool,
    /// List the conversation's compactions instead
    #[arg(long, group = "instead", conflicts_with_all = ["keep", "preview", "wait", "focus"])]
    pub list: bool,
}

/// Arguments of `capacity`.
#[derive(Debug, Args)]
pub struct Capacity {
    #[command(flatten)]
    pub target: Target,
    /// Stay and tell each change
    #[arg(long)]
    pub watch: bool,
}

/// How long the spans of `stats` are.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Span {
    /// From a full hour
    Hour,
    /// From midnight, UTC
    Day,
    /// From Monday
    Week,
    /// From the first of the month
    Month,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub struct Stats {
    #[command(flatten)]
    pub target: Target,
    /// All conversations of the recipient
    #[arg(long, conflicts_with = "conversation")]
    pub all: bool,
    /// How long a span of time is
    #[arg(long, default_value = "day")]
    pub by: Span,
}

/// Arguments of `share`.
#[derive(Debug, Args)]
pub struct Share {
    #[command(flatten)]
    pub target: Target,
    /// The token expires so long from now, such as `12h` [default: 7 days]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub ttl: Option<Duration>,
    /// Its holder reads the archive too, not only the window
    #[arg(long)]
    pub archive: bool,
    /// List the shares of the conversation instead
    #[arg(long, group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub list: bool,
    /// Take a share back instead
    #[arg(long, value_name = "ID", group = "instead", conflicts_with_all = ["ttl", "archive"])]
    pub revoke: Option<String>,
    /// Read what a token opens instead
    #[arg(long, value_name = "TOKEN", group = "instead", conflicts_with_all = ["ttl", "archive", "conversation", "recipient"])]
    pub read: Option<String>,
}

/// Arguments of `delete-recipient`.
#[derive(Debug, Args)]
pub struct DeleteRecipient {
    #[command(flatten)]
    pub target: Target,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    pub target: Target,
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub struct Watch {
    #[command(flatten)]
    pub target: Target,
    /// Go on behind this event [default: what happens from now on]
    #[arg(long, value_name = "CURSOR", default_value = "", hide_default_value = true)]
    pub after: String,
}

/// A format of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConversationFormat {
    /// OpenAI's chat messages
    Openai,
    /// OpenAI's Responses items
    Responses,
    /// Anthropic's messages
    Anthropic,
    /// PersistedConversations
    Persisted,
    /// HistoryEntry[] or PersistedHistory, only to import
    Legacy,
}

impl ConversationFormat {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Openai => proto::ConversationFormat::OpenaiChat.into(),
            Self::Responses => proto::ConversationFormat::OpenaiResponses.into(),
            Self::Anthropic => proto::ConversationFormat::AnthropicMessages.into(),
            Self::Persisted => proto::ConversationFormat::PersistedConversations.into(),
            Self::Legacy => proto::ConversationFormat::LegacyHistory.into(),
        }
    }
}

impl From<ConversationFormat> for Format {
    fn from(format: ConversationFormat) -> Self {
        match format {
            ConversationFormat::Openai => Self::OpenAiChat,
            ConversationFormat::Responses => Self::OpenAiResponses,
            ConversationFormat::Anthropic => Self::Anthropic,
            ConversationFormat::Persisted => Self::Persisted,
            ConversationFormat::Legacy => Self::Legacy,
        }
    }
}

/// How an export is laid out.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Layout {
    /// One JSON document
    Json,
    /// A message a line, or a conversation a line
    Jsonl,
}

impl Layout {
    /// The number of it on the wire.
    pub fn number(self) -> i32 {
        match self {
            Self::Json => proto::ExportLayout::Json.into(),
            Self::Jsonl => proto::ExportLayout::JsonLines.into(),
        }
    }
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub target: Target,
    /// What the files are in [default: told by their looks]
    #[arg(long)]
    pub format: Option<ConversationFormat>,
    /// Add to a conversation that exists and is not of an earlier import of the same
    #[arg(long)]
    pub into_existing: bool,
    /// Refuse what is not well-formed instead of keeping it leniently
    #[arg(long)]
    pub strict: bool,
    /// Read messages of unknown roles as the user's instead of refusing the file
    #[arg(long, conflicts_with = "strict")]
    pub lenient: bool,
    /// Check everything and store nothing
    #[arg(long)]
    pub check: bool,
    /// JSON or JSONL files; `-` reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct Export {
    #[command(flatten)]
    pub target: Target,
    /// What to write
    #[arg(long, default_value = "openai")]
    pub format: ConversationFormat,
    /// How it is laid out [default: json for a conversation, jsonl for all of a recipient's]
    #[arg(long)]
    pub layout: Option<Layout>,
    /// The file to write; without it stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Close calls that were never answered with a placeholder instead of leaving them out
    #[arg(long)]
    pub close_unanswered: bool,
    /// Repair also what came in this format and is irregular
    #[arg(long)]
    pub repair_all: bool,
    /// The conversation; without it all of the recipient's
    #[arg(value_name = "CONVERSATION")]
    pub name: Option<String>,
}

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// The server's address
    #[arg(
        long,
        value_name = "URL",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        default_value = DEFAULT_SERVER
    )]
    pub server: String,
    /// What the server is shown.
    #[command(flatten)]
    pub access: Access,
    /// Replace the file if there is one
    #[arg(long)]
    pub force: bool,
    /// The file to write; `-` writes to stdout
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Arguments of `restore`.
#[derive(Debug, Args)]
pub struct RestoreBackup {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The store to make: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR")]
    pub to: Place,
}

/// Arguments of `copy`.
#[derive(Debug, Args)]
pub struct CopyStore {
    /// The store to copy: its backend and its directory
    #[arg(long, value_name = "BACKEND:DIR")]
    pub from: Place,
    /// The store to copy into; it is created, or holds an interrupted copy
    #[arg(long, value_name = "BACKEND:DIR")]
    pub to: Place,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
}

/// Arguments of `scrub`.
#[derive(Debug, Args)]
pub struct ScrubStore {
    /// The store: its backend and its directory
    #[arg(value_name = "BACKEND:DIR")]
    pub store: Place,
}

fn turns(text: &str) -> Result<(i32, i32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) => Ok((first, last)),
        _ => Err("accepted are a turn, such as 3, or two, such as 2-5".into()),
    }
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
        assert_eq!(cli.configuration.flags.0, [("listen", "0.0.0.0:1".to_owned())]);
    }

    #[test]
    fn turns_are_one_or_two() {
        assert_eq!(turns("3"), Ok((3, 3)));
        assert_eq!(turns("2-5"), Ok((2, 5)));
        assert!(turns("2-").is_err() && turns("x").is_err());
    }
}
