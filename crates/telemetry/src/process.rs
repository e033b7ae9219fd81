//! Metrics of the process, under the names that Prometheus' client libraries give them.

use std::fs;

use prometheus::{
    Counter, Gauge,
    core::{Collector, Desc},
    proto::MetricFamily,
};

use super::metric::made;

/// The unit of processor time in `/proc`: `USER_HZ` is 100 on every architecture that this program is built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// Metrics of this process, read from `/proc` whenever the metrics are read. What cannot be read is left out.
pub(super) struct Process {
    cpu: Counter,
    gauges: Vec<(Gauge, Reading)>,
}

type Reading = fn(&Stat) -> Option<f64>;

/// The fields of `/proc/self/stat` after the program's name, which is in parentheses and may have spaces.
struct Stat(Vec<u64>);

impl Process {
    pub(super) fn own() -> Self {
        let gauge = |name, help, read: Reading| (made(Gauge::new(name, help)), read);
        Self {
            cpu: made(Counter::new(
                "process_cpu_seconds_total",
                "Processor time that the process has used, in seconds.",
            )),
            gauges: vec![
                gauge("process_open_fds", "Open file descriptors.", |_| open_files()),
                gauge("process_max_fds", "The most file descriptors that may be open.", |_| {
                    open_files_limit()
                }),
                gauge("process_virtual_memory_bytes", "Virtual memory, in bytes.", |stat| stat.field(20)),
                gauge("process_resident_memory_bytes", "Resident memory, in bytes.", |stat| stat.resident()),
                gauge("process_start_time_seconds", "When the process started, in Unix time.", |stat| {
                    stat.start_time()
                }),
                gauge("process_threads", "Threads of the process.", |stat| stat.field(17)),
            ],
        }
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.gauges.iter().flat_map(|(gauge, _)| gauge.desc()).chain(self.cpu.desc()).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let Some(stat) = fs::read_to_string("/proc/self/stat").ok().and_then(|text| Stat::of(&text)) else {
            return Vec::new();
        };
        let mut families = Vec::new();
        if let Some(seconds) = stat.cpu_seconds() {
            self.cpu.reset();
            self.cpu.inc_by(seconds);
            families.extend(self.cpu.collect());
        }
        for (gauge, read) in &self.gauges {
            if let Some(value) = read(&stat) {
                gauge.set(value);
                families.extend(gauge.collect());
            }
        }
        families
    }
}

impl Stat {
    /// Reads the text of `/proc/PID/stat`. The state, a letter, and negative numbers count as 0.
    fn of(text: &str) -> Option<Self> {
        let (_, fields) = text.trim_end().rsplit_once(") ")?;
        Some(Self(fields.split(' ').map(|field| field.parse().unwrap_or(0)).collect()))
    }

    /// Returns the field with this number, counted from 0 for the state.
    fn field(&self, number: usize) -> Option<f64> {
        self.0.get(number).map(|value| *value as f64)
    }

    /// Returns `utime` and `stime` in seconds.
    fn cpu_seconds(&self) -> Option<f64> {
        Some((self.field(11)? + self.field(12)?) / TICKS_PER_SECOND)
    }

    fn resident(&self) -> Option<f64> {
        Some(self.field(21)? * rustix::param::page_size() as f64)
    }

    /// Returns the time of the start, which the system counts from its own.
    fn start_time(&self) -> Option<f64> {
        let system = fs::read_to_string("/proc/stat").ok()?;
        let booted = system.lines().find_map(|line| line.strip_prefix("btime "))?;
        Some(booted.parse::<f64>().ok()? + self.field(19)? / TICKS_PER_SECOND)
    }
}

fn open_files() -> Option<f64> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}

fn open_files_limit() -> Option<f64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current.map(|most| most as f64)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::Registry;

    /// Returns the value of a metric of this process.
    fn value(name: &str) -> f64 {
        let registry = Registry::default();
        registry.add_process();
        let text = registry.text().unwrap();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        line.unwrap_or_else(|| panic!("{name} is missing")).rsplit_once(' ').unwrap().1.parse().unwrap()
    }

    #[test]
    fn fields_follow_the_name_in_parentheses() {
        let stat =
            Stat::of("7 (a) name) S 1 7 7 0 -1 4194560 2403 0 0 0 151 32 0 0 20 0 5 0 1 2 3\n").unwrap();
        assert_eq!(stat.cpu_seconds(), Some(1.83));
        assert_eq!(stat.field(17), Some(5.0));
        assert_eq!(Stat::of("7 (a) S 1").unwrap().cpu_seconds(), None);
    }

    #[test]
    fn the_metric_shows_the_processor_time_with_fractions() {
        // works until the process has used a part of a second
        let shown = (0..).map(|round: u64| {
            std::hint::black_box((0..round * 100_000).sum::<u64>());
            value("process_cpu_seconds_total")
        });
        assert!(shown.into_iter().any(|seconds| seconds.fract() > 0.0));
    }

    #[test]
    fn the_other_metrics_show_this_process() {
        let resident = value("process_resident_memory_bytes");
        assert!(resident > 0.0 && resident < value("process_virtual_memory_bytes"));
        assert!(value("process_open_fds") > 0.0 && value("process_open_fds") <= value("process_max_fds"));
        assert!(value("process_threads") >= 1.0);
        let started = UNIX_EPOCH + Duration::from_secs_f64(value("process_start_time_seconds"));
        let executable = fs::metadata("/proc/self").unwrap().modified().unwrap();
        assert!(
            started.duration_since(UNIX_EPOCH).unwrap()
                <= executable.duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(1)
        );
    }
}
