//! Logarithms and powers that are the same on every machine: only sums, products and quotients.

/// The logarithm of `x` to base 2, for `x` of 1 and more; within a thousandth.
pub fn log2(x: f64) -> f64 {
    let mut whole = 0.0;
    let mut rest = x.max(1.0);
    while rest >= 2.0 {
        rest /= 2.0;
        whole += 1.0;
    }
    // log2(m) = 2 / ln 2 · artanh((m - 1) / (m + 1)), whose argument is below a third
    let t = (rest - 1.0) / (rest + 1.0);
    let square = t * t;
    whole + 2.885_390_081_777_927 * t * (1.0 + square * (1.0 / 3.0 + square * (0.2 + square / 7.0)))
}

/// 2 to the power of `x`; within a thousandth.
pub fn exp2(x: f64) -> f64 {
    let x = x.clamp(-60.0, 60.0);
    let whole = x.floor();
    let rest = (x - whole) * std::f64::consts::LN_2;
    let series =
        1.0 + rest * (1.0 + rest / 2.0 * (1.0 + rest / 3.0 * (1.0 + rest / 4.0 * (1.0 + rest / 5.0))));
    let mut power = 1.0;
    for _ in 0..whole.abs() as u32 {
        power *= 2.0;
    }
    if whole < 0.0 { series / power } else { series * power }
}

/// `x` to the power of `exponent`, for `x` of 1 and more.
pub fn power(x: f64, exponent: f64) -> f64 {
    exp2(exponent * log2(x))
}

/// The probability of these log-odds.
pub fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp2(-log_odds * std::f64::consts::LOG2_E))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_close_to_those_of_the_machine() {
        for x in [1.0, 1.5, 1.999, 2.0, 7.0, 30.0, 1e6] {
            assert!((log2(x) - f64::log2(x)).abs() < 1e-3, "{x}: {}", log2(x));
            assert!((power(x, 0.7) / x.powf(0.7) - 1.0).abs() < 1e-3, "{x}");
        }
        for x in [-20.0, -1.3, 0.0, 0.5, 3.7, 20.0] {
            assert!((exp2(x) / f64::exp2(x) - 1.0).abs() < 1e-3, "{x}: {}", exp2(x));
            assert!((logistic(x) - 1.0 / (1.0 + (-x).exp())).abs() < 1e-3, "{x}");
        }
    }
}
