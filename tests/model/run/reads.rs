//! Reads: all pages of a list, summaries of parts, counts, the trace.

use std::collections::BTreeSet;

use prost::Message;
use tonic::Request;
use utterd::proto::{
    ConversationOrder, CountTokensRequest, GetSummaryRequest, GetSummaryResponse, ListConversationsRequest,
    ListOrder, ListUtterancesRequest, MemorizeRequest, Operation, SummarizeRequest, SummarizeScope,
    context_service_server::ContextService, conversation_service_server::ConversationService,
    memory_service_server::MemoryService,
};

use super::{
    Run, messages, refusal,
    trace::{self, Trace, ranges},
};
use crate::{
    checks::same,
    commands::{Command, Place, Say, Scope},
    ensure,
    naive::{Conversation, check, cost},
    text::tokens,
};

/// More pages than any list here has.
pub const MANY_PAGES: usize = 400;

impl Run {
    pub(super) async fn read(&mut self, at: Place, command: &Command) -> Result<(), String> {
        let (id, recipient) = at.ids();
        let found = self.world.find(id, recipient).cloned();
        match (command, found) {
            (Command::Count { says }, found) => self.count(says, found.as_ref()).await,
            (Command::Watch(pick), _) => self.watch(*pick).await,
            (Command::Conversations, _) => self.conversations(recipient).await,
            (Command::List { last, newest_first, archive, forgotten, page }, Some(model)) => {
                let request = ListUtterancesRequest {
                    conversation_id: id.to_owned(),
                    recipient_id: recipient.to_owned(),
                    last: last.map(|last| i32::from(last) + 1),
                    order: if *newest_first { ListOrder::NewestFirst } else { ListOrder::Unspecified }.into(),
                    include_archive: *archive,
                    include_forgotten: *forgotten,
                    page_size: i32::from(page % 5) + 1,
                    ..Default::default()
                };
                self.list(request, &model).await
            }
            (Command::Messages(listing), Some(model)) => {
                let request = messages::request((id, recipient), listing, &model);
                self.messages(request, &model).await
            }
            (Command::Summarize { scope, limit, focus }, Some(model)) => {
                let request = summarize_request(id, recipient, scope, *limit, *focus);
                self.summarize(request, &model).await
            }
            (Command::Kept(names), Some(model)) => self.kept(names, &model).await,
            (_, None) => self.missing(id, recipient).await,
            (other, _) => Err(format!("{other} is no read")),
        }
    }

    /// A conversation that does not exist is reported as missing; a recipient without one has no summary.
    pub(super) async fn missing(&mut self, id: &str, recipient: &str) -> Result<(), String> {
        let request = GetSummaryRequest {
            conversation_id: id.into(),
            recipient_id: recipient.into(),
            ..Default::default()
        };
        match self.services().get_summary(Request::new(request)).await {
            Ok(response) if id.is_empty() => {
                let nothing = GetSummaryResponse { token_count: Some(0), ..Default::default() };
                same("the summary of no conversation", response.get_ref(), &nothing)?;
                let recipient = if recipient.is_empty() { "default" } else { recipient };
                self.expect_event(Some(trace::read(Operation::GetSummary, "", recipient, 0)))
            }
            Ok(response) => Err(format!("there is no such conversation, but: {response:?}")),
            Err(status) => self.refused("CONVERSATION_NOT_FOUND", &status, &BTreeSet::new()),
        }
    }

