//! Quantities as people read them.

/// A length of time in one unit: `5s`, `3m`, `2h`, `4d`.
pub(crate) fn age(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

/// How long ago that was: `5m ago`.
pub(crate) fn ago(millis: u64) -> String {
    format!("{} ago", age(millis))
}

/// A number of bytes in one unit: `512 B`, `1.5 KiB`, `20.0 GiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut size = count as f64 / 1024.0;
    let mut unit = 0;
    while 1024.0 <= size && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// `1 pane`, `2 panes`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_is_enough() {
        let ages = [0, 59_999, 60_000, 3_600_000, 200_000_000].map(age);
        assert_eq!(ages, ["0s", "59s", "1m", "1h", "2d"]);
        let sizes = [0, 1023, 1536, 20 << 30].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.5 KiB", "20.0 GiB"]);
        assert_eq!([count(0, "pane"), count(1, "pane")], ["0 panes", "1 pane"]);
    }
}
