//! The background work of a server.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use crate::{config::Settings, engine::Engine, telemetry::panics::begin_anew};

/// How often the server looks for due work.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The background work of a server, until this is dropped: retention and expiry, scrubbing, and asking models.
pub struct Chores(#[expect(dead_code, reason = "its drop ends them")] JoinSet<()>);

impl Chores {
    /// Starts the background work on the current runtime.
    pub fn start(engine: &Arc<Engine>, settings: &Settings) -> Self {
        let mut chores = JoinSet::new();
        let (of, every) = (engine.clone(), settings.scrub_interval);
        chores.spawn(begin_anew("removing what is due", move || of.clone().sweep_every(SWEEP_INTERVAL)));
        let of = engine.clone();
        chores.spawn(begin_anew("scrubbing", move || of.clone().scrub_every(every)));
        let of = engine.clone();
        chores.spawn(begin_anew("asking for summaries", move || of.clone().run_llm_summaries()));
        let of = engine.clone();
        chores.spawn(begin_anew("embedding", move || of.clone().run_embedding()));
        Self(chores)
    }
}
