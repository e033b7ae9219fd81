//! Messages in the formats of providers' APIs: as input of Memorize, and as output, one by one.

use crate::convert::status::OrStatus;
use std::{collections::HashSet, sync::Arc};

use prost::Message;
use tonic::{Request, Status};

use crate::{
    Services,
    conversation::newest_first,
    convert::{decode, encode, page_token::page_of},
    import::{encode_format, format},
    proto,
};
use utterd_domain::{Conversation, Draft, Reason, Refusal, Utterance, UtteranceId, draft::Field};
use utterd_engine::{EngineError, ListMessages, PageRoom};
use utterd_formats::{Format, Sourced, UnknownRoles, message};

/// The maximum number of ids in a request.
const MAX_IDS: usize = 1_000;

/// The messages of a request, as drafts.
pub(crate) struct Incoming {
    pub drafts: Vec<Draft>,
    /// For each draft, the index of its message; empty if the request holds utterances.
    pub messages: Vec<usize>,
}

impl Services {
    /// Takes the utterances or messages out of a Memorize. Each draft has passed [`Draft::check`].
    pub(crate) fn incoming(&self, request: &mut proto::MemorizeRequest) -> Result<Incoming, Refusal> {
        if !request.messages_json.is_empty() {
            return self.messages_in(request);
        }
        for (given, field) in
            [(request.format != 0, "format"), (!request.message_ids.is_empty(), "message_ids")]
        {
            if given {
                return Err(Refusal::invalid(field, "is accepted only with messages_json"));
            }
        }
        let utterances = std::mem::take(&mut request.utterances);
        let drafts = match utterances.is_empty() && request.replace_after.is_some() {
            true => Vec::new(),
            false => decode::drafts(utterances, self.limits, request.lenient)?,
        };
        Ok(Incoming { drafts, messages: Vec::new() })
    }

    fn messages_in(&self, request: &mut proto::MemorizeRequest) -> Result<Incoming, Refusal> {
        if !request.utterances.is_empty() {
            let text = "is given with messages_json; accepted: one of the two";
            return Err(Refusal::invalid("utterances", text));
        }
        let json = std::mem::take(&mut request.messages_json);
        let unknown = if request.lenient { UnknownRoles::ReadAsUser } else { UnknownRoles::Refuse };
        let read = message::read(&json, message_format(request.format)?, unknown)?;
        if read.drafts.is_empty() && request.replace_after.is_none() {
            let text = format!("is empty; accepted: 1 to {} messages", self.limits.max_batch);
            return Err(Refusal::field(Reason::EmptyBatch, "messages_json", text));
        }
        decode::batch("messages_json", read.drafts.len(), self.limits)?;
        let mut drafts = read.drafts;
        for Sourced { index, draft } in &drafts {
            let field = Field { list: "messages_json", index: *index };
            draft.check(field, self.limits.max_content_bytes, request.lenient)?;
        }
        give_ids(&mut drafts, &request.message_ids)?;
        let messages = drafts.iter().map(|sourced| sourced.index).collect();
        Ok(Incoming { drafts: drafts.into_iter().map(|sourced| sourced.draft).collect(), messages })
    }

    /// Answers ListMessages.
    pub(crate) async fn messages_out(
        &self,
        request: Request<proto::ListMessagesRequest>,
    ) -> Result<proto::ListMessagesResponse, Status> {
        let caller = self.caller(&request);
        let mut request = request.into_inner();
        let part = page_of!("ListMessages", request, decode::PAGE).or_status()?;
        let format = message_format(request.format).or_status()?;
        let rest = part.sequences().or_status()?;
        let list = ListMessages { rest, limit: part.limit, ..list(request).or_status()? };
        let make = move |state: &Conversation, utterances: &[Arc<Utterance>]| {
            let messages = messages(state, utterances, format);
            let bytes = bytes(&messages);
            (messages, bytes)
        };
        let page = self.engine.list_messages(&caller, &list, make).await.or_status()?;
        let head = &page.state.head;
        Ok(proto::ListMessagesResponse {
            messages: page.messages.into_iter().flatten().collect(),
            next_page_token: part.token_of(page.rest),
            conversation_id: encode::id(&page.state),
            revision: encode::long(head.revision.get()),
        })
    }
}

/// Gives the first utterance of each message the id that the request names for it.
fn give_ids(drafts: &mut [Sourced], ids: &[String]) -> Result<(), Refusal> {
    let messages = drafts.last().map_or(0, |last| last.index + 1);
    if !ids.is_empty() && ids.len() != messages {
        let text = format!("has {} entries; accepted: as many as messages, {messages}, or none", ids.len());
        return Err(Refusal::invalid("message_ids", text));
    }
    for Sourced { index, draft } in drafts.iter_mut().filter(|sourced| !sourced.draft.continues()) {
        let Some(id) = ids.get(*index).filter(|id| !id.is_empty()) else { continue };
        UtteranceId::given(id).map_err(|error| Refusal::bad_id(format!("message_ids[{index}]"), &error))?;
        draft.id = Some(id.as_str().into());
    }
    Ok(())
}

