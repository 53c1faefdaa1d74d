//! The protocol between server and keeper: length-prefixed frames, versioned, with unknown parts
//! skipped.
//!
//! A frame is a little-endian `u32` length, one kind byte, and a body of `length - 1` bytes. Bodies
//! that carry bytes or one number are binary; the others are JSON objects, whose unknown fields are
//! skipped. An unknown kind is skipped whole. So an old keeper serves a new server, and the other
//! way round: `crates/model/tests/keeper_frames.rs` checks it against the frames of 0.1.0.

mod codec;

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{Exit, PaneId, Size, Time};

pub use codec::{BadFrame, FrameDecoder, FrameMessage};

/// The protocol's version. Raised only when a frame changes its meaning, never for an addition.
pub const VERSION: u32 = 1;

/// The longest frame either side accepts.
pub const MAX_FRAME: usize = 4 << 20;

/// How far a keeper notifies ahead of a client's acks: this many bytes in this many frames of
/// [`FromKeeper::TapeEnd`], then it waits for [`ToKeeper::Ack`]. A client acks at the latest when
/// it has received half of either.
pub const NOTIFY_WINDOW: NotifyWindow = NotifyWindow { bytes: 4 << 10, frames: 64 };

/// Everything is acknowledged.
pub const EMPTY_WINDOW: NotifyWindow = NotifyWindow { bytes: 0, frames: 0 };

/// See [`NOTIFY_WINDOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifyWindow {
    /// How many bytes.
    pub bytes: u64,
    /// How many frames.
    pub frames: u32,
}

/// Everything a keeper needs to spawn one pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnRequest {
    /// The pane's name.
    pub id: PaneId,
    /// The tape file to make.
    pub tape: String,
    /// The socket to listen on.
    pub socket: String,
    /// The program's file.
    pub program: String,
    /// The arguments, the program's own name first.
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// Where to start it.
    pub cwd: String,
    /// How large its terminal is.
    pub size: Size,
    /// How many bytes of output to keep.
    pub capacity: u64,
    /// How many of the last lines can be read; defaults to all that are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<NonZeroU64>,
    /// Kill the program after this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long a program may take to exit after `SIGTERM`, before it gets `SIGKILL`.
    pub grace_ms: u64,
    /// Whether a client is about to [`ToKeeper::Follow`] it: no output is overwritten before that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub followed: bool,
    /// Whether a client pipes input into the program: its terminal then echoes nothing, and no
    /// byte but the end of input has a meaning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub piped_input: bool,
    /// The program's file mode creation mask; defaults to the keeper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
}

/// Everything a pipe recorder needs to record the output of an adopted tmux pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordRequest {
    /// The tape file to make.
    pub tape: String,
    /// The pane's process.
    pub pid: u32,
    /// How large its terminal is.
    pub size: Size,
    /// How many bytes of output to keep.
    pub capacity: u64,
    /// How many of the last lines can be read; defaults to all that are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<NonZeroU64>,
}

/// The role of a keeper's client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientRole {
    /// The server: while it is connected, bytes it has not acknowledged are not overwritten.
    Server,
    /// A client that views the pane.
    Viewer,
}

/// A request's number; the response carries the same.
pub type RequestId = u64;

/// A message from a client to a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToKeeper {
    /// The client's version and role. First frame of every connection.
    Hello(Hello),
    /// Spawn this pane. Only on a keeper's first connection.
    Spawn(Box<SpawnRequest>),
    /// Record the output of an adopted pane. Only to a pipe recorder, as its first request; input
    /// before it is what the pane had printed until then.
    Record(Box<RecordRequest>),
    /// Type these bytes.
    Input(RequestId, Vec<u8>),
    /// Type these bytes if the guard holds; else [`RefusalReason::Stale`]. They do not count as
    /// typed by a user.
    GuardedInput(RequestId, InputGuard, Vec<u8>),
    /// Set the terminal's size.
    Resize(Resize),
    /// Kill the program and all that it started.
    Kill(Kill),
    /// The client has processed everything before this offset.
    Ack(u64),
    /// This holder of the size, on this connection, releases it. No response;
    /// [`FromKeeper::SizeHolder`] reports it.
    Release(Release),
    /// The client must not miss output: the program waits rather than that bytes are overwritten
    /// which the client has not [`ToKeeper::Ack`]. No response.
    Follow(Follow),
    /// Type these one after the other, each by itself, with no other input in between: all or none.
    InputParts(RequestId, Vec<Vec<u8>>),
    /// Send the program this signal.
    Signal(SignalRequest),
    /// A user types into another pane: for this many milliseconds, throttle a program that prints
    /// without end. No response.
    Throttle(u64),
}

