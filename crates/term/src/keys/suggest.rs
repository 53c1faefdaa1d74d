//! The known names nearest to one that is not known.

/// How many are suggested.
const MAX: usize = 3;

/// Longer names are no misspelling of any name we know.
const LONGEST: usize = 16;

/// The nearest names, those with the fewest mistakes first; none where all are far.
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
        .filter(|&(mistakes, known)| mistakes <= most && mistakes < known.len().min(name.len()))
        .collect();
    found.sort_by_key(|(mistakes, _)| *mistakes);
    found.into_iter().take(MAX).map(|(_, known)| known).collect()
}

/// How many letters have to be added, left out or replaced to get from one to the other.
fn edit_distance(name: &[char], known: &str) -> usize {
    // `row[i]` is the answer for the first `i` letters of the name and the letters of `known` so far.
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
