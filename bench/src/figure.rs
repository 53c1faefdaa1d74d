//! What a row found: a quantity, what it was measured against, and how good it has to be.

use std::fmt;
use std::time::Duration;

/// A number and what it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) value: f64,
    pub(crate) unit: Unit,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    MegabytesPerSecond,
    PerSecond,
    Millis,
    Micros,
    /// Millions of bytes for each second that a core is busy with them.
    MegabytesPerCpuSecond,
    Mib,
    Kib,
    /// Of one core.
    Percent,
    /// Ours to the limit; more is better.
    Ratio,
    /// Ours to the limit; less is better.
    Times,
    /// A count out of a total.
    Of(u64),
    /// Of a language model, estimated.
    Tokens,
}

impl Quantity {
    pub(crate) fn new(value: f64, unit: Unit) -> Self {
        Self { value, unit }
    }

    pub(crate) fn millis(time: Duration) -> Self {
        Self::new(time.as_secs_f64() * 1e3, Unit::Millis)
    }

    pub(crate) fn micros(time: Duration) -> Self {
        Self::new(time.as_secs_f64() * 1e6, Unit::Micros)
    }

    pub(crate) fn rate(count: f64, time: Duration) -> Self {
        Self::new(count / time.as_secs_f64(), Unit::PerSecond)
    }

    /// Bytes over time, in millions.
    pub(crate) fn throughput(bytes: u64, time: Duration) -> Self {
        Self::new(bytes as f64 / 1e6 / time.as_secs_f64(), Unit::MegabytesPerSecond)
    }

    pub(crate) fn mib(bytes: u64) -> Self {
        Self::new(bytes as f64 / f64::from(1 << 20), Unit::Mib)
    }

    pub(crate) fn kib(bytes: f64) -> Self {
        Self::new(bytes / 1024.0, Unit::Kib)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value;
        match self.unit {
            Unit::MegabytesPerSecond => write!(f, "{value:.0} MB/s"),
            Unit::PerSecond => write!(f, "{value:.0} /s"),
            Unit::Millis => write!(f, "{value:.2} ms"),
            Unit::Micros => write!(f, "{value:.1} µs"),
            Unit::MegabytesPerCpuSecond => write!(f, "{value:.0} MB/cpu-s"),
            Unit::Mib => write!(f, "{value:.1} MiB"),
            Unit::Kib => write!(f, "{value:.0} KiB"),
            Unit::Percent => write!(f, "{value:.1} %"),
            Unit::Ratio => write!(f, "{value:.2}"),
            Unit::Times => write!(f, "{value:.1}x"),
            Unit::Of(all) => write!(f, "{value:.0}/{all}"),
            Unit::Tokens => write!(f, "{value:.0} tokens"),
        }
    }
}

/// How good a figure has to be, in its own unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Thresholds {
    /// Reported, not judged.
    None,
    AtLeast {
        must: f64,
        target: f64,
    },
    AtMost {
        must: f64,
        target: f64,
    },
}

/// How good a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// World class.
    Target,
    /// Good enough.
    Must,
    /// A must is missed.
    Below,
    /// It has no thresholds.
    NotJudged,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Target => "target",
            Self::Must => "must",
            Self::Below => "BELOW",
            Self::NotJudged => "-",
        })
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) row: &'static str,
    pub(crate) what: String,
    pub(crate) limit: Option<Quantity>,
    pub(crate) ours: Quantity,
    /// What is judged.
    pub(crate) figure: Quantity,
    pub(crate) thresholds: Thresholds,
}

impl Figure {
    /// A quantity that stands for itself.
    pub(crate) fn plain(what: impl Into<String>, ours: Quantity) -> Self {
        let row = "";
        let what = what.into();
        Self { row, what, limit: None, ours, figure: ours, thresholds: Thresholds::None }
    }

    /// A rate as its part of a limit.
    pub(crate) fn ratio(what: impl Into<String>, limit: Quantity, ours: Quantity) -> Self {
        let figure = Quantity::new(ours.value / limit.value, Unit::Ratio);
        Self { figure, ..Self::plain(what, ours).beside(limit) }
    }

    /// A time as a multiple of a limit.
    pub(crate) fn times(what: impl Into<String>, limit: Quantity, ours: Quantity) -> Self {
        let figure = Quantity::new(ours.value / limit.value, Unit::Times);
        Self { figure, ..Self::plain(what, ours).beside(limit) }
    }

    /// Shows a limit that is not part of the judgement.
    pub(crate) fn beside(self, limit: Quantity) -> Self {
        Self { limit: Some(limit), ..self }
    }

    pub(crate) fn at_least(self, must: f64, target: f64) -> Self {
        Self { thresholds: Thresholds::AtLeast { must, target }, ..self }
    }

    pub(crate) fn at_most(self, must: f64, target: f64) -> Self {
        Self { thresholds: Thresholds::AtMost { must, target }, ..self }
    }

    /// The figure of this row, unless it is one of another that is measured with it.
    pub(crate) fn of(self, row: &'static str) -> Self {
        Self { row: if self.row.is_empty() { row } else { self.row }, ..self }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let value = self.figure.value;
        let (reaches, (must, target)): (fn(f64, f64) -> bool, _) = match self.thresholds {
            Thresholds::None => return Verdict::NotJudged,
            Thresholds::AtLeast { must, target } => (|value, bar| bar <= value, (must, target)),
            Thresholds::AtMost { must, target } => (|value, bar| value <= bar, (must, target)),
        };
        match (reaches(value, target), reaches(value, must)) {
            (true, _) => Verdict::Target,
            (false, true) => Verdict::Must,
            (false, false) => Verdict::Below,
        }
    }

    /// Must and target as they are shown.
    pub(crate) fn threshold_texts(&self) -> Option<(String, String)> {
        let (sign, must, target) = match self.thresholds {
            Thresholds::None => return None,
            Thresholds::AtLeast { must, target } => (">=", must, target),
            Thresholds::AtMost { must, target } => ("<=", must, target),
        };
        let show = |value| format!("{sign} {}", Quantity { value, ..self.figure });
        Some((show(must), show(target)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ours: f64) -> Figure {
        let rate = |value| Quantity::new(value, Unit::PerSecond);
        Figure::ratio("a rate", rate(100.0), rate(ours)).at_least(0.4, 0.8)
    }

    #[track_caller]
    fn check(figure: &Figure, shown: &str, verdict: Verdict) {
        assert_eq!((figure.figure.to_string().as_str(), figure.verdict()), (shown, verdict));
    }

    #[test]
    fn a_rate_has_to_reach_its_bars() {
        check(&ratio(80.0), "0.80", Verdict::Target);
        check(&ratio(79.0), "0.79", Verdict::Must);
        check(&ratio(39.0), "0.39", Verdict::Below);
    }

    #[test]
    fn a_time_has_to_stay_under_them() {
        let time = |ours| {
            let millis = |value| Quantity::new(value, Unit::Millis);
            Figure::times("a time", millis(2.0), millis(ours)).at_most(3.0, 1.5)
        };
        check(&time(3.0), "1.5x", Verdict::Target);
        check(&time(6.0), "3.0x", Verdict::Must);
        check(&time(7.0), "3.5x", Verdict::Below);
    }

    #[test]
    fn without_bars_nothing_is_judged() {
        check(&Figure::plain("a size", Quantity::mib(3 << 20)), "3.0 MiB", Verdict::NotJudged);
    }

    #[test]
    fn what_is_no_number_reaches_nothing() {
        check(&ratio(f64::NAN), "NaN", Verdict::Below);
    }
}
