//! Encodes messages between server and keeper as frames, and decodes them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FromKeeper, InputGuard, MAX_FRAME, RequestId, ToKeeper};

const HELLO: u8 = 1;
const SPAWN: u8 = 2;
const INPUT: u8 = 3;
const RESIZE: u8 = 4;
const KILL: u8 = 5;
const ACK: u8 = 6;
const RELEASE: u8 = 7;
const RECORD: u8 = 8;
const GUARDED_INPUT: u8 = 9;
const FOLLOW: u8 = 10;
const INPUT_PARTS: u8 = 11;
const SIGNAL: u8 = 12;
const THROTTLE: u8 = 13;
const WELCOME: u8 = 65;
const SPAWN_FAILED: u8 = 66;
const TAPE_END: u8 = 67;
const EXITED: u8 = 68;
const RESPONSE: u8 = 69;
const RESIZED: u8 = 70;
const SIZE_HOLDER: u8 = 71;
const TYPED: u8 = 72;
const KEYS_PRESSED: u8 = 73;
const SERVER_PRESENT: u8 = 74;

/// The messages of one side: encoded as frames, and decoded from them.
pub trait FrameMessage: Sized {
    /// Appends the message as one frame.
    fn encode(&self, to: &mut Vec<u8>);

    /// Reads one frame's kind and body. `None` is a kind from a newer version, to be skipped.
    ///
    /// # Errors
    /// When a known kind has a body that cannot be read.
    fn decode(kind: u8, body: &[u8]) -> Result<Option<Self>, BadFrame>;
}

impl FrameMessage for ToKeeper {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => json(to, HELLO, hello),
            Self::Spawn(request) => json(to, SPAWN, request),
            Self::Record(request) => json(to, RECORD, request),
            Self::Input(id, bytes) => frame(to, INPUT, &[&id.to_le_bytes(), bytes]),
            Self::GuardedInput(id, guard, bytes) => {
                frame(to, GUARDED_INPUT, &[&id.to_le_bytes(), &guard.encode(), bytes]);
            }
            Self::Resize(resize) => json(to, RESIZE, resize),
            Self::Kill(kill) => json(to, KILL, kill),
            Self::Ack(offset) => frame(to, ACK, &[&offset.to_le_bytes()]),
            Self::Release(release) => json(to, RELEASE, release),
            Self::Follow(follow) => json(to, FOLLOW, follow),
            Self::InputParts(id, parts) => frame(to, INPUT_PARTS, &[&encode_parts(*id, parts)]),
            Self::Signal(signal) => json(to, SIGNAL, signal),
            Self::Throttle(millis) => frame(to, THROTTLE, &[&millis.to_le_bytes()]),
        }
    }

    fn decode(kind: u8, body: &[u8]) -> Result<Option<Self>, BadFrame> {
        Ok(Some(match kind {
            HELLO => Self::Hello(parse(body)?),
            SPAWN => Self::Spawn(parse(body)?),
            RECORD => Self::Record(parse(body)?),
            INPUT => {
                let (id, bytes) = body.split_at_checked(8).ok_or(BadFrame)?;
                Self::Input(number(id)?, bytes.to_vec())
            }
            GUARDED_INPUT => {
                let (id, rest) = body.split_at_checked(8).ok_or(BadFrame)?;
                let (guard, bytes) = rest.split_at_checked(InputGuard::LENGTH).ok_or(BadFrame)?;
                Self::GuardedInput(number(id)?, InputGuard::decode(guard)?, bytes.to_vec())
            }
            RESIZE => Self::Resize(parse(body)?),
            KILL => Self::Kill(parse(body)?),
            ACK => Self::Ack(number(body)?),
            RELEASE => Self::Release(parse(body)?),
            FOLLOW => Self::Follow(parse(body)?),
            INPUT_PARTS => {
                let (id, parts) = decode_parts(body)?;
                Self::InputParts(id, parts)
            }
            SIGNAL => Self::Signal(parse(body)?),
            THROTTLE => Self::Throttle(number(body)?),
            _ => return Ok(None),
        }))
    }
}

