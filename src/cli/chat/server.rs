//! The calls that a chat makes.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use tokio::sync::mpsc::UnboundedSender;
use tonic::{Code, Response, Status};

use super::{
    args,
    event::{BROKEN_OFF, Done, Draft, Event, Opening, Stored, Window},
    wrap::clipped,
};
use crate::{
    cli::{
        args::Preset,
        client::Connection,
        errors::{blames, reason, refusal},
        messages::{
            capacity::lines,
            compact::{compacted, nothing_to_compact, undone},
            forget::describe,
        },
        terminal::text::{counted, said, sequences, speaker},
    },
    proto::{
        AnswerCompactionPromptRequest, BuildContextRequest, Capacity, CompactConversationRequest,
        CompactionAnswer, Conversation, ConversationStatus, CreateConversationRequest,
        EndConversationRequest, ForgetMode, ForgetRequest, GetCapacityInfoRequest, GetConversationRequest,
        GetStatsRequest, GetSummaryRequest, ListOrder, ListUtterancesRequest, MemorizeRequest, NewUtterance,
        Policy, RememberRequest, RestoreRequest, SummaryPlacement, UndoCompactionRequest, Utterance,
        UtteranceState,
    },
};

/// The pauses between attempts to reach a server that does not answer.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];
/// The most utterances per page.
const PAGE_SIZE: i32 = 100;
/// Utterances of the window that are shown.
const SHOWN: usize = 500;
/// Matches that `/remember` shows.
const MATCHES: i32 = 8;
/// The most columns of each.
const MATCH_COLUMNS: usize = 150;

/// What is added to the opening note if the server keeps nothing on disk.
const IN_MEMORY: &str = "\nthe server keeps it in memory only: it is lost when the server ends";

/// The result of a call, or in words why it failed.
pub type Outcome<T> = Result<T, String>;

/// The server, and the session that talks to it.
pub struct Server {
    pub(super) connection: Connection,
    session_id: String,
    recipient: String,
    preset: Preset,
    /// The model that replies. It also summarises the conversation, if the server can use it.
    model: Option<String>,
    events: UnboundedSender<Event>,
}

