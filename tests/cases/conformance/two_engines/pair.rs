//! Two servers over one store.

use std::{any::Any, sync::Arc};

use utterd::{
    config::{Preset, Settings},
    engine::{Engine, models::llm::LlmSummarizer},
    rpc::Services,
    server::{Models, Server},
};

use crate::support::{ManualClock, model::Model, shared::Shared};

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
    /// Where the store is: it outlives its use.
    _place: Box<dyn Any>,
}

impl Pair {
    /// Two servers over `store`, whose windows have no limits.
    pub fn over(store: Shared, place: impl Any) -> Self {
        Self::of(store, [None, None], ManualClock::new(), Box::new(place))
    }

    /// Two more servers over the same store, with these models.
    pub fn with_models(&self, models: &[Arc<Model>; 2]) -> Self {
        let models = models.each_ref().map(|model| Some(model.clone()));
        Self::of(self.store.another(), models, self.clock.clone(), Box::new(()))
    }

    fn of(
        own: Shared,
        models: [Option<Arc<Model>>; 2],
        clock: Arc<ManualClock>,
        place: Box<dyn Any>,
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
            _place: place,
        }
    }

    /// The services of the first for even numbers, of the second for odd ones.
    pub fn at(&self, number: usize) -> &Services {
        if number.is_multiple_of(2) { &self.one } else { &self.other }
    }
}
