//! Metrics: how they are made, and their text for Prometheus. Each is defined next to what it counts, and added to the
//! [`Registry`] of its server.

mod metric;
mod registry;

pub use metric::{by, counter, counts, fact, histogram_by, seconds};
pub use registry::{Described, Registry};

pub use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};
