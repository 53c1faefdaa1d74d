//! The change that a user is asked about, as a unified diff.

use similar::TextDiff;

use crate::out::{Out, StyledLine, TextStyle};

/// The lines that change, with three around them.
pub(super) fn unified(before: &str, after: &str, path: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = if before.is_empty() { ("/dev/null", path) } else { (path, path) };
    let new = if after.is_empty() { "/dev/null" } else { new };
    diff.unified_diff().context_radius(3).header(old, new).to_string()
}

/// Prints it on standard error, where the question follows.
pub(super) fn print(out: Out, diff: &str) -> std::io::Result<()> {
    diff.lines().try_for_each(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => TextStyle::Good,
            Some(b'-') => TextStyle::Bad,
            Some(b'@') => TextStyle::Faint,
            _ => TextStyle::Plain,
        };
        out.note(StyledLine::new(style, line))
    })
}
