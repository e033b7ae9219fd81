//! ExportConversation.

use crate::convert::status::{IntoStatus, OrStatus};
use std::collections::VecDeque;

use futures::{Stream, stream};
use prost::Message as _;
use serde_json::Value;
use tonic::{Code, Status};

use crate::{
    Held, Room, Services,
    convert::{decode, encode, status::transport_error},
    import::format,
    proto::{self, export_conversation_response::Message},
    unread,
};
use utterd_domain::{ConversationId, Refusal};
use utterd_engine::{Address, Caller, EngineError, Exported, PageRoom, offload};
use utterd_formats as formats;
use utterd_formats::{Format, Losses, Repairs, Unanswered, Whole, persisted};

/// The maximum bytes of a chunk.
const CHUNK: usize = 64 << 10;
/// Writing a conversation is long work if it takes more memory than this.
const LONG_TO_WRITE: usize = 256 << 10;

impl Services {
    /// Returns the chunks of an export, then its end. Faults of the request are reported immediately, not in
    /// the stream, and so is a missing conversation if only one is exported.
    pub(super) async fn export(
        &self,
        caller: Caller,
        room: Option<Room>,
        request: proto::ExportConversationRequest,
    ) -> Result<impl Stream<Item = Result<proto::ExportConversationResponse, Status>> + use<>, Status> {
        let wanted = Wanted::of(&request).or_status()?;
        let address = decode::address(&request.conversation_id, &request.recipient_id).or_status()?;
        let mut export = Export {
            services: self.clone(),
            caller,
            room,
            wanted,
            ids: VecDeque::new(),
            written: Written::default(),
            migrated: None,
            finished: false,
            end: Some(proto::ExportEnd::default()),
            losses: PageRoom::new(usize::MAX, 0),
            count: 0,
            utterances: 0,
        };
        match wanted.all {
            true => {
                export.ids = self.engine.conversations_of(&export.caller, &address).await.or_status()?.into()
            }
            false => {
                let exported = self.engine.export_conversation(&export.caller, &address).await.or_status()?;
                export.begin();
                export.write(exported).await?;
            }
        }
        if wanted.all {
            export.begin();
        }
        Ok(stream::unfold(export, |mut export| async move {
            let response = export.next().await?;
            Some((response, export))
        }))
    }
}

/// The decoded request.
#[derive(Clone, Copy)]
struct Wanted {
    format: Format,
    all: bool,
    lines: bool,
    repairs: Repairs,
}

impl Wanted {
    fn of(request: &proto::ExportConversationRequest) -> Result<Self, Refusal> {
        let format = format(request.format)?.unwrap_or(Format::OpenAiChat);
        if !format.exports() {
            let text = "is LEGACY_HISTORY, which can only be imported; accepted: the others";
            return Err(Refusal::invalid("format", text));
        }
        let all = request.all_conversations;
        if all && !request.conversation_id.is_empty() {
            let text = "is given with all_conversations; accepted: one of the two";
            return Err(Refusal::invalid("conversation_id", text));
        }
        let lines = match decode::choice("layout", request.layout, "JSON (1) and JSON_LINES (2)")? {
            proto::ExportLayout::Unspecified => all && format != Format::Persisted,
            proto::ExportLayout::Json => false,
            proto::ExportLayout::JsonLines if format == Format::Persisted => {
                let text = "is JSON_LINES; accepted: JSON for PERSISTED_CONVERSATIONS";
                return Err(Refusal::invalid("layout", text));
            }
            proto::ExportLayout::JsonLines => true,
        };
        let unanswered = match request.close_unanswered_calls {
            true => Unanswered::Close,
            false => Unanswered::LeaveOut,
        };
        Ok(Self { format, all, lines, repairs: Repairs { unanswered, all: request.repair_all } })
    }

    /// Writes a conversation.
    fn write(self, exported: &Exported, is_first: bool) -> (serde_json::Result<Vec<u8>>, Losses) {
        let head = &exported.state.head;
        let summaries = exported.state.summary.imported();
        let whole = Whole {
            id: exported.state.key().id.as_str(),
            title: head.shown_title().map(|title| &**title),
            summary: head.ended.as_ref().and_then(|ended| ended.summary.as_deref()),
            start: head.identity.start_time,
            end: head.ended.as_ref().map(|ended| ended.time),
            labels: &head.labels,
            state: &exported.values,
            summaries: &summaries,
            utterances: &exported.utterances,
        };
        let (value, losses) = formats::export(&whole, self.format, self.repairs);
        (self.laid_out(whole.id, value, is_first), losses)
    }

    fn laid_out(self, id: &str, value: Value, is_first: bool) -> serde_json::Result<Vec<u8>> {
        let Self { format, all, lines, .. } = self;
        let mut bytes = Vec::new();
        if !lines && !is_first {
            bytes.push(b',');
        }
        let values = match (all, lines) {
            (true, _) if format != Format::Persisted => vec![formats::named(value, format, id)],
            (false, true) => formats::messages(value, format),
            _ => vec![value],
        };
        for value in values {
            serde_json::to_writer(&mut bytes, &value)?;
            if lines || (!all && format != Format::Persisted) {
                bytes.push(b'\n');
            }
        }
        Ok(bytes)
    }
}

