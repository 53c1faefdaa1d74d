//! Suggests known names for a misspelled one.

/// The maximum number of suggestions.
const MAX: usize = 3;

/// Longer names are not a misspelling of any known name.
const LONGEST: usize = 16;

/// The nearest names, those with the smallest edit distance first; empty if none is near.
pub(super) fn suggest<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a &'static str>,
) -> Vec<&'static str> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if LONGEST < name.len() {
        return Vec::new();
    }
    // A third of the letters may be wrong, and two of a short name.
    let most = (name.len() / 3).max(2);
    let mut found: Vec<(usize, &str)> = known
        .into_iter()
        .map(|&known| (edit_distance(&name, known), known))
        .filter(|&(distance, known)| distance <= most && distance < known.len().min(name.len()))
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().take(MAX).map(|(_, known)| known).collect()
}

/// The Levenshtein distance: how many letters must be added, removed or replaced.
fn edit_distance(name: &[char], known: &str) -> usize {
    // `row[i]` is the distance between the first `i` letters of the name and the letters of `known`
    // so far.
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
