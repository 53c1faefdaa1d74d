//! Somebody who comes to a keeper directly, as `paned attach` does.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use paned_model::frame::{
    Done, Frames, FromKeeper, Guard, Hello, Message, Role, ToKeeper, VERSION, Welcome,
};

use crate::{PATIENCE, Server};

/// A connection to one pane's keeper.
pub struct Visitor {
    stream: UnixStream,
    frames: Frames,
    requests: u64,
    welcome: Option<Welcome>,
}

impl Visitor {
    /// Comes to a pane's keeper.
    #[must_use]
    #[track_caller]
    pub fn come(server: &Server, pane: &str) -> Self {
        let socket = server.state().join("panes").join(pane).join("keeper.sock");
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut this = Self { stream, frames: Frames::default(), requests: 0, welcome: None };
        this.say(&ToKeeper::Hello(Hello { version: VERSION, role: Role::Viewer }));
        let FromKeeper::Welcome(welcome) = this.hear(|said| matches!(said, FromKeeper::Welcome(_)))
        else {
            unreachable!("it was waited for");
        };
        this.welcome = Some(welcome);
        this
    }

    /// How often somebody had typed when we came.
    #[must_use]
    pub fn typed(&self) -> u64 {
        self.welcome.as_ref().and_then(|welcome| welcome.typed).unwrap()
    }

    /// Types.
    #[track_caller]
    pub fn type_in(&mut self, text: &str) -> Done {
        self.ask(|id| ToKeeper::Input(id, text.as_bytes().to_vec()))
    }

    /// Types if that still holds.
    #[track_caller]
    pub fn type_if(&mut self, guard: Guard, text: &str) -> Done {
        self.ask(|id| ToKeeper::Guarded(id, guard, text.as_bytes().to_vec()))
    }

    #[track_caller]
    fn ask(&mut self, request: impl FnOnce(u64) -> ToKeeper) -> Done {
        self.requests += 1;
        let id = self.requests;
        self.say(&request(id));
        match self.hear(|said| matches!(said, FromKeeper::Done(done) if done.id == id)) {
            FromKeeper::Done(done) => done,
            other => unreachable!("{other:?} was not waited for"),
        }
    }

    fn say(&mut self, message: &ToKeeper) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    #[track_caller]
    fn hear(&mut self, is_it: impl Fn(&FromKeeper) -> bool) -> FromKeeper {
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
