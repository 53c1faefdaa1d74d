//! Versions, as far as advisories need them: which of two comes first.

/// Whether a version comes before another one. What follows `+` is ignored, and a version with `-`
/// comes before the same without.
pub(crate) fn is_before(version: &str, other: &str) -> bool {
    key(version) < key(other)
}

fn key(version: &str) -> (Vec<u64>, bool, String) {
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, early) = version.split_once('-').unwrap_or((version, ""));
    let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
    (numbers, early.is_empty(), early.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(is_before("1.9.0", "1.11.1"));
        assert!(!is_before("1.11.1", "1.11.1"));
        assert!(!is_before("2.0.0", "1.11.1"));
        assert!(is_before("1.0.0-rc.1", "1.0.0"));
        assert!(!is_before("1.0.0+zstd.1", "1.0.0"));
    }
}
