//! A synthetic log: always the same lines, of words in pseudo-random order.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use paned_model::frame::NOTIFY_WINDOW;

use crate::error::{Error, IoContext};
use crate::http::Client;
use crate::plan::Plan;
use crate::server::{self, Server};

/// How many lines it has.
pub(crate) const LINES: u64 = 50_000;
/// What is in one line only.
pub(crate) const RARE: &str = "needle-7c1f";
/// What is in none.
pub(crate) const NOWHERE: &str = "haystack-0000";

/// How long printing it may take.
const PATIENCE: Duration = Duration::from_secs(60);

const LEVELS: [&str; 4] = ["INFO", "DEBUG", "WARN", "ERROR"];
const WORDS: [&str; 12] = [
    "request", "failed", "thread", "worker", "panicked", "after", "retry", "cache", "miss", "user",
    "stream", "closed",
];
const FILES: [&str; 4] = ["net/socket.rs", "store/index.rs", "http/route.rs", "main/loop.rs"];

/// The log, about 83 bytes a line.
pub(crate) fn text() -> String {
    let mut rng = 1_u64;
    (0..LINES).map(|n| line(n, &mut rng)).collect()
}

fn line(n: u64, rng: &mut u64) -> String {
    let word = (0..6).map(|_| pick(rng, &WORDS)).collect::<Vec<_>>().join(" ");
    let level = pick(rng, &LEVELS);
    let file = pick(rng, &FILES);
    let rare = if n == LINES / 3 { RARE } else { "" };
    format!("{:010} {level} {file} {} {word} took {} ms {rare}\n", n * 37, n % 997, n % 331)
}

/// One of these, by Knuth's linear congruential generator.
fn pick<'a>(rng: &mut u64, from: &[&'a str]) -> &'a str {
    *rng = rng.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    from[(*rng >> 33) as usize % from.len()]
}

/// Writes it to a file.
pub(crate) fn write(plan: &Plan) -> Result<PathBuf, Error> {
    let path = plan.scratch().join("log.txt");
    fs::write(&path, text()).doing("write a log")?;
    Ok(path)
}

/// Prints it in this number of panes; returns them once they have exited.
pub(crate) fn print(server: &Server, plan: &Plan, panes: usize) -> Result<Vec<String>, Error> {
    let argv = ["/bin/cat".to_owned(), write(plan)?.to_string_lossy().into_owned()];
    let mut exits = server.exits()?;
    let mut client = server.client()?;
    let panes: Result<Vec<_>, _> = (0..panes).map(|_| server::open(&mut client, &argv)).collect();
    let panes = panes?;
    exits.await_all(&panes)?;
    Ok(panes)
}

/// Sends this number of requests; returns how long each took.
pub(crate) fn ask(
    client: &mut Client,
    action: &str,
    params: &str,
    count: u64,
) -> Result<Vec<Duration>, Error> {
    let one = || {
        let begun = Instant::now();
        client.post(action, params)?;
        Ok(begun.elapsed())
    };
    std::iter::repeat_with(one).take(count as usize).collect()
}

/// Waits until a pane has printed it, and the server has processed it: it acknowledges the last of
/// it only with more output.
pub(crate) fn await_lines(server: &Server, pane: &str) -> Result<(), Error> {
    let tape = server.state.tape(pane)?;
    let begun = Instant::now();
    while tape.lines() < LINES || tape.taken() + NOTIFY_WINDOW.bytes < tape.end() {
        if PATIENCE < begun.elapsed() {
            return Err(Error::Timeout { what: "a log".into(), limit: PATIENCE });
        }
        std::thread::yield_now();
    }
    Ok(())
}
