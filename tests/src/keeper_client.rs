//! A client that connects to a keeper directly, as `paned attach` does.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use paned_model::frame::{
    ClientRole, FrameDecoder, FrameMessage, FromKeeper, Hello, InputGuard, KeeperResponse,
    ToKeeper, VERSION, Welcome,
};

use crate::{Server, WAIT_TIMEOUT};

/// A connection to one pane's keeper.
pub struct KeeperClient {
    stream: UnixStream,
    frames: FrameDecoder,
    requests: u64,
    welcome: Option<Welcome>,
}

impl KeeperClient {
    /// Connects to a pane's keeper.
    #[must_use]
    #[track_caller]
    pub fn connect(server: &Server, pane: &str) -> Self {
        let socket = server.state().join("panes").join(pane).join("keeper.sock");
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        let mut this = Self { stream, frames: FrameDecoder::default(), requests: 0, welcome: None };
        this.send(&ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Viewer }));
        let FromKeeper::Welcome(welcome) =
            this.receive(|said| matches!(said, FromKeeper::Welcome(_)))
        else {
            unreachable!("it was waited for");
        };
        this.welcome = Some(welcome);
        this
    }

    /// How often input had been typed when we connected.
    #[must_use]
    pub fn typed(&self) -> u64 {
        self.welcome.as_ref().and_then(|welcome| welcome.typed).unwrap()
    }

    /// Types.
    #[track_caller]
    pub fn type_in(&mut self, text: &str) -> KeeperResponse {
        self.ask(|id| ToKeeper::Input(id, text.as_bytes().to_vec()))
    }

    /// Types if the guard still holds.
    #[track_caller]
    pub fn type_if(&mut self, guard: InputGuard, text: &str) -> KeeperResponse {
        self.ask(|id| ToKeeper::GuardedInput(id, guard, text.as_bytes().to_vec()))
    }

    #[track_caller]
    fn ask(&mut self, request: impl FnOnce(u64) -> ToKeeper) -> KeeperResponse {
        self.requests += 1;
        let id = self.requests;
        self.send(&request(id));
        match self.receive(|said| matches!(said, FromKeeper::Response(done) if done.id == id)) {
            FromKeeper::Response(done) => done,
            other => unreachable!("{other:?} was not waited for"),
        }
    }

    fn send(&mut self, message: &ToKeeper) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    #[track_caller]
    fn receive(&mut self, is_it: impl Fn(&FromKeeper) -> bool) -> FromKeeper {
        let mut bytes = [0; 4096];
        loop {
            while let Some(said) = self.frames.take().unwrap() {
                if is_it(&said) {
                    return said;
                }
            }
            let got = self.stream.read(&mut bytes).unwrap();
            assert!(0 < got, "the keeper went away");
            self.frames.push(&bytes[..got]);
        }
    }
}
