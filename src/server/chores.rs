//! The background work of a server.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinSet;

use crate::{config::Settings, engine::Engine};

/// How often the server looks for due work.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// The background work of a server, until this is dropped: retention and expiry, scrubbing, and asking models.
pub struct Chores(#[expect(dead_code, reason = "its drop ends them")] JoinSet<()>);

impl Chores {
    /// Starts the background work on the current runtime.
    pub fn start(engine: &Arc<Engine>, settings: &Settings) -> Self {
        let mut chores = JoinSet::new();
        chores.spawn(engine.clone().sweep_every(SWEEP_INTERVAL));
        chores.spawn(engine.clone().scrub_every(settings.scrub_interval));
        chores.spawn(engine.clone().run_llm_summaries());
        chores.spawn(engine.clone().run_embedding());
        Self(chores)
    }
}
