//! Answers one client, and logs what happened.

use std::io;
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{ModelConnection, Request};
use super::instruction::PromptInstruction;
use super::log::{AnswerEnd, ModelEventKind, ModelLog};
use super::reply::{AnswerPart, ModelAnswer, ModelToolCall};
use super::request::ModelRequest;
use super::{answer_text, mcp_script, schema};

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(3600);

/// Words in a second where the speed does not matter.
const FAST: f64 = 2000.0;

/// Serves a client until it is gone.
pub(super) fn connection(stream: TcpStream, truth: &ModelLog, stop: &AtomicBool) {
    let Ok(mut wire) = ModelConnection::new(stream, stop) else { return };
    while let Ok(Some(request)) = wire.request() {
        log_request(&request);
        let served = match ModelRequest::read(&request.path, &request.body) {
            Some(ask) if request.method == "POST" => ModelTurn::new(&ask, truth).run(&mut wire),
            _ => wire.json(200, &other(&request.path)),
        };
        if served.is_err() {
            return;
        }
    }
}

/// With `PANED_MODEL_LOG` set, every request is appended there, to see what a program sends.
fn log_request(request: &Request) {
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
struct ModelTurn<'a> {
    model_request: &'a ModelRequest,
    log: &'a ModelLog,
    request: usize,
    prompt: String,
    instruction: PromptInstruction,
}

impl<'a> ModelTurn<'a> {
    fn new(model_request: &'a ModelRequest, log: &'a ModelLog) -> Self {
        let prompt = model_request.prompt();
        let text = prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
        let aside = model_request.is_side_call();
        let instruction =
            if aside { PromptInstruction::Quote } else { PromptInstruction::read(&text) };
        let request = log.asked(model_request.messages, prompt, aside);
        if let Some(result) = model_request.result() {
            log.record(request, ModelEventKind::ToolResult(result.to_owned()));
        }
        Self { model_request, log, request, prompt: text, instruction }
    }

    /// Answers; fails when the client hung up, which is logged.
    fn run(&self, wire: &mut ModelConnection<'_>) -> io::Result<()> {
        let answered = self.answer(wire);
        match &answered {
            Ok(end) => self.record(ModelEventKind::Ended(*end)),
            Err(_) => self.record(ModelEventKind::Aborted),
        }
        if !matches!(answered, Ok(AnswerEnd::Text | AnswerEnd::Tool)) {
            self.log.failed(self.model_request.messages, &self.prompt);
        }
        answered.map(drop)
    }

    fn answer(&self, wire: &mut ModelConnection<'_>) -> io::Result<AnswerEnd> {
        let mut said = ModelAnswer {
            id: format!("fake-{}", self.request),
            model: self.model_request.model.clone(),
            text: String::new(),
            call: None,
        };
        if self.model_request.is_side_call() {
            let words = match &self.model_request.shape {
                Some(shape) => vec![schema::fill(shape).to_string()],
                None => vec!["A fake title".to_owned()],
            };
            return self.say(wire, &mut said, &words, FAST);
        }
        if self.prompt.is_empty()
            && let Some(result) = self.model_request.result()
        {
            if let Some(call) = mcp_script::next(result) {
                return self.call_mcp(wire, said, &call);
            }
            return self.say(wire, &mut said, &answer_text::done(), 20.0);
        }
        let words = answer_text::words(&self.instruction, &self.prompt);
        match &self.instruction {
            PromptInstruction::Say { delay, rate, .. } => {
                wire.pass(*delay)?;
                self.say(wire, &mut said, &words, *rate)
            }
            PromptInstruction::Prose { rate, .. } => self.say(wire, &mut said, &words, *rate),
            PromptInstruction::Tool { delay, command } => {
                wire.pass(*delay)?;
                let call = schema::shell(&self.model_request.tools, command);
                self.call_or_say(wire, said, (call, command), &words)
            }
            PromptInstruction::Call { tool, args } => {
                let call = schema::named(&self.model_request.tools, tool);
                let call = call.map(|name| (name, args.clone()));
                self.call_or_say(wire, said, (call, ""), &words)
            }
            PromptInstruction::Question { multi } => {
                let call = schema::question(&self.model_request.tools, *multi);
                self.call_or_say(wire, said, (call, ""), &words)
            }
            PromptInstruction::Plan => {
                let call = schema::plan(&self.model_request.tools);
                self.call_or_say(wire, said, (call, ""), &words)
            }
            PromptInstruction::Mcp => self.call_mcp(wire, said, &mcp_script::first()),
            PromptInstruction::Error { status } => {
                wire.json(*status, &self.model_request.api.error(*status))?;
                Ok(AnswerEnd::Error)
            }
            PromptInstruction::Hang => wire.pass(FOREVER).map(|()| AnswerEnd::Text),
            PromptInstruction::Quote => self.say(wire, &mut said, &words, FAST),
        }
    }

