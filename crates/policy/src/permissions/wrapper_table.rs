//! Programs that start the command which follows their options: data.

/// How a program takes the command that it starts.
pub(super) struct Wrapper {
    pub(super) names: &'static [&'static str],
    /// Letters of options without and with a value, as in `getopt`.
    pub(super) flags: &'static str,
    pub(super) values: &'static str,
    /// Long options with a value.
    pub(super) longs: &'static [&'static str],
    /// Long options without one.
    pub(super) switches: &'static [&'static str],
    /// Options after which it starts nothing.
    pub(super) quiet: &'static [&'static str],
    /// Words that come before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may come before the command.
    pub(super) assigns: bool,
    /// Whether it starts the command with the same rights, in the same place.
    pub(super) is_transparent: bool,
    /// The options that change the folder.
    pub(super) folder: &'static [&'static str],
}

const WRAP: Wrapper = Wrapper {
    names: &[],
    flags: "",
    values: "",
    longs: &[],
    switches: &[],
    quiet: &["--help", "--version"],
    operands: 0,
    assigns: false,
    is_transparent: true,
    folder: &[],
};

/// Programs that start the command which follows their options.
pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["env", "genv"],
        flags: "i0v",
        values: "uCa",
        longs: &["--unset", "--chdir", "--argv0"],
        switches: &[
            "--ignore-environment",
            "--null",
            "--debug",
            "--list-signal-handling",
            "--block-signal",
            "--default-signal",
            "--ignore-signal",
        ],
        assigns: true,
        folder: &["-C", "--chdir"],
        ..WRAP
    },
    Wrapper {
        names: &["sudo"],
        flags: "AbBEHknNPS",
        values: "CghprtTuUDR",
        longs: &[
            "--close-from",
            "--group",
            "--host",
            "--prompt",
            "--chroot",
            "--role",
            "--type",
            "--command-timeout",
            "--user",
            "--other-user",
            "--chdir",
        ],
        switches: &[
            "--askpass",
            "--background",
            "--bell",
            "--preserve-env",
            "--set-home",
            "--reset-timestamp",
            "--non-interactive",
            "--no-update",
            "--preserve-groups",
            "--stdin",
        ],
        quiet: &[
            "-K",
            "-l",
            "-v",
            "-V",
            "--remove-timestamp",
            "--list",
            "--validate",
            "--version",
            "--help",
        ],
        assigns: true,
        is_transparent: false,
        folder: &["-D", "--chdir"],
        ..WRAP
    },
    Wrapper { names: &["doas"], flags: "nL", values: "uCa", is_transparent: false, ..WRAP },
    Wrapper {
        names: &["pkexec"],
        longs: &["--user"],
        switches: &["--disable-internal-agent", "--keep-cwd"],
        is_transparent: false,
        ..WRAP
    },
    Wrapper {
        names: &[
            "nohup",
            "chronic",
            "caffeinate",
            "unbuffer",
            "fakeroot",
            "dbus-run-session",
            "noglob",
            "nocorrect",
            "-",
            "catchsegv",
            "eatmydata",
            "proxychains",
            "proxychains4",
            "torsocks",
            "tsocks",
        ],
        flags: "veisudmpq",
        ..WRAP
    },
    Wrapper { names: &["setsid"], flags: "cfw", switches: &["--ctty", "--fork", "--wait"], ..WRAP },
    Wrapper {
        names: &["nice"],
        values: "n",
        flags: "0123456789",
        longs: &["--adjustment"],
        ..WRAP
    },
    Wrapper {
        names: &["ionice"],
        flags: "t",
        values: "cn",
        longs: &["--class", "--classdata"],
        switches: &["--ignore"],
        ..WRAP
    },
    Wrapper {
        names: &["time", "gtime"],
        flags: "pvaq",
        values: "fo",
        longs: &["--format", "--output"],
        switches: &["--portability", "--append", "--verbose", "--quiet"],
        ..WRAP
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        flags: "vfp",
        values: "sk",
        longs: &["--signal", "--kill-after"],
        switches: &["--preserve-status", "--foreground", "--verbose"],
        operands: 1,
        ..WRAP
    },
    Wrapper {
        names: &["stdbuf", "gstdbuf"],
        values: "ioe",
        longs: &["--input", "--output", "--error"],
        ..WRAP
    },
    Wrapper {
        names: &["taskset"],
        flags: "ac",
        switches: &["--all-tasks", "--cpu-list"],
        operands: 1,
        ..WRAP
    },
    Wrapper {
        names: &["chrt"],
        flags: "abdfiorRv",
        values: "TPD",
        switches: &["--batch", "--fifo", "--idle", "--other", "--rr"],
        operands: 1,
        ..WRAP
    },
    Wrapper {
        names: &["setarch"],
        flags: "vRFZLXBIST3",
        switches: &["--uname-2.6"],
        operands: 1,
        ..WRAP
    },
    Wrapper { names: &["linux32", "linux64", "i386", "x86_64"], flags: "vRFZLXBIST3", ..WRAP },
    Wrapper {
        names: &["strace", "ltrace"],
        flags: "cCdfFhiknqrtTvVwyYzZ",
        values: "abeEIoOpPsSuUX",
        ..WRAP
    },
    Wrapper { names: &["exec"], flags: "cl", values: "a", ..WRAP },
    Wrapper { names: &["command"], flags: "p", quiet: &["-v", "-V"], ..WRAP },
    Wrapper { names: &["builtin"], ..WRAP },
    Wrapper {
        names: &["busybox", "toybox"],
        quiet: &["--list", "--list-full", "--install", "--help"],
        ..WRAP
    },
    Wrapper {
        names: &["ld-linux*", "ld-musl*", "ld.so", "ld64.so*"],
        longs: &["--library-path", "--argv0"],
        switches: &["--list", "--inhibit-cache", "--verify"],
        ..WRAP
    },
    Wrapper {
        names: &["chroot"],
        longs: &["--userspec", "--groups"],
        switches: &["--skip-chdir"],
        operands: 1,
        is_transparent: false,
        ..WRAP
    },
    Wrapper {
        names: &["unshare"],
        flags: "imnpuUfrcCT",
        values: "SGRw",
        longs: &[
            "--mount-proc",
            "--map-user",
            "--map-group",
            "--setuid",
            "--setgid",
            "--root",
            "--wd",
        ],
        is_transparent: false,
        ..WRAP
    },
    Wrapper {
        names: &[
            "runuser",
            "setpriv",
            "capsh",
            "nsenter",
            "bwrap",
            "firejail",
            "systemd-run",
            "proot",
            "sg",
            "newgrp",
            "rlwrap",
            "xvfb-run",
            "dbus-launch",
            "valgrind",
            "prlimit",
            "cpulimit",
            "numactl",
            "cgexec",
            "uvx",
            "npx",
            "bunx",
            "pnpx",
            "open",
            "xdg-open",
            "ssh-agent",
            "aa-exec",
            "trickle",
            "flock",
            "hyperfine",
            "entr",
            "ts",
            "tee-exec",
            "systemd-inhibit",
            "tini",
            "dumb-init",
            "catatonit",
            "softlimit",
            "pgrphack",
            "with-contenv",
            "torify",
            "ifne",
            "heaptrack",
            "bear",
            "scan-build",
            "ccache",
            "distcc",
            "sccache",
            "choom",
            "uclampset",
            "schedtool",
            "gksudo",
            "gksu",
            "kdesu",
            "run0",
            "wsl",
            "flatpak-spawn",
            "nsjail",
            "minijail0",
            "dotenv",
            "env-cmd",
            "winpty",
            "zx",
            "xdg-terminal-exec",
            "x-terminal-emulator",
            "reptyr",
            "empty",
        ],
        is_transparent: false,
        ..WRAP
    },
    Wrapper {
        names: &["cross-env", "cross-env-shell"],
        assigns: true,
        is_transparent: false,
        ..WRAP
    },
    Wrapper {
        names: &[
            "gosu",
            "su-exec",
            "setuidgid",
            "envuidgid",
            "s6-setuidgid",
            "envdir",
            "s6-envdir",
            "setlock",
            "faketime",
            "datefudge",
            "logsave",
            "runcon",
            "gdbserver",
        ],
        operands: 1,
        is_transparent: false,
        ..WRAP
    },
    Wrapper { names: &["chpst"], flags: "vP012", values: "uUbenldosmpfcrt/", ..WRAP },
    Wrapper {
        names: &["xargs", "gxargs"],
        flags: "0rtpxo",
        values: "adEILnPs",
        longs: &[
            "--arg-file",
            "--delimiter",
            "--max-lines",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--process-slot-var",
        ],
        switches: &[
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--interactive",
            "--exit",
            "--open-tty",
        ],
        ..WRAP
    },
];
