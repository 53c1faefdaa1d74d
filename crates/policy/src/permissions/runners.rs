//! Programs that start a command after a subcommand, such as `uv run` and `pnpm exec`.

use super::words::Word;
use super::wrappers::Inner;

/// Programs with the same subcommands.
struct Runner {
    names: &'static [&'static str],
    /// The subcommands that start a command.
    subcommands: &'static [&'static str],
    /// Words between the subcommand and the command.
    operands: usize,
}

const RUNNERS: &[Runner] = &[
    Runner {
        names: &[
            "uv",
            "poetry",
            "pipenv",
            "bundle",
            "pdm",
            "hatch",
            "rye",
            "mise",
            "rtx",
            "asdf",
            "rbenv",
            "pyenv",
            "nix",
            "devbox",
            "pixi",
            "coresched",
        ],
        subcommands: &["run", "exec", "x", "shell", "develop", "tool"],
        operands: 0,
    },
    Runner {
        names: &[
            "conda",
            "mamba",
            "micromamba",
            "pipx",
            "op",
            "doppler",
            "infisical",
            "dotenvx",
            "foreman",
            "honcho",
            "teller",
        ],
        subcommands: &["run"],
        operands: 0,
    },
    Runner { names: &["paned"], subcommands: &["new", "run"], operands: 0 },
    Runner {
        names: &["npm", "pnpm", "yarn", "bun"],
        subcommands: &["exec", "dlx", "x"],
        operands: 0,
    },
    Runner {
        names: &["perf", "rr"],
        subcommands: &["stat", "record", "trace", "replay"],
        operands: 0,
    },
    Runner {
        names: &["direnv", "aws-vault", "chamber", "apptainer", "singularity", "ip"],
        subcommands: &["exec", "run"],
        operands: 1,
    },
    Runner { names: &["limactl"], subcommands: &["shell"], operands: 1 },
];

/// What such a program starts; `None` if it is none, or has no such subcommand.
pub(super) fn inner(name: &str, args: &[Word]) -> Option<Vec<Inner>> {
    let runner = RUNNERS.iter().find(|it| it.names.contains(&name))?;
    let is_subcommand = |arg: &Word| arg.known().is_some_and(|it| runner.subcommands.contains(&it));
    let at = args.iter().position(is_subcommand)?;
    let rest = &args[at + 1..];
    let first = rest.iter().position(|arg| !is_option(arg)).unwrap_or(rest.len());
    let command = rest.get(first + runner.operands..).unwrap_or_default();
    let mut inner = vec![Inner::Command(command.to_vec())];
    inner.extend(others(rest, first).into_iter().map(|words| Inner::Maybe(words.to_vec())));
    Some(inner)
}

/// Where the command may start as well: behind the value of an option, which is not told from the
/// command here, behind `--`, and behind `-c`.
fn others(rest: &[Word], first: usize) -> Vec<&[Word]> {
    let is = |arg: &Word, options: &[&str]| arg.known().is_some_and(|it| options.contains(&it));
    let marks = rest.iter().position(|arg| is(arg, &["--", "-c", "--command"]));
    let value = (0 < first).then_some(first + 1);
    [value, marks.map(|at| at + 1)]
        .into_iter()
        .flatten()
        .filter_map(|at| rest.get(at..))
        .filter(|words| !words.is_empty())
        .collect()
}

fn is_option(arg: &Word) -> bool {
    arg.known().is_some_and(|it| it.starts_with('-'))
}
