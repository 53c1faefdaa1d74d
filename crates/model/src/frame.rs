//! What server and keeper say to each other: length-prefixed frames, versioned, with unknown parts skipped.
//!
//! A frame is a little-endian `u32` length, one kind byte, and a body of `length - 1` bytes. Bodies that
//! carry bytes or one number are binary; the others are JSON objects, whose unknown fields are skipped. An
//! unknown kind is skipped whole. So an old keeper serves a new server, and the other way round.

mod codec;

use serde::{Deserialize, Serialize};

use crate::{Exit, PaneId, Size, Time};

pub use codec::{BadFrame, FrameDecoder, FrameMessage};

/// The protocol's version. Raised only when a frame changes its meaning, never for an addition.
pub const VERSION: u32 = 1;

/// The longest frame either side accepts.
pub const MAX_FRAME: usize = 4 << 20;

/// How far a keeper tells ahead of a client: so many bytes in so many frames of [`FromKeeper::TapeEnd`], then it waits for
/// [`ToKeeper::Ack`]. A client says so at the latest when it has heard half of either.
pub const NOTIFY_WINDOW: NotifyWindow = NotifyWindow { bytes: 4 << 10, frames: 64 };

/// So many frames a keeper tells ahead that does not say how many: see [`Welcome::frames`].
pub const DEFAULT_WINDOW_FRAMES: u32 = 8;

/// Nothing that was not heard.
pub const EMPTY_WINDOW: NotifyWindow = NotifyWindow { bytes: 0, frames: 0 };

/// See [`NOTIFY_WINDOW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifyWindow {
    /// How many bytes.
    pub bytes: u64,
    /// How many frames.
    pub frames: u32,
}

/// Everything a keeper needs to bring one pane to life.
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
    /// End the program after so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long a program may take to end when asked, before it is made to.
    pub grace_ms: u64,
    /// Whether somebody is about to [`ToKeeper::Follow`] it: nothing is overwritten before they are there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub followed: bool,
}

/// Everything a scribe needs to write down what a pane of somebody's tmux prints.
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
}

/// Who is at the other end of a keeper's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClientRole {
    /// The server: while it is there, bytes it has not taken are not overwritten.
    Server,
    /// Somebody who looks on.
    Viewer,
}

/// A request's number; the answer carries the same.
pub type RequestId = u64;

/// What a client says to a keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToKeeper {
    /// Who I am. First frame of every connection.
    Hello(Hello),
    /// Bring this pane to life. Only on the connection a keeper is born with.
    Spawn(Box<SpawnRequest>),
    /// Write down what somebody else's pane prints. Only to a scribe, first; what was typed to it before this is
    /// what the pane had printed until then.
    Record(Box<RecordRequest>),
    /// Type these bytes.
    Input(RequestId, Vec<u8>),
    /// Type these bytes if this still holds; else [`RefusalReason::Stale`]. They do not count as typed by a person. A
    /// keeper that knows it says so by [`Welcome::typed`]; an older one skips it.
    GuardedInput(RequestId, InputGuard, Vec<u8>),
    /// Set the terminal's size.
    Resize(Resize),
    /// End the program and all that it started.
    Kill(Kill),
    /// I have looked at everything before this offset.
    Ack(u64),
    /// This holder of the size, one of mine, lets it go. Not answered; [`FromKeeper::SizeHolder`] tells.
    Release(Release),
    /// I must not miss anything: the program waits rather than that bytes are overwritten which I have not
    /// [`ToKeeper::Ack`]. Not answered. This and what follows a keeper knows that says [`Welcome::served`].
    Follow(Follow),
    /// Type these one after the other, each by itself, with nobody's typing in between: all or none.
    InputParts(RequestId, Vec<Vec<u8>>),
    /// Have the program get this signal.
    Signal(SignalRequest),
    /// Somebody types into another pane: for so many milliseconds, a program that prints without end gets breaks. Not
    /// answered.
    Throttle(u64),
}

