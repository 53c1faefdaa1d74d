//! A keeper and its clients, one step at a time.

use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;

use paned_model::frame::{
    Follow, FrameDecoder, FrameMessage as _, Hello, InputGuard, SpawnRequest, VERSION,
};

use super::*;
use crate::tape::MIN_CAPACITY;

/// A keeper of a program that prints without end, and the other end of its signal pipe, which must
/// stay open.
fn flooding_keeper(folder: &Path) -> (Keeper, UnixStream) {
    keeper_of(folder, "exec yes")
}

fn keeper_of(folder: &Path, script: &str) -> (Keeper, UnixStream) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let request = SpawnRequest {
        id: "a".parse().unwrap(),
        tape: path("tape"),
        socket: path("socket"),
        program: "/bin/sh".into(),
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        size: Size::default(),
        capacity: MIN_CAPACITY,
        max_lines: None,
        timeout_ms: None,
        grace_ms: 0,
        followed: false,
        piped_input: false,
        umask: None,
    };
    let spawned = spawn::spawn(&request, Pty::open(request.size)).unwrap();
    let (signals, silent) = UnixStream::pair().unwrap();
    let mut pane = KeeperPane::new(&request, spawned);
    // Without a server, the tape keeps nothing back for one.
    pane.peer_disconnected(0, Some(ClientRole::Server), Instant::now());
    (
        Keeper {
            pane,
            peers: Vec::new(),
            lease: SizeLease::default(),
            next_peer_id: 0,
            signals: signals.into(),
            shutdown_deadline: None,
        },
        silent,
    )
}

/// Whether the keeper stops reading the terminal at some point within the next bytes.
fn pauses_reading(keeper: &mut Keeper, bytes: u64) -> bool {
    let until = keeper.pane.end() + bytes;
    // Time stands still: on a busy machine a flood comes with pauses, and is none then.
    let now = Instant::now();
    while keeper.pane.end() < until {
        keeper.wait().unwrap();
        keeper.pane.drain_until(DrainUntil::Little, now);
        if keeper.pane.interest().is_empty() {
            return true;
        }
    }
    false
}

/// Connects to the keeper and sends these messages.
fn connect(folder: &Path, messages: &[ToKeeper]) -> UnixStream {
    let mut stream = UnixStream::connect(folder.join("socket")).unwrap();
    let mut bytes = Vec::new();
    messages.iter().for_each(|message| message.encode(&mut bytes));
    stream.write_all(&bytes).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

fn hello(role: ClientRole) -> ToKeeper {
    ToKeeper::Hello(Hello { version: VERSION, role })
}

/// Runs the keeper until this client gets an answer; whether it was admitted.
fn is_admitted(keeper: &mut Keeper, client: &mut UnixStream) -> bool {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let ready = keeper.wait().unwrap();
        keeper.handle(&ready);
        keeper.publish_changes();
        match client.read(&mut [0; 4096]) {
            Ok(got) => return 0 < got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("no answer within a minute");
}

#[test]
fn a_server_finds_a_place_among_many_who_look_on_and_many_who_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent) = flooding_keeper(folder.path());
    let mut viewers = Vec::new();
    for _ in 0..admission::MAX_VIEWERS {
        let mut viewer = connect(folder.path(), &[hello(ClientRole::Viewer)]);
        assert!(is_admitted(&mut keeper, &mut viewer));
        viewers.push(viewer);
    }
    let follow = ToKeeper::Follow(Follow { from: 0, owns: true });
    let mut late = connect(folder.path(), &[hello(ClientRole::Viewer), follow]);
    assert!(!is_admitted(&mut keeper, &mut late), "there is no room for one more");
    let before: Vec<_> = (0..20).map(|_| connect(folder.path(), &[])).collect();
    let mut server = connect(folder.path(), &[hello(ClientRole::Server)]);
    let after: Vec<_> = (0..20).map(|_| connect(folder.path(), &[])).collect();
    assert!(is_admitted(&mut keeper, &mut server));
    let most = admission::MAX_VIEWERS + 1 + admission::MAX_UNIDENTIFIED;
    assert!(keeper.peers.len() <= most, "{} are there", keeper.peers.len());
    assert!(keeper.has_server() && keeper.pane.ending().is_none());
    drop((viewers, before, after));
}

#[test]
fn a_server_whose_words_come_late_does_not_replace_the_one_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent) = flooding_keeper(folder.path());
    let (mut old, mut new) = (connect(folder.path(), &[]), connect(folder.path(), &[]));
    let mut frame = Vec::new();
    hello(ClientRole::Server).encode(&mut frame);
    new.write_all(&frame).unwrap();
    assert!(is_admitted(&mut keeper, &mut new));
    old.write_all(&frame).unwrap();
    assert!(!is_admitted(&mut keeper, &mut old));
    assert!(keeper.has_server());
}

/// A client of a keeper, and the frames it has received.
struct KeeperTestClient {
    stream: UnixStream,
    frames: FrameDecoder,
}

impl KeeperTestClient {
    fn connect(folder: &Path, messages: &[ToKeeper]) -> Self {
        Self { stream: connect(folder, messages), frames: FrameDecoder::default() }
    }

    fn send(&mut self, message: &ToKeeper) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    /// Runs the keeper until it has sent such a message.
    #[track_caller]
    fn wait_for(&mut self, keeper: &mut Keeper, is_it: impl Fn(&FromKeeper) -> bool) {
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            while let Some(message) = self.frames.take().unwrap() {
                if is_it(&message) {
                    return;
                }
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(got) => self.frames.push(&bytes[..got]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => step(keeper),
                Err(error) => panic!("{error}"),
            }
        }
        panic!("no such message within a minute");
    }
}

