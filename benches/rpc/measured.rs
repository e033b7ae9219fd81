//! The results of the rounds of a call, and how a measure is printed.

use std::{fmt::Display, time::Instant};

use crate::child::ServerProcess;

/// A call's rates and the server's processor time per call: a value for each round.
#[derive(Default)]
pub struct Measured {
    rates: Vec<f64>,
    micros: Vec<f64>,
}

impl Measured {
    /// Calls per second in the median round.
    pub fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// Microseconds of the server's processor time per call, in the median round.
    pub fn micros(&self) -> f64 {
        median(self.micros.clone())
    }

    /// Calls per second, round by round.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The median of the ratios of adjacent rounds.
    pub fn over(&self, other: &Self) -> f64 {
        median(self.rates().iter().zip(other.rates()).map(|(one, other)| one / other).collect())
    }

    /// The median of the ratios of the processor time of adjacent rounds.
    pub fn micros_over(&self, other: &Self) -> f64 {
        median(self.micros.iter().zip(&other.micros).map(|(one, other)| one / other).collect())
    }
}

/// Runs a round of `work`, which returns its calls per second; the round only counts if there is something to
/// add it to.
pub fn measure(server: &ServerProcess, measured: Option<&mut Measured>, work: impl FnOnce() -> f64) {
    let (cpu, started) = (server.cpu(), Instant::now());
    let rate = work();
    let calls = rate * started.elapsed().as_secs_f64();
    let micros = (server.cpu() - cpu).as_secs_f64() * 1e6 / calls;
    if let Some(measured) = measured {
        measured.rates.push(rate);
        measured.micros.push(micros);
    }
}

/// The value in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints the result of a measure.
pub fn row(measure: &str, reached: impl Display, to_reach: &str) {
    println!("{measure:<78} {reached:>10}   {to_reach}");
}