/// What a keeper says to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromKeeper {
    /// Who I am; the answer to [`ToKeeper::Hello`], and to a [`ToKeeper::Birth`] that went well.
    Welcome(Welcome),
    /// The pane could not be brought to life.
    SpawnFailed(SpawnFailure),
    /// The tape now ends here. Told again only after [`ToKeeper::Ack`], or by a keeper that tells [`NOTIFY_WINDOW`].
    TapeEnd(u64),
    /// The program has ended, and the tape holds its last byte.
    Exited(ExitRecord),
    /// Somebody else has set the terminal's size.
    Resized(Size),
    /// Who holds the terminal's size now.
    SizeHolder(SizeHolder),
    /// The answer to a request.
    Response(KeeperResponse),
    /// Somebody has typed; so often now, in all.
    Typed(u64),
    /// What somebody else has typed, as keys; a star stands for each run of text.
    KeysPressed(Vec<u8>),
    /// Whether a server is there, which answers what the program asks its terminal. Told to those who look on.
    ServerPresent(bool),
}

/// What must still hold when bytes are written: that nothing has happened since somebody looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputGuard {
    /// The tape still ends here: nothing was printed. Nothing typed before may wait to be read either, or it is
    /// [`RefusalReason::Unread`].
    pub end: Option<u64>,
    /// So often something was typed without a guard, by anybody.
    pub typed: Option<u64>,
}

/// See [`ToKeeper::Hello`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// [`VERSION`] of the client.
    pub version: u32,
    /// Who it is.
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
    /// Who is to hold the size from now on; unnamed, it is set and not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whether to take it from whoever holds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// See [`ToKeeper::Release`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Release {
    /// As it was named when it took the size.
    pub holder: String,
}

/// See [`FromKeeper::SizeHolder`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeHolder {
    /// As it named itself; nobody, if it is free.
    pub holder: Option<String>,
    /// Whether the size was set by force for nobody to hold. Whoever waits for it goes on waiting, or it would not last.
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
    /// Its number. An interrupt and a quit are the keys for them where the terminal makes signals of keys.
    pub signal: u8,
}

/// See [`ToKeeper::Kill`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kill {
    /// The request.
    pub id: RequestId,
    /// How long to wait between asking and making.
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
    /// How often somebody has typed; a keeper that does not say so knows no guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typed: Option<u64>,
    /// Whether a server is there; a keeper that does not say so knows no followers, parts and signals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<bool>,
    /// Whether it tells of a little that was printed without waiting for [`ToKeeper::Ack`]: see [`NOTIFY_WINDOW`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ahead: bool,
    /// How many frames of that; [`DEFAULT_WINDOW_FRAMES`] if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
    /// How many writes behind a guard with a condition it has done, for any client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
}

/// See [`FromKeeper::Stillborn`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpawnFailure {
    /// What went wrong, as a clause.
    pub reason: String,
    /// Whether the request was at fault rather than the machine.
    pub invalid: bool,
    /// Whether a limit of the machine was reached that can be raised: of processes or of open files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limit: bool,
}

/// How a pane's program ended. Written on the tape and told to every client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitRecord {
    /// The program's own code or signal, where anybody knows it.
    pub exit: Option<Exit>,
    /// Whether we ended it and every process of it is gone.
    pub killed: bool,
    /// Whether its time-out ended it.
    pub timed_out: bool,
    /// When it ended.
    pub at: Time,
}

/// See [`FromKeeper::Done`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeeperResponse {
    /// The request that is answered.
    pub id: RequestId,
    /// Why it was not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusalReason>,
    /// Who outlived a kill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// Who holds the size that was not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Whether a typed line is longer than the terminal's line editor takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub long_line: bool,
    /// How often somebody has typed, this included; where something was to be typed.
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

/// Why a keeper did not do as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RefusalReason {
    /// The program has ended.
    Gone,
    /// The program does not read, and the queue for it is full.
    Full,
    /// Somebody else holds the terminal's size.
    Held,
    /// The kernel said no.
    Failed,
    /// What was to hold when it was done holds no longer. Only where there was a guard.
    Stale,
    /// The program has not read yet what was typed before. Only where there was a guard on the tape's end.
    Unread,
    /// The keeper did not answer in time, and may still do it. No keeper says so: the client's side of a connection does.
    TimedOut,
    /// The same, but it was never sent, and is not done any more.
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
