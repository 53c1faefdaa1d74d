//! Answers one client, and tells the truth about it.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use super::ask::Ask;
use super::order::Order;
use super::reply::{Call, Part, Said};
use super::truth::{End, Truth, What};
use super::wire::{Request, Wire};
use super::{schema, speech};

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(3600);

/// Words in a second where nobody watches them come.
const FAST: f64 = 2000.0;

/// Serves a client until it is gone.
pub(super) fn connection(stream: TcpStream, truth: &Truth, stop: &AtomicBool) {
    let Ok(mut wire) = Wire::new(stream, stop) else { return };
    while let Ok(Some(request)) = wire.request() {
        keep(&request);
        let served = match Ask::read(&request.path, &request.body) {
            Some(ask) if request.method == "POST" => Turn::new(&ask, truth).run(&mut wire),
            _ => wire.json(200, &other(&request.path)),
        };
        if served.is_err() {
            return;
        }
    }
}

/// With `PANED_MODEL_LOG` set, every request is appended there, to see what a program sends.
fn keep(request: &Request) {
    let Some(path) = std::env::var_os("PANED_MODEL_LOG") else { return };
    let line = json!({ "method": request.method, "path": request.path, "body": request.body });
    if let Ok(mut file) = std::fs::File::options().create(true).append(true).open(path) {
        let _ = io::Write::write_all(&mut file, format!("{line}\n").as_bytes());
    }
}

/// What programs ask for beside answers.
fn other(path: &str) -> Value {
    if path.contains("countTokens") || path.contains("count_tokens") {
        return json!({ "totalTokens": 100, "input_tokens": 100 });
    }
    let model = json!({ "id": "fake", "object": "model", "created": 0, "owned_by": "fake" });
    json!({ "object": "list", "data": [model], "models": [] })
}

/// One request that wants an answer.
struct Turn<'a> {
    ask: &'a Ask,
    truth: &'a Truth,
    request: usize,
    prompt: String,
    order: Order,
}

impl<'a> Turn<'a> {
    fn new(ask: &'a Ask, truth: &'a Truth) -> Self {
        let prompt = ask.prompt();
        let text = prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
        let aside = ask.is_aside();
        let order = if aside { Order::Quote } else { Order::read(&text) };
        let request = truth.asked(ask.messages, prompt, aside);
        if let Some(result) = ask.result() {
            truth.tell(request, What::ToolResult(result.to_owned()));
        }
        Self { ask, truth, request, prompt: text, order }
    }

    /// Answers; fails when the client hung up, which is told.
    fn run(&self, wire: &mut Wire<'_>) -> io::Result<()> {
        let answered = self.answer(wire);
        match &answered {
            Ok(end) => self.tell(What::Ended(*end)),
            Err(_) => self.tell(What::Aborted),
        }
        if !matches!(answered, Ok(End::Text | End::Tool)) {
            self.truth.failed(self.ask.messages, &self.prompt);
        }
        answered.map(drop)
    }

    fn answer(&self, wire: &mut Wire<'_>) -> io::Result<End> {
        let mut said = Said {
            id: format!("fake-{}", self.request),
            model: self.ask.model.clone(),
            text: String::new(),
            call: None,
        };
        if self.ask.is_aside() {
            let words = match &self.ask.shape {
                Some(shape) => vec![schema::fill(shape).to_string()],
                None => vec!["A fake title".to_owned()],
            };
            return self.say(wire, &mut said, &words, FAST);
        }
        if self.prompt.is_empty() && self.ask.result().is_some() {
            return self.say(wire, &mut said, &speech::done(), 20.0);
        }
        let words = speech::words(&self.order, &self.prompt);
        match &self.order {
            Order::Say { delay, rate, .. } => {
                wire.pass(*delay)?;
                self.say(wire, &mut said, &words, *rate)
            }
            Order::Prose { rate, .. } => self.say(wire, &mut said, &words, *rate),
            Order::Tool { delay, command } => {
                wire.pass(*delay)?;
                let call = schema::shell(&self.ask.tools, command);
                self.call_or_say(wire, said, (call, command), &words)
            }
            Order::Question { multi } => {
                let call = schema::question(&self.ask.tools, *multi);
                self.call_or_say(wire, said, (call, ""), &words)
            }
            Order::Plan => {
                let call = schema::plan(&self.ask.tools);
                self.call_or_say(wire, said, (call, ""), &words)
            }
            Order::Error { status } => {
                wire.json(*status, &self.ask.api.error(*status))?;
                Ok(End::Error)
            }
            Order::Hang => wire.pass(FOREVER).map(|()| End::Text),
            Order::Quote => self.say(wire, &mut said, &words, FAST),
        }
    }

    /// A program without tools is told the command in words.
    fn call_or_say(
        &self,
        wire: &mut Wire<'_>,
        mut said: Said,
        (call, command): (Option<(String, Value)>, &str),
        words: &[String],
    ) -> io::Result<End> {
        let Some((name, args)) = call else { return self.say(wire, &mut said, words, 20.0) };
        self.tell(What::ToolAsked { name: name.clone(), command: command.to_owned() });
        said.call = Some(Call { id: format!("call_{}", self.request), name, args });
        self.send(wire, &said, &[Part::Open, Part::Call, Part::Close])?;
        Ok(End::Tool)
    }

    fn send(&self, wire: &mut Wire<'_>, said: &Said, parts: &[Part<'_>]) -> io::Result<()> {
        if !self.ask.stream {
            self.tell(What::FirstByte);
            return wire.json(200, &self.ask.api.whole(said));
        }
        wire.open()?;
        self.tell(What::FirstByte);
        for part in parts {
            self.piece(wire, part, said)?;
        }
        wire.close()
    }

    fn say(
        &self,
        wire: &mut Wire<'_>,
        said: &mut Said,
        words: &[String],
        rate: f64,
    ) -> io::Result<End> {
        let pause = Duration::from_secs_f64(1.0 / rate);
        if !self.ask.stream {
            wire.pass(pause.mul_f64(words.len() as f64))?;
            said.text = words.concat();
            self.send(wire, said, &[])?;
            return Ok(End::Text);
        }
        wire.open()?;
        self.tell(What::FirstByte);
        self.piece(wire, &Part::Open, said)?;
        for word in words {
            said.text.push_str(word);
            self.piece(wire, &Part::Words(word), said)?;
            wire.pass(pause)?;
        }
        self.piece(wire, &Part::Close, said)?;
        wire.close()?;
        Ok(End::Text)
    }

    fn piece(&self, wire: &mut Wire<'_>, part: &Part<'_>, said: &Said) -> io::Result<()> {
        let frames = self.ask.api.frames(part, said);
        if frames.is_empty() { Ok(()) } else { wire.piece(&frames) }
    }

    fn tell(&self, what: What) {
        self.truth.tell(self.request, what);
    }
}
