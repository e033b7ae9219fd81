//! Runs a sequence of commands against one server, or two over one store, and the naive model in parallel.

mod build;
mod change;
mod drafts;
mod messages;
mod own;
mod place;
mod reads;
mod search;
mod send;
mod state;
mod trace;

use std::{collections::HashMap, sync::Arc, time::Duration};

use tonic::Request;
use utterd::{
    config::Settings,
    engine::Clock,
    proto::{
        self, ConversationView, Event, GetCapacityInfoRequest, GetConversationRequest, GetSummaryRequest,
        GetSummaryResponse, ListUtterancesRequest, Operation, OverLimitCause,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
    },
    rpc::Services,
    server::Server,
};

use crate::{
    checks::{Observed, absolutes, same},
    commands::{Command, Place as Address, Step},
    naive::{Call, Conversation, Policy, World},
    support::ManualClock,
    tally::Tally,
};
pub use place::{Over, Place};
use send::Reply;
use trace::Trace;

/// The servers, their model, and what has been read so far.
pub struct Run {
    engines: Vec<Engine>,
    /// The engine that is called.
    on: usize,
    place: Place,
    clock: Arc<ManualClock>,
    world: World,
    /// The last summary read of each conversation.
    summaries: HashMap<usize, GetSummaryResponse>,
    /// The recipient of each conversation.
    recipients: HashMap<usize, String>,
    /// The first replies to calls that named their attempt.
    firsts: HashMap<String, Reply>,
    /// The calls that named their attempt.
    sent: Vec<Call>,
    markers: u32,
    requests: u32,
    tally: Tally,
}

/// A server and its trace, which contains only its own operations.
struct Engine {
    /// `None` only during a restart.
    server: Option<Server>,
    trace: Trace,
}

/// Limits so small that windows roll, summaries fold and archives are trimmed all the time.
fn settings() -> Settings {
    Settings {
        buffer_size: 6,
        max_tokens: 200,
        summary_token_limit: 100,
        archive_limit: 8,
        reflection: false,
        ..Settings::default()
    }
}

fn default_policy() -> Policy {
    Policy::rolling(6, 200, 100, 8)
}

impl Run {
    /// Runs `steps` on servers over a fresh store; an error says at which step, and what was wrong.
    pub async fn of(steps: &[Step], place: Place) -> Result<Tally, String> {
        let clock = ManualClock::new();
        let mut engines = Vec::new();
        for _ in 0..place.engines() {
            let server = place.server(&settings(), &clock)?;
            let trace = Trace::open(server.services(), "").await?;
            engines.push(Engine { server: Some(server), trace });
        }
        let world = World::new(default_policy());
        let (summaries, recipients, firsts) = (HashMap::new(), HashMap::new(), HashMap::new());
        let sent = Vec::new();
        let mut run = Self {
            engines,
            on: 0,
            place,
            clock,
            world,
            summaries,
            recipients,
            firsts,
            sent,
            markers: 0,
            requests: 0,
            tally: Tally::default(),
        };
        for (number, step) in (1..).zip(steps) {
            run.step(step).await.map_err(|error| format!("step {number}, {step}:\n{error}"))?;
        }
        if run.place.is_durable() {
            run.reopened().await.map_err(|error| format!("after all, restarted:\n{error}"))?;
        }
        Ok(run.tally)
    }

    async fn step(&mut self, step: &Step) -> Result<(), String> {
        self.on = step.on;
        self.take(step).await?;
        for engine in 0..self.engines.len() {
            self.on = engine;
            self.expect_event(None)?;
        }
        Ok(())
    }

    async fn take(&mut self, step: &Step) -> Result<(), String> {
        self.clock.advance(Duration::from_millis(1));
        let is_forked = self.world.find("forked", "").is_some();
        let at = if step.at == Address::Forked && !is_forked { Address::First } else { step.at };
        let step = &Step { at, ..step.clone() };
        if let Some(call) = self.call(step) {
            if !call.request_id().is_empty() && !self.sent.contains(&call) {
                self.sent.push(call.clone());
            }
            return self.change(call).await;
        }
        match &step.command {
            Command::Wait(minutes) => {
                self.clock.advance(Duration::from_secs(u64::from(*minutes) * 60));
                Ok(())
            }
            Command::Restart => self.restart().await,
            // Nothing has been sent yet.
            Command::Retry(_) | Command::Reuse(_) => Ok(()),
            Command::Remember(search) => self.remember(step.at, search).await,
            other => self.read(step.at, other).await,
        }
    }

    /// Stops the server and opens its store with another one. Events belong to one server: a cursor of the
    /// previous one is refused.
    async fn restart(&mut self) -> Result<(), String> {
        let engine = &mut self.engines[self.on];
        engine.trace.close();
        engine.server = None;
        let server = engine.server.insert(self.place.server(&settings(), &self.clock)?);
        let last = engine.trace.seen.last().map(|event| event.event_id.clone());
        if let Some(last) = last {
            Trace::refuse(server.services(), &last).await?;
        }
        engine.trace = Trace::open(server.services(), "").await?;
        self.tally.count("restarted", 1);
        Ok(())
    }

    /// Checks that everything is unchanged after a restart.
    async fn reopened(&mut self) -> Result<(), String> {
        self.restart().await?;
        let births: Vec<_> = self.world.conversations.iter().map(|one| one.birth).collect();
        for birth in births {
            self.observe(birth).await?;
        }
        self.owns_are().await
    }

