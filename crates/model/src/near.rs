//! Names that are near a misspelled one, for `did you mean`.

/// The maximum number of suggestions.
const MAX: usize = 3;
/// Longer names are not compared.
const LONGEST: usize = 64;
/// A part of a name counts as near from this length on.
const PART: usize = 3;

/// The names with the smallest edit distance to the typed one; if none is near, those that contain
/// it. Case, `-` and `_` do not matter.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = plain(typed);
    let letters: Vec<char> = typed.chars().take(LONGEST + 1).collect();
    if letters.is_empty() || LONGEST < letters.len() {
        return Vec::new();
    }
    // A third of the letters may be wrong, and one of a short name.
    let most = (letters.len() / 3).max(1);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let known = plain(name);
            let distance = edit_distance(&letters, &known);
            if distance <= most && distance < known.len().min(letters.len()) {
                return Some((distance, name));
            }
            (PART <= letters.len() && known.contains(&typed)).then_some((LONGEST, name))
        })
        .collect();
    found.sort();
    found.dedup();
    // One wrong letter is more likely than two.
    let least = found.first().map_or(0, |(distance, _)| *distance);
    let nearest = found.into_iter().take_while(|(distance, _)| *distance == least);
    nearest.take(MAX).map(|(_, name)| name).collect()
}

/// The nearest name, if one is near.
pub fn closest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(typed, known).first().copied()
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Names as a question: ``did you mean `web` or `db`?`` None without names.
#[must_use]
pub fn did_you_mean<S: AsRef<str>>(names: &[S]) -> Option<String> {
    alternatives(names).map(|names| format!("did you mean {names}?"))
}

/// Names as alternatives: `` `web`, `db` or `api` ``. None without names.
#[must_use]
pub fn alternatives<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    let (last, others) = quoted.split_last()?;
    Some(match others.is_empty() {
        true => last.clone(),
        false => format!("{} or {last}", others.join(", ")),
    })
}

/// The edit distance: how many letters must be added, removed or replaced, or swapped with the next
/// one.
#[must_use]
pub fn edit_distance(typed: &[char], known: &str) -> usize {
    // `row[i]` is the distance between the first `i` letters of the typed name and the letters of
    // `known` so far; `older` is the row two letters before.
    let mut row: Vec<usize> = (0..=typed.len()).collect();
    let mut older = row.clone();
    let mut last = None;
    for (at, letter) in known.chars().enumerate() {
        let before = row.clone();
        row[0] = at + 1;
        for (i, &other) in typed.iter().enumerate() {
            let replaced = before[i] + usize::from(other != letter);
            row[i + 1] = replaced.min(before[i + 1] + 1).min(row[i] + 1);
            let is_swapped = 0 < i && other == last.unwrap_or_default() && typed[i - 1] == letter;
            if is_swapped && last.is_some() {
                row[i + 1] = row[i + 1].min(older[i - 1] + 1);
            }
        }
        older = before;
        last = Some(letter);
    }
    row[typed.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expect: &[&str]) {
        let known = ["web", "worker", "build-web", "Database", "db"];
        assert_eq!(nearest(typed, known), expect, "{typed}");
    }

    #[test]
    fn swapped_missing_and_added_letters_are_near() {
        check("wbe", &["web"]);
        check("webb", &["web"]);
        check("wroker", &["worker"]);
        check("databse", &["Database"]);
    }

    #[test]
    fn a_part_of_a_name_is_near() {
        check("build", &["build-web"]);
        check("web", &["web"]);
    }

    #[test]
    fn other_names_are_not_near() {
        check("zzz", &[]);
        check("", &[]);
        check("x", &[]);
    }

    #[test]
    fn the_ways_to_join_words_do_not_matter() {
        assert_eq!(closest("timeout-ms", ["size", "timeoutMs"]), Some("timeoutMs"));
        assert_eq!(closest("pane_id", ["paneId", "size"]), Some("paneId"));
        assert_eq!(closest("frozen", ["running", "exited"]), None);
    }

    #[test]
    fn alternatives_are_a_list_with_or() {
        assert_eq!(alternatives(&["a"]).as_deref(), Some("`a`"));
        assert_eq!(alternatives(&["a", "b", "c"]).as_deref(), Some("`a`, `b` or `c`"));
        assert_eq!(did_you_mean::<&str>(&[]), None);
    }
}
