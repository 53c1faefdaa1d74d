//! Readers of output: over the WebSocket during the run, by `pane:read` when a pane has ended.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use paned_model::Code;
use serde_json::{Value, json};

use super::client::Outcome;
use super::ledger::{Entry, Invariant};
use super::run_state::{ChaosRun, pause};
use crate::{Frame, Socket};

/// How long a socket may be silent before it is opened anew.
const SILENCE: Duration = Duration::from_millis(400);

/// Several channels over one socket.
struct Follower<'a> {
    world: &'a ChaosRun,
    socket: Socket,
    /// Panes that were asked for, by the id of the request.
    asked: HashMap<u64, String>,
    channels: HashMap<u64, String>,
}

/// Follows every pane of this share, `0..shares`, until the run is over. Connections are closed and
/// opened again all the time.
pub(super) fn follow(world: &ChaosRun, share: usize, shares: usize) {
    let mut dice = world.rng(400 + share as u64);
    while world.is_running() {
        let patience = Duration::from_millis(300 + dice.below(4000));
        let panes: Vec<Entry> = world
            .ledger
            .open()
            .into_iter()
            .filter(|entry| number(&entry.id) % shares == share)
            .collect();
        let _ = follow_once(world, &panes, patience);
        pause(&mut dice, 100);
    }
}

fn number(id: &str) -> usize {
    id.trim_start_matches('p').parse().unwrap_or(0)
}

/// Follows these panes for a while; ends early when the connection does.
fn follow_once(world: &ChaosRun, panes: &[Entry], patience: Duration) -> io::Result<()> {
    let mut socket = Socket::open_within(&world.socket, SILENCE)?;
    let mut asked = HashMap::new();
    for (id, pane) in (0..).zip(panes) {
        let next = world.ledger.inputs(&pane.id, |inputs| inputs.checker.next());
        let Some(next) = next else { continue };
        socket.send(&json!({ "type": "subscribe", "id": id, "pane": pane.id, "since": next }));
        asked.insert(id, pane.id.clone());
    }
    let mut follower = Follower { world, socket, asked, channels: HashMap::new() };
    let end = Instant::now() + patience;
    while Instant::now() < end && world.is_running() {
        match follower.socket.try_next()? {
            Frame::Message(said) => follower.handle_message(&said),
            Frame::Output(channel, offset, bytes) => follower.take(channel, offset, &bytes),
            Frame::Screen(..) => {}
        }
    }
    Ok(())
}

impl Follower<'_> {
    fn handle_message(&mut self, said: &Value) {
        match said["type"].as_str() {
            Some("subscribed") => {
                let pane = said["id"].as_u64().and_then(|id| self.asked.remove(&id));
                if let (Some(channel), Some(pane)) = (said["channel"].as_u64(), pane) {
                    self.channels.insert(channel, pane);
                }
            }
            Some("gap") => self.skip(said),
            Some("error") => {
                let pane = said["id"].as_u64().and_then(|id| self.asked.remove(&id));
                self.refused(&pane.unwrap_or_default(), said);
            }
            Some("exit") => self.ended(said),
            _ => {}
        }
    }

    /// An offset that is beyond the end says that bytes were lost.
    fn refused(&self, pane: &str, said: &Value) {
        self.world.ledger.log.line(&format!("no output of {pane}: {said}"));
        let is_lost = said["code"] == "invalid" && said["error"].to_string().contains("printed");
        let is_internal = said["code"] == "internal";
        let is_whole = self.world.ledger.get(pane).is_some_and(|entry| !entry.operations.damaged);
        if (is_lost || is_internal) && is_whole {
            self.world.ledger.fail(Invariant::Output, format!("{pane}: {said}"));
        }
    }

    fn skip(&self, said: &Value) {
        let pane = said["channel"].as_u64().and_then(|channel| self.channels.get(&channel));
        let (Some(pane), Some(to)) = (pane, said["to"].as_u64()) else { return };
        let from = self.world.ledger.inputs(pane, |inputs| {
            let from = inputs.checker.next();
            (!inputs.is_audited).then(|| {
                inputs.checker.skip_to(to);
                from
            })
        });
        let Some(from) = from.flatten() else { return };
        let text = format!("a gap in {pane} from {from}: {said}");
        self.world.ledger.log.line(&text);
        self.world.ledger.figure("gaps told");
        let entry = self.world.ledger.get(pane);
        // A mirror prints less than a tape holds while its readers are away.
        if Some(from) != said["from"].as_u64() || entry.is_some_and(|entry| entry.kind.is_mirror())
        {
            self.world.ledger.fail(Invariant::Output, text);
        }
    }

    fn take(&mut self, channel: u32, offset: u64, bytes: &[u8]) {
        let Some(pane) = self.channels.get(&u64::from(channel)) else { return };
        take(self.world, Reader::Follower, pane, offset, bytes);
        let end = offset + bytes.len() as u64;
        self.socket.send(&json!({ "type": "ack", "channel": channel, "offset": end }));
    }

    fn ended(&self, said: &Value) {
        let pane = said["channel"].as_u64().and_then(|channel| self.channels.get(&channel));
        let Some(entry) = pane.and_then(|pane| self.world.ledger.get(pane)) else { return };
        let next = self
            .world
            .ledger
            .inputs(&entry.id, |inputs| (!inputs.is_audited).then(|| inputs.checker.next()));
        let next = next.flatten();
        let status = said["status"].as_str().unwrap_or_default();
        let allowed = entry.allows(status, said["exitCode"].as_u64());
        let is_whole =
            next.is_none() || next == said["offset"].as_u64() || entry.operations.damaged;
        self.world.ledger.check(Invariant::Exits, allowed && is_whole, || {
            format!("{} ended as {said}, at {next:?}: {entry:?}", entry.id)
        });
    }
}