fn list(request: proto::ListMessagesRequest) -> Result<ListMessages, Refusal> {
    let (after, before) = decode::between(request.after_sequence, request.before_sequence)?;
    let last = decode::given(|| "last", request.last, decode::positive)?;
    let role = |(index, role): (usize, &i32)| decode::role(|| format!("roles[{index}]"), *role);
    let ids = ids("utterance_ids", request.utterance_ids)?;
    Ok(ListMessages {
        address: decode::read_address_of!(request)?,
        last: last.map(|last| last as usize),
        after,
        before,
        ids: ids.into_iter().map(String::from).collect::<HashSet<_>>(),
        roles: request.roles.iter().enumerate().map(role).collect::<Result<_, _>>()?,
        newest_first: newest_first(request.order)?,
        skip: usize::try_from(request.skip)
            .map_err(|_| Refusal::invalid("skip", format!("is {}; accepted: 0 or more", request.skip)))?,
        rest: None,
        limit: 0,
    })
}

/// Checks that a request does not have too many utterance ids.
pub(crate) fn ids(field: &str, ids: Vec<String>) -> Result<Vec<Box<str>>, Refusal> {
    decode::at_most(field, ids.len(), MAX_IDS)?;
    Ok(ids.into_iter().map(String::into_boxed_str).collect())
}

/// Checks that a format has messages; `None` is the format in which each message came.
pub(crate) fn message_format(number: i32) -> Result<Option<Format>, Refusal> {
    match format(number)? {
        Some(format) if !format.has_messages() => {
            let text = format!(
                "is {number}; accepted: OPENAI_CHAT (1), OPENAI_RESPONSES (2) and ANTHROPIC_MESSAGES (3)"
            );
            Err(Refusal::invalid("format", text))
        }
        format => Ok(format),
    }
}

/// Returns the newest messages of `utterances`, which are ascending: as many as an answer has room for.
pub(crate) fn newest(
    state: &Conversation,
    utterances: &[Arc<Utterance>],
    format: Option<Format>,
) -> Vec<proto::Message> {
    let mut room = PageRoom::new(usize::MAX, 0);
    let each: Vec<_> = utterances.chunk_by(|one, next| next.continues_after(one)).collect();
    let written = each.into_iter().rev().map(|message| messages(state, message, format));
    let fits = |messages: &Vec<proto::Message>| room.takes(bytes(messages));
    let mut newest: Vec<_> = written.take_while(fits).collect();
    newest.reverse();
    newest.concat()
}

/// Returns the bytes that messages take in an answer.
fn bytes(messages: &[proto::Message]) -> usize {
    messages.iter().map(|message| message.encoded_len() + 8).sum()
}

/// Converts the `utterances` of one message. A format can need several messages for them.
fn messages(
    state: &Conversation,
    utterances: &[Arc<Utterance>],
    format: Option<Format>,
) -> Vec<proto::Message> {
    let Some(first) = utterances.first() else { return Vec::new() };
    let written = message::write(utterances.iter().map(|utterance| &**utterance), format);
    let message = |message_json: String| proto::Message {
        message_json,
        format: encode_format(written.format).into(),
        utterance_id: first.id_text(),
        sequence: encode::long(first.sequence.get()),
        utterance_count: Some(encode::int(utterances.len() as u32)),
        role: encode::role(first.role).into(),
        turn_number: Some(encode::int(first.turn)),
        create_time: Some(encode::time(first.create_time)),
        state: encode::state(first, state.window.get(first.sequence).is_some()).into(),
    };
    written.json.into_iter().map(message).collect()
}

/// Renames the fields in an error from utterances to the messages that they came from.
pub(crate) fn of_messages(error: EngineError, messages: &[usize]) -> EngineError {
    let EngineError::Refused(Refusal::Field(reason, mut violation)) = error else { return error };
    let renamed = violation.field.strip_prefix("utterances[").and_then(|rest| {
        let (index, part) = rest.split_once(']')?;
        let message = messages.get(index.parse::<usize>().ok()?)?;
        Some(match part {
            ".utterance_id" => format!("message_ids[{message}]"),
            part => format!("messages_json[{message}]{part}"),
        })
    });
    if let Some(renamed) = renamed {
        violation.field = renamed;
    }
    EngineError::Refused(Refusal::Field(reason, violation))
}
