//! What an import is asked for, what it sends, and what it tells.

use std::path::{Path, PathBuf};

use clap::Args;
use futures::stream;
use tonic::Status;

use crate::{
    args::{ConversationFormat, Json, Remote},
    client::Connection,
    errors::{CliError, is_gone},
    refusal::told,
    terminal::{
        Output, clipped, count, counted, folded, note,
        read::{is_stdin, label},
    },
};
use utterd_formats as formats;
use utterd_formats::{UnknownRoles, fit_id};
use utterd_rpc::proto::{
    ImportConversationRequest, ImportConversationResponse, ImportHeader, ImportedConversation,
    import_conversation_request::Message,
};

/// Import conversations from files of other programs
///
/// Keeps the times and ids of messages. Repeating the command stores nothing twice, and continues where the first run
/// stopped.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  utterd import --recipient alice chats.jsonl
  utterd import --format anthropic --dry-run log.json
  utterd import conversations.json
  utterd import ~/.claude/projects/*/*.jsonl
  utterd import --follow ~/.claude/projects ~/.codex/sessions
  jq -c '.[]' log.json | utterd import --as trip -",
    override_usage = "utterd import [OPTIONS] <FILE>..."
)]
pub struct Import {
    #[command(flatten)]
    pub remote: Remote,
    /// The id for the conversation in the file [default: the id in the file, or the file's name]
    #[arg(long = "as", value_name = "ID", default_value = "")]
    conversation: String,
    /// The recipient of the conversations [default: default]
    #[arg(long, short, value_name = "ID", default_value = "")]
    recipient: String,
    #[command(flatten)]
    pub json: Json,
    /// The format of the files [default: detected from their content]
    #[arg(long)]
    pub format: Option<ConversationFormat>,
    /// Add to a conversation that exists and does not come from an earlier import of the same file
    #[arg(long)]
    pub into_existing: bool,
    /// Refuse files that are not well-formed, instead of importing what can be read
    #[arg(long)]
    pub strict: bool,
    /// Read messages with unknown roles as the user's, instead of refusing the file
    #[arg(long, conflicts_with = "strict")]
    pub lenient: bool,
    /// Show the conversations that would be imported, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Import the sessions of coding agents in these directories, and what is appended to them, until Ctrl-C
    #[arg(long, conflicts_with_all = ["conversation", "dry_run", "into_existing", "strict"])]
    pub follow: bool,
    /// JSON or JSONL files; `-` reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// The most characters of a line about a conversation.
const LINE: usize = 100;
/// Bytes per chunk.
const CHUNK: usize = 64 << 10;

/// An import that goes on.
pub struct Importing {
    connection: Connection,
    pub args: Import,
    pub tally: Tally,
}

impl Importing {
    /// An import that begins.
    pub fn new(connection: Connection, args: Import) -> Self {
        Self { connection, args, tally: Tally::default() }
    }

    /// Imports a part of a file; the inner error says what is wrong with it.
    pub async fn part(
        &self,
        file: &Path,
        part: &[u8],
    ) -> Result<Result<ImportConversationResponse, String>, CliError> {
        match self.send(self.header(file, part), part).await {
            Ok(response) => Ok(Ok(response)),
            Err(status) if is_gone(&status) => Err(status.into()),
            Err(status) => Ok(Err(format!("{}: {}", label(file), told(&status)))),
        }
    }

    /// Imports a session that has grown, and tells what was stored of it; returns whether it could be imported. Warnings
    /// are about all of it, so only the `first` time tells them.
    pub async fn append(&mut self, file: &Path, content: &[u8], first: bool) -> Result<bool, CliError> {
        let response = match self.part(file, content).await? {
            Ok(response) => response,
            Err(reason) => {
                note(&format!("failed: {reason}"));
                return Ok(false);
            }
        };
        if first {
            self.warn(file, &response);
        }
        let stored = self.tally.stored;
        self.take(&response)?;
        if self.tally.stored > stored {
            let stored = counted(self.tally.stored - stored, "utterance");
            note(&format!("{}: {stored}", label(file)));
        }
        Ok(true)
    }

    /// If the content is a single conversation without an id, the conversation is named after the file.
    fn header(&self, file: &Path, content: &[u8]) -> ImportHeader {
        let args = &self.args;
        let mut conversation_id = args.conversation.clone();
        if conversation_id.is_empty() && !is_stdin(file) {
            let source = self.parse(content);
            let nameless = |source: &formats::Source| match source.conversations.as_slice() {
                [one] => one.id.is_none() && source.format != formats::Format::Legacy,
                _ => false,
            };
            if source.as_ref().is_some_and(nameless) {
                let stem = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
                conversation_id = fit_id(&stem).into_owned();
            }
        }
        ImportHeader {
            format: self.format(),
            conversation_id,
            recipient_id: args.recipient.clone(),
            into_existing: args.into_existing,
            strict: args.strict,
            lenient: args.lenient,
            validate_only: args.dry_run,
            ..ImportHeader::default()
        }
    }

    /// The content as the server reads it, if it can be read.
    fn parse(&self, content: &[u8]) -> Option<formats::Source> {
        let roles = if self.args.lenient { UnknownRoles::ReadAsUser } else { UnknownRoles::Refuse };
        let format = utterd_rpc::import_format(self.format()).ok()?;
        formats::parse(content, format, roles).ok()
    }

    /// The number of the format on the wire; 0 if it is to be detected.
    fn format(&self) -> i32 {
        self.args.format.map_or(0, |format| format.wire().into())
    }

    async fn send(&self, header: ImportHeader, content: &[u8]) -> Result<ImportConversationResponse, Status> {
        let header = Message::Header(header);
        let chunks: Vec<Message> =
            content.chunks(CHUNK).map(|chunk| Message::Chunk(chunk.to_vec())).collect();
        let messages = std::iter::once(header).chain(chunks);
        let requests = messages.map(|message| ImportConversationRequest { message: Some(message) });
        let response = self.connection.conversations().import_conversation(stream::iter(requests)).await?;
        Ok(response.into_inner())
    }

    /// Prints a line for each conversation that would be imported: its id, its size, and its title or first message.
    pub fn show(&self, content: &[u8], response: &ImportConversationResponse) -> Result<(), CliError> {
        let conversations = self.parse(content).map(|source| source.conversations).unwrap_or_default();
        let mut output = Output::new();
        for (conversation, parsed) in response.conversations.iter().zip(&conversations) {
            let first = parsed.said.first().map(|sourced| sourced.draft.content.to_string());
            let text = parsed.title.clone().or(first).unwrap_or_default();
            let (id, size) =
                (&conversation.conversation_id, counted(conversation.utterance_count(), "utterance"));
            output.row(&clipped(&format!("{id}  {size}  {}", folded(&text)), LINE))?;
        }
        Ok(output.flush()?)
    }

    /// Tells what is unusual about a file.
    pub fn warn(&self, file: &Path, response: &ImportConversationResponse) {
        let label = label(file);
        let irregular = response.conversations.iter().flat_map(|conversation| {
            conversation.irregularities.iter().map(|it| (format!(" {}", conversation.conversation_id), it))
        });
        let warnings = response.warnings.iter().map(|warning| (String::new(), warning));
        for (of, warning) in warnings.chain(irregular) {
            let line = format!("{label}{of} {}: {}", warning.place, warning.text);
            note(&folded(&line));
        }
        if let Some(count) = response.omitted_warning_count {
            note(&format!("{label}: and {count} more such lines"));
        }
        if let Some(count) = response.omitted_conversation_count {
            note(&format!("{label}: {count} more conversations, which are not counted here"));
        }
    }

    pub fn take(&mut self, response: &ImportConversationResponse) -> Result<(), CliError> {
        response.conversations.iter().for_each(|conversation| self.tally.add(conversation));
        if self.args.json.json {
            let mut output = Output::new();
            output.json_line(response)?;
            output.flush()?;
        }
        Ok(())
    }
}

/// What an import did, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    conversations: u64,
    started: u64,
    stored: u64,
    skipped: u64,
    summaries: u64,
    irregular: u64,
}

impl Tally {
    fn add(&mut self, conversation: &ImportedConversation) {
        let number = |number: i32| u64::try_from(number).unwrap_or(0);
        self.conversations += 1;
        self.started += u64::from(conversation.started);
        self.stored += number(conversation.utterance_count());
        self.skipped += number(conversation.skipped_count());
        self.summaries += number(conversation.summary_count());
        self.irregular += conversation.irregularities.len() as u64;
    }

    /// The closing line.
    pub fn line(&self, dry_run: bool, took: &str) -> String {
        let did = if dry_run { "would import" } else { "imported" };
        let mut parts = vec![counted(self.stored, "utterance")];
        if self.skipped > 0 {
            parts.push(format!("{} already there", count(self.skipped)));
        }
        if self.summaries > 0 {
            parts.push(counted(self.summaries, "summary"));
        }
        if self.irregular > 0 {
            parts.push(format!("{} irregular", count(self.irregular)));
        }
        let conversations = counted(self.conversations, "conversation");
        format!("{did} {conversations} ({} new): {}, in {took}", count(self.started), parts.join(", "))
    }
}
