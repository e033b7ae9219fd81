//! Background work that panics.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;
use utterd::{
    config::Settings,
    engine::models::llm::{LlmError, LlmSummarizer, LlmSummary, Material},
    proto::{CompactConversationRequest, CreateConversationRequest, Policy, PolicyPreset},
    store::BoxFuture,
};

use crate::{
    panics::{
        Turn,
        fragile::{Fragile, Panics},
    },
    support::{
        ManualClock,
        session::{Reply, Session, user},
    },
};

/// A model whose client panics in its first call.
struct Panicking {
    calls: AtomicUsize,
    answered: watch::Sender<usize>,
}

impl LlmSummarizer for Panicking {
    fn model(&self) -> &str {
        "panicking"
    }

    fn summarize(&self, _: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            assert!(call > 0, "the model of a test");
            self.answered.send_modify(|answered| *answered += 1);
            Ok(LlmSummary { text: "Some things were said.".into(), model: "panicking".into(), usage: None })
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_whose_client_panics_is_asked_again() {
    let turn = Turn::take().await;
    let model = Arc::new(Panicking { calls: AtomicUsize::new(0), answered: watch::Sender::new(0) });
    let session = Session::with_model(model.clone()).await;
    let policy = Policy { preset: PolicyPreset::Session.into(), ..Default::default() };
    session.create_with(policy).await;
    for number in 1..=40 {
        let text = format!("Note {number}: the pump of tank T-{number} failed and was replaced on Monday.");
        session.say(vec![user(&text)]).await;
    }
    session.compactions().compact_conversation(CompactConversationRequest::default()).await.reply();
    model.answered.subscribe().wait_for(|answered| *answered > 0).await.unwrap();
    turn.had([0, 0, 0, 1]);
    session.say_many(1).await;
}

/// What is due is removed, whatever happens to one of it; that one is removed later.
#[tokio::test]
async fn a_conversation_whose_removal_panics_holds_up_no_other() {
    let (store, turn, clock) = (Fragile::new(), Turn::take().await, ManualClock::new());
    let session = Session::at(store.clone(), &clock).await;
    for id in ["bad", "good"] {
        let expire_after = Some(prost_types::Duration { seconds: 60, nanos: 0 });
        let policy = Some(Policy { expire_after, ..Default::default() });
        let request = CreateConversationRequest { conversation_id: id.into(), policy, ..Default::default() };
        session.conversations().create_conversation(request).await.reply();
    }
    clock.advance(Duration::from_secs(61));
    // another process's engine: it has to load what it removes
    let other = Session::over_with(store.clone(), &Settings::default()).await;
    other.clock.advance(Duration::from_secs(61));
    store.panics(Panics::Load("bad"));
    assert_eq!(other.server.engine().sweep().await.unwrap(), 1);
    turn.had([0, 0, 0, 1]);
    store.mend();
    assert_eq!(other.server.engine().sweep().await.unwrap(), 1);
}
