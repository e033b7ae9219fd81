//! ImportConversation.

use crate::convert::status::{IntoStatus, OrStatus};
use std::sync::Arc;

use futures::StreamExt;
use prost::Message as _;
use tokio::time::timeout;
use tonic::{Code, Status, Streaming};

use crate::{
    Held, Room, Services, clearer_status,
    conversation::encoding,
    convert::{decode, encode, status::transport_error},
    no_room,
    proto::{self, import_conversation_request::Message},
    streams::endless::UntilClosing,
};
use utterd_domain::{
    ConversationId, Draft, RecipientId, Refusal, Size,
    draft::Field,
    import::Ends,
    limits::{
        IMPORT_PATIENCE, MAX_ANSWER_BYTES, MAX_IMPORT_BYTES, MAX_IMPORT_CONVERSATIONS, MAX_IMPORT_WEIGHT,
        MAX_WARNING_BYTES,
    },
};
use utterd_engine::{Caller, ImportCall, ImportReply, Incoming, LONG_TEXT_BYTES, PageRoom, name, offload};
use utterd_formats as formats;
use utterd_formats::{Format, Parsed, Source, UnknownRoles, fit_id, persisted::LAST_MIGRATED, write_time};

impl Services {
    pub(super) async fn import(
        &self,
        caller: &Caller,
        room: Option<Room>,
        messages: Streaming<proto::ImportConversationRequest>,
    ) -> Result<proto::ImportConversationResponse, Status> {
        let mut held = Held::default();
        let (header, content) = self.receive(messages, room.as_ref(), &mut held).await?;
        let length = content.len();
        let is_long = content.len() > LONG_TEXT_BYTES;
        let (content, weight) = offload(is_long, move || {
            let weight = formats::weight(&content);
            (content, weight)
        })
        .await;
        if weight > MAX_IMPORT_WEIGHT {
            let text = format!(
                "has too many parts: parsed, they take some {weight} bytes; accepted: at most {MAX_IMPORT_WEIGHT}; \
                 import it in parts"
            );
            let size = Size { bytes: weight, limit: MAX_IMPORT_WEIGHT };
            return Err(Refusal::too_large_since("chunk", size, text).into_status());
        }
        hold(room.as_ref(), &mut held, length + weight).await?;
        self.import_content(caller, header, content, false).await
    }

    /// Imports `content` as described by `header`. With `once`, skips conversations that were completely
    /// imported before.
    pub async fn import_content(
        &self,
        caller: &Caller,
        header: proto::ImportHeader,
        content: Vec<u8>,
        once: bool,
    ) -> Result<proto::ImportConversationResponse, Status> {
        let (is_long, services) = (content.len() > LONG_TEXT_BYTES, self.clone());
        let read = move || services.read_import(header, content);
        let (call, places, mut response) = offload(is_long, read).await.or_status()?;
        let call = ImportCall { once, ..call };
        let ids: Vec<ConversationId> =
            call.conversations.iter().map(|incoming| incoming.id.clone()).collect();
        let replies = self.engine.import_conversations(caller, call).await.or_status()?;
        let imported = ids.iter().zip(places).zip(replies);
        response.conversations = imported.map(|((id, places), reply)| places.imported(id, reply)).collect();
        shorten(&mut response);
        Ok(response)
    }

    /// Reads `content` as described by `header`. Returns the call, the places in the content, and the beginning
    /// of the response.
    fn read_import(
        &self,
        header: proto::ImportHeader,
        content: Vec<u8>,
    ) -> Result<(ImportCall, Vec<Places>, proto::ImportConversationResponse), Refusal> {
        let (wanted, unknown_roles) = (format(header.format)?, unknown_roles(&header)?);
        let source = formats::parse(&content, wanted, unknown_roles)?;
        drop(content);
        if let (true, Some(torn)) = (header.strict, &source.torn) {
            return Err(torn.clone());
        }
        let places = source.conversations.iter().map(Places::of).collect();
        let warnings = source.notes.iter().map(|note| warning(note.place.clone(), note.description.clone()));
        let response = proto::ImportConversationResponse {
            format: encode_format(source.format).into(),
            warnings: warnings.collect(),
            ..Default::default()
        };
        Ok((self.import_call(header, source)?, places, response))
    }

