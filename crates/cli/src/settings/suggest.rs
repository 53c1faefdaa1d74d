//! The known name that a misspelled one is probably meant to be.

/// The known name with the smallest edit distance, unless too many letters differ.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(2);
    let distances = known.into_iter().map(|known| (edit_distance(name, known), known));
    let near = distances.filter(|(distance, known)| *distance <= most && *distance < known.len());
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// The Levenshtein distance: how many letters must be added, removed or replaced.
fn edit_distance(name: &str, known: &str) -> usize {
    let name: Vec<char> = name.chars().collect();
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (at, letter) in known.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (i, &other) in name.iter().enumerate() {
            let replaced = diagonal + usize::from(other != letter);
            diagonal = row[i + 1];
            row[i + 1] = replaced.min(diagonal + 1).min(row[i] + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["port", "host", "limits.panes", "limits.agents"];
        for (name, expect) in [
            ("prot", Some("port")),
            ("limits.pane", Some("limits.panes")),
            ("limit.agents", Some("limits.agents")),
            ("something", None),
            ("", None),
        ] {
            assert_eq!(suggest(name, known), expect, "{name}");
        }
    }
}
