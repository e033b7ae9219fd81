//! TraceService.

use crate::convert::status::{IntoStatus, OrStatus};
use std::collections::HashSet;

use futures::{StreamExt, stream};
use tonic::{Request, Response, Status};

use crate::{
    Responses, Services,
    convert::{decode, encode},
    proto::{self, trace_service_server::TraceService, watch_events_response::Message},
};
use utterd_domain::{ConversationId, RecipientId, Refusal};
use utterd_engine::{EngineError, Event, EventCursor, EventStream, Operation, Watched};

#[tonic::async_trait]
impl TraceService for Services {
    type WatchEventsStream = Responses<proto::WatchEventsResponse>;

    async fn watch_events(
        &self,
        request: Request<proto::WatchEventsRequest>,
    ) -> Result<Response<Self::WatchEventsStream>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let after = cursor(&request.after_event).or_status()?;
        let wanted = Wanted::of(&request).or_status()?;
        let events = self.engine.watch_events(&caller, after).await.or_status()?;
        let started = proto::WatchStarted { event_id: events.cursor().to_string() };
        let started = stream::iter([Ok(response(Message::Started(started)))]);
        let rest = stream::unfold(Some(Reader { events, wanted }), |reader| async move {
            let mut reader = reader?;
            Some(match reader.next().await {
                Ok(message) => (Ok(response(message)), Some(reader)),
                Err(error) => (Err(error.into_status()), None),
            })
        });
        Ok(self.until_closing(started.chain(rest)))
    }
}

fn response(message: Message) -> proto::WatchEventsResponse {
    proto::WatchEventsResponse { message: Some(message) }
}

fn cursor(text: &str) -> Result<Option<EventCursor>, Refusal> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|problem| Refusal::invalid("after_event", problem)),
    }
}

struct Reader {
    events: EventStream,
    wanted: Wanted,
}

impl Reader {
    async fn next(&mut self) -> Result<Message, EngineError> {
        loop {
            match self.events.next().await? {
                Watched::Event(event, cursor) if self.wanted.wants(&event) => {
                    return Ok(Message::Event(encode_event(event, cursor)));
                }
                Watched::Event(..) => {}
                Watched::Missed(count, last) => {
                    let (count, last_event_id) = (Some(encode::int(count)), last.to_string());
                    return Ok(Message::Missed(proto::MissedEvents { count, last_event_id }));
                }
            }
        }
    }
}

/// The filter of a reader's events.
struct Wanted {
    conversation: Option<ConversationId>,
    recipient: Option<RecipientId>,
    operations: HashSet<proto::Operation>,
}

impl Wanted {
    fn of(request: &proto::WatchEventsRequest) -> Result<Self, Refusal> {
        let address = decode::address(&request.conversation_id, &request.recipient_id)?;
        let known = |(index, number): (usize, &i32)| match proto::Operation::try_from(*number) {
            Ok(proto::Operation::Unspecified) | Err(_) => Err(Refusal::invalid(
                format!("operations[{index}]"),
                format!("is {number}, which is not an operation"),
            )),
            Ok(operation) => Ok(operation),
        };
        let operations = request.operations.iter().enumerate().map(known).collect::<Result<_, _>>()?;
        Ok(Self { conversation: address.conversation, recipient: address.recipient, operations })
    }

    fn wants(&self, event: &Event) -> bool {
        let subject = &event.subject;
        (self.conversation.is_none() || self.conversation.as_ref() == subject.conversation())
            && (self.recipient.is_none() || self.recipient.as_ref() == subject.recipient())
            && (self.operations.is_empty() || self.operations.contains(&operation(event.operation)))
    }
}

fn encode_event(event: Event, cursor: EventCursor) -> proto::Event {
    let text = |id: Option<&str>| id.unwrap_or_default().to_owned();
    let facts = event.facts.unwrap_or_default();
    let changed = facts.revision.get() > 0;
    let numbers = |numbers: &[u32]| numbers.iter().map(|number| encode::int(*number)).collect();
    proto::Event {
        event_id: cursor.to_string(),
        time: Some(encode::time(event.time)),
        operation: operation(event.operation).into(),
        conversation_id: text(event.subject.conversation().map(ConversationId::as_str)),
        recipient_id: text(event.subject.recipient().map(RecipientId::as_str)),
        revision: changed.then(|| encode::long(facts.revision.get())),
        request_id: text(event.request.as_ref().map(utterd_domain::RequestId::as_str)),
        started_conversation: facts.started,
        memorized: encode::ranges(&facts.memorized),
        evicted: encode::ranges(&facts.evicted),
        dropped: encode::ranges(&facts.dropped),
        forgotten: encode::ranges(&facts.forgotten),
        erased: encode::ranges(&facts.erased),
        restored: encode::ranges(&facts.restored),
        updated: encode::ranges(&facts.updated),
        written_segment_numbers: numbers(&facts.segments_written),
        removed_segment_numbers: numbers(&facts.segments_removed),
        result_count: event.results.map(encode::int),
        returned: encode::ranges(&facts.returned),
        compaction_number: facts.compaction.map(encode::int),
    }
}

fn operation(operation: Operation) -> proto::Operation {
    encode::same_name!(
        operation, Operation to Operation:
        Memorize Remember Forget Erase Restore Summarize GetCapacity CreateConversation GetConversation
        ListConversations UpdateConversation GetState UpdateState DeleteConversation ListUtterances
        GetSummary UpdateUtterance ExpireConversation CountTokens ExportConversation ImportConversation
        EndConversation RetireConversation GetStats DeleteRecipient ShareConversation RevokeShare
        ReadShared BuildContext ForkConversation PrepareHistory CompactConversation UndoCompaction
        ListCompactions AnswerCompactionPrompt SummarizeByLlm
    )
}
