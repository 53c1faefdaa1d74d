//! Which programs need a terminal, and with which arguments: data, read by [`super::judge`].

/// A rule about some programs. Without conditions they always need a terminal.
pub(super) struct InteractiveRule {
    pub(super) programs: &'static [&'static str],
    /// The subcommands it applies to; empty means any.
    pub(super) subs: &'static [&'static str],
    /// Options before the subcommand that take the next word as a value.
    pub(super) globals: &'static [&'static str],
    /// Whether its options are words with one dash (`-batch`), not letters that can be combined.
    pub(super) words: bool,
    /// Options that take the next word as a value; with a `?`, those whose value is only attached
    /// (`-pSECRET`).
    pub(super) values: &'static [&'static str],
    /// It needs a terminal only with one of these.
    pub(super) needs: &'static [&'static str],
    /// With one of these it needs no terminal.
    pub(super) plain: &'static [&'static str],
    /// Likewise; the words after it belong to the script or command it runs.
    pub(super) end_options: &'static [&'static str],
    /// With one of these it needs a terminal whatever else is given.
    pub(super) visible: &'static [&'static str],
    /// With more operands than this it runs what they name, and needs no terminal.
    pub(super) max_operands: Option<usize>,
    pub(super) why: &'static str,
}

const ANY: InteractiveRule = InteractiveRule {
    programs: &[],
    subs: &[],
    globals: &[],
    words: false,
    values: &[],
    needs: &[],
    plain: &[],
    end_options: &[],
    visible: &[],
    max_operands: None,
    why: "",
};

const EDITOR: &str = "it is an editor";
const OPENS_EDITOR: &str = "it opens an editor";
const ASKS: &str = "it asks questions";
const SCREEN: &str = "it draws on the whole screen";
const PAGER: &str = "it shows text page by page";
const PROMPT: &str = "it shows a prompt when run without a script";
const DEBUGGER: &str = "it is a debugger with a prompt";
const REMOTE: &str = "it is a session on another machine";
const MULTIPLEXER: &str = "it shows other terminals";
const INSIDE: &str = "it is a session in a container";

/// Programs that run a script given after `-c`.
pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];

const GIT: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];
const KUBECTL: &[&str] =
    &["-n", "--namespace", "--context", "--cluster", "--kubeconfig", "--user", "-s", "--server"];
const DOCKER: &[&str] = &["-H", "--host", "-c", "--context", "--config", "-l", "--log-level"];
const TMUX: &[&str] = &["-L", "-S", "-f", "-c", "-T"];

