//! A recipient's own state: what a command changes in it, and what is read of it.

use tonic::Request;
use utterd::proto::{
    Event, GetStateRequest, Operation, StateChange, StateScope, UpdateStateRequest,
    conversation_service_server::ConversationService,
};

use super::{Run, refusal, send::Reply, trace};
use crate::{
    checks::same,
    commands::{Attempt, Values},
    ensure,
    naive::{Call, Expected, Facts},
};

impl Run {
    /// The change to a recipient's own state.
    pub(super) fn own_values(&mut self, values: &Values, recipient: &str) -> StateChange {
        let own = self.world.own(recipient);
        self.values(values, Some(&own))
    }

    /// The call that changes only that.
    pub(super) fn keep_own(&mut self, values: &Values, attempt: &Attempt, recipient: &str) -> Call {
        let revision = self.world.own(recipient).revision;
        let (request_id, expected_revision) = self.named(attempt, revision);
        let change = Some(self.own_values(values, recipient));
        Call::Keep(UpdateStateRequest {
            conversation_id: String::new(),
            recipient_id: recipient.to_owned(),
            scope: StateScope::Recipient.into(),
            change,
            request_id,
            expected_revision,
        })
    }

    /// Compares the response, the events and the effects of such a call.
    pub(super) async fn kept_own(
        &mut self,
        call: &Call,
        expected: Expected,
        reply: Reply,
    ) -> Result<(), String> {
        let (facts, replayed) = match expected {
            Expected::Now(facts) => (*facts, false),
            Expected::Earlier(earlier) => (earlier.facts, true),
        };
        self.tally.count(if replayed { "replayed" } else { "kept of its own" }, 1);
        ensure!(reply.replayed == replayed, "is called a replay, or is one: {reply:?}");
        same("the conversation of the own state", &reply.conversation_id, &Some(String::new()))?;
        same("the revision of the own state", &reply.revision, &Some(facts.revision))?;
        let recipient = or_default(call.address().1).to_owned();
        let event = change(&recipient, call.request_id(), facts.revision);
        self.expect_event((!replayed).then_some(event))?;
        self.owns_are().await
    }

    /// Checks that every recipient's own state matches the model, on each engine.
    pub(super) async fn owns_are(&mut self) -> Result<(), String> {
        let (called, recipients) = (self.on, self.world.owners());
        for engine in 0..self.engines.len() {
            self.on = engine;
            for recipient in &recipients {
                self.own_is(recipient).await?;
            }
        }
        self.on = called;
        Ok(())
    }

    /// Checks that a recipient's own state matches the model.
    pub(super) async fn own_is(&mut self, recipient: &str) -> Result<(), String> {
        let own = self.world.own(recipient);
        let (recipient_id, scope) = (recipient.to_owned(), StateScope::Recipient.into());
        let request = GetStateRequest { recipient_id, scope, ..Default::default() };
        let response = self.services().get_state(Request::new(request)).await.map_err(refusal)?.into_inner();
        self.expect_event(Some(trace::read(Operation::GetState, "", recipient, response.values.len())))?;
        same("the conversation of the own state", &response.conversation_id.as_str(), &"")?;
        same("the revision of the own state", &response.revision, &own.revision)?;
        same("the own state", &response.values, &own.values(&[]))
    }
}

/// The event of a change of it.
pub fn change(recipient: &str, request_id: &str, revision: i64) -> Event {
    Event {
        recipient_id: recipient.to_owned(),
        request_id: request_id.to_owned(),
        ..trace::change(Operation::UpdateState, &Facts { revision, ..Facts::default() })
    }
}

fn or_default(recipient: &str) -> &str {
    if recipient.is_empty() { "default" } else { recipient }
}