fn step(keeper: &mut Keeper) {
    let ready = keeper.wait().unwrap();
    keeper.handle(&ready);
    keeper.publish_changes();
}

fn is_done(message: &FromKeeper) -> bool {
    matches!(message, FromKeeper::Response(_))
}

fn input(id: RequestId, text: &str) -> ToKeeper {
    ToKeeper::Input(id, text.into())
}

/// A program that echoes what it reads, and the server at its keeper.
fn echoing(folder: &Path) -> (Keeper, UnixStream, KeeperTestClient) {
    let (mut keeper, silent) = keeper_of(folder, "stty raw -echo; echo ready; exec cat");
    let mut server = KeeperTestClient::connect(folder, &[hello(ClientRole::Server)]);
    while keeper.pane.end() == 0 {
        step(&mut keeper);
    }
    server.send(&input(1, "a"));
    server.wait_for(&mut keeper, is_done);
    (keeper, silent, server)
}

/// Runs the keeper until the program has printed this.
#[track_caller]
fn prints(keeper: &mut Keeper, folder: &Path, text: &str) {
    let tape = crate::tape::TapeReader::open(&folder.join("tape")).unwrap();
    let mut printed = String::new();
    while printed.len() < text.len() {
        let mut bytes = vec![0; usize::try_from(tape.end()).unwrap()];
        tape.read(0, &mut bytes).unwrap().unwrap();
        printed = String::from_utf8(bytes).unwrap();
        if printed.len() < text.len() {
            step(keeper);
        }
    }
    assert_eq!(printed, text);
}

#[test]
fn all_who_type_are_in_one_order() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent, mut server) = echoing(folder.path());
    let mut viewer =
        KeeperTestClient::connect(folder.path(), &[hello(ClientRole::Viewer), input(1, "b")]);
    viewer.wait_for(&mut keeper, is_done);
    server.wait_for(&mut keeper, |message| *message == FromKeeper::Typed(2));
    server.send(&input(2, "c"));
    server.wait_for(&mut keeper, is_done);
    viewer.send(&input(2, "d"));
    viewer.wait_for(&mut keeper, is_done);
    prints(&mut keeper, folder.path(), "ready\nabcd");
}

#[test]
fn the_next_server_types_while_the_old_one_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent, _hangs) = echoing(folder.path());
    let mut next =
        KeeperTestClient::connect(folder.path(), &[hello(ClientRole::Server), input(1, "b")]);
    next.wait_for(&mut keeper, is_done);
    prints(&mut keeper, folder.path(), "ready\nab");
}

#[test]
fn what_others_have_typed_counts_for_guards() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent, mut server) = echoing(folder.path());
    prints(&mut keeper, folder.path(), "ready\na");
    let mut viewer =
        KeeperTestClient::connect(folder.path(), &[hello(ClientRole::Viewer), input(1, "b")]);
    viewer.wait_for(&mut keeper, is_done);
    let guard = |typed| InputGuard { end: None, typed: Some(typed) };
    server.send(&ToKeeper::GuardedInput(2, guard(1), b"x".to_vec()));
    server.send(&ToKeeper::GuardedInput(3, guard(2), b"c".to_vec()));
    let refused = |message: &FromKeeper, id, refused| matches!(message, FromKeeper::Response(response) if response.id == id && response.refused == refused);
    server.wait_for(&mut keeper, |message| refused(message, 2, Some(RefusalReason::Stale)));
    server.wait_for(&mut keeper, |message| refused(message, 3, None));
    prints(&mut keeper, folder.path(), "ready\nabc");
}

#[test]
fn the_next_server_learns_how_many_guarded_writes_were_done() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent, mut server) = echoing(folder.path());
    prints(&mut keeper, folder.path(), "ready\na");
    let guard = |typed| InputGuard { end: None, typed: Some(typed) };
    server.send(&ToKeeper::GuardedInput(2, guard(9), b"x".to_vec()));
    server.send(&ToKeeper::GuardedInput(3, guard(1), b"b".to_vec()));
    // A reply of the terminal is not counted: it may come between an observation and a write.
    server.send(&ToKeeper::GuardedInput(4, InputGuard::default(), b"c".to_vec()));
    // The server is killed before it learns whether they were done.
    drop(server);
    let mut next = KeeperTestClient::connect(folder.path(), &[hello(ClientRole::Server)]);
    next.wait_for(
        &mut keeper,
        |message| matches!(message, FromKeeper::Welcome(welcome) if welcome.guarded == Some(1)),
    );
    prints(&mut keeper, folder.path(), "ready\nabc");
}

#[test]
fn who_reads_no_answers_is_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent, _server) = echoing(folder.path());
    let deaf = KeeperTestClient::connect(folder.path(), &[hello(ClientRole::Viewer)]);
    let until = Instant::now() + Duration::from_secs(60);
    while keeper.peers.len() < 2 {
        step(&mut keeper);
    }
    let mut frames = Vec::new();
    (0..1000).for_each(|id| input(id, "").encode(&mut frames));
    let mut rest: &[u8] = &[];
    while 1 < keeper.peers.len() {
        assert!(Instant::now() < until, "it is not let go within a minute");
        rest = if rest.is_empty() { &frames } else { rest };
        match (&deaf.stream).write(rest) {
            Ok(sent) => rest = &rest[sent..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => step(&mut keeper),
            Err(_) => step(&mut keeper),
        }
    }
}

#[test]
fn a_flood_has_breaks_once_the_server_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keeper, _silent) = flooding_keeper(folder.path());
    assert!(!pauses_reading(&mut keeper, 16 << 20), "no request to throttle yet");
    keeper.handle_request(0, ToKeeper::Throttle(60_000), Instant::now());
    assert!(pauses_reading(&mut keeper, 64 << 20));
}
