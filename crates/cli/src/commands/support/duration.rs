//! Durations as people write them: `500ms`, `30s`, `5m`, `2h`, `30d`; a number alone is seconds,
//! unless the flag's name says otherwise.

/// Parses a duration, in milliseconds.
///
/// # Errors
/// When it is not a duration.
pub(crate) fn millis(text: &str) -> Result<u64, String> {
    parse(text, DefaultUnit::Seconds)
}

/// Parses a duration in milliseconds, for a flag that is named after them: a number alone is
/// milliseconds too.
///
/// # Errors
/// When it is not a duration.
pub(crate) fn millis_by_default(text: &str) -> Result<u64, String> {
    parse(text, DefaultUnit::Millis)
}

/// Parses a duration, in seconds.
///
/// # Errors
/// When it is not a duration, not a whole number of seconds, or zero.
pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    let millis = millis(text)?;
    let seconds = u32::try_from(millis / 1000).ok().filter(|_| millis.is_multiple_of(1000));
    match seconds {
        Some(0) => Err("it must be at least 1s; omit it for no limit".to_owned()),
        Some(seconds) => Ok(seconds),
        None => Err("it must be a whole number of seconds".to_owned()),
    }
}

/// The unit of a number without one.
#[derive(Clone, Copy)]
enum DefaultUnit {
    Seconds,
    Millis,
}

fn parse(text: &str, default: DefaultUnit) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = match (unit, default) {
        ("ms", _) | ("", DefaultUnit::Millis) => Some(1),
        ("s", _) | ("", DefaultUnit::Seconds) => Some(1000),
        ("m", _) => Some(60_000),
        ("h", _) => Some(3_600_000),
        ("d", _) => Some(86_400_000),
        _ => None,
    };
    let number: Option<u64> = number.parse().ok();
    let total = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    total.ok_or_else(|| "write it as 500ms, 30s, 5m, 2h or 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_seconds_unless_the_flag_is_named_after_milliseconds() {
        assert_eq!((millis("2"), seconds("2")), (Ok(2000), Ok(2)));
        assert_eq!((millis_by_default("2"), millis_by_default("2s")), (Ok(2), Ok(2000)));
    }

    #[test]
    fn spans_are_read_as_people_write_them() {
        let read = ["2", "1500ms", "30s", "5m", "2h", "3d"].map(|text| millis(text).unwrap());
        assert_eq!(read, [2000, 1500, 30_000, 300_000, 7_200_000, 259_200_000]);
        assert_eq!(["90", "2m", "3000ms"].map(|text| seconds(text).unwrap()), [90, 120, 3]);
        for bad in
            ["", "s", "-1", "1.5s", "30 s", "5w", "99999999999999999999", "18446744073709551615h"]
        {
            assert!(millis(bad).is_err(), "{bad}");
        }
        for bad in ["500ms", "0", "0h"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
