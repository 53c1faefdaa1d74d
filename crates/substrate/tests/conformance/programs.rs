//! The programs that laws are tried with. The word after a script names the part, for [`super::players`].

use paned_substrate::Program;

/// Prints lines with numbers, and stays.
pub(crate) fn print(lines: usize) -> Program {
    let script = r#"i=1; while [ $i -le $1 ]; do echo "line $i"; i=$((i + 1)); done; exec cat"#;
    Program::new(["sh", "-c", script, "print", &lines.to_string()])
}

/// Prints this, with `printf`, and stays.
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

/// Says `ready`, and `caught` for each interrupt.
pub(crate) fn catch() -> Program {
    let script = "trap 'echo caught' INT; echo ready; while :; do read x; done";
    Program::new(["sh", "-c", script, "catch"])
}

/// Says `ready`, and rows and columns of its terminal for each line it gets.
pub(crate) fn size() -> Program {
    Program::new(["sh", "-c", "echo ready; while read x; do stty size; done", "size"])
}

/// Says its process, and stays.
pub(crate) fn pid() -> Program {
    Program::new(["sh", "-c", "echo $$; exec cat", "pid"])
}

/// Says the variable `WORD` and where it is, and stays.
pub(crate) fn place() -> Program {
    Program::new(["sh", "-c", r#"echo "$WORD"; pwd; exec cat"#, "place"])
}

/// Asks its terminal where the cursor is, and shows the answer.
pub(crate) fn ask() -> Program {
    let script = "stty -icanon -echo min 1; printf 'one\\ntwo\\033[6n'; \
                  dd bs=1 count=6 2>/dev/null | cat -v; exec cat";
    Program::new(["sh", "-c", script, "ask"])
}
