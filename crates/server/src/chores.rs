//! The background work of a server, on a thread of its own.

use std::{io, sync::Arc, time::Duration};

use tokio::{sync::oneshot, task::JoinSet};

use super::process::Thread;
use utterd_config::Settings;
use utterd_engine::Engine;
use utterd_telemetry::panics::begin_anew;

/// How often the server looks for due work.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The background work of a server: retention and expiry, scrubbing, and asking models. It ends when this is dropped.
pub struct Chores {
    /// Dropping it ends the work.
    running: oneshot::Sender<()>,
    thread: Thread,
}

impl Chores {
    /// Starts the background work.
    pub fn start(engine: &Arc<Engine>, settings: &Settings) -> io::Result<Self> {
        let (running, ended) = oneshot::channel::<()>();
        let (engine, scrub_interval) = (engine.clone(), settings.scrub_interval);
        let thread = Thread::start("utterd-chores", move |left| async move {
            let chores = start_all(&engine, scrub_interval);
            let _ = ended.await;
            drop(chores);
            let _ = left.await;
        })?;
        Ok(Self { running, thread })
    }

    /// Ends the background work at once. The returned future ends its thread, and waits for that: until then, the
    /// thread drives the connections to a database that it opened, which calls may be using.
    pub fn end(self) -> impl Future<Output = ()> {
        let Self { running, thread } = self;
        drop(running);
        async { thread.stop().await }
    }
}

fn start_all(engine: &Arc<Engine>, scrub_interval: Duration) -> JoinSet<()> {
    let mut chores = JoinSet::new();
    let of = engine.clone();
    chores.spawn(begin_anew("removing what is due", move || of.clone().sweep_every(SWEEP_INTERVAL)));
    let of = engine.clone();
    chores.spawn(begin_anew("scrubbing", move || of.clone().scrub_every(scrub_interval)));
    let of = engine.clone();
    chores.spawn(begin_anew("asking for summaries", move || of.clone().run_llm_summaries()));
    let of = engine.clone();
    chores.spawn(begin_anew("embedding", move || of.clone().run_embedding()));
    chores
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::{Models, Server};
    use utterd_domain::{Draft, More, Role};
    use utterd_engine::{
        Address, Caller, MemorizeCall, SystemClock,
        models::llm::{LlmError, LlmSummarizer, LlmSummary, Material},
    };
    use utterd_store::{BoxFuture, MemoryStore};

    /// A model that reports when it is asked, and never answers.
    struct Asked(mpsc::Sender<()>);

    impl LlmSummarizer for Asked {
        fn model(&self) -> &str {
            "test-1"
        }

        fn summarize(&self, _: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>> {
            let _ = self.0.send(());
            Box::pin(std::future::pending())
        }
    }

    /// The thread that accepts connections, which is this one, does none of the background work: the work is done
    /// while this thread is blocked. Then the work ends.
    #[tokio::test]
    async fn background_work_is_not_done_by_the_thread_that_accepts_connections() {
        let (asked, told) = mpsc::channel();
        let models = Models { summarizer: Some(Arc::new(Asked(asked))), embedder: None };
        let (store, settings) = (Arc::new(MemoryStore::new(0)), Settings::default());
        let server = Server::of_parts(store, models, &settings, Arc::new(SystemClock)).unwrap();
        let drafts = (0..30).map(|number| {
            Draft::of(Role::User, format!("The pump of tank T-{number} failed."), More::default())
        });
        let call =
            MemorizeCall { address: Address::default(), drafts: drafts.collect(), ..MemorizeCall::default() };
        server.engine().memorize(&Caller::default(), call).await.unwrap();
        let chores = Chores::start(server.engine(), &settings).unwrap();
        assert_eq!(told.recv(), Ok(()), "a model is asked for the summary of what left the window");
        chores.end().await;
    }
}
