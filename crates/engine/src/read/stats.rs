//! Statistics of a conversation or a recipient.

use std::sync::Arc;

use crate::{Address, Caller, Engine, Operation, Result, events::Event};
use utterd_domain::{
    Conversation, Ranges, RecipientId, Refusal, Sequence,
    limits::MAX_SPANS,
    stats::{Bucket, Stats},
};

/// What to count.
#[derive(Clone, Debug)]
pub struct StatsCall {
    /// The conversation, or the recipient.
    pub address: Address,
    /// Whether to count all conversations of the recipient instead of one conversation.
    pub of_recipient: bool,
    /// The length of the spans of time.
    pub bucket: Bucket,
}

/// The statistics, and their conversation or recipient.
#[derive(Clone, Debug)]
pub struct StatsReply {
    /// The conversation; `None` if they are about a recipient, or the recipient has no conversation.
    pub state: Option<Arc<Conversation>>,
    /// The recipient.
    pub recipient: RecipientId,
    /// The statistics.
    pub stats: Stats,
}

/// The number of sequences read at a time.
const CHUNK: u64 = 1_024;

impl Engine {
    /// Computes the statistics of a conversation, or of all conversations of a recipient.
    ///
    /// - Utterances added meanwhile may or may not be counted; each conversation is counted in one state.
    /// - Refuses spans so short that there would be more than [`MAX_SPANS`].
    pub async fn stats(self: &Arc<Self>, caller: &Caller, call: &StatsCall) -> Result<StatsReply> {
        let mut stats = Stats::by(call.bucket);
        if !call.of_recipient {
            let state = self.read_or_blank(caller, &call.address).await?;
            if state.exists() {
                self.count(&state, &mut stats).await?;
            }
            self.events.push(Event::read(Operation::GetStats, &state, usize::from(state.exists())));
            let recipient = state.head.identity.recipient.clone();
            return Ok(StatsReply { state: Some(state).filter(|state| state.exists()), recipient, stats });
        }
        let recipient = call.address.recipient_or_default();
        let mut count = 0;
        for key in self.keys_of(&caller.recipient(recipient.clone())).await? {
            // the conversation may have been deleted since it was listed
            let state = self.published_within(call.address.max_staleness, &key).await?;
            let Some(state) = state else { continue };
            self.count(&state, &mut stats).await?;
            count += 1;
        }
        self.events.push(Event::wide(Operation::GetStats, caller, Some(recipient.clone()), count));
        Ok(StatsReply { state: None, recipient, stats })
    }

    /// Counts one conversation, in chunks.
    async fn count(self: &Arc<Self>, state: &Arc<Conversation>, stats: &mut Stats) -> Result<()> {
        stats.start(state, state.head.status(self.moment(), self.defaults.timeouts));
        let mut first = Sequence::FIRST;
        while first < state.head.next {
            let last = Sequence(first.get() + CHUNK - 1);
            for utterance in self.stored(state, &Ranges::of(first, last)).await? {
                stats.add(&utterance);
            }
            check_spans(stats)?;
            first = last.next();
            // reads from memory alone would never yield
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

fn check_spans(stats: &Stats) -> Result<(), Refusal> {
    if stats.spans.len() <= MAX_SPANS {
        return Ok(());
    }
    let text = format!("makes more than {MAX_SPANS} spans; use a longer one");
    Err(Refusal::invalid("bucket", text))
}
