//! `utterd import`: conversations of other programs, kept with their times and ids.

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use futures::stream;
use tonic::Status;

use super::{
    args,
    client::Connection,
    errors::{CliError, refusal},
    meter::Meter,
    output::{Output, note},
    text::{bytes, count, counted, visible},
};
use crate::{
    formats::{self, UnknownRoles, fit_id},
    proto::{
        ImportConversationRequest, ImportConversationResponse, ImportHeader, ImportedConversation,
        import_conversation_request::Message,
    },
};

/// Bytes of a chunk.
const CHUNK: usize = 64 << 10;
/// Bytes of conversations, one a line, that are sent at a time.
const PART: usize = 1 << 20;

/// Imports the files, and tells in a closing line what was stored.
///
/// Repeated, it stores nothing twice, and goes on where it broke off.
pub async fn import(args: args::Import) -> Result<(), CliError> {
    let connection = Connection::open(&args.target).await?;
    let mut import = Import { connection, args, meter: Meter::turning(), tally: Tally::default() };
    let mut failed = 0;
    for file in import.args.files.clone() {
        if let Err(reason) = import.file(&file).await? {
            failed += 1;
            import.meter.tell(&format!("failed: {}: {reason}", label(&file)));
        }
    }
    let Import { args, meter, tally, .. } = import;
    let line = tally.line(args.check, &meter.end());
    let mut output = Output::new();
    match args.target.json {
        true => note(&line),
        false => output.line(&line)?,
    }
    output.flush()?;
    if failed > 0 { Err(CliError::Incomplete(counted(failed, "file"))) } else { Ok(()) }
}

struct Import {
    connection: Connection,
    args: args::Import,
    meter: Meter,
    tally: Tally,
}

impl Import {
    /// Imports a file; the inner error says what is wrong with it.
    async fn file(&mut self, file: &Path) -> Result<Result<(), String>, CliError> {
        let content = match read(file) {
            Ok(content) => content,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let (mut sent, all) = (0, content.len() as u64);
        for part in parts(&content) {
            let header = self.header(file, part);
            sent += part.len() as u64;
            let response = match self.send(header, part).await {
                Ok(response) => response,
                Err(status) => return Ok(Err(refusal(&status))),
            };
            self.take(file, &response)?;
            let tally = self.tally;
            self.meter
                .at(|| format!("{} of {}, {}", bytes(sent), bytes(all), counted(tally.stored, "utterance")));
        }
        Ok(Ok(()))
    }

    /// A content that holds one conversation without an id is called after its file.
    fn header(&self, file: &Path, content: &[u8]) -> ImportHeader {
        let args = &self.args;
        let format = args.format.map(Into::into);
        let mut conversation_id = args.target.conversation.clone();
        if conversation_id.is_empty() && file.as_os_str() != "-" {
            let unknown_roles = if args.lenient { UnknownRoles::ReadAsUser } else { UnknownRoles::Refuse };
            let source = formats::parse(content, format, unknown_roles);
            let nameless = |source: &formats::Source| match source.conversations.as_slice() {
                [one] => one.id.is_none() && source.format != formats::Format::Legacy,
                _ => false,
            };
            if source.as_ref().is_ok_and(nameless) {
                let stem = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
                conversation_id = fit_id(&stem).into_owned();
            }
        }
        ImportHeader {
            format: args.format.map_or(0, |format| format.number()),
            conversation_id,
            recipient_id: args.target.recipient.clone(),
            into_existing: args.into_existing,
            strict: args.strict,
            lenient: args.lenient,
            validate_only: args.check,
            ..ImportHeader::default()
        }
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

    fn take(&mut self, file: &Path, response: &ImportConversationResponse) -> Result<(), CliError> {
        let label = label(file);
        let irregular = response.conversations.iter().flat_map(|conversation| {
            conversation.irregularities.iter().map(|it| (format!(" {}", conversation.conversation_id), it))
        });
        let warnings = response.warnings.iter().map(|warning| (String::new(), warning));
        for (of, warning) in warnings.chain(irregular) {
            let line = format!("{label}{of} {}: {}", warning.place, warning.description);
            self.meter.tell(&visible(&line));
        }
        if let Some(count) = response.omitted_warning_count {
            self.meter.tell(&format!("{label}: and {count} more such lines"));
        }
        if let Some(count) = response.omitted_conversation_count {
            self.meter.tell(&format!("{label}: {count} more conversations, which are in no count here"));
        }
        response.conversations.iter().for_each(|conversation| self.tally.add(conversation));
        if self.args.target.json {
            let mut output = Output::new();
            output.json_line("ImportConversationResponse", response)?;
            output.flush()?;
        }
        Ok(())
    }
}

fn label(file: &Path) -> String {
    if file.as_os_str() == "-" { "stdin".into() } else { visible(&file.display().to_string()) }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    if file.as_os_str() != "-" {
        return fs::read(PathBuf::from(file));
    }
    let mut content = Vec::new();
    io::stdin().read_to_end(&mut content)?;
    Ok(content)
}

/// The content in parts that are imported one after the other: whole lines where each line is a
/// conversation, else all of it.
fn parts(content: &[u8]) -> Vec<&[u8]> {
    let first = content.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_conversation = serde_json::from_slice::<serde_json::Value>(first)
        .is_ok_and(|value| ["messages", "input"].iter().any(|list| value.get(list).is_some()));
    if !is_conversation || first.len() == content.len() {
        return vec![content];
    }
    let (mut parts, mut rest) = (Vec::new(), content);
    while rest.len() > PART {
        let end =
            rest[PART..].iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| PART + end + 1);
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

/// What an import did, in numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
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
    fn line(&self, check: bool, took: &str) -> String {
        let did = if check { "would import" } else { "imported" };
        let mut parts = vec![counted(self.stored, "utterance")];
        if self.skipped > 0 {
            parts.push(format!("{} already there", count(self.skipped)));
        }
        match self.summaries {
            0 => {}
            1 => parts.push("1 summary".to_owned()),
            summaries => parts.push(format!("{} summaries", count(summaries))),
        }
        if self.irregular > 0 {
            parts.push(format!("{} irregular", count(self.irregular)));
        }
        let conversations = counted(self.conversations, "conversation");
        format!("{did} {conversations} ({} new): {}, in {took}", count(self.started), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_parted_at_line_ends() {
        let line = format!("{{\"messages\":[\"{}\"]}}\n", "x".repeat(300_000));
        let content = line.repeat(9);
        let parts = parts(content.as_bytes());
        assert!(parts.len() > 1 && parts.iter().all(|part| part.ends_with(b"\n")));
        assert_eq!(parts.concat(), content.as_bytes());
    }

    #[test]
    fn what_is_one_conversation_stays_whole() {
        for content in ["[]", "{\"messages\":[]}", "{\"role\":\"user\"}\n{\"role\":\"user\"}\n", "", "{\n}"] {
            assert_eq!(parts(content.as_bytes()), [content.as_bytes()]);
        }
    }
}