impl Server {
    /// Starts a session over `connection`; `events` is notified when no server answers.
    pub fn new(
        connection: Connection,
        args: &args::Chat,
        events: UnboundedSender<Event>,
    ) -> Result<Self, getrandom::Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        Ok(Self {
            connection,
            session_id: format!("chat-{:032x}", u128::from_ne_bytes(random)),
            recipient: args.recipient.clone(),
            preset: args.preset,
            model: args.model.clone(),
            events,
        })
    }

    /// Opens the conversation named, or else the recipient's active one; creates it if there is none.
    pub async fn open(&self, conversation_id: &str) -> Result<Opening, Status> {
        let request = GetConversationRequest {
            conversation_id: conversation_id.to_owned(),
            recipient_id: self.recipient.clone(),
            ..Default::default()
        };
        match self.connection.conversations().get_conversation(request).await {
            Ok(response) => self.resume(response.into_inner().conversation.unwrap_or_default()).await,
            Err(status) if status.code() == Code::NotFound => self.create(conversation_id).await,
            Err(status) => Err(status),
        }
    }

    async fn resume(&self, conversation: Conversation) -> Result<Opening, Status> {
        let note = match conversation.status() {
            ConversationStatus::Closed => "this conversation has ended; /new starts another",
            _ => "this conversation goes on; /new starts another, /help lists the commands",
        };
        self.opened(conversation, note).await
    }

    async fn opened(&self, conversation: Conversation, note: &str) -> Result<Opening, Status> {
        let window = self.window(&conversation.conversation_id).await?;
        let in_memory = if window.in_memory { IN_MEMORY } else { "" };
        let summarized = self.summarized_by(&conversation).await.unwrap_or_default();
        let note = format!("{note}{summarized}{in_memory}");
        Ok(Opening { conversation_id: conversation.conversation_id, window, note })
    }

    /// Says which model writes the conversation's summaries, if it is not the one that replies.
    async fn summarized_by(&self, conversation: &Conversation) -> Option<String> {
        let policy = conversation.policy.clone().unwrap_or_default();
        let model = self.model.as_ref()?;
        let writer = policy.summary_model();
        let written = policy.summarization_enabled() && policy.llm_summaries.unwrap_or(true);
        if writer == model || !written {
            return None;
        }
        let request =
            GetStatsRequest { conversation_id: conversation.conversation_id.clone(), ..Default::default() };
        let response = self.connection.conversations().get_stats(request).await.ok()?.into_inner();
        response.stats?.llm?;
        let writer = if writer.is_empty() { "the server's own model" } else { writer };
        Some(format!("\n{writer} writes its summaries, not {model}"))
    }

    async fn create(&self, conversation_id: &str) -> Result<Opening, Status> {
        let request = |summary_model| CreateConversationRequest {
            conversation_id: conversation_id.to_owned(),
            recipient_id: self.recipient.clone(),
            policy: Some(Policy { preset: self.preset.wire().into(), summary_model, ..Default::default() }),
            ..Default::default()
        };
        let mut conversations = self.connection.conversations();
        let response = match conversations.create_conversation(request(self.model.clone())).await {
            // the server summarises with other models, or with none
            Err(status) if blames(&status, "policy.summary_model") => {
                conversations.create_conversation(request(None)).await?
            }
            response => response?,
        };
        let conversation = response.into_inner().conversation.unwrap_or_default();
        self.opened(conversation, "a new conversation; /help lists the commands").await
    }

    /// Ends a conversation, unless it has ended, and starts another.
    pub async fn start_another(&self, conversation_id: &str) -> Outcome<Opening> {
        let request = EndConversationRequest {
            conversation_id: conversation_id.to_owned(),
            reason: "another one was started".into(),
            ..Default::default()
        };
        let ended = self.connection.conversations().end_conversation(request).await;
        match ended {
            Err(status) if status.code() != Code::FailedPrecondition && !is_lost(&status) => {
                return Err(refusal(&status));
            }
            _ => {}
        }
        let opening = self.create("").await.map_err(|status| refusal(&status))?;
        let note = format!("{conversation_id} has ended; this is a new conversation");
        Ok(Opening { note, ..opening })
    }

    /// Stores a draft once, however many attempts it takes.
    pub async fn memorize(&self, conversation_id: &str, draft: Draft) -> Outcome<Stored> {
        let started_anew = self.missing(conversation_id).await?;
        if started_anew {
            self.create(conversation_id).await.map_err(|status| refusal(&status))?;
        }
        let metadata = match draft.broken_off {
            true => BTreeMap::from([(BROKEN_OFF.to_owned(), "true".to_owned())]),
            false => BTreeMap::new(),
        };
        let request = MemorizeRequest {
            conversation_id: conversation_id.to_owned(),
            utterances: vec![NewUtterance {
                role: draft.role.into(),
                content: draft.text.clone(),
                tool_calls: draft.calls.clone(),
                metadata: metadata.clone(),
                ..Default::default()
            }],
            request_id: format!("{}-{}", self.session_id, draft.attempt),
            session_id: self.session_id.clone(),
            ..Default::default()
        };
        let memorize = || async { self.connection.memory().memorize(request.clone()).await };
        let response = self.told(memorize).await?;
        let reference = response.memorized.into_iter().next().unwrap_or_default();
        Ok(Stored {
            utterance: Utterance {
                utterance_id: reference.utterance_id,
                sequence: reference.sequence,
                role: draft.role.into(),
                content: draft.text,
                tool_calls: draft.calls,
                metadata,
                token_count: reference.token_count,
                state: UtteranceState::Live.into(),
                ..Default::default()
            },
            evicted: response.evicted.iter().map(|left| left.sequence).collect(),
            capacity: response.capacity.unwrap_or_default(),
            started_anew,
        })
    }

    /// Whether the server no longer has the conversation. Storing would create it, but with the server's
    /// policy, and without anybody noticing.
    async fn missing(&self, conversation_id: &str) -> Outcome<bool> {
        let request =
            GetConversationRequest { conversation_id: conversation_id.to_owned(), ..Default::default() };
        let get = || async { self.connection.conversations().get_conversation(request.clone()).await };
        match self.patiently(get).await {
            Ok(_) => Ok(false),
            Err(status) if is_lost(&status) => Ok(true),
            Err(status) => Err(refusal(&status)),
        }
    }

    /// The conversation as messages for a model; `whole` lifts its token limit.
    pub async fn messages(&self, conversation_id: &str, whole: bool) -> Outcome<String> {
        let request = BuildContextRequest {
            conversation_id: conversation_id.to_owned(),
            token_budget: whole.then_some(i32::MAX),
            max_turns: Some(0),
            summary_placement: SummaryPlacement::UserMessage.into(),
            ..Default::default()
        };
        let build = || async { self.connection.contexts().build_context(request.clone()).await };
        Ok(self.told(build).await?.messages_json)
    }

    /// Answers the advice to compact.
    pub async fn answer(&self, conversation_id: &str, answer: CompactionAnswer) -> Outcome<Done> {
        let session_id = match answer {
            CompactionAnswer::NeverThisSession => self.session_id.clone(),
            _ => String::new(),
        };
        let request = AnswerCompactionPromptRequest {
            conversation_id: conversation_id.to_owned(),
            answer: answer.into(),
            session_id,
            ..Default::default()
        };
        let call = self.connection.compactions().answer_compaction_prompt(request).await;
        let response = call.map_err(|status| refusal(&status))?.into_inner();
        let capacity = response.capacity.unwrap_or_default();
        let note = match (answer, response.compaction) {
            (_, Some(compaction)) => Some(compacted(&compaction, &capacity, false)),
            _ if response.nothing_to_compact => Some(nothing_to_compact(&capacity)),
            (CompactionAnswer::NeverThisSession, _) => {
                Some("you will not be asked again in this session; /compact compacts at any time".into())
            }
            _ => None,
        };
        self.done(conversation_id, note).await
    }

    /// Compacts; with `dry_run`, only shows the summary that would result, below the numbers.
    pub async fn compact(&self, conversation_id: &str, keep: Option<i32>, dry_run: bool) -> Outcome<Done> {
        let request = CompactConversationRequest {
            conversation_id: conversation_id.to_owned(),
            keep_recent: keep,
            preview: dry_run,
            ..Default::default()
        };
        let call = self.connection.compactions().compact_conversation(request).await;
        let response = call.map_err(|status| refusal(&status))?.into_inner();
        let capacity = response.capacity.unwrap_or_default();
        let note = match response.nothing_to_compact {
            true => nothing_to_compact(&capacity),
            false => compacted(&response.compaction.unwrap_or_default(), &capacity, dry_run),
        };
        match dry_run && !response.nothing_to_compact {
            true => Ok(Done { note: Some(format!("{note}\n{}", response.summary)), ..Done::default() }),
            false => self.done(conversation_id, Some(note)).await,
        }
    }

    /// Undoes the last compaction.
    pub async fn undo(&self, conversation_id: &str) -> Outcome<Done> {
        let request =
            UndoCompactionRequest { conversation_id: conversation_id.to_owned(), ..Default::default() };
        let call = self.connection.compactions().undo_compaction(request).await;
        let response = call.map_err(|status| refusal(&status))?.into_inner();
        self.done(conversation_id, Some(undone(&response))).await
    }

    /// Forgets what `instructions` select.
    pub async fn forget(&self, conversation_id: &str, instructions: String, hard: bool) -> Outcome<Done> {
        let mode = if hard { ForgetMode::Hard } else { ForgetMode::Soft };
        let request = ForgetRequest {
            conversation_id: conversation_id.to_owned(),
            instructions,
            mode: mode.into(),
            ..Default::default()
        };
        let call = self.connection.memory().forget(request).await;
        let response = call.map_err(|status| refusal(&status))?.into_inner();
        let done = self.done(conversation_id, Some(describe(&response, false).join("\n"))).await?;
        let forgotten = response.forgotten.iter().map(|reference| reference.sequence).collect();
        Ok(Done { forgotten, ..done })
    }

    /// Brings back what was forgotten, by sequence.
    pub async fn restore(&self, conversation_id: &str, wanted: &[RangeInclusive<i64>]) -> Outcome<Done> {
        let everything =
            ListUtterancesRequest { include_archive: true, ..self.newest_first(conversation_id) };
        let stored = self.utterances(everything, usize::MAX).await.map_err(|status| refusal(&status))?;
        let is_wanted = |one: &Utterance| {
            one.state() == UtteranceState::Forgotten && wanted.iter().any(|it| it.contains(&one.sequence))
        };
        let utterance_ids: Vec<_> =
            stored.into_iter().filter(is_wanted).map(|one| one.utterance_id).collect();
        if utterance_ids.is_empty() {
            return Err(
                "none of these messages can be restored: they were never forgotten, or forgotten for good"
                    .into(),
            );
        }
        let request = RestoreRequest {
            conversation_id: conversation_id.to_owned(),
            utterance_ids,
            ..Default::default()
        };
        let call = self.connection.memory().restore(request).await;
        let restored = call.map_err(|status| refusal(&status))?.into_inner().restored;
        let note = format!("restored {} ({})", counted(restored.len(), "utterance"), sequences(&restored));
        self.done(conversation_id, Some(note)).await
    }

    /// Shows what `prompt` finds in the window and the archive.
    pub async fn remember(&self, conversation_id: &str, prompt: String) -> Outcome<Done> {
        let request = RememberRequest {
            conversation_id: conversation_id.to_owned(),
            prompt,
            page_size: MATCHES,
            ..Default::default()
        };
        let remember = || async { self.connection.memory().remember(request.clone()).await };
        let matches = self.told(remember).await?.matches;
        let found = matches.into_iter().filter_map(|found| found.utterance);
        let line = |one: Utterance| {
            let line = format!("{} {}: {}", one.sequence, speaker(&one), said(&one).join("  "));
            clipped(&line, MATCH_COLUMNS)
        };
        let lines: Vec<_> = found.map(line).collect();
        let note = if lines.is_empty() { "nothing found".into() } else { lines.join("\n") };
        Ok(Done { note: Some(note), ..Done::default() })
    }

    /// Shows how full the window is.
    pub async fn capacity(&self, conversation_id: &str) -> Outcome<Done> {
        let done = self.done(conversation_id, None).await?;
        let capacity = done.window.as_ref().map(|window| lines(&window.capacity).join("\n"));
        Ok(Done { note: capacity, ..done })
    }

    /// Shows the summary.
    pub async fn summary(&self, conversation_id: &str) -> Outcome<Done> {
        let request = GetSummaryRequest { conversation_id: conversation_id.to_owned(), ..Default::default() };
        let summary = || async { self.connection.conversations().get_summary(request.clone()).await };
        let text = self.told(summary).await?.text;
        let note =
            if text.is_empty() { "nothing has left the window, so there is no summary".into() } else { text };
        Ok(Done { note: Some(note), ..Done::default() })
    }

    async fn done(&self, conversation_id: &str, note: Option<String>) -> Outcome<Done> {
        let window = self.window(conversation_id).await.map_err(|status| refusal(&status))?;
        Ok(Done { note, window: Some(window), ..Done::default() })
    }

    /// The window and how full it is.
    pub async fn window(&self, conversation_id: &str) -> Result<Window, Status> {
        let request = GetCapacityInfoRequest {
            conversation_id: conversation_id.to_owned(),
            session_id: self.session_id.clone(),
            ..Default::default()
        };
        let response = self.connection.memory().get_capacity_info(request).await?.into_inner();
        let capacity: Capacity = response.capacity.unwrap_or_default();
        let utterances = self.utterances(self.newest_first(conversation_id), SHOWN).await?;
        Ok(Window { utterances, capacity, in_memory: response.durable == Some(false) })
    }

    fn newest_first(&self, conversation_id: &str) -> ListUtterancesRequest {
        ListUtterancesRequest {
            conversation_id: conversation_id.to_owned(),
            order: ListOrder::NewestFirst.into(),
            include_forgotten: true,
            page_size: PAGE_SIZE,
            ..Default::default()
        }
    }

    /// The newest utterances, the oldest of them first: at least `wanted`, unless there are fewer.
    async fn utterances(
        &self,
        mut request: ListUtterancesRequest,
        wanted: usize,
    ) -> Result<Vec<Utterance>, Status> {
        let mut utterances = Vec::new();
        loop {
            let page = self.connection.conversations().list_utterances(request.clone()).await?.into_inner();
            utterances.extend(page.utterances);
            if page.next_page_token.is_empty() || utterances.len() >= wanted {
                utterances.reverse();
                return Ok(utterances);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Like [`Server::patiently`], but with the error in words.
    async fn told<T, F>(&self, call: impl Fn() -> F) -> Outcome<T>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.patiently(call).await.map_err(|status| refusal(&status))
    }

    /// Repeats a call, with pauses, while no server answers. Only for calls that are safe to repeat.
    async fn patiently<T, F>(&self, call: impl Fn() -> F) -> Result<T, Status>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        for pause in PAUSES {
            match call().await {
                Err(status) if status.code() == Code::Unavailable => {
                    // Nobody listens once the chat has ended.
                    let _ = self.events.send(Event::Unreachable);
                    tokio::time::sleep(pause).await;
                }
                other => return other.map(Response::into_inner),
            }
        }
        call().await.map(Response::into_inner)
    }
}

/// Whether the server has no such conversation.
fn is_lost(status: &Status) -> bool {
    reason(status) == "CONVERSATION_NOT_FOUND"
}
