//! The metrics of one server.

use std::sync::Arc;

use parking_lot::Mutex;
use prometheus::{PullingGauge, TextEncoder, core::Collector};

use super::metric::made;

/// The metrics of one server. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    metrics: prometheus::Registry,
    described: Arc<Mutex<Vec<Described>>>,
}

/// A metric, whether it has values yet or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Described {
    /// The name of the metric.
    pub name: String,
    /// The labels of the metric.
    pub labels: Vec<String>,
    /// The description of the metric.
    pub help: String,
}

impl Registry {
    /// Adds a metric. If two have the same name and labels, the first one stays.
    pub fn add(&self, metric: &(impl Collector + Clone + 'static)) {
        self.register(Box::new(metric.clone()));
    }

    fn register(&self, metric: Box<dyn Collector>) {
        let described = metric.desc().into_iter().map(|it| Described {
            name: it.fq_name.clone(),
            labels: it.variable_labels.clone(),
            help: it.help.clone(),
        });
        self.described.lock().extend(described);
        if let Err(error) = self.metrics.register(metric) {
            tracing::error!(%error, "a metric was not added");
        }
    }

    /// Adds a gauge whose value is read whenever the metrics are read.
    pub fn gauge(&self, name: &str, help: &str, read: impl Fn() -> f64 + Send + Sync + 'static) {
        self.add(&made(PullingGauge::new(name, help, Box::new(read))));
    }

    /// Adds the metrics of the process: its memory, processor time and open files.
    pub fn add_process(&self) {
        #[cfg(target_os = "linux")]
        self.register(Box::new(super::process::Process::own()));
    }

    /// Returns the metrics in Prometheus' text format.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.metrics.gather())
    }

    /// Returns all metrics, in the order in which they were added.
    pub fn described(&self) -> Vec<Described> {
        self.described.lock().clone()
    }
}
