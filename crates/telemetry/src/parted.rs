//! Counters and histograms in parts, one per thread: threads that change the same memory wait for each other,
//! and a call changes some twenty values.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use prometheus::{
    HistogramOpts, HistogramTimer, Opts, Result,
    core::{Collector, Desc, Metric, MetricVec, MetricVecBuilder},
    proto,
};

/// The maximum number of parts of a metric.
const MOST_PARTS: usize = 16;

/// A metric whose value is the sum of its parts. Clones share the parts.
#[derive(Clone, Debug)]
pub struct Parted<M>(Arc<[M]>);

/// A number that only grows.
pub type IntCounter = Parted<prometheus::IntCounter>;
/// Numbers that only grow, by labels.
pub type IntCounterVec = MetricVec<Counters>;
/// How often values were observed, by ranges.
pub type Histogram = Parted<prometheus::Histogram>;
/// Histograms, by labels.
pub type HistogramVec = MetricVec<Histograms>;

impl<M> Parted<M> {
    /// Makes the parts.
    pub(super) fn new(part: impl Fn() -> Result<M>) -> Result<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        // threads other than the workers have parts too
        let parts = (2 * processors).min(MOST_PARTS);
        (0..parts).map(|_| part()).collect::<Result<_>>().map(Self)
    }

    /// Returns the part of this thread.
    fn own(&self) -> &M {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
        &self.0[NUMBER.with(|number| *number) % self.0.len()]
    }
}

impl IntCounter {
    /// Adds 1.
    pub fn inc(&self) {
        self.own().inc();
    }

    /// Adds `more`.
    pub fn inc_by(&self, more: u64) {
        if more > 0 {
            self.own().inc_by(more);
        }
    }

    /// Returns the total.
    pub fn get(&self) -> u64 {
        self.0.iter().map(prometheus::IntCounter::get).sum()
    }
}

impl Histogram {
    /// Adds an observed value.
    pub fn observe(&self, value: f64) {
        self.own().observe(value);
    }

    /// Starts a timer, which adds the seconds until it is stopped or dropped.
    pub fn start_timer(&self) -> HistogramTimer {
        self.own().start_timer()
    }
}

impl<M: Metric> Metric for Parted<M> {
    fn metric(&self) -> proto::Metric {
        self.0.iter().map(Metric::metric).reduce(sum).unwrap_or_default()
    }
}

impl<M: Metric + Collector> Collector for Parted<M> {
    fn desc(&self) -> Vec<&Desc> {
        self.0[0].desc()
    }

    fn collect(&self) -> Vec<proto::MetricFamily> {
        let mut families = self.0[0].collect();
        families.iter_mut().for_each(|family| family.set_metric(vec![self.metric()]));
        families
    }
}

fn sum(mut one: proto::Metric, other: proto::Metric) -> proto::Metric {
    let mut counter = proto::Counter::default();
    counter.set_value(one.get_counter().get_value() + other.get_counter().get_value());
    let (left, right) = (one.get_histogram(), other.get_histogram());
    let mut histogram = proto::Histogram::default();
    histogram.set_sample_count(left.get_sample_count() + right.get_sample_count());
    histogram.set_sample_sum(left.get_sample_sum() + right.get_sample_sum());
    let buckets = left.get_bucket().iter().zip(right.get_bucket()).map(|(left, right)| {
        let mut bucket = left.clone();
        bucket.set_cumulative_count(left.cumulative_count() + right.cumulative_count());
        bucket
    });
    histogram.set_bucket(buckets.collect());
    one.set_counter(counter);
    one.set_histogram(histogram);
    one
}

/// Makes the counters of an [`IntCounterVec`].
#[derive(Clone, Debug)]
pub struct Counters;

impl MetricVecBuilder for Counters {
    type M = IntCounter;
    type P = Opts;

    fn build<V: AsRef<str>>(&self, opts: &Opts, values: &[V]) -> Result<IntCounter> {
        Parted::new(|| prometheus::IntCounter::with_opts(labelled(opts, values)))
    }
}

/// Makes the histograms of a [`HistogramVec`].
#[derive(Clone, Debug)]
pub struct Histograms;

impl MetricVecBuilder for Histograms {
    type M = Histogram;
    type P = HistogramOpts;

    fn build<V: AsRef<str>>(&self, opts: &HistogramOpts, values: &[V]) -> Result<Histogram> {
        let common_opts = labelled(&opts.common_opts, values);
        let opts = HistogramOpts { common_opts, buckets: opts.buckets.clone() };
        Parted::new(|| prometheus::Histogram::with_opts(opts.clone()))
    }
}

/// The options of a metric with these values of its labels.
fn labelled<V: AsRef<str>>(opts: &Opts, values: &[V]) -> Opts {
    let mut opts = opts.clone();
    let names = std::mem::take(&mut opts.variable_labels);
    opts.const_labels.extend(names.into_iter().zip(values.iter().map(|value| value.as_ref().to_owned())));
    opts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Registry, by, histogram_by};

    #[test]
    fn what_threads_add_is_shown_as_one() {
        let (counters, histograms) = (by(&["a", "b"], "c", "C."), histogram_by(&["a"], "h", "H."));
        let (counter, histogram) =
            (counters.with_label_values(&["x", "y"]), histograms.with_label_values(&["z"]));
        thread::scope(|scope| {
            for number in 1..=40 {
                let (counter, histogram) = (&counter, &histogram);
                scope.spawn(move || (counter.inc_by(number), histogram.observe(0.3)));
            }
        });
        assert_eq!(counter.get(), 820);
        let registry = Registry::default();
        registry.add(&counters);
        registry.add(&histograms);
        let text = registry.text().unwrap();
        for line in [
            r#"c{a="x",b="y"} 820"#,
            r#"h_bucket{a="z",le="0.25"} 0"#,
            r#"h_bucket{a="z",le="0.5"} 40"#,
            r#"h_count{a="z"} 40"#,
        ] {
            assert!(text.lines().any(|shown| shown == line), "{line} in {text}");
        }
    }
}