    /// `expected` with the title and the closing summary that the server made for an ended conversation: they
    /// contain nothing that is forgotten, and their wording is up to the server.
    pub(super) fn with_what_was_made(
        &self,
        expected: proto::Conversation,
        shown: &proto::Conversation,
        model: &Conversation,
    ) -> Result<proto::Conversation, String> {
        let mut expected = expected;
        if let Some((from, shown)) = expected.forked_from.as_mut().zip(shown.forked_from.as_ref()) {
            // whether a part of the summary could not be rebuilt
            from.approximate = shown.approximate;
        }
        if model.ended.is_none() {
            return Ok(expected);
        }
        let made = format!("{} {}", shown.title, shown.closing_summary);
        self.allowed(made.as_bytes(), &model.tellable_at_the_end())?;
        let title = if model.title.is_empty() { shown.title.clone() } else { model.title.clone() };
        Ok(proto::Conversation { title, closing_summary: shown.closing_summary.clone(), ..expected })
    }

    fn engine(&mut self) -> &mut Engine {
        &mut self.engines[self.on]
    }

    fn services(&self) -> &Services {
        self.engines[self.on].server.as_ref().expect("a server runs").services()
    }

    fn now(&self) -> i64 {
        self.clock.now().0
    }

    fn expect_event(&mut self, event: Option<Event>) -> Result<(), String> {
        let now = self.now();
        self.engine().trace.expect(event, now)
    }

    /// Expects the trace to report a read of this conversation.
    fn expect_read(&mut self, operation: Operation, of: &Conversation, results: usize) -> Result<(), String> {
        self.expect_event(Some(trace::read(operation, &of.id, &of.recipient, results)))
    }

    fn summary_of(&self, birth: usize) -> GetSummaryResponse {
        let none = || GetSummaryResponse { token_count: Some(0), ..Default::default() };
        self.summaries.get(&birth).cloned().unwrap_or_else(none)
    }

    async fn read_summary(&mut self, of: &Conversation) -> Result<GetSummaryResponse, String> {
        let request = GetSummaryRequest { conversation_id: of.id.clone(), ..Default::default() };
        let response = self.services().get_summary(Request::new(request)).await.map_err(refusal)?;
        let summary = response.into_inner();
        self.expect_read(Operation::GetSummary, of, summary.segments.len())?;
        same("the conversation of the summary", &summary.conversation_id, &of.id)?;
        self.summaries.insert(of.birth, summary.clone());
        self.world.heard_summary(of.birth, &summary.text);
        Ok(summary)
    }

    /// Reads the whole conversation on each engine: it must match the model and satisfy the invariants.
    async fn observe(&mut self, birth: usize) -> Result<(), String> {
        let called = self.on;
        for engine in 0..self.engines.len() {
            self.on = engine;
            let seen = self.observe_on_one(birth).await;
            seen.map_err(|error| match engine == called {
                true => error,
                false => format!("on the other engine: {error}"),
            })?;
        }
        self.on = called;
        Ok(())
    }

    async fn observe_on_one(&mut self, birth: usize) -> Result<(), String> {
        let Some(model) = self.world.by_birth(birth).cloned() else { return Ok(()) };
        let before = self.summary_of(birth);
        let summary = self.read_summary(&model).await?;
        same("the summary's segments", &summary.segments, &before.segments)?;

        let id = || model.id.clone();
        let full = ConversationView::Full.into();
        let request = GetConversationRequest { conversation_id: id(), view: full, ..Default::default() };
        let response = self.services().get_conversation(Request::new(request)).await.map_err(refusal)?;
        self.expect_read(Operation::GetConversation, &model, 1)?;
        let conversation = response.into_inner().conversation.unwrap_or_default();
        let expected = model.full(&summary, self.world.is_active(&model), self.now());
        let expected = proto::Conversation { forks: self.world.forks_of(&model), ..expected };
        let expected = self.with_what_was_made(expected, &conversation, &model)?;
        same("the conversation", &conversation, &expected)?;

        self.all_messages(&model).await?;
        self.state_is(Vec::new(), &model).await?;
        self.own_is(&model.recipient).await?;

        let request = GetCapacityInfoRequest { conversation_id: id(), ..Default::default() };
        let response = self.services().get_capacity_info(Request::new(request)).await.map_err(refusal)?;
        self.expect_read(Operation::GetCapacity, &model, 1)?;
        let capacity = response.into_inner().capacity.unwrap_or_default();
        same("the capacity", &capacity, &model.capacity(&summary, self.now()))?;

        let request = ListUtterancesRequest {
            conversation_id: id(),
            include_archive: true,
            include_forgotten: true,
            page_size: 1_000,
            ..Default::default()
        };
        let expected = model.show(&model.listed(&request));
        let response = self.services().list_utterances(Request::new(request)).await.map_err(refusal)?;
        let stored = response.into_inner().utterances;
        self.expect_read(Operation::ListUtterances, &model, stored.len())?;
        let stored = messages::unmarked(stored, &model);
        same("what is stored", &stored, &expected)?;
        let causes = capacity.over_limit_causes.clone();
        self.tally.count("over a limit", usize::from(!causes.is_empty()));
        let open = causes.contains(&OverLimitCause::OpenExchange.into());
        self.tally.count("an open exchange over a limit", usize::from(open));
        absolutes(&Observed { conversation, stored, summary, capacity }, &model)
    }
}

fn refusal(status: tonic::Status) -> String {
    format!("a read is refused: {status:?}")
}
