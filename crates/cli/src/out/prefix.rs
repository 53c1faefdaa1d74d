//! Names before lines of several programs: aligned, each in a colour of its own.
//!
//! Used wherever output of several panes is mixed, so that it looks the same everywhere.

use super::text::{StyledLine, TextStyle};
use super::width;

/// A longer name is cut, because it would push every line to the right.
const MAX_WIDTH: usize = 24;

/// The prefixes of some names.
#[derive(Clone, Debug)]
pub(crate) struct Prefixes {
    names: Vec<String>,
    width: usize,
}

impl Prefixes {
    /// Prefixes for these names, all of one width.
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all: Vec<String> = Vec::new();
        for name in names {
            if all.iter().all(|known| known != name) {
                all.push(name.to_owned());
            }
        }
        let width = all.iter().map(|name| width::of(name)).max().unwrap_or(0).min(MAX_WIDTH);
        Self { names: all, width }
    }

    /// What stands before each line of this name: `web  | `. Neighbours differ in colour.
    pub(crate) fn of(&self, name: &str) -> StyledLine {
        let place = self.names.iter().position(|known| known == name).unwrap_or(0);
        let cut = width::cut(name, self.width.max(1));
        let padding = " ".repeat(self.width.saturating_sub(width::of(&cut)));
        let style = TextStyle::Accent(u8::try_from(place % 6).unwrap_or(0));
        StyledLine::new(style, &format!("{cut}{padding} | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_aligned_and_differ_in_colour() {
        let prefixes = Prefixes::new(["web", "worker", "web"]);
        let shown = ["web", "worker"].map(|name| prefixes.of(name).render(false));
        assert_eq!(shown, ["web    | ", "worker | "]);
        let coloured = ["web", "worker"].map(|name| prefixes.of(name).render(true));
        assert_eq!(coloured[0], "\x1b[36mweb    | \x1b[0m");
        assert_ne!(coloured[0][..5], coloured[1][..5]);
    }

    #[test]
    fn a_long_name_does_not_push_lines_away() {
        let long = "a-name-that-is-longer-than-any-column";
        let shown = Prefixes::new(["web", long]).of(long).render(false);
        assert_eq!(shown, "a-name-that-is-longer-t… | ");
    }
}
