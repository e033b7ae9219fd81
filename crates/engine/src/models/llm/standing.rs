//! Statistics of a namespace's model summaries in this process.

use std::sync::Arc;

use super::tenant::LlmStanding;
use crate::{Caller, Engine};
use utterd_telemetry::Registry;

impl Engine {
    /// Returns the statistics of the caller's namespace; `None` if no model is configured.
    pub fn llm_standing(&self, caller: &Caller) -> Option<LlmStanding> {
        let llm = self.llm.as_ref()?;
        let counted = llm.tenants.of(&caller.namespace).standing.lock().clone();
        Some(LlmStanding {
            held_back: llm.breaker.lock().is_open(),
            waiting_since: llm.waiting.lock().get(&caller.namespace).copied(),
            ..counted
        })
    }

    /// Adds the metrics of the model that writes summaries, if there is one.
    pub(crate) fn describe_llm(self: &Arc<Self>, registry: &Registry) {
        let Some(llm) = &self.llm else { return };
        llm.meters.register(registry);
        let paused = llm.clone();
        registry.gauge(
            "utterd_llm_paused",
            "1 while calls to the model are paused, because its server does not answer.",
            move || f64::from(u8::from(paused.breaker.lock().is_open())),
        );
        let (engine, waiting) = (self.clone(), llm.clone());
        registry.gauge(
            "utterd_summary_lag_seconds",
            "For how long the oldest conversation has been waiting for the model.",
            move || match waiting.waiting.lock().values().min() {
                Some(since) => (engine.now().0 - since.0).max(0) as f64 / 1e6,
                None => 0.0,
            },
        );
    }
}
