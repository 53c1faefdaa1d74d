//! Frames of version 0.1.0, as hexadecimal text in `keeper-0.1.0.frames`. Keepers outlive their
//! server, so the next server must understand an old keeper's answers and must send requests that
//! an old keeper understands. The file is never changed; a later version adds one of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use paned_model::frame::{
    ClientRole, ExitRecord, Follow, FrameDecoder, FrameMessage, FromKeeper, Hello, InputGuard,
    KeeperResponse, Kill, RecordRequest, RefusalReason, Release, Resize, SignalRequest, SizeHolder,
    SpawnFailure, SpawnRequest, Survivor, ToKeeper, Welcome,
};
use paned_model::{Exit, Size, Time};

const RECORDED: &str = include_str!("keeper-0.1.0.frames");
const SIZE: Size = Size { cols: 120, rows: 40 };
const AT: Time = Time(1_795_000_000_123);

/// Every request of 0.1.0, with every field set.
fn requests() -> Vec<ToKeeper> {
    let spawn = SpawnRequest {
        id: "build".parse().unwrap(),
        tape: "/state/build.tape".into(),
        socket: "/run/build.sock".into(),
        program: "/bin/sh".into(),
        argv: vec!["sh".into(), "-c".into(), "make".into()],
        env: vec![("PATH".into(), "/bin".into())],
        cwd: "/".into(),
        size: SIZE,
        capacity: 1 << 20,
        max_lines: None,
        timeout_ms: Some(60_000),
        grace_ms: 3000,
        followed: true,
        piped_input: false,
        umask: None,
    };
    let record = RecordRequest {
        tape: "/state/%1.tape".into(),
        pid: 7,
        size: SIZE,
        capacity: 1 << 20,
        max_lines: None,
    };
    vec![
        ToKeeper::Hello(Hello { version: 1, role: ClientRole::Server }),
        ToKeeper::Hello(Hello { version: 1, role: ClientRole::Viewer }),
        ToKeeper::Spawn(Box::new(spawn)),
        ToKeeper::Record(Box::new(record)),
        ToKeeper::Input(7, b"ls\r\0\xff".to_vec()),
        ToKeeper::GuardedInput(8, InputGuard { end: Some(5), typed: Some(9) }, b"\r".to_vec()),
        ToKeeper::GuardedInput(9, InputGuard::default(), b"x".to_vec()),
        ToKeeper::Resize(Resize { id: 10, size: SIZE, holder: Some("me".into()), force: true }),
        ToKeeper::Kill(Kill { id: 11, grace_ms: 3000 }),
        ToKeeper::Ack(12),
        ToKeeper::Release(Release { holder: "me".into() }),
        ToKeeper::Follow(Follow { from: 3, owns: true }),
        ToKeeper::InputParts(13, vec![b"ls".to_vec(), Vec::new(), b"\r".to_vec()]),
        ToKeeper::Signal(SignalRequest { id: 14, signal: 2 }),
        ToKeeper::Throttle(1000),
    ]
}

/// Every message of a keeper of 0.1.0, with every field set.
fn answers() -> Vec<FromKeeper> {
    let welcome = Welcome {
        version: 1,
        keeper: 100,
        pid: 101,
        started: AT,
        typed: Some(3),
        served: true,
        frames: 64,
        guarded: Some(4),
    };
    let recorder = Welcome { typed: None, guarded: None, ..welcome.clone() };
    let failure = SpawnFailure { reason: "no such file".into(), invalid: true, limit: true };
    let exited = |exit| ExitRecord { exit, killed: true, timed_out: true, at: AT };
    let refused = |reason| KeeperResponse { refused: Some(reason), ..KeeperResponse::ok(5) };
    let full = KeeperResponse {
        survivors: vec![Survivor { pid: 9, command: "sleep".into() }],
        holder: Some("me".into()),
        long_line: true,
        typed: Some(6),
        guarded: Some(7),
        ..refused(RefusalReason::Held)
    };
    let reasons = [
        RefusalReason::Gone,
        RefusalReason::Full,
        RefusalReason::Failed,
        RefusalReason::Stale,
        RefusalReason::Unread,
    ];
    let mut all = vec![
        FromKeeper::Welcome(welcome),
        FromKeeper::Welcome(recorder),
        FromKeeper::SpawnFailed(failure),
        FromKeeper::TapeEnd(1 << 40),
        FromKeeper::Exited(exited(Some(Exit::Code(3)))),
        FromKeeper::Exited(exited(Some(Exit::Signal(9)))),
        FromKeeper::Exited(exited(None)),
        FromKeeper::Resized(SIZE),
        FromKeeper::SizeHolder(SizeHolder { holder: Some("me".into()), forced: true }),
        FromKeeper::SizeHolder(SizeHolder { holder: None, forced: false }),
        FromKeeper::Response(KeeperResponse::ok(5)),
        FromKeeper::Response(full),
        FromKeeper::Typed(8),
        FromKeeper::KeysPressed(b"*\r".to_vec()),
        FromKeeper::ServerPresent(true),
    ];
    all.extend(reasons.map(|reason| FromKeeper::Response(refused(reason))));
    all
}

fn frame<M: FrameMessage>(message: &M) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// The recorded frames of one direction: `>` to the keeper, `<` from it.
fn recorded(direction: char) -> Vec<Vec<u8>> {
    let lines = RECORDED.lines().filter_map(|line| line.strip_prefix(direction));
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    lines.map(|line| line.trim().as_bytes().chunks(2).map(byte).collect()).collect()
}

fn decode<M: FrameMessage>(bytes: &[u8]) -> M {
    let mut frames = FrameDecoder::default();
    frames.push(bytes);
    frames.take().expect("it is a frame").expect("its kind is known")
}

#[test]
fn a_keeper_of_0_1_0_understands_our_requests() {
    let now: Vec<Vec<u8>> = requests().iter().map(frame).collect();
    for ((now, recorded), request) in now.iter().zip(recorded('>')).zip(requests()) {
        assert_eq!(String::from_utf8_lossy(now), String::from_utf8_lossy(&recorded), "{request:?}");
        assert_eq!(decode::<ToKeeper>(&recorded), request);
    }
    assert_eq!(now.len(), recorded('>').len());
}

#[test]
fn the_answers_of_a_keeper_of_0_1_0_are_understood() {
    let understood: Vec<FromKeeper> = recorded('<').iter().map(|bytes| decode(bytes)).collect();
    assert_eq!(understood, answers());
}

/// Prints the content of such a file: `cargo test -p paned-model --test keeper_frames -- --ignored
/// --nocapture`, once for each version that changes the frames.
#[test]
#[ignore = "makes the file for a new version"]
fn print_the_frames() {
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let requests = requests().into_iter().map(|request| format!("> {}", hex(frame(&request))));
    let answers = answers().into_iter().map(|answer| format!("< {}", hex(frame(&answer))));
    let lines: Vec<String> = requests.chain(answers).collect();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/keeper.frames"), lines.join("\n") + "\n")
        .unwrap();
}