    /// A program without tools is told the command in words.
    fn call_or_say(
        &self,
        wire: &mut ModelConnection<'_>,
        mut said: ModelAnswer,
        (call, command): (Option<(String, Value)>, &str),
        words: &[String],
    ) -> io::Result<AnswerEnd> {
        let Some((name, args)) = call else { return self.say(wire, &mut said, words, 20.0) };
        self.record(ModelEventKind::ToolAsked { name: name.clone(), command: command.to_owned() });
        said.call = Some(ModelToolCall { id: format!("call_{}", self.request), name, args });
        self.send(wire, &said, &[AnswerPart::Open, AnswerPart::Call, AnswerPart::Close])?;
        Ok(AnswerEnd::Tool)
    }

    /// Calls a tool of paned's, or says that the program does not offer it.
    fn call_mcp(
        &self,
        wire: &mut ModelConnection<'_>,
        said: ModelAnswer,
        (name, args): &(&str, Value),
    ) -> io::Result<AnswerEnd> {
        let offered = mcp_script::offered(&self.model_request.tools, name);
        let call = offered.map(|tool| (tool.name.clone(), args.clone()));
        self.call_or_say(wire, said, (call, name), &[format!("There is no tool {name}.")])
    }

    fn send(
        &self,
        wire: &mut ModelConnection<'_>,
        said: &ModelAnswer,
        parts: &[AnswerPart<'_>],
    ) -> io::Result<()> {
        if !self.model_request.stream {
            self.record(ModelEventKind::FirstByte);
            return wire.json(200, &self.model_request.api.whole(said));
        }
        wire.open()?;
        self.record(ModelEventKind::FirstByte);
        for part in parts {
            self.piece(wire, part, said)?;
        }
        wire.close()
    }

    fn say(
        &self,
        wire: &mut ModelConnection<'_>,
        said: &mut ModelAnswer,
        words: &[String],
        rate: f64,
    ) -> io::Result<AnswerEnd> {
        let pause = Duration::from_secs_f64(1.0 / rate);
        if !self.model_request.stream {
            wire.pass(pause.mul_f64(words.len() as f64))?;
            said.text = words.concat();
            self.send(wire, said, &[])?;
            return Ok(AnswerEnd::Text);
        }
        wire.open()?;
        self.record(ModelEventKind::FirstByte);
        self.piece(wire, &AnswerPart::Open, said)?;
        for word in words {
            said.text.push_str(word);
            self.piece(wire, &AnswerPart::Words(word), said)?;
            wire.pass(pause)?;
        }
        self.piece(wire, &AnswerPart::Close, said)?;
        wire.close()?;
        Ok(AnswerEnd::Text)
    }

    fn piece(
        &self,
        wire: &mut ModelConnection<'_>,
        part: &AnswerPart<'_>,
        said: &ModelAnswer,
    ) -> io::Result<()> {
        let frames = self.model_request.api.frames(part, said);
        if frames.is_empty() { Ok(()) } else { wire.piece(&frames) }
    }

    fn record(&self, what: ModelEventKind) {
        self.log.record(self.request, what);
    }
}
