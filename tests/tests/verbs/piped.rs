//! `paned run` with standard input from a pipe.

use std::io::Write;
use std::process::{Output, Stdio};
use std::thread;

use paned_e2e::Server;

/// Runs a program with this input; `args` are those of `paned run`.
#[track_caller]
fn run(server: &Server, args: &[&str], input: Vec<u8>) -> Output {
    let args: Vec<&str> = ["run"].iter().chain(args).copied().collect();
    let mut command = server.command(&args);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program may end before it has read everything.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[track_caller]
fn check(input: &[u8], argv: &[&str], expect: &str) {
    let server = Server::start();
    let argv: Vec<&str> = ["--"].iter().chain(argv).copied().collect();
    let output = run(&server, &argv, input.to_vec());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expect, "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn lines_arrive_once_and_end() {
    check(b"hi\nthere\n", &["cat"], "hi\nthere\n");
}

#[test]
fn a_last_line_without_an_end_arrives() {
    check(b"hi", &["sh", "-c", "cat; echo ."], "hi.\n");
}

#[test]
fn no_input_is_an_end() {
    check(b"", &["sh", "-c", "cat; echo over"], "over\n");
}

#[test]
fn control_bytes_arrive_unchanged() {
    let bytes: Vec<u8> = (0..=255).collect();
    let all: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let hex = "od -An -v -tx1 | tr -d ' \\n'; echo";
    check(&bytes, &["sh", "-c", hex], &format!("{}\n", all.concat()));
}

#[test]
fn a_megabyte_in_one_line_and_in_many_arrives_complete() {
    let server = Server::start();
    let one = vec![b'x'; 1 << 20];
    let output = run(&server, &["--", "wc", "-c"], one);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1048576");
    let many = "0123456789abcde\n".repeat(1 << 16).into_bytes();
    let count = "sort | uniq -c | tr -s ' '";
    let output = run(&server, &["--", "sh", "-c", count], many);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "65536 0123456789abcde");
}

#[test]
fn a_program_that_does_not_read_ends_all_the_same() {
    let server = Server::start();
    let output = run(&server, &["--", "sh", "-c", "exit 7"], vec![b'x'; 4 << 20]);
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn over_tcp_the_server_types() {
    let server = Server::start();
    let (url, token) = (format!("http://{}", server.authority()), server.token());
    let args = ["--url", &url, "--token", &token, "run", "--", "cat"];
    let mut command = server.command(&args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"from afar\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "from afar\n");
}