    /// Receives the header and the whole content.
    async fn receive(
        &self,
        messages: Streaming<proto::ImportConversationRequest>,
        room: Option<&Room>,
        held: &mut Held,
    ) -> Result<(proto::ImportHeader, Vec<u8>), Status> {
        let mut messages = UntilClosing::new(messages, self.closing.clone());
        let (mut header, mut content) = (None, Vec::new());
        while let Some(message) = timeout(IMPORT_PATIENCE, messages.next()).await.map_err(|_| paused())? {
            let message = message
                .map_err(|status| clearer_status(&status, self.limits.max_message_bytes).unwrap_or(status))?;
            match (message.message, &header) {
                (Some(Message::Header(first)), None) => header = Some(first),
                (Some(Message::Header(_)), Some(_)) => {
                    return Err(Refusal::invalid(
                        "header",
                        "came twice; accepted: one, in the first message",
                    )
                    .into_status());
                }
                (Some(Message::Chunk(chunk)), Some(_)) => {
                    hold(room, held, content.len() + chunk.len()).await?;
                    extend(&mut content, &chunk).or_status()?;
                }
                (_, None) => return Err(no_header().into_status()),
                (None, Some(_)) => {
                    return Err(Refusal::invalid("message", "is missing; accepted: chunks").into_status());
                }
            }
        }
        Ok((header.ok_or_else(no_header).or_status()?, content))
    }

    fn import_call(&self, header: proto::ImportHeader, source: Source) -> Result<ImportCall, Refusal> {
        let address = decode::address(&header.conversation_id, &header.recipient_id)?;
        let recipient = address.recipient_or_default();
        let count = source.conversations.len();
        if address.conversation.is_some() && count != 1 {
            let text = format!("names one conversation, but the content holds {count}");
            return Err(Refusal::invalid("conversation_id", text));
        }
        if count > MAX_IMPORT_CONVERSATIONS {
            let text = format!(
                "holds {count} conversations; accepted: at most {MAX_IMPORT_CONVERSATIONS}; import it in parts"
            );
            return Err(Refusal::invalid("content", text));
        }
        let defaults = self.engine.defaults();
        let policy = match &header.policy {
            Some(policy) => self.policy_update(policy)?.apply(&defaults.policy, "policy")?,
            None => defaults.policy.clone(),
        };
        let encoding = match header.encoding.as_str() {
            "" => defaults.encoding,
            model => encoding("encoding", model)?,
        };
        let read =
            Reading { services: self, recipient: &recipient, format: source.format, lenient: !header.strict };
        let incoming = |parsed| read.incoming(parsed, address.conversation.clone());
        let conversations = source.conversations.into_iter().map(incoming).collect::<Result<Vec<_>, _>>()?;
        unique(&conversations)?;
        Ok(ImportCall {
            recipient,
            conversations,
            policy,
            encoding,
            into_existing: header.into_existing,
            lenient: !header.strict,
            validate_only: header.validate_only,
            once: false,
        })
    }
}

fn no_header() -> Refusal {
    Refusal::invalid("header", "is missing; accepted: an ImportHeader in the first message")
}

fn unknown_roles(header: &proto::ImportHeader) -> Result<UnknownRoles, Refusal> {
    match (header.lenient, header.strict) {
        (true, true) => Err(Refusal::invalid("lenient", "is given with strict; accepted: one of them")),
        (true, false) => Ok(UnknownRoles::ReadAsUser),
        (false, _) => Ok(UnknownRoles::Refuse),
    }
}

/// Makes `held` at least `bytes`, if the memory is bounded.
async fn hold(room: Option<&Room>, held: &mut Held, bytes: usize) -> Result<(), Status> {
    match room {
        Some(room) if !room.grow(held, bytes).await => Err(no_room()),
        _ => Ok(()),
    }
}

/// An import paused for too long.
fn paused() -> Status {
    let text = format!(
        "no message arrived for {} seconds, and the server does not keep a pending import longer; nothing was imported",
        IMPORT_PATIENCE.as_secs()
    );
    transport_error(Code::DeadlineExceeded, "MESSAGE_LATE", text)
}

