//! Telemetry for a server's operators: metrics for Prometheus, and traces for OpenTelemetry.
//!
//! | file | contents |
//! |---|---|
//! | `blocking` | work on threads for blocking work |
//! | `metric` | making metrics; each is defined next to what it counts |
//! | `panics` | catching, logging and counting panics |
//! | `parted` | counters and histograms, fast on several threads |
//! | `process` | metrics of the process |
//! | `registry` | the metrics of a server, and their text |
//! | `terminal` | stdout and stderr, harmless to a terminal |
//! | `traces` | spans, and their export |
//! | `untraced` | what stands for `traces` in a build without the feature `otel` |

mod blocking;
mod metric;
pub mod panics;
mod parted;
#[cfg(target_os = "linux")]
mod process;
mod registry;
pub mod terminal;
#[cfg_attr(not(feature = "otel"), path = "untraced.rs")]
mod traces;

pub use blocking::blocking;
pub use metric::{by, counter, counts, fact, histogram_by, seconds};
pub use parted::{Histogram, HistogramVec, IntCounter, IntCounterVec};
pub use registry::{Described, Registry};
pub use traces::{Exporter, ExporterError, Span, about};
