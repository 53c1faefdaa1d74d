//! Parses when a limit ends, if a program tells for how long it lasts. A time of day is not parsed:
//! its time zone is unknown.

use std::sync::LazyLock;

use paned_model::Time;
use regex::Regex;

const UNIT: &str = r"(\d+)\s*(d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)\b";

static PART: LazyLock<Regex> = LazyLock::new(|| Regex::new(UNIT).expect("a pattern of ours"));
static SPAN: LazyLock<Regex> = LazyLock::new(|| {
    let span = format!(r"(?i)\b(?:in|after)\s+(?:about\s+)?((?:{UNIT}[\s,]*(?:and\s+)?)+)");
    Regex::new(&span).expect("a pattern of ours")
});

/// When a limit ends whose message appeared at a moment, as in `try again in 2 hours 5 minutes`.
pub(super) fn until(words: &str, shown_at: Time) -> Option<Time> {
    let words = words.to_lowercase();
    let span = SPAN.captures(&words)?.get(1)?.as_str();
    let seconds = PART.captures_iter(span).map(|part| {
        let count: u64 = part[1].parse().unwrap_or(0);
        let unit = match part[2].as_bytes()[0] {
            b'd' => 86_400,
            b'h' => 3600,
            b'm' => 60,
            _ => 1,
        };
        count.saturating_mul(unit)
    });
    let seconds = seconds.fold(0, u64::saturating_add);
    (0 < seconds).then(|| Time(shown_at.0.saturating_add(seconds.saturating_mul(1000))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, seconds: Option<u64>) {
        let until = until(words, Time(5000)).map(|until| (until.0 - 5000) / 1000);
        assert_eq!(until, seconds, "{words}");
    }

    #[test]
    fn a_span_is_read_and_a_time_of_day_is_not() {
        check("■ You've hit your usage limit. Try again in 2 hours 5 minutes.", Some(7500));
        check("limit reached, resets in 3d 4h", Some(273_600));
        check("try again in 1 day, 2 hours and 3 seconds", Some(93_603));
        check("limit reached ∙ resets 3pm", None);
        check("usage limit reached in 3 months", None);
        check("try again in 99999999999999999999 hours", None);
    }
}