/// What needs a terminal. Where several rules match a program, one that says so is enough.
pub(super) const RULES: &[InteractiveRule] = &[
    // Editors.
    InteractiveRule {
        programs: &["vim", "vi", "nvim", "view", "vimdiff", "ex"],
        plain: &["--headless", "-es", "-Es"],
        why: EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["nano", "pico", "micro", "hx", "helix", "kak", "joe", "ne", "mcedit", "ed"],
        why: EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["emacs", "emacsclient"],
        words: true,
        needs: &["-nw", "--no-window-system", "-t", "--tty"],
        plain: &["--batch", "-batch"],
        why: EDITOR,
        ..ANY
    },
    InteractiveRule { programs: &["crontab"], needs: &["-e"], why: OPENS_EDITOR, ..ANY },
    InteractiveRule {
        programs: &["visudo", "vipw", "sudoedit"],
        plain: &["-c"],
        why: OPENS_EDITOR,
        ..ANY
    },
    // Full-screen programs.
    InteractiveRule {
        programs: &[
            "htop",
            "btop",
            "atop",
            "iotop",
            "nvtop",
            "bmon",
            "k9s",
            "lazygit",
            "lazydocker",
            "tig",
        ],
        why: SCREEN,
        ..ANY
    },
    InteractiveRule {
        programs: &["top"],
        plain: &["-b", "-l", "-h", "-v"],
        values: &["-l"],
        why: SCREEN,
        ..ANY
    },
    InteractiveRule {
        programs: &["mc", "ranger", "nnn", "lf", "ncdu", "alsamixer", "nmtui", "cfdisk", "mutt"],
        why: SCREEN,
        ..ANY
    },
    InteractiveRule { programs: &["dialog", "whiptail", "gum"], why: ASKS, ..ANY },
    InteractiveRule { programs: &["watch"], why: SCREEN, ..ANY },
    InteractiveRule { programs: &["fzf", "sk"], plain: &["-f", "--filter"], why: ASKS, ..ANY },
    // Pagers.
    InteractiveRule { programs: &["less", "more", "most"], why: PAGER, ..ANY },
    InteractiveRule {
        programs: &["man", "info"],
        plain: &["-k", "-f", "-w", "--where", "-K"],
        why: PAGER,
        ..ANY
    },
    // Prompts.
    InteractiveRule {
        programs: &["python", "pypy", "ipython"],
        values: &["-W", "-X", "--check-hash-based-pycs"],
        plain: &["-V"],
        end_options: &["-c", "-m"],
        visible: &["-i"],
        max_operands: Some(0),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["node", "nodejs"],
        values: &["-r", "--require", "--import", "--loader", "-C", "--conditions"],
        plain: &["-v", "-c", "--check", "--test"],
        end_options: &["-e", "--eval", "-p", "--print", "-pe"],
        visible: &["-i", "--interactive"],
        max_operands: Some(0),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["deno", "bun"],
        subs: &["repl"],
        end_options: &["--eval"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["deno"],
        max_operands: Some(0),
        plain: &["-V"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["irb", "pry", "iex", "jshell", "ghci", "utop"],
        end_options: &["-e"],
        plain: &["-v", "-V"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["lua", "luajit", "julia", "ocaml", "scala", "bc", "guile", "sbcl"],
        values: &["-l"],
        plain: &["-v"],
        end_options: &["-e", "-E", "--eval", "--script", "--non-interactive"],
        visible: &["-i"],
        max_operands: Some(0),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["erl"],
        words: true,
        plain: &["-noshell", "-noinput"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["R"],
        max_operands: Some(0),
        end_options: &["-e", "-f", "--file"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule { programs: &["php"], needs: &["-a", "--interactive"], why: PROMPT, ..ANY },
    InteractiveRule { programs: &["perl"], needs: &["-d", "-de"], why: DEBUGGER, ..ANY },
    InteractiveRule {
        programs: &["psql"],
        values: &["-h", "-p", "-U", "-d", "-v", "-P", "-o", "-L", "-F", "-R", "-T", "-c", "-f"],
        plain: &["-c", "--command", "-f", "--file", "-l", "--list", "-V"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["mysql", "mariadb"],
        values: &["-h", "-P", "-u", "-D", "-S", "-e", "-p?"],
        plain: &["-e", "--execute", "-V"],
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["sqlite3", "sqlite", "duckdb"],
        words: true,
        values: &["-cmd", "-init", "-separator", "-nullvalue"],
        plain: &["-version", "-batch", "-c", "-help"],
        visible: &["-interactive"],
        max_operands: Some(1),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["redis-cli", "valkey-cli"],
        values: &["-h", "-p", "-s", "-a", "-u", "-n", "--user", "--pass", "-r", "-i"],
        plain: &["--pipe", "--scan", "--bigkeys", "--latency", "--stat", "--rdb", "--eval"],
        max_operands: Some(0),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: &["mongosh", "mongo"],
        values: &["--host", "--port", "-u", "-p", "--username", "--password"],
        plain: &["--eval", "-f", "--file"],
        visible: &["--shell"],
        max_operands: Some(1),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule {
        programs: SHELLS,
        values: &["-o", "-O", "--rcfile", "--init-file"],
        plain: &["-s", "-n"],
        visible: &["-i"],
        max_operands: Some(0),
        why: PROMPT,
        ..ANY
    },
    InteractiveRule { programs: &["su"], plain: &["-c", "--command"], why: PROMPT, ..ANY },
    InteractiveRule {
        programs: &["passwd", "chsh", "chfn"],
        plain: &["-S", "-l", "-u"],
        why: ASKS,
        ..ANY
    },
    // Debuggers.
    InteractiveRule {
        programs: &["gdb", "lldb"],
        words: true,
        plain: &["-batch", "--batch", "-b"],
        why: DEBUGGER,
        ..ANY
    },
    InteractiveRule {
        programs: &["pdb", "dlv", "jdb", "rust-gdb", "rust-lldb"],
        why: DEBUGGER,
        ..ANY
    },
    // Other machines and other terminals.
    InteractiveRule {
        programs: &["ssh"],
        values: &[
            "-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O",
            "-o", "-P", "-p", "-Q", "-R", "-S", "-W", "-w",
        ],
        plain: &["-N", "-f", "-O", "-Q", "-G", "-V", "-W", "-T"],
        visible: &["-t"],
        max_operands: Some(1),
        why: REMOTE,
        ..ANY
    },
    InteractiveRule { programs: &["mosh", "telnet", "ftp", "lftp", "minicom"], why: REMOTE, ..ANY },
    InteractiveRule { programs: &["sftp"], plain: &["-b"], why: REMOTE, ..ANY },
    InteractiveRule {
        programs: &["tmux"],
        values: TMUX,
        plain: &["-V"],
        max_operands: Some(0),
        why: MULTIPLEXER,
        ..ANY
    },
    InteractiveRule {
        programs: &["tmux"],
        globals: TMUX,
        subs: &["attach", "attach-session", "a", "at"],
        why: MULTIPLEXER,
        ..ANY
    },
    InteractiveRule {
        programs: &["tmux"],
        globals: TMUX,
        subs: &["new", "new-session"],
        values: &["-s", "-n", "-c", "-x", "-y", "-e", "-F", "-t", "-f"],
        plain: &["-d"],
        why: MULTIPLEXER,
        ..ANY
    },
    InteractiveRule {
        programs: &["screen"],
        plain: &["-ls", "-list", "-dmS", "-dm", "-X", "-wipe", "-v"],
        why: MULTIPLEXER,
        ..ANY
    },
    InteractiveRule { programs: &["zellij"], max_operands: Some(0), why: MULTIPLEXER, ..ANY },
    InteractiveRule { programs: &["zellij"], subs: &["attach", "a"], why: MULTIPLEXER, ..ANY },
    // Containers.
    InteractiveRule {
        programs: &["docker", "podman", "nerdctl"],
        globals: DOCKER,
        subs: &["exec", "run"],
        values: &[
            "-e",
            "--env",
            "-u",
            "--user",
            "-w",
            "--workdir",
            "-v",
            "--volume",
            "-p",
            "--name",
            "--network",
        ],
        needs: &["-t", "--tty"],
        visible: &["-t", "--tty"],
        max_operands: Some(0),
        why: INSIDE,
        ..ANY
    },
    InteractiveRule {
        programs: &["docker", "podman", "nerdctl"],
        globals: DOCKER,
        subs: &["attach"],
        why: INSIDE,
        ..ANY
    },
    InteractiveRule {
        programs: &["kubectl", "oc"],
        globals: KUBECTL,
        subs: &["exec", "run", "debug"],
        values: &["-n", "--namespace", "-c", "--container", "--image"],
        needs: &["-t", "--tty"],
        why: INSIDE,
        ..ANY
    },
    InteractiveRule {
        programs: &["kubectl", "oc"],
        globals: KUBECTL,
        subs: &["edit"],
        why: OPENS_EDITOR,
        ..ANY
    },
    // git.
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["commit"],
        values: &[
            "-S?",
            "-u?",
            "-m",
            "-F",
            "-C",
            "-t",
            "-c",
            "--message",
            "--file",
            "--author",
            "--date",
            "--reuse-message",
        ],
        plain: &[
            "-m",
            "--message",
            "-F",
            "--file",
            "-C",
            "--reuse-message",
            "--no-edit",
            "--fixup",
            "--dry-run",
            "-h",
        ],
        visible: &["-e", "--edit", "-p", "--patch", "--interactive", "-c", "--reedit-message"],
        why: OPENS_EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["rebase"],
        needs: &["-i", "--interactive", "--edit-todo"],
        values: &["-x", "--exec", "--onto", "-s", "-X"],
        why: OPENS_EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["add", "stage"],
        needs: &["-p", "--patch", "-i", "--interactive", "-e", "--edit"],
        why: ASKS,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["checkout", "restore", "reset", "stash"],
        needs: &["-p", "--patch"],
        why: ASKS,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["clean"],
        needs: &["-i", "--interactive"],
        why: ASKS,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["revert"],
        plain: &["--no-edit", "-n", "--no-commit", "--abort", "--quit", "--skip"],
        why: OPENS_EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["tag"],
        values: &["-m", "-F", "--message", "--file", "-u"],
        needs: &["-a", "-s", "--annotate", "--sign"],
        plain: &["-m", "-F", "--message", "--file"],
        why: OPENS_EDITOR,
        ..ANY
    },
    InteractiveRule {
        programs: &["git"],
        globals: GIT,
        subs: &["mergetool", "difftool"],
        why: OPENS_EDITOR,
        ..ANY
    },
];
