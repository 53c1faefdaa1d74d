//! The programs that the laws use. The word after a script names it for [`super::fake_scripts`].

use paned_substrate::Program;

/// Prints numbered lines, then runs `cat`.
pub(crate) fn print(lines: usize) -> Program {
    let script = r#"i=1; while [ $i -le $1 ]; do echo "line $i"; i=$((i + 1)); done; exec cat"#;
    Program::new(["sh", "-c", script, "print", &lines.to_string()])
}

/// Prints this with `printf`, then runs `cat`.
pub(crate) fn say(text: &str) -> Program {
    Program::new(["sh", "-c", r#"printf "$1"; exec cat"#, "say", text])
}

pub(crate) fn cat() -> Program {
    Program::new(["cat"])
}

/// Prints this and `ready`, then shows every byte that is typed, as `cat -vet` does.
pub(crate) fn bytes(first: &str) -> Program {
    let script = "stty -icanon -isig -iexten -ixon -icrnl -echo min 1; printf \"$1ready\\n\"; \
                  exec cat -vet";
    Program::new(["sh", "-c", script, "bytes", first])
}

/// Prints `ready`, and `caught` for each interrupt.
pub(crate) fn catch() -> Program {
    let script = "trap 'echo caught' INT; echo ready; while :; do read x; done";
    Program::new(["sh", "-c", script, "catch"])
}

/// Prints `ready`, and rows and columns of its terminal for each line it gets.
pub(crate) fn size() -> Program {
    Program::new(["sh", "-c", "echo ready; while read x; do stty size; done", "size"])
}

/// Prints its pid, then runs `cat`.
pub(crate) fn pid() -> Program {
    Program::new(["sh", "-c", "echo $$; exec cat", "pid"])
}

/// Prints the variable `WORD` and its folder, then runs `cat`.
pub(crate) fn place() -> Program {
    Program::new(["sh", "-c", r#"echo "$WORD"; pwd; exec cat"#, "place"])
}

/// Queries the cursor position, and prints the reply.
pub(crate) fn ask() -> Program {
    let script = "stty -icanon -echo min 1; printf 'one\\ntwo\\033[6n'; \
                  dd bs=1 count=6 2>/dev/null | cat -v; exec cat";
    Program::new(["sh", "-c", script, "ask"])
}
