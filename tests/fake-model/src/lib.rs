//! A fake model on loopback that agent programs take for the real one, and that records the truth
//! about them.
//!
//! It speaks OpenAI chat completions and responses, Anthropic messages and Gemini, streamed and
//! whole. The prompt says what it does (see [`PromptInstruction`]), so a test needs no other way to
//! control it. Every request, answer, abort and tool result is a [`ModelEvent`] with its time. It
//! knows nothing of what is on a screen.
#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot go on has failed"
)]

mod answer_text;
mod chat;
mod gemini;
mod http;
mod instruction;
mod log;
mod mcp_script;
mod messages;
mod reply;
mod request;
mod responses;
mod schema;
mod serve;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub use instruction::PromptInstruction;
use log::ModelLog;
pub use log::{AnswerEnd, ModelEvent, ModelEventKind, Prompt};
pub use mcp_script::PORT_LINE;

/// How long a test waits for the model to be asked.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// A running fake model. Dropping it closes all connections.
pub struct FakeModel {
    address: SocketAddr,
    log: Arc<ModelLog>,
    stop: Arc<AtomicBool>,
    accept: Option<JoinHandle<()>>,
}

impl FakeModel {
    /// A model on a free port of 127.0.0.1.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (log, stop) = (Arc::new(ModelLog::default()), Arc::new(AtomicBool::new(false)));
        let (told, end) = (log.clone(), stop.clone());
        let accept = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (truth, stop) = (told.clone(), end.clone());
                // It ends with its client, or when the model stops, which it checks while it waits.
                std::thread::spawn(move || serve::connection(stream, &truth, &stop));
            }
        });
        Self { address, log, stop, accept: Some(accept) }
    }

    /// Where it listens: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that happened, in order.
    #[must_use]
    pub fn events(&self) -> Vec<ModelEvent> {
        self.log.events()
    }

    /// How many facts there are: a place to look on from.
    #[must_use]
    pub fn mark(&self) -> usize {
        self.log.events().len()
    }

    /// Every prompt that a user or a test has sent, as it came: each once, without titles,
    /// summaries and retries.
    #[must_use]
    pub fn prompts(&self) -> Vec<Prompt> {
        let asked = self.events().into_iter().filter_map(|fact| match fact.kind {
            ModelEventKind::Asked { prompt: Some(prompt), aside: false, again: false } => {
                Some(prompt)
            }
            _ => None,
        });
        asked.collect()
    }

    /// How many turns are being answered right now. Between a tool's call and its result there are
    /// none.
    #[must_use]
    pub fn open(&self) -> usize {
        self.log.open()
    }

    /// Waits until the facts from a mark on hold an answer.
    #[track_caller]
    pub fn wait_for<T>(
        &self,
        what: &str,
        mark: usize,
        look: impl FnMut(&[ModelEvent]) -> Option<T>,
    ) -> T {
        self.wait_within(WAIT_TIMEOUT, what, mark, look)
    }

    /// The same, for so long.
    #[track_caller]
    pub fn wait_within<T>(
        &self,
        within: Duration,
        what: &str,
        mark: usize,
        look: impl FnMut(&[ModelEvent]) -> Option<T>,
    ) -> T {
        let found = self.has_within(within, mark, look);
        found.unwrap_or_else(|| panic!("never {what}, in {within:?}: {:#?}", self.events()))
    }

    /// The same, without a complaint when nothing comes.
    pub fn has_within<T>(
        &self,
        within: Duration,
        mark: usize,
        look: impl FnMut(&[ModelEvent]) -> Option<T>,
    ) -> Option<T> {
        self.log.wait(within, mark, look)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One more connection, so that the listener wakes and sees it.
        let _ = TcpStream::connect(self.address);
        if let Some(accept) = self.accept.take() {
            let _ = accept.join();
        }
    }
}
