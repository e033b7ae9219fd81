//! Metrics of the process.

use std::fs;

use prometheus::{
    core::{Collector, Desc},
    process_collector::ProcessCollector,
    proto::{Counter, MetricFamily},
};

/// The metric with the processor time of the process.
const CPU: &str = "process_cpu_seconds_total";

/// The unit of processor time in `/proc`: `USER_HZ` is 100 on every architecture that this program is built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// Prometheus' own collector, but with fractions of a second of processor time: in whole seconds, the rate of a
/// mostly idle process would be 0 with an occasional peak.
pub(super) struct Process(ProcessCollector);

impl Process {
    pub(super) fn own() -> Self {
        Self(ProcessCollector::for_self())
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.0.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut families = self.0.collect();
        let exact = fs::read_to_string("/proc/self/stat").ok().and_then(|stat| cpu_seconds(&stat));
        let cpu = families.iter_mut().find(|family| family.name() == CPU);
        if let (Some(cpu), Some(seconds)) = (cpu, exact)
            && let [metric] = cpu.mut_metric().as_mut_slice()
        {
            let mut counter = Counter::default();
            counter.set_value(seconds);
            metric.set_counter(counter);
        }
        families
    }
}

/// Returns the processor time in a `/proc/PID/stat`: its fields `utime` and `stime`, the 12th and 13th after
/// the name of the program, which is in parentheses and may have spaces.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut ticks = fields.split(' ').skip(11).map_while(|field| field.parse::<u64>().ok());
    Some((ticks.next()? + ticks.next()?) as f64 / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Registry;

    #[test]
    fn processor_time_has_fractions() {
        let stat = "7 (a) name) S 1 7 7 0 -1 4194560 2403 0 0 0 151 32 0 0 20 0 5 0 1 2 3";
        assert_eq!(cpu_seconds(stat), Some(1.83));
        assert_eq!(cpu_seconds("7 (a) S 1"), None);
    }

    #[test]
    fn the_metric_shows_what_the_system_says() {
        let registry = Registry::default();
        registry.add_process();
        // work until the process has used a part of a second
        let shown = (0..).find_map(|round: u64| {
            std::hint::black_box((0..round * 100_000).sum::<u64>());
            let text = registry.text().unwrap();
            let line = text.lines().find(|line| line.starts_with(CPU)).unwrap().to_owned();
            let (_, seconds) = line.split_once(' ').unwrap();
            seconds.contains('.').then(|| seconds.parse::<f64>().unwrap())
        });
        assert!(shown.unwrap() > 0.0);
    }
}