    async fn list(&mut self, mut request: ListUtterancesRequest, model: &Conversation) -> Result<(), String> {
        let expected = model.show(&model.listed(&request));
        let mut listed = Vec::new();
        for _ in 0..MANY_PAGES {
            let response = self.services().list_utterances(Request::new(request.clone())).await;
            let page = response.map_err(refusal)?.into_inner();
            self.expect_read(Operation::ListUtterances, model, page.utterances.len())?;
            ensure!(
                page.utterances.len() <= request.page_size as usize,
                "a page of {}",
                page.utterances.len()
            );
            listed.extend(page.utterances);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return same("what is listed", &messages::unmarked(listed, model), &expected);
            }
            self.other_query(&request).await?;
        }
        Err("the pages do not end".to_owned())
    }

    /// Another query refuses a page token.
    async fn other_query(&mut self, request: &ListUtterancesRequest) -> Result<(), String> {
        let other = ListUtterancesRequest { include_archive: !request.include_archive, ..request.clone() };
        match self.services().list_utterances(Request::new(other)).await {
            Ok(response) => Err(format!("the token of another query is taken: {response:?}")),
            Err(status) => self.refused("INVALID_PAGE_TOKEN", &status, &BTreeSet::new()),
        }
    }

    async fn summarize(&mut self, request: SummarizeRequest, model: &Conversation) -> Result<(), String> {
        let window = model.window();
        let covered = || model.covered.iter().copied();
        let live = model.live(false);
        let mut sources: Vec<i64> = match request.scope() {
            SummarizeScope::Recent => {
                let count = request.recent_count.unwrap_or(0) as usize;
                let recent = &window[window.len().saturating_sub(count)..];
                live.into_iter().filter(|one| recent.contains(one)).collect()
            }
            SummarizeScope::Evicted => covered().collect(),
            SummarizeScope::Turns => {
                let turns = request.first_turn..=request.last_turn;
                let stored = model.live(true).into_iter();
                stored.filter(|one| turns.contains(&Some(model.get(*one).turn))).collect()
            }
            _ => covered().chain(live).collect(),
        };
        // Head instructions are not summarised.
        sources.retain(|one| !model.is_instruction(*one));
        sources.sort_unstable();
        let limit = request.token_limit.or(model.policy.summary_limit).unwrap_or(1_000);
        let scope = request.scope();
        let response = self.services().summarize(Request::new(request)).await.map_err(refusal)?;
        let wire = response.get_ref().encode_to_vec();
        let summary = response.into_inner();
        self.expect_read(Operation::Summarize, model, summary.text.lines().count())?;
        same("the tokens", &summary.token_count, &Some(tokens(model.encoding, &summary.text)))?;
        ensure!(summary.token_count <= Some(limit), "passes the limit of {limit}: {summary:?}");
        same("whether it warns", &!summary.warnings.is_empty(), &summary.text.is_empty())?;
        if summary.text.is_empty() {
            sources.clear();
        }
        same("the sources", &summary.sources, &ranges(&sources))?;
        if matches!(scope, SummarizeScope::Recent | SummarizeScope::Turns) {
            let counted = sources.iter().map(|one| model.get(*one).tokens).sum();
            same("the tokens of the sources", &summary.source_token_count, &Some(counted))?;
        }
        let from_summary =
            matches!(scope, SummarizeScope::Evicted | SummarizeScope::All | SummarizeScope::Unspecified);
        let mut allowed = model.tellable(sources);
        allowed.extend(from_summary.then(|| model.summarizable()).into_iter().flatten());
        self.allowed(&wire, &allowed)
    }

    async fn count(&mut self, says: &[Say], model: Option<&Conversation>) -> Result<(), String> {
        let utterances = self.drafts(says, model);
        let batch = MemorizeRequest { utterances: utterances.clone(), lenient: true, ..Default::default() };
        let request = CountTokensRequest { utterances: utterances.clone(), ..Default::default() };
        let response = self.services().count_tokens(Request::new(request)).await;
        let counted = match (check(&batch), response) {
            (Err(expected), Err(status)) => return self.refused(expected, &status, &BTreeSet::new()),
            (Ok(()), Ok(response)) => response.into_inner(),
            other => return Err(format!("counting: {other:?}")),
        };
        self.expect_event(Some(trace::read(Operation::CountTokens, "", "", utterances.len())))?;
        let costs: Vec<_> = utterances.iter().map(|said| cost("o200k_base", said)).collect();
        same("the tokens counted", &counted.token_counts, &costs)?;
        let exact = utterances.iter().all(|said| said.tool_calls.is_empty() && said.extras_json.is_empty());
        same("whether the counts are exact", &counted.exact, &Some(exact))
    }

    /// The trace, read again from one of its events on, is the same.
    async fn watch(&mut self, pick: u8) -> Result<(), String> {
        let seen = &self.engines[self.on].trace.seen;
        let Some(at) = (!seen.is_empty()).then(|| usize::from(pick) % seen.len()) else { return Ok(()) };
        let mut again = Trace::open(self.services(), &seen[at].event_id).await?;
        same("the trace read again", &again.news()?, &seen[at + 1..].to_vec())
    }

    /// All conversations of every recipient, by their last change.
    async fn all_conversations(&mut self) -> Result<(), String> {
        let order = ConversationOrder::OldestUpdate.into();
        let request =
            ListConversationsRequest { all_recipients: true, order, page_size: 1_000, ..Default::default() };
        let response = self.services().list_conversations(Request::new(request)).await.map_err(refusal)?;
        let listed = response.into_inner().conversations;
        let event = trace::read(Operation::ListConversations, "", "", listed.len());
        self.expect_event(Some(event))?;
        let update =
            |one: &utterd::proto::Conversation| one.update_time.map(|time| (time.seconds, time.nanos));
        ensure!(
            listed.is_sorted_by(|one, next| update(one) <= update(next)),
            "not by the last change: {listed:?}"
        );
        let mut listed: Vec<_> = listed.into_iter().map(|one| one.conversation_id).collect();
        let mut expected: Vec<_> = self.world.conversations.iter().map(|one| one.id.clone()).collect();
        listed.sort();
        expected.sort();
        same("all conversations", &listed, &expected)
    }

    async fn conversations(&mut self, recipient: &str) -> Result<(), String> {
        self.all_conversations().await?;
        let request = ListConversationsRequest {
            recipient_id: recipient.to_owned(),
            page_size: 1_000,
            ..Default::default()
        };
        let response = self.services().list_conversations(Request::new(request)).await.map_err(refusal)?;
        let mut listed = response.into_inner().conversations;
        let recipient = if recipient.is_empty() { "default" } else { recipient };
        let event = trace::read(Operation::ListConversations, "", recipient, listed.len());
        self.expect_event(Some(event))?;
        let start = |one: &utterd::proto::Conversation| one.start_time.map(|time| (time.seconds, time.nanos));
        ensure!(
            listed.is_sorted_by(|one, next| start(one) >= start(next)),
            "not the newest first: {listed:?}"
        );
        let own = self.world.conversations.iter().filter(|one| one.recipient == recipient);
        let mut expected = Vec::new();
        for one in own {
            let basic = one.basic(self.world.is_active(one), self.now());
            let shown = listed.iter().find(|shown| shown.conversation_id == one.id).cloned();
            expected.push(self.with_what_was_made(basic, &shown.unwrap_or_default(), one)?);
        }
        listed.sort_by(|one, other| one.conversation_id.cmp(&other.conversation_id));
        expected.sort_by(|one, other| one.conversation_id.cmp(&other.conversation_id));
        same("the conversations", &listed, &expected)
    }
}

fn summarize_request(
    id: &str,
    recipient: &str,
    scope: &Scope,
    limit: Option<u8>,
    focus: bool,
) -> SummarizeRequest {
    let mut request = SummarizeRequest {
        conversation_id: id.to_owned(),
        recipient_id: recipient.to_owned(),
        token_limit: limit.map(|limit| i32::from(limit) + 1),
        focus_areas: if focus { vec!["invoice".to_owned()] } else { Vec::new() },
        ..Default::default()
    };
    match scope {
        Scope::All => {}
        Scope::Recent(count) => {
            request.set_scope(SummarizeScope::Recent);
            request.recent_count = Some(i32::from(*count) + 1);
        }
        Scope::Evicted => request.set_scope(SummarizeScope::Evicted),
        Scope::Turns(first, more) => {
            request.set_scope(SummarizeScope::Turns);
            request.first_turn = Some(i32::from(*first));
            request.last_turn = Some(i32::from(*first) + i32::from(*more));
        }
    }
    request
}
