//! What is known of programs, shell commands and variables: data.

/// Why an allowing rule does not count where such a variable is set.
pub(super) const UNSAFE_VARIABLE: &str = "which changes what a program runs";

/// Commands of a shell that start no program and change nothing outside of it.
pub(super) const SAFE_BUILTINS: &[&str] = &[
    ":", "[", "break", "cd", "command", "continue", "dirs", "echo", "exec", "exit", "false", "jobs", "logout",
    "popd", "printf", "pushd", "pwd", "return", "set", "shift", "shopt", "test", "times", "true",
    "type", "ulimit", "umask", "unalias", "wait",
];

/// Shells that read the POSIX language, and those with bash's extensions.
pub(super) const POSIX_SHELLS: &[&str] = &["sh", "dash", "ash", "posh"];
pub(super) const BASH_SHELLS: &[&str] =
    &["bash", "rbash", "zsh", "rzsh", "ksh", "ksh93", "mksh", "rksh", "oksh", "lksh", "pdksh"];
/// Shells with another language.
pub(super) const OTHER_SHELLS: &[&str] = &[
    "fish", "csh", "tcsh", "nu", "elvish", "xonsh", "pwsh", "powershell", "rc", "es", "yash",
    "osh", "ysh", "oil", "ion", "brush",
];

/// Programs that run code from an argument, with the options for that. A `*` takes the rest of the
/// word as the code.
pub(super) const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["python", "pypy", "ipython"], &["-c", "-m"]),
    (&["perl"], &["-e", "-E", "-M*", "-m*", "-n", "-p", "-d*"]),
    (&["ruby", "jruby", "irb"], &["-e", "-r"]),
    (&["node", "nodejs", "iojs"], &["-e", "-p", "-pe", "-r", "--eval", "--print", "--require", "--import", "--loader"]),
    (&["bun"], &["-e", "-p", "--eval", "--print", "-r", "--preload"]),
    (&["deno"], &["eval"]),
    (&["php"], &["-r", "-B", "-R", "-E", "-d", "-a"]),
    (&["lua", "luajit"], &["-e", "-l"]),
    (&["tclsh", "wish", "guile", "racket", "sbcl", "clisp", "ghc", "scala", "groovy", "julia", "R", "Rscript", "swift", "jshell", "erl", "elixir", "iex", "janet", "osascript", "octave"], &["-e", "-c", "-E", "--eval", "-eval", "--e"]),
    (&["expect"], &["-c"]),
    (&["vim", "vi", "view", "nvim", "ex", "gvim", "vimdiff"], &["-c", "--cmd", "-S", "-s", "-u", "+*"]),
    (&["emacs", "emacsclient"], &["-eval", "--eval", "-e", "-l", "--load", "-f", "--funcall", "--script"]),
    (&["gdb", "lldb", "gdbserver"], &["-ex", "--eval-command", "-x", "--command", "-iex", "-ix", "--args", "-o", "-O", "-s", "-b", "-k"]),
    (&["tar", "bsdtar", "gtar"], &["--to-command", "--checkpoint-action", "-I", "--use-compress-program", "--rsh-command", "-F", "--info-script", "--new-volume-script", "--use-compress-prog"]),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["make", "gmake", "bmake"], &["--eval", "-E", "SHELL=*"]),
    (&["sqlite3"], &["-cmd", "-init"]),
    (&["psql", "mysql"], &["-c", "-e", "--command", "--execute"]),
    (&["man"], &["-P", "--pager", "-H"]),
    (&["less", "more"], &["+*"]),
    (&["nc", "ncat", "netcat", "nc.traditional"], &["-e", "-c", "--exec", "--sh-exec"]),
    (&["sort"], &["--compress-program"]),
    (&["split"], &["--filter"]),
    (&["wget"], &["--use-askpass", "-e"]),
    (&["curl"], &["-K", "--config"]),
    (&["ctags"], &["--options"]),
    (&["rg"], &["--pre"]),
    (&["fzf"], &["--preview", "--bind", "--execute"]),
    (&["nmap"], &["--script"]),
    (&["tcpdump"], &["-z"]),
    (&["dmsetup", "pg_dump"], &["--exec"]),
    (&["hg"], &["--config"]),
    (&["cargo"], &["--config"]),
    (&["npm", "pnpm", "yarn"], &["-c", "--call", "--script-shell", "--node-options"]),
    (&["nix-shell"], &["--run", "--command"]),
    (&["entr"], &["-s"]),
    (&["jq"], &[]),
];

/// Programs that run commands which are not looked into: what they start is text of another form,
/// or runs elsewhere or later.
pub(super) const OPAQUE: &[(&[&str], &str)] = &[
    (&["ssh", "rsh", "mosh", "autossh", "sshpass"], "it runs commands on another machine"),
    (&["docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "machinectl", "distrobox", "toolbox", "flatpak", "snap", "vagrant", "virsh"], "it may run commands in a container"),
    (&["tmux", "screen", "zellij", "byobu", "dtach", "abduco", "xterm", "konsole", "gnome-terminal", "alacritty", "kitty", "wezterm", "foot", "urxvt", "st"], "it may run commands in another terminal"),
    (&["at", "batch", "crontab", "atd", "systemctl", "launchctl", "supervisorctl", "anacron"], "it may run commands later"),
    (&["parallel", "sem", "rush", "pexec", "moreutils-parallel"], "it makes commands from its input"),
    (&["socat", "inetd", "xinetd", "tcpserver", "websocat"], "it may start commands for connections"),
    (&["run-parts", "start-stop-daemon", "daemonize", "daemon", "inotifywait", "watchexec", "nodemon", "watchman", "cargo-watch", "reflex", "runsv", "s6-svscan"], "it starts other programs"),
    (&["m4", "ed", "dc", "bc", "troff", "groff", "ftp", "sftp", "mail", "mailx", "mutt", "telnet", "gnuplot", "octave-cli"], "its input can run commands"),
];

/// Whether a variable changes which programs run, or what they do at their start.
pub(super) fn is_unsafe_variable(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH", "ENV", "BASH_ENV", "IFS", "PS4", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS0",
        "PS1", "PS2", "CDPATH", "SHELL", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN",
        "LESSCLOSE", "BROWSER", "FCEDIT", "ZDOTDIR", "FPATH", "MAKEFLAGS", "GNUMAKEFLAGS",
        "MFLAGS", "CC", "CXX", "RUSTC", "RUSTC_WRAPPER", "TAR_OPTIONS", "RSYNC_RSH", "CVS_RSH",
        "SUDO_ASKPASS", "SSH_ASKPASS", "CLASSPATH", "GCONV_PATH", "LOCPATH", "NLSPATH", "HOME",
        "TERMINFO", "BASH_LOADABLES_PATH", "HISTFILE", "EXINIT", "VIMINIT", "AWKPATH", "XDG_CONFIG_HOME",
    ];
    const PREFIXES: &[&str] = &[
        "LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "NPM_", "npm_config_", "BASH_FUNC_",
        "LUA_", "PHP_", "JAVA_", "JDK_", "_JAVA_", "CARGO_", "BUN_", "DENO_", "GEM_", "BUNDLE_", "PIP_",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
