//! “Did you mean”: the known word that a misspelled one probably stands for.

/// The candidate that is closest to `word`, if one is close enough to be meant.
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = plain(word);
    let limit = match word.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean …?`, or nothing.
#[must_use]
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(word, candidates).map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
}

/// Case and the three ways to join words do not count.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// The number of characters to insert, delete, replace or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = row[j] + usize::from(a != b);
            let mut best = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if 0 < i && 0 < j && from[i - 1] == *b && to[j - 1] == *a {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expect: Option<&str>) {
        let known = ["running", "exited", "killed", "paneId", "timeoutMs", "size"];
        assert_eq!(closest(word, known), expect, "{word}");
    }

    #[test]
    fn a_misspelled_word_gets_the_nearest_one() {
        check("runing", Some("running"));
        check("exitde", Some("exited"));
        check("sise", Some("size"));
        check("timeout-ms", Some("timeoutMs"));
        check("pane_id", Some("paneId"));
    }

    #[test]
    fn a_word_that_resembles_none_gets_no_suggestion() {
        check("frozen", None);
        check("x", None);
        check("", None);
    }

    #[test]
    fn a_hint_is_the_end_of_a_sentence() {
        assert_eq!(hint("runing", ["running"]), "; did you mean `running`?");
        assert_eq!(hint("zzzz", ["running"]), "");
    }
}
