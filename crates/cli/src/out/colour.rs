//! Whether output is coloured: `--color`, then `NO_COLOR`, `CLICOLOR_FORCE` and the terminal.

use clap::ValueEnum;

/// What `--color` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColourChoice {
    /// On terminals
    #[default]
    Auto,
    /// Also in pipes and files
    Always,
    /// Nowhere
    Never,
}

impl ColourChoice {
    /// Whether a stream is coloured. <https://no-color.org> and <https://bixense.com/clicolors>:
    /// a variable counts when it is set and not empty.
    pub(super) fn applies(self, is_terminal: bool, env: &impl Fn(&str) -> Option<String>) -> bool {
        let is_set = |name| env(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if is_set("NO_COLOR") => false,
            Self::Auto if env("CLICOLOR_FORCE").is_some_and(|it| !it.is_empty() && it != "0") => {
                true
            }
            Self::Auto => is_terminal && env("TERM").is_none_or(|term| term != "dumb"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(choice: ColourChoice, is_terminal: bool, set: &[(&str, &str)], expect: bool) {
        let env = |name: &str| {
            set.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(choice.applies(is_terminal, &env), expect, "{choice:?} {set:?}");
    }

    #[test]
    fn the_flag_comes_before_the_variables_and_these_before_the_terminal() {
        check(ColourChoice::Auto, true, &[], true);
        check(ColourChoice::Auto, false, &[], false);
        check(ColourChoice::Auto, true, &[("NO_COLOR", "1")], false);
        check(ColourChoice::Auto, true, &[("NO_COLOR", "")], true);
        check(ColourChoice::Auto, false, &[("CLICOLOR_FORCE", "1")], true);
        check(ColourChoice::Auto, false, &[("CLICOLOR_FORCE", "0")], false);
        check(ColourChoice::Auto, true, &[("TERM", "dumb")], false);
        check(ColourChoice::Always, false, &[("NO_COLOR", "1")], true);
        check(ColourChoice::Never, true, &[("CLICOLOR_FORCE", "1")], false);
    }
}
