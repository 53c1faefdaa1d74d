//! Why a file that is there and executable could not be executed, as a sentence.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use paned_model::frame::SpawnRequest;

/// As much of a file as is read to find its interpreter.
const HEAD: u64 = 256;
/// What Linux allows for one argument or variable: `MAX_ARG_STRLEN`.
const LONGEST_TEXT: usize = 128 << 10;

/// A sentence for an error of `exec` whose own text would mislead; `None` for all others.
pub(crate) fn explain(request: &SpawnRequest, error: &io::Error) -> Option<String> {
    let name = request.program.escape_debug();
    let why = match error.raw_os_error()? {
        libc::ENOEXEC => no_format(Path::new(&request.program)),
        libc::ENOENT => no_interpreter(Path::new(&request.program))?,
        libc::E2BIG => too_large(request),
        _ => return None,
    };
    Some(format!("cannot run `{name}`: {why}"))
}

/// The system does not know the file's format.
fn no_format(file: &Path) -> String {
    let head = head(file).unwrap_or_default();
    if head.is_empty() {
        return "the file is empty".to_owned();
    }
    if head.contains(&0) {
        return "it is not a program for this machine".to_owned();
    }
    "it has no `#!` line; a script needs a first line such as `#!/bin/sh`".to_owned()
}

/// The file exists, so what is missing is the program that is to run it.
fn no_interpreter(file: &Path) -> Option<String> {
    let head = head(file)?;
    let Some(line) = head.strip_prefix(b"#!") else {
        let sentence = "the loader for this program is missing; it may be built for another system";
        return head.starts_with(b"\x7fELF").then(|| sentence.to_owned());
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line).into_owned();
    let interpreter = line.split([' ', '\t']).find(|word| !word.is_empty())?;
    let hint = match interpreter.ends_with('\r') {
        true => "; the file has Windows line ends",
        false => "",
    };
    let interpreter = interpreter.escape_debug();
    Some(format!(
        "bad interpreter: its first line names `{interpreter}`, which does not exist{hint}"
    ))
}

/// The arguments and the environment are larger than the system allows.
fn too_large(request: &SpawnRequest) -> String {
    let long =
        request.env.iter().find(|(name, value)| LONGEST_TEXT <= name.len() + value.len() + 2);
    if let Some((name, value)) = long {
        let bytes = value.len();
        return format!(
            "the variable `{}` has {bytes} bytes, more than this system passes to a program",
            name.escape_debug()
        );
    }
    if let Some(arg) = request.argv.iter().find(|arg| LONGEST_TEXT <= arg.len() + 1) {
        let bytes = arg.len();
        return format!("an argument has {bytes} bytes, more than this system passes to a program");
    }
    let env: usize = request.env.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    let argv: usize = request.argv.iter().map(|arg| arg.len() + 1).sum();
    format!(
        "its arguments ({argv} bytes) and environment ({env} bytes) are together larger than this \
         system passes to a program"
    )
}

fn head(file: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &[u8], explain: impl Fn(&Path) -> Option<String>, expected: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        std::fs::write(&file, content).unwrap();
        let sentence = explain(&file);
        match expected {
            Some(part) => {
                assert!(sentence.as_ref().is_some_and(|it| it.contains(part)), "{sentence:?}")
            }
            None => assert_eq!(sentence, None),
        }
    }

    #[test]
    fn each_file_that_cannot_be_executed_has_its_reason() {
        let format = |file: &Path| Some(no_format(file));
        check(b"echo hello\n", format, Some("no `#!` line"));
        check(b"", format, Some("empty"));
        check(b"\x7fELF\0\0", format, Some("not a program for this machine"));
        check(b"#! /no/such -x\necho", no_interpreter, Some("names `/no/such`"));
        check(b"#!/bin/sh\r\n", no_interpreter, Some("Windows line ends"));
        check(b"\x7fELF\x02", no_interpreter, Some("loader"));
        check(b"text", no_interpreter, None);
    }
}