/// Which of the two reads a pane.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Follower,
    Auditor,
}

/// Checks bytes that a pane has printed.
fn take(world: &ChaosRun, reader: Reader, pane: &str, offset: u64, bytes: &[u8]) {
    let is_damaged = world.ledger.get(pane).is_none_or(|entry| entry.operations.damaged);
    if is_damaged {
        return;
    }
    let checked = world.ledger.inputs(pane, |inputs| {
        let is_due = inputs.is_audited == (reader == Reader::Auditor);
        is_due.then(|| inputs.printed(offset, bytes))
    });
    let Some(checked) = checked.flatten() else { return };
    match checked {
        Ok(count) => {
            world.ledger.held(Invariant::Input, count);
            world.ledger.held(Invariant::Output, bytes.len() as u64);
        }
        // Damage may have come between the two.
        Err(_) if world.ledger.get(pane).is_none_or(|entry| entry.operations.damaged) => {}
        Err(error) => world.ledger.fail(Invariant::Output, format!("{pane}: {error}")),
    }
}

/// Reads what is left of a pane's output up to its end; false when it was not answered.
pub(super) fn read_on(world: &ChaosRun, pane: &str) -> bool {
    world.ledger.inputs(pane, |inputs| inputs.is_audited = true);
    loop {
        let next = world.ledger.inputs(pane, |inputs| inputs.checker.next());
        let Some(next) = next else { return true };
        let params = json!({ "paneId": pane, "view": "raw", "since": next, "limit": 262_144 });
        let answer = match world.call("pane:read", &params) {
            Outcome::Accepted(answer) => answer,
            Outcome::Refused(refusal) if refusal.code == Code::Invalid => {
                let text = format!("{pane} cannot be read from {next} on: {}", refusal.sentence);
                world.ledger.fail(Invariant::Output, text);
                return false;
            }
            Outcome::Refused(_) | Outcome::Unanswered(_) => return false,
        };
        if answer["gap"].is_object() {
            let first = answer["next"].as_u64().unwrap_or(0) - bytes_of(&answer).len() as u64;
            world.ledger.log.line(&format!("a gap in {pane} from {next} to {first}"));
            world.ledger.figure("gaps told");
            world.ledger.inputs(pane, |inputs| inputs.checker.skip_to(first));
            take(world, Reader::Auditor, pane, first, &bytes_of(&answer));
        } else {
            take(world, Reader::Auditor, pane, next, &bytes_of(&answer));
        }
        if answer["next"] == answer["total"] || world.ledger.has_failed() {
            return true;
        }
    }
}

fn bytes_of(answer: &Value) -> Vec<u8> {
    match (answer["raw"].as_str(), answer["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(coded)) => BASE64_STANDARD.decode(coded).unwrap_or_default(),
        (None, None) => Vec::new(),
    }
}
