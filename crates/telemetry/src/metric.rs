//! Makes metrics. Names follow Prometheus' rules: `utterd_`, the unit, and `_total` for a counter.

use prometheus::{HistogramOpts, IntGaugeVec, Opts, Result, core::MetricVec, proto::MetricType};

use super::parted::{Counters, Histogram, HistogramVec, Histograms, IntCounter, IntCounterVec, Parted};

/// The bounds of durations, in seconds: from a call that is answered from memory to one that waits for a model.
const SECONDS: [f64; 17] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
    30.0,
];

/// The bounds of batch sizes.
const COUNTS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

/// A number that only grows.
pub fn counter(name: &str, help: &str) -> IntCounter {
    made(Parted::new(|| prometheus::IntCounter::new(name, help)))
}

/// Numbers that only grow, one for each combination of the values of `labels`.
pub fn by(labels: &[&str], name: &str, help: &str) -> IntCounterVec {
    let opts = Opts::new(name, help).variable_labels(owned(labels));
    made(MetricVec::create(MetricType::COUNTER, Counters, opts))
}

/// A fact that does not change: the labels state it, and the value is 1.
pub fn fact(labels: &[(&str, &str)], name: &str, help: &str) -> IntGaugeVec {
    let (names, values): (Vec<&str>, Vec<&str>) = labels.iter().copied().unzip();
    let fact = made(IntGaugeVec::new(Opts::new(name, help), &names));
    fact.with_label_values(&values).set(1);
    fact
}

/// How long something takes.
pub fn seconds(name: &str, help: &str) -> Histogram {
    histogram(name, help, &SECONDS)
}

/// The sizes of batches.
pub fn counts(name: &str, help: &str) -> Histogram {
    histogram(name, help, &COUNTS)
}

fn histogram(name: &str, help: &str, bounds: &[f64]) -> Histogram {
    let opts = HistogramOpts::new(name, help).buckets(bounds.to_vec());
    made(Parted::new(|| prometheus::Histogram::with_opts(opts.clone())))
}

/// How long something takes, for each combination of the values of `labels`.
pub fn histogram_by(labels: &[&str], name: &str, help: &str) -> HistogramVec {
    let opts = HistogramOpts::new(name, help).buckets(SECONDS.to_vec()).variable_labels(owned(labels));
    made(MetricVec::create(MetricType::HISTOGRAM, Histograms, opts))
}

fn owned(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

#[allow(clippy::expect_used)] // names and labels are constants of this program
pub(super) fn made<M>(metric: Result<M>) -> M {
    metric.expect("a valid name")
}
