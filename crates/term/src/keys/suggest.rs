//! Suggests known names for a misspelled one.

use paned_model::near::edit_distance;

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