fn extend(content: &mut Vec<u8>, chunk: &[u8]) -> Result<(), Refusal> {
    let bytes = content.len() + chunk.len();
    if bytes > MAX_IMPORT_BYTES {
        let text = format!("has more than {MAX_IMPORT_BYTES} bytes; import it in parts");
        return Err(Refusal::too_large_since("chunk", Size { bytes, limit: MAX_IMPORT_BYTES }, text));
    }
    content.extend_from_slice(chunk);
    Ok(())
}

/// Refuses content that gives one id to two conversations.
fn unique(conversations: &[Incoming]) -> Result<(), Refusal> {
    let mut ids = std::collections::HashSet::new();
    match conversations.iter().find(|incoming| !ids.insert(&incoming.id)) {
        Some(twice) => {
            let text = format!("{:?} names two of the conversations; accepted: distinct ids", twice.id);
            Err(Refusal::id("conversation_id", text))
        }
        None => Ok(()),
    }
}

struct Reading<'a> {
    services: &'a Services,
    recipient: &'a RecipientId,
    format: Format,
    lenient: bool,
}

impl Reading<'_> {
    fn incoming(&self, parsed: Parsed, asked: Option<ConversationId>) -> Result<Incoming, Refusal> {
        let list = if parsed.list.is_empty() { "content" } else { &parsed.list };
        let mut drafts = Vec::with_capacity(parsed.said.len());
        for sourced in parsed.said {
            let field = Field { list, index: sourced.index };
            sourced.draft.check(field, self.services.limits.max_content_bytes, self.lenient)?;
            drafts.push(sourced.draft);
        }
        name(&mut drafts);
        let given = parsed.id.as_deref().map(|id| fit_id(id).into_owned());
        let id = match (asked, given) {
            (Some(id), _) => id,
            (None, given) => {
                let id = given.unwrap_or_else(|| self.made_id(&drafts));
                ConversationId::new(&id).map_err(|error| Refusal::bad_id("conversation_id", &error))?
            }
        };
        let mut labels = parsed.labels;
        if self.format == Format::Legacy {
            labels.insert(LAST_MIGRATED.to_owned(), write_time(self.services.engine.now()));
        }
        let now = self.services.engine.now();
        // a migrated history has ended, even if the time is unknown
        let end = parsed.end.or((self.format == Format::Legacy).then_some(now));
        let title: Option<Arc<str>> = parsed.title.map(Into::into);
        let ends = end.map(|time| Ends {
            time: time.min(now),
            title: title.clone(),
            summary: parsed.summary.map(Into::into),
        });
        // the other formats' files name their conversations, so that an import can tell what it has seen before
        let source = (!self.format.has_messages()).then(|| id.to_string());
        Ok(Incoming {
            id,
            origin: self.format.name(),
            source,
            title: title.filter(|_| ends.is_none()),
            start: parsed.start,
            ends,
            labels,
            state: parsed.state,
            summaries: parsed.summaries,
            drafts,
            branch: parsed.branch,
        })
    }

    /// Makes an id for a conversation without one in the content: a recipient has one migrated history, and any number
    /// of transcripts.
    fn made_id(&self, drafts: &[Draft]) -> String {
        let recipient = self.recipient.as_str();
        let id = match (self.format, drafts.first().and_then(|draft| draft.id.as_deref())) {
            (Format::Legacy, _) => format!("migrated-{recipient}"),
            (_, Some(first)) => format!("{recipient}-{first}"),
            (_, None) => format!("{recipient}-import"),
        };
        fit_id(&id).into_owned()
    }
}

/// The places in the content that the drafts of a conversation come from.
struct Places {
    list: String,
    index: Vec<usize>,
}

impl Places {
    fn of(parsed: &Parsed) -> Self {
        let index = parsed.said.iter().map(|sourced| sourced.index).collect();
        Self { list: parsed.list.clone(), index }
    }