impl FrameMessage for FromKeeper {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => json(to, WELCOME, welcome),
            Self::SpawnFailed(failure) => json(to, SPAWN_FAILED, failure),
            Self::TapeEnd(end) => frame(to, TAPE_END, &[&end.to_le_bytes()]),
            Self::Exited(ending) => json(to, EXITED, ending),
            Self::Resized(size) => json(to, RESIZED, size),
            Self::SizeHolder(holder) => json(to, SIZE_HOLDER, holder),
            Self::Response(response) => json(to, RESPONSE, response),
            Self::Typed(count) => frame(to, TYPED, &[&count.to_le_bytes()]),
            Self::KeysPressed(keys) => frame(to, KEYS_PRESSED, &[keys]),
            Self::ServerPresent(present) => frame(to, SERVER_PRESENT, &[&[u8::from(*present)]]),
        }
    }

    fn decode(kind: u8, body: &[u8]) -> Result<Option<Self>, BadFrame> {
        Ok(Some(match kind {
            WELCOME => Self::Welcome(parse(body)?),
            SPAWN_FAILED => Self::SpawnFailed(parse(body)?),
            TAPE_END => Self::TapeEnd(number(body)?),
            EXITED => Self::Exited(parse(body)?),
            RESIZED => Self::Resized(parse(body)?),
            SIZE_HOLDER => Self::SizeHolder(parse(body)?),
            RESPONSE => Self::Response(parse(body)?),
            TYPED => Self::Typed(number(body)?),
            KEYS_PRESSED => Self::KeysPressed(body.to_vec()),
            SERVER_PRESENT => Self::ServerPresent(*body.first().ok_or(BadFrame)? != 0),
            _ => return Ok(None),
        }))
    }
}

impl InputGuard {
    /// Two optional numbers: a byte of flags for those that are present, then both.
    const LENGTH: usize = 17;

    fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = u8::from(self.end.is_some()) | u8::from(self.typed.is_some()) << 1;
        bytes[1..9].copy_from_slice(&self.end.unwrap_or_default().to_le_bytes());
        bytes[9..].copy_from_slice(&self.typed.unwrap_or_default().to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, BadFrame> {
        let (flags, numbers) = bytes.split_first().ok_or(BadFrame)?;
        let (end, typed) = numbers.split_at_checked(8).ok_or(BadFrame)?;
        let end = number(end)?;
        let typed = number(typed)?;
        // An unknown condition must not count as met.
        if 3 < *flags {
            return Err(BadFrame);
        }
        let has_end = flags & 1 != 0;
        let has_typed = flags & 2 != 0;
        Ok(Self { end: has_end.then_some(end), typed: has_typed.then_some(typed) })
    }
}

/// The other side does not speak this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadFrame;

impl std::fmt::Display for BadFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a frame cannot be read")
    }
}

impl std::error::Error for BadFrame {}

/// Splits a stream of bytes into frames, whatever the sizes of the reads.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    bytes: Vec<u8>,
    read: usize,
}

impl FrameDecoder {
    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.read);
        self.read = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete message; kinds of newer versions are skipped.
    ///
    /// # Errors
    /// When the other side does not speak this protocol; nothing after that can be read.
    pub fn take<M: FrameMessage>(&mut self) -> Result<Option<M>, BadFrame> {
        while let Some((kind, body)) = self.next_frame()? {
            let message = M::decode(kind, &self.bytes[body.clone()])?;
            self.read = body.end;
            if message.is_some() {
                return Ok(message);
            }
        }
        Ok(None)
    }

    /// The kind of the next complete frame, and the range of its body.
    fn next_frame(&self) -> Result<Option<(u8, std::ops::Range<usize>)>, BadFrame> {
        let rest = &self.bytes[self.read..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length == 0 || MAX_FRAME < length {
            return Err(BadFrame);
        }
        let start = self.read + 5;
        Ok((length <= rest.len()).then(|| (rest[0], start..start + length - 1)))
    }
}

fn frame(to: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    let body: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(body + 1).expect("frames are far below 4 GiB");
    to.extend_from_slice(&length.to_le_bytes());
    to.push(kind);
    parts.iter().for_each(|part| to.extend_from_slice(part));
}

/// A request, and each part behind its length.
fn encode_parts(id: RequestId, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    for part in parts {
        let length = u32::try_from(part.len()).expect("frames are far below 4 GiB");
        body.extend(length.to_le_bytes());
        body.extend(part);
    }
    body
}

fn decode_parts(body: &[u8]) -> Result<(RequestId, Vec<Vec<u8>>), BadFrame> {
    let (id, mut rest) = body.split_at_checked(8).ok_or(BadFrame)?;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (length, from) = rest.split_first_chunk::<4>().ok_or(BadFrame)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (part, left) = from.split_at_checked(length).ok_or(BadFrame)?;
        parts.push(part.to_vec());
        rest = left;
    }
    Ok((number(id)?, parts))
}