/// An export in progress.
struct Export {
    services: Services,
    caller: Caller,
    wanted: Wanted,
    /// The conversations still to be exported.
    ids: VecDeque<ConversationId>,
    room: Option<Room>,
    written: Written,
    /// The time of the newest migration.
    migrated: Option<String>,
    /// Whether the text after the conversations is written.
    finished: bool,
    /// The last message; `None` once it is sent.
    end: Option<proto::ExportEnd>,
    /// The room for losses in the last message.
    losses: PageRoom,
    count: usize,
    utterances: usize,
}

impl Export {
    async fn next(&mut self) -> Option<Result<proto::ExportConversationResponse, Status>> {
        loop {
            if let Some(chunk) = self.written.chunk() {
                return Some(Ok(response(Message::Chunk(chunk))));
            }
            if let Some(id) = self.ids.pop_front() {
                let address = Address { conversation: Some(id), ..Address::default() };
                let written = match self.services.engine.export_conversation(&self.caller, &address).await {
                    Ok(exported) => self.write(exported).await,
                    // it was deleted meanwhile
                    Err(EngineError::Refused(Refusal::NotFound { .. })) => Ok(()),
                    Err(error) => Err(error.into_status()),
                };
                match written {
                    Ok(()) => continue,
                    Err(status) => {
                        (self.end, self.finished, self.ids) = (None, true, VecDeque::new());
                        return Some(Err(status));
                    }
                }
            }
            if !std::mem::replace(&mut self.finished, true) {
                self.finish();
                continue;
            }
            let mut end = self.end.take()?;
            end.conversation_count = Some(encode::int(self.count));
            end.utterance_count = Some(encode::int(self.utterances));
            return Some(Ok(response(Message::End(end))));
        }
    }

    /// Writes the text before the conversations.
    fn begin(&mut self) {
        match self.wanted {
            Wanted { format: Format::Persisted, .. } => self.send(b"{\"conversations\":["),
            Wanted { all: true, lines: false, .. } => self.send(b"["),
            _ => {}
        }
    }

    /// Writes the text after the conversations.
    fn finish(&mut self) {
        match self.wanted {
            Wanted { format: Format::Persisted, .. } => {
                let migrated =
                    self.migrated.take().map(|time| format!(",\"lastMigrated\":{}", Value::from(time)));
                self.send(format!("]{}}}\n", migrated.unwrap_or_default()).as_bytes());
            }
            Wanted { all: true, lines: false, .. } => self.send(b"]\n"),
            _ => {}
        }
    }

    /// Writes a conversation, once there is room for it.
    async fn write(&mut self, exported: Exported) -> Result<(), Status> {
        let weight = weight(&exported);
        let mut held = match &self.room {
            Some(room) => room.take(weight).await.ok_or_else(unread)?,
            None => Held::default(),
        };
        let (wanted, is_first) = (self.wanted, self.count == 0);
        let (exported, bytes, losses) = offload(weight > LONG_TO_WRITE, move || {
            let (bytes, losses) = wanted.write(&exported, is_first);
            (exported, bytes, losses)
        })
        .await;
        let head = &exported.state.head;
        self.note(&exported, losses);
        self.migrated = self.migrated.take().max(head.labels.get(persisted::LAST_MIGRATED).cloned());
        let bytes =
            bytes.map_err(|error| transport_error(Code::Internal, "NOT_ENCODED", error.to_string()))?;
        held.shrink_to(bytes.len());
        self.send(&bytes);
        self.written.room = Some(held);
        self.count += 1;
        self.utterances += exported.utterances.len();
        Ok(())
    }

    fn note(&mut self, exported: &Exported, mut losses: Losses) {
        let head = &exported.state.head;
        let mut dropped = (*head.left).clone();
        dropped.subtract(&head.archived);
        losses.add_all("utterances", "they are no longer stored; the summary covers them", dropped);
        let Some(end) = &mut self.end else { return };
        for loss in losses.into_vec() {
            let loss = proto::ExportLoss {
                conversation_id: head.identity.key.id.to_string(),
                field: loss.field,
                reason: loss.reason,
                sequences: encode::ranges(&loss.sequences),
            };
            match self.losses.takes(loss.encoded_len() + 8) {
                true => end.losses.push(loss),
                false => end.omitted_loss_count = Some(end.omitted_loss_count.unwrap_or(0) + 1),
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.written.bytes.extend_from_slice(bytes);
    }
}

/// The bytes that are written but not yet sent.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    sent: usize,
    /// The room that the bytes take.
    room: Option<Held>,
}

impl Written {
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let rest = &self.bytes[self.sent..];
        if rest.is_empty() {
            *self = Self::default();
            return None;
        }
        let chunk = rest[..rest.len().min(CHUNK)].to_vec();
        self.sent += chunk.len();
        Some(chunk)
    }
}

/// Estimates the bytes that a conversation takes while it is written: texts as values and as bytes, and messages.
fn weight(exported: &Exported) -> usize {
    const MESSAGE: usize = 1 << 10;
    let said: usize = exported.utterances.iter().map(|utterance| MESSAGE + 3 * utterance.text_bytes()).sum();
    let kept: usize = exported.values.iter().map(|value| MESSAGE + 4 * value.content.as_bytes().len()).sum();
    said + kept
}

fn response(message: Message) -> proto::ExportConversationResponse {
    proto::ExportConversationResponse { message: Some(message) }
}
