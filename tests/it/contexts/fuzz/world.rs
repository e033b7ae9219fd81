//! A server in memory, and the conversations of one recipient.

use std::collections::BTreeSet;

use utterd::{
    proto::{
        compaction_service_server::CompactionService, context_service_server::ContextService,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
    },
    rpc::Services,
    server::Server,
};

use super::{Tally, check, said::Say, steps::Step};
use crate::support::{prelude::*, server_in_memory};

/// The server, and what is known of it.
pub struct World {
    server: Server,
    clock: Arc<ManualClock>,
    /// Everything stored in the active conversation; `None` if it might have changed.
    stored: Option<Vec<Utterance>>,
    /// The newest turn.
    turn: i32,
}

impl World {
    /// A server in which nothing has been said.
    pub fn new() -> Self {
        let clock = ManualClock::new();
        let settings = Settings { reflection: false, ..Settings::default() };
        Self { server: server_in_memory(&settings, &clock), clock, stored: None, turn: 0 }
    }

    /// Takes a step, and checks its response.
    pub async fn take(&mut self, step: &Step, tally: &mut Tally) -> Result<(), String> {
        self.clock.advance(Duration::from_secs(1));
        let stored = match self.stored.take() {
            Some(stored) => stored,
            None if matches!(step, Step::Say(_)) => Vec::new(),
            None => self.stored().await,
        };
        match step {
            Step::Build(request) => {
                self.build(request, &stored, tally).await?;
                self.stored = Some(stored);
            }
            // what is refused changes nothing
            _ => drop(self.change(step, &stored).await),
        }
        Ok(())
    }

    fn services(&self) -> &Services {
        self.server.services()
    }

    async fn change(&mut self, step: &Step, stored: &[Utterance]) -> Result<(), Status> {
        match step {
            Step::Say(says) => self.say(says).await,
            Step::Forget(instructions, hard) => {
                let mode = if *hard { ForgetMode::Hard } else { ForgetMode::Soft }.into();
                let instructions = (*instructions).to_owned();
                self.services()
                    .forget(Request::new(ForgetRequest { instructions, mode, ..Default::default() }))
                    .await
                    .map(drop)
            }
            Step::Restore(which) => {
                let utterance_ids = pick(stored, *which, |said| said.state() == UtteranceState::Forgotten)
                    .into_iter()
                    .collect();
                self.services()
                    .restore(Request::new(RestoreRequest { utterance_ids, ..Default::default() }))
                    .await
                    .map(drop)
            }
            Step::Pin(which, pinned) => {
                let request = UpdateUtteranceRequest { pinned: *pinned, ..update(stored, *which, "pinned") };
                self.services().update_utterance(Request::new(request)).await.map(drop)
            }
            Step::Edit(which, text) => {
                let request =
                    UpdateUtteranceRequest { content: text.clone(), ..update(stored, *which, "content") };
                self.services().update_utterance(Request::new(request)).await.map(drop)
            }
            Step::Limits(policy) => self.limit(policy.clone()).await,
            Step::Compact(keep) => {
                let request =
                    CompactConversationRequest { keep_recent: Some((*keep).into()), ..Default::default() };
                self.services().compact_conversation(Request::new(request)).await.map(drop)
            }
            Step::UndoCompaction => self
                .services()
                .undo_compaction(Request::new(UndoCompactionRequest::default()))
                .await
                .map(drop),
            Step::End => self
                .services()
                .end_conversation(Request::new(EndConversationRequest::default()))
                .await
                .map(drop),
            Step::Build(_) => Ok(()),
        }
    }

    /// Says everything in it that is accepted.
    async fn say(&mut self, says: &[Say]) -> Result<(), Status> {
        for say in says {
            let utterances = vec![say.utterance(self.turn)];
            let request = MemorizeRequest { utterances, lenient: true, ..Default::default() };
            let said = self.services().memorize(Request::new(request)).await;
            let turn = said.ok().and_then(|said| said.into_inner().memorized.pop()?.turn_number);
            self.turn = turn.unwrap_or(self.turn);
        }
        Ok(())
    }

    async fn limit(&self, policy: Policy) -> Result<(), Status> {
        let update_mask = Some(prost_types::FieldMask { paths: vec!["policy".to_owned()] });
        let request = UpdateConversationRequest { policy: Some(policy), update_mask, ..Default::default() };
        self.services().update_conversation(Request::new(request)).await.map(drop)
    }

    /// The stored utterances of the active conversation; none if there is none.
    async fn stored(&self) -> Vec<Utterance> {
        let request = ListUtterancesRequest {
            include_archive: true,
            include_forgotten: true,
            page_size: 1_000,
            ..Default::default()
        };
        let listed = self.services().list_utterances(Request::new(request)).await;
        listed.map(|listed| listed.into_inner().utterances).unwrap_or_default()
    }

    /// The sequences that the summary covers.
    async fn covered(&self) -> BTreeSet<i64> {
        let summary = self.services().get_summary(Request::new(GetSummaryRequest::default())).await;
        let segments = summary.map(|summary| summary.into_inner().segments).unwrap_or_default();
        segments
            .iter()
            .flat_map(|segment| &segment.covers)
            .flat_map(|range| range.first..=range.last)
            .collect()
    }

    async fn built(&self, request: &BuildContextRequest) -> Result<BuildContextResponse, Status> {
        Ok(self.services().build_context(Request::new(request.clone())).await?.into_inner())
    }

    async fn build(
        &self,
        request: &BuildContextRequest,
        stored: &[Utterance],
        tally: &mut Tally,
    ) -> Result<(), String> {
        let refusal = match self.built(request).await {
            Ok(context) => {
                tally.built += 1;
                let again = self.built(request).await.map_err(|refusal| refusal.to_string())?;
                if context != again {
                    return Err(format!("built again it is another:\n{context:?}\n{again:?}"));
                }
                return check::context(request, &context, stored, &self.covered().await, tally);
            }
            Err(refusal) if refusal.code() == Code::NotFound && stored.is_empty() => return Ok(()),
            Err(refusal) => refusal,
        };
        tally.refused += 1;
        let needed = check::needed(request, &refusal)?;
        let within = |budget| BuildContextRequest { token_budget: Some(budget), ..request.clone() };
        let context = self.built(&within(needed)).await.map_err(|refusal| refusal.to_string())?;
        check::context(&within(needed), &context, stored, &self.covered().await, tally)?;
        match self.built(&within(needed - 1)).await {
            Ok(context) => Err(format!("{needed} tokens are said to be needed, less do: {context:?}")),
            Err(_) => Ok(()),
        }
    }
}

fn update(stored: &[Utterance], which: u8, path: &str) -> UpdateUtteranceRequest {
    let update_mask = Some(prost_types::FieldMask { paths: vec![path.to_owned()] });
    let utterance_id = pick(stored, which, |_| true).unwrap_or_default();
    UpdateUtteranceRequest { utterance_id, update_mask, ..Default::default() }
}

/// The id of one of the stored utterances that are `wanted`.
fn pick(stored: &[Utterance], which: u8, wanted: impl Fn(&Utterance) -> bool) -> Option<String> {
    let wanted: Vec<&Utterance> = stored.iter().filter(|said| wanted(said)).collect();
    Some(wanted.get(usize::from(which) % wanted.len().max(1))?.utterance_id.clone())
}
