//! The command line of a run.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::schedule::WEIGHTS;

/// The usage line.
pub(super) const USAGE: &str =
    "usage: chaos [--minutes N] [--seed S] [--panes N] [--faults NAME,…] [--keep]";

/// How many panes there are, unless it is said otherwise.
const PANES: usize = 50;

/// How long, and which choices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    pub(super) minutes: f64,
    pub(super) seed: u64,
    pub(super) panes: usize,
    /// The faults that may come, by name.
    pub(super) faults: Vec<String>,
    /// Whether the folder of the run is kept also when all went well.
    pub(super) keep: bool,
}

impl Options {
    pub(super) fn parse(args: &[String]) -> Option<Self> {
        let mut options =
            Self { minutes: 2.0, seed: clock(), panes: PANES, faults: usual(), keep: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--minutes" => options.minutes = args.next()?.parse().ok()?,
                "--seed" => options.seed = args.next()?.parse().ok()?,
                "--panes" => options.panes = args.next()?.parse().ok()?,
                "--faults" => options.faults = faults(args.next()?)?,
                "--keep" => options.keep = true,
                _ => return None,
            }
        }
        (options.minutes.is_finite() && 0.0 <= options.minutes).then_some(options)
    }

    pub(super) fn length(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    /// The same as arguments.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = vec!["--minutes".to_owned(), self.minutes.to_string()];
        words.extend(["--seed".to_owned(), self.seed.to_string()]);
        if self.panes != PANES {
            words.extend(["--panes".to_owned(), self.panes.to_string()]);
        }
        if self.faults != usual() {
            words.extend(["--faults".to_owned(), self.faults.join(",")]);
        }
        words
    }

    /// The command that makes the same choices again.
    pub(super) fn command(&self) -> String {
        format!("target/debug/chaos {}", self.words().join(" "))
    }
}

/// The faults that come unless it is said otherwise.
fn usual() -> Vec<String> {
    WEIGHTS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Reads a list of names; none when one of them is unknown.
fn faults(list: &str) -> Option<Vec<String>> {
    let is_known = |name: &&str| WEIGHTS.iter().any(|(known, _)| known == name);
    list.split(',').map(|name| Some(name).filter(is_known).map(str::to_owned)).collect()
}

/// A seed that is another one each time, and short enough to be typed.
fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_millis().try_into().unwrap_or(1_u64) % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_that_was_printed_makes_the_same_run() {
        let options = parse("--minutes 0.5 --seed 7 --panes 9 --faults upgrade,kill-tmux").unwrap();
        let command = options.command();
        assert_eq!(parse(command.strip_prefix("target/debug/chaos").unwrap()).unwrap(), options);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for line in ["--minutes", "--minutes x", "--minutes -1", "--seed -1", "--faults x", "now"] {
            assert!(parse(line).is_none(), "{line}");
        }
    }
}