    fn imported(&self, id: &ConversationId, reply: ImportReply) -> proto::ImportedConversation {
        let head = reply.after.as_ref().map(|after| &after.head);
        let place =
            |index: usize| format!("{}[{}]", self.list, self.index.get(index).copied().unwrap_or(index));
        let irregularities = reply.irregularities.into_iter();
        proto::ImportedConversation {
            conversation_id: id.to_string(),
            started: reply.started,
            ended: head.is_some_and(|head| head.ended.is_some()),
            utterance_count: Some(encode::int(reply.stored)),
            skipped_count: Some(encode::int(reply.skipped)),
            revision: Some(head.map_or(0, |head| encode::long(head.revision.get()))),
            irregularities: irregularities.map(|it| irregularity(place(it.index), it.description)).collect(),
            summary_count: Some(encode::int(reply.summaries)),
        }
    }
}

/// Leaves out and counts the entries for which a response has no room: conversations beyond 2 MiB, and warnings
/// beyond 1 MiB.
fn shorten(response: &mut proto::ImportConversationResponse) {
    let (mut warnings, mut conversations) =
        (room(MAX_WARNING_BYTES), room(MAX_ANSWER_BYTES - MAX_WARNING_BYTES));
    let (mut unwarned, all) = (0, response.conversations.len());
    let mut warn = |told: &mut Vec<proto::Warning>| {
        let all = told.len();
        told.retain(|warning| warnings.takes(warning.encoded_len() + 8));
        unwarned += all - told.len();
    };
    warn(&mut response.warnings);
    response.conversations.retain_mut(|imported| {
        let irregularities = std::mem::take(&mut imported.irregularities);
        let told = conversations.takes(imported.encoded_len() + 16);
        imported.irregularities = irregularities;
        warn(&mut imported.irregularities);
        told
    });
    let untold = all - response.conversations.len();
    response.omitted_conversation_count = (untold > 0).then(|| encode::int(untold));
    response.omitted_warning_count = (unwarned > 0).then(|| encode::int(unwarned));
}

fn room(bytes: usize) -> PageRoom {
    PageRoom::new(usize::MAX, MAX_ANSWER_BYTES - bytes)
}

fn warning(place: String, text: String) -> proto::Warning {
    proto::Warning { kind: proto::WarningKind::ContentChanged.into(), text, place }
}

fn irregularity(place: String, text: String) -> proto::Warning {
    proto::Warning { kind: proto::WarningKind::Irregularity.into(), text, place }
}

/// Each format, and its number on the wire.
const FORMATS: [(Format, proto::ConversationFormat); 10] = [
    (Format::OpenAiChat, proto::ConversationFormat::OpenaiChat),
    (Format::OpenAiResponses, proto::ConversationFormat::OpenaiResponses),
    (Format::Anthropic, proto::ConversationFormat::AnthropicMessages),
    (Format::Persisted, proto::ConversationFormat::PersistedConversations),
    (Format::Legacy, proto::ConversationFormat::LegacyHistory),
    (Format::ChatGpt, proto::ConversationFormat::Chatgpt),
    (Format::Claude, proto::ConversationFormat::Claude),
    (Format::ClaudeCode, proto::ConversationFormat::ClaudeCode),
    (Format::Codex, proto::ConversationFormat::Codex),
    (Format::Pi, proto::ConversationFormat::Pi),
];

/// Reads the requested format; `None` if unspecified.
pub fn format(number: i32) -> Result<Option<Format>, Refusal> {
    let accepted = "OPENAI_CHAT (1), OPENAI_RESPONSES (2), ANTHROPIC_MESSAGES (3), PERSISTED_CONVERSATIONS (4) \
                    and, to import, LEGACY_HISTORY (5), CHATGPT (6), CLAUDE (7), CLAUDE_CODE (8), CODEX (9) and PI (10)";
    let asked: proto::ConversationFormat = decode::choice("format", number, accepted)?;
    Ok(FORMATS.iter().find(|(_, wire)| *wire == asked).map(|(format, _)| *format))
}

/// Converts a format to its number on the wire.
pub fn encode_format(format: Format) -> proto::ConversationFormat {
    let wire = FORMATS.iter().find(|(known, _)| *known == format).map(|(_, wire)| *wire);
    wire.unwrap_or_default()
}