/// A message from a keeper to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromKeeper {
    /// The keeper's version and state; the answer to [`ToKeeper::Hello`], and to a
    /// [`ToKeeper::Spawn`] that succeeded.
    Welcome(Welcome),
    /// The pane could not be spawned.
    SpawnFailed(SpawnFailure),
    /// The tape now ends here. Sent without waiting for [`ToKeeper::Ack`] as far as
    /// [`NOTIFY_WINDOW`] allows.
    TapeEnd(u64),
    /// The program has ended, and the tape holds its last byte.
    Exited(ExitRecord),
    /// Another client has set the terminal's size.
    Resized(Size),
    /// The current holder of the terminal's size.
    SizeHolder(SizeHolder),
    /// The response to a request.
    Response(KeeperResponse),
    /// Another client has typed; this is the count of [`Welcome::typed`] now.
    Typed(u64),
    /// What another client has typed, as keys; a star stands for each run of text.
    KeysPressed(Vec<u8>),
    /// Whether a server is connected, which answers the program's terminal queries. Sent to
    /// viewers.
    ServerPresent(bool),
}

/// What must still hold when bytes are written: that nothing has happened since the client's last
/// observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputGuard {
    /// The tape still ends here: nothing was printed. Earlier input must not wait to be read
    /// either, or it is [`RefusalReason::Unread`].
    pub end: Option<u64>,
    /// The count of [`Welcome::typed`] is still this: no client has typed without a guard.
    pub typed: Option<u64>,
}

/// See [`ToKeeper::Hello`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// [`VERSION`] of the client.
    pub version: u32,
    /// Its role.
    pub role: ClientRole,
}

/// See [`ToKeeper::Resize`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resize {
    /// The request.
    pub id: RequestId,
    /// The new size.
    pub size: Size,
    /// The name of the size's new holder; without one, the size is set and not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whether to take it from its holder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// See [`ToKeeper::Release`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// The name under which it took the size.
    pub holder: String,
}

/// See [`FromKeeper::SizeHolder`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeHolder {
    /// The holder's name; nothing if the size is free.
    pub holder: Option<String>,
    /// Whether the size was set by force and is not held. Clients that wait for the size
    /// continue to wait, or the forced size would not last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
}

/// See [`ToKeeper::Follow`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Follow {
    /// The offset of the first byte that matters.
    pub from: u64,
    /// Whether the program is to end when this connection does.
    pub owns: bool,
}

/// See [`ToKeeper::Signal`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignalRequest {
    /// The request.
    pub id: RequestId,
    /// The signal's number. `SIGINT` and `SIGQUIT` are typed as keys where the terminal has a key
    /// for them.
    pub signal: u8,
}

/// See [`ToKeeper::Kill`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kill {
    /// The request.
    pub id: RequestId,
    /// How long to wait between `SIGTERM` and `SIGKILL`.
    pub grace_ms: u64,
}

/// See [`FromKeeper::Welcome`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Welcome {
    /// [`VERSION`] of the keeper.
    pub version: u32,
    /// The keeper's own process.
    pub keeper: u32,
    /// The program's process.
    pub pid: u32,
    /// When the program was started.
    pub started: Time,
    /// How many writes had user input; a pipe recorder types nothing and does not send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<u64>,
    /// Whether a server is connected.
    pub served: bool,
    /// How many frames its [`NOTIFY_WINDOW`] has.
    pub frames: u32,
    /// How many guarded writes with a condition it has done, for any client; not sent by a pipe
    /// recorder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
}

/// See [`FromKeeper::SpawnFailed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnFailure {
    /// What went wrong, as a clause.
    pub reason: String,
    /// Whether the request was invalid, rather than the machine at fault.
    pub invalid: bool,
    /// Whether a limit of the machine was reached that can be raised: of processes or of open
    /// files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limit: bool,
}

/// How a pane's program ended. Recorded on the tape and sent to every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitRecord {
    /// The program's own code or signal, where it is known.
    pub exit: Option<Exit>,
    /// Whether it was killed and every process of it is gone.
    pub killed: bool,
    /// Whether its time-out ended it.
    pub timed_out: bool,
    /// When it ended.
    pub at: Time,
}

/// See [`FromKeeper::Response`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperResponse {
    /// The request that is answered.
    pub id: RequestId,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusalReason>,
    /// The processes that outlived a kill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// The holder of the size that was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whether a typed line is longer than the terminal's line editor accepts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub long_line: bool,
    /// The count of [`Welcome::typed`], this write included; for requests to type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<u64>,
    /// The answer to [`ToKeeper::GuardedInput`]: see [`Welcome::guarded`], this write included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
}

impl KeeperResponse {
    /// It was done, and there is nothing to add.
    #[must_use]
    pub fn ok(id: RequestId) -> Self {
        Self {
            id,
            refused: None,
            survivors: Vec::new(),
            holder: None,
            long_line: false,
            typed: None,
            guarded: None,
        }
    }
}

/// Why a keeper refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalReason {
    /// The program has ended.
    Gone,
    /// The program does not read, and the queue for it is full.
    Full,
    /// Another client holds the terminal's size.
    Held,
    /// The system refused it, the request was invalid, or this keeper cannot do it.
    Failed,
    /// The guard no longer holds. Only for guarded requests.
    Stale,
    /// The program has not read earlier input yet. Only where there was a guard on the tape's end.
    Unread,
    /// The keeper did not answer in time, and may still do it. No keeper sends this: the client's
    /// side of a connection reports it.
    TimedOut,
    /// The same, but the request was never sent, and will not be.
    Cancelled,
}

/// A process that outlived a kill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Survivor {
    /// The process.
    pub pid: u32,
    /// Its name.
    pub command: String,
}