fn json(to: &mut Vec<u8>, kind: u8, body: &impl Serialize) {
    let body = serde_json::to_vec(body).expect("our own types always become JSON");
    frame(to, kind, &[&body]);
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, BadFrame> {
    serde_json::from_slice(body).map_err(|_| BadFrame)
}

fn number(bytes: &[u8]) -> Result<u64, BadFrame> {
    bytes.try_into().map(u64::from_le_bytes).map_err(|_| BadFrame)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;

    use super::*;
    use crate::Size;
    use crate::frame::{
        ClientRole, Follow, Hello, Kill, RecordRequest, Release, Resize, SignalRequest,
    };

    fn samples() -> Vec<ToKeeper> {
        vec![
            ToKeeper::Hello(Hello { version: 1, role: ClientRole::Viewer }),
            ToKeeper::Input(7, b"ls\r\0\xff".to_vec()),
            ToKeeper::Input(8, Vec::new()),
            ToKeeper::GuardedInput(
                11,
                InputGuard { end: Some(5), typed: Some(u64::MAX) },
                b"\r".to_vec(),
            ),
            ToKeeper::GuardedInput(12, InputGuard { end: None, typed: Some(0) }, Vec::new()),
            ToKeeper::GuardedInput(13, InputGuard::default(), b"x".to_vec()),
            ToKeeper::Resize(Resize {
                id: 9,
                size: Size { cols: 120, rows: 40 },
                holder: Some("me".into()),
                force: true,
            }),
            ToKeeper::Release(Release { holder: "me".into() }),
            ToKeeper::Record(Box::new(RecordRequest {
                tape: "/t".into(),
                pid: 7,
                size: Size::default(),
                capacity: 9,
                max_lines: NonZeroU64::new(3),
            })),
            ToKeeper::Kill(Kill { id: 10, grace_ms: 3000 }),
            ToKeeper::Ack(u64::MAX),
            ToKeeper::Follow(Follow { from: 3, owns: true }),
            ToKeeper::InputParts(14, vec![b"ls".to_vec(), Vec::new(), b"\r".to_vec()]),
            ToKeeper::Signal(SignalRequest { id: 15, signal: 2 }),
            ToKeeper::Throttle(1000),
        ]
    }

    fn all(frames: &mut FrameDecoder) -> Vec<ToKeeper> {
        std::iter::from_fn(|| frames.take().unwrap()).collect()
    }

    proptest! {
        #[test]
        fn cutting_the_stream_differently_changes_nothing(cuts in prop::collection::vec(1_usize..40, 1..60)) {
            let mut bytes = Vec::new();
            samples().iter().for_each(|message| message.encode(&mut bytes));
            let (mut frames, mut got) = (FrameDecoder::default(), Vec::new());
            let mut rest = &bytes[..];
            for cut in cuts.into_iter().cycle() {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                frames.push(now);
                got.extend(all(&mut frames));
                rest = later;
                if rest.is_empty() { break }
            }
            prop_assert_eq!(got, samples());
        }

        #[test]
        fn noise_is_refused_and_never_panics(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut frames = FrameDecoder::default();
            frames.push(&noise);
            while let Ok(Some(_)) = frames.take::<ToKeeper>() {}
        }
    }

    #[test]
    fn kinds_and_fields_of_a_newer_version_are_skipped() {
        let mut bytes = Vec::new();
        frame(&mut bytes, 42, &[b"from the future"]);
        frame(&mut bytes, KILL, &[br#"{"id":1,"graceMs":5,"because":{"of":"you"}}"#]);
        let mut frames = FrameDecoder::default();
        frames.push(&bytes);
        assert_eq!(all(&mut frames), [ToKeeper::Kill(Kill { id: 1, grace_ms: 5 })]);
    }

    #[test]
    fn a_condition_of_a_newer_version_is_not_passed_over() {
        let mut bytes = Vec::new();
        frame(&mut bytes, GUARDED_INPUT, &[&7_u64.to_le_bytes(), &[4], &[0; 16], b"rm"]);
        let mut frames = FrameDecoder::default();
        frames.push(&bytes);
        assert_eq!(frames.take::<ToKeeper>(), Err(BadFrame));
    }

    #[test]
    fn a_length_beyond_reason_ends_the_conversation() {
        for length in [0, u32::try_from(MAX_FRAME).unwrap() + 1, u32::MAX] {
            let mut frames = FrameDecoder::default();
            frames.push(&length.to_le_bytes());
            frames.push(&[0; 8]);
            assert_eq!(frames.take::<ToKeeper>(), Err(BadFrame));
        }
    }
}
