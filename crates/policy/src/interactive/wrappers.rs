//! Programs that start another command, such as `sudo` and `env`: data, read by [`super::judge`].

/// A program that starts the command which follows.
pub(super) struct Wrapper {
    pub(super) programs: &'static [&'static str],
    /// The subcommand after which the command follows.
    pub(super) sub: Option<&'static str>,
    /// Options that take the next word as a value.
    pub(super) values: &'static [&'static str],
    /// With one of these the wrapper itself needs a terminal.
    pub(super) visible: &'static [&'static str],
    /// With one of these it starts nothing.
    pub(super) plain: &'static [&'static str],
    /// How many operands come before the command.
    pub(super) skip: usize,
}

const WRAP: Wrapper =
    Wrapper { programs: &[], sub: None, values: &[], visible: &[], plain: &[], skip: 0 };

/// Programs that start the command which follows.
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        programs: &["sudo"],
        values: &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T", "--user", "--group",
        ],
        visible: &["-i", "-s", "-e", "--login", "--shell", "--edit"],
        ..WRAP
    },
    Wrapper { programs: &["doas"], values: &["-u", "-C", "-a"], visible: &["-s"], ..WRAP },
    Wrapper { programs: &["env"], values: &["-u", "-C", "--unset", "--chdir"], ..WRAP },
    Wrapper { programs: &["nice"], values: &["-n", "--adjustment"], ..WRAP },
    Wrapper { programs: &["ionice"], values: &["-c", "-n", "--class", "--classdata"], ..WRAP },
    Wrapper { programs: &["time"], values: &["-f", "-o", "--format", "--output"], ..WRAP },
    Wrapper {
        programs: &["timeout"],
        values: &["-s", "-k", "--signal", "--kill-after"],
        skip: 1,
        ..WRAP
    },
    Wrapper { programs: &["stdbuf"], values: &["-i", "-o", "-e"], ..WRAP },
    Wrapper { programs: &["taskset"], values: &["-c"], skip: 1, ..WRAP },
    Wrapper {
        programs: &["strace", "ltrace"],
        values: &["-o", "-e", "-s", "-p", "-u", "-E"],
        ..WRAP
    },
    Wrapper { programs: &["nohup", "setsid", "exec", "builtin", "caffeinate", "chronic"], ..WRAP },
    // `command -v vim` prints where vim is.
    Wrapper { programs: &["command"], plain: &["-v", "-V"], ..WRAP },
    Wrapper { programs: &["uv", "poetry", "pipenv"], sub: Some("run"), ..WRAP },
    Wrapper { programs: &["bundle"], sub: Some("exec"), ..WRAP },
    Wrapper { programs: &["direnv"], sub: Some("exec"), skip: 1, ..WRAP },
];
