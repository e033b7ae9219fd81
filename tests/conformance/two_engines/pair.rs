//! Two servers over one store.

use std::sync::Arc;

use tempfile::TempDir;
use utterd::{
    config::{Preset, Settings},
    engine::{Engine, llm::LlmSummarizer},
    rpc::Services,
    server::{Models, Server},
    store::Store,
};

use crate::{model::Model, shared::Shared, support::ManualClock};

/// The number of ended conversations kept per recipient.
const RETAINED: u32 = 1;

/// The services of two servers, and the clock of both.
pub struct Pair {
    pub one: Services,
    pub other: Services,
    pub clock: Arc<ManualClock>,
    /// The engine of the first.
    pub engine: Arc<Engine>,
    /// The engine of the second.
    pub others_engine: Arc<Engine>,
    /// The store as seen by the first.
    pub store: Shared,
    /// The store as seen by the second.
    pub others: Shared,
    _servers: [Server; 2],
    /// It outlives its use.
    _directory: Option<TempDir>,
}

impl Pair {
    /// Two servers over `store`, whose windows have no limits.
    pub fn over(store: Arc<dyn Store>, directory: Option<TempDir>) -> Self {
        Self::of(Shared::new(store), [None, None], ManualClock::new(), directory)
    }

    /// Two more servers over the same store, with these models.
    pub fn with_models(&self, models: &[Arc<Model>; 2]) -> Self {
        let models = models.each_ref().map(|model| Some(model.clone()));
        Self::of(self.store.another(), models, self.clock.clone(), None)
    }

    fn of(
        own: Shared,
        models: [Option<Arc<Model>>; 2],
        clock: Arc<ManualClock>,
        directory: Option<TempDir>,
    ) -> Self {
        let settings = Settings { max_conversations_retained: RETAINED, ..Settings::of(Preset::Session) };
        let server = |store: Shared, model: Option<Arc<Model>>| {
            let model = model.map(|model| model as Arc<dyn LlmSummarizer>);
            let models = Models { summarizer: model, embedder: None };
            Server::of_parts(Arc::new(store), models, &settings, clock.clone())
                .expect("the settings are good")
        };
        let others = own.another();
        let [model, others_model] = models;
        let (first, second) = (server(own.clone(), model), server(others.clone(), others_model));
        Self {
            one: first.services().clone(),
            other: second.services().clone(),
            clock: clock.clone(),
            engine: first.engine().clone(),
            others_engine: second.engine().clone(),
            store: own,
            others,
            _servers: [first, second],
            _directory: directory,
        }
    }

    /// The services of the first for even numbers, of the second for odd ones.
    pub fn at(&self, number: usize) -> &Services {
        if number.is_multiple_of(2) { &self.one } else { &self.other }
    }
}
