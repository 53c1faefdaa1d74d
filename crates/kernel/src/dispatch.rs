//! The one way in for every change and question.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use paned_model::{Code, Refusal};
use paned_policy::permit;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::hooks::Start;
use crate::journal::{Draft, Ticket};
use crate::registry::{Context, Definition, Kind, Run};
use crate::{Caller, Kernel};

/// What an action answered, as JSON.
pub type Answer = Box<RawValue>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    action_name: &'a str,
    params: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_info: Option<&'a Refusal>,
}

/// What is needed to tell of an action.
#[derive(Clone, Copy)]
struct Teller {
    action: &'static str,
    secrets: &'static [&'static str],
}

impl Kernel {
    /// Runs an action: find it, permit it, read its parameters, ask the hooks, run it, tell of it. A
    /// change is answered once it is in the journal.
    ///
    /// # Errors
    /// With the refusal that every face shows as it is.
    pub async fn dispatch(
        &self,
        name: &str,
        params: &[u8],
        caller: &Caller,
    ) -> Result<Answer, Refusal> {
        let definition = self.registry().get(name)?;
        self.check_alive(caller)?;
        permit::scope(&caller.grant, definition.scope).map_err(forbidden)?;
        let context = Context { kernel: self.clone(), caller: caller.clone() };
        let run = (definition.run)(context, params)?;
        if let Some(pane) = &run.pane {
            self.may_reach(pane, caller)?;
        }
        if self.is_untold(definition) {
            return self.while_let_in(caller, definition.kind, run.start).await?;
        }
        let shown = shown(params, definition.secrets);
        let teller = Teller { action: definition.name, secrets: definition.secrets };
        let told = Box::pin(self.clone().run_told(teller, shown, run));
        match definition.kind {
            Kind::Question | Kind::Input => {
                self.while_let_in(caller, definition.kind, told).await?.0
            }
            Kind::Event | Kind::Change => {
                // Whoever asked may go away or be shut out in the middle: a change that was begun is finished and told.
                let errand = self.errands().run(told);
                let (outcome, ticket) =
                    self.while_let_in(caller, definition.kind, errand).await??;
                self.settle(ticket).await;
                outcome
            }
        }
    }

    /// What comes of something a caller asked for, unless they are let in no more before that: some questions wait for
    /// a day, and what they find by then is not for everybody who could ask. What is typed or recorded is done soon, and
    /// to be told so is to be told nothing, so nobody looks after them: thousands of those may be under way.
    async fn while_let_in<T>(
        &self,
        caller: &Caller,
        kind: Kind,
        asked: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        if matches!(kind, Kind::Input | Kind::Event) {
            return Ok(asked.await);
        }
        let mut asked = pin!(asked);
        // Most of it is done at once, by somebody who was let in just now.
        let begun = poll_fn(|cx| Poll::Ready(asked.as_mut().poll(cx))).await;
        if let Poll::Ready(outcome) = begun {
            return Ok(outcome);
        }
        tokio::select! {
            biased;
            // Apart, because its place is large and nearly always empty.
            () = Box::pin(self.shut_out(caller)) => Err(too_late(kind)),
            outcome = asked => Ok(outcome),
        }
    }

    /// Runs it between the two events that tell of it. What it answers is in the journal with the ticket.
    async fn run_told(
        self,
        teller: Teller,
        shown: Box<RawValue>,
        run: Run,
    ) -> (Result<Answer, Refusal>, Ticket) {
        self.tell(teller.action, "action:start", &shown, Ok(None));
        let asked = match self.hooks().is_empty() {
            true => Ok(()),
            // Apart, because its place is large and nearly always empty.
            false => Box::pin(self.ask_hooks(teller.action, &shown)).await,
        };
        let outcome = match asked {
            Ok(()) => run.start.await,
            Err(refusal) => Err(refusal),
        };
        let ticket = self.conclude(teller, &shown, &outcome);
        (outcome, ticket)
    }

    /// A question or a keystroke that nobody listens for is only answered: it is no fact, and a thousand of
    /// them a second would drown the journal. An event that is recorded needs no two others beside it.
    fn is_untold(&self, definition: &Definition) -> bool {
        let heard = || ["action:start", "action:success", "action:error"];
        definition.kind != Kind::Change
            && self.hooks().is_empty()
            && !heard().iter().any(|event| self.journal().wants(event))
    }

    async fn ask_hooks(&self, action: &'static str, params: &RawValue) -> Result<(), Refusal> {
        let start = Start { action, params: Arc::from(params.to_owned()) };
        let (verdict, failed) = self.hooks().ask(&start, self.limits().hook).await;
        for failed in failed {
            tracing::warn!(source = failed.source, error = failed.error, "a hook failed");
            self.emit(
                "handler:error",
                &serde_json::json!({
                    "source": failed.source, "event": "action:start", "error": failed.error,
                }),
            );
        }
        verdict
    }

    /// Tells how it went.
    fn conclude(
        &self,
        Teller { action, secrets }: Teller,
        params: &RawValue,
        outcome: &Result<Answer, Refusal>,
    ) -> Ticket {
        match outcome {
            Ok(answer) if secrets.is_empty() => {
                self.tell(action, "action:success", params, Ok(Some(answer)))
            }
            Ok(answer) => {
                let answer = shown(answer.get().as_bytes(), secrets);
                self.tell(action, "action:success", params, Ok(Some(&answer)))
            }
            Err(refusal) => self.tell(action, "action:error", params, Err(refusal)),
        }
    }

    fn tell(
        &self,
        action_name: &str,
        event: &str,
        params: &RawValue,
        outcome: Result<Option<&RawValue>, &Refusal>,
    ) -> Ticket {
        let (result, error_info) = match outcome {
            Ok(result) => (result, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let told = Told { action_name, params, result, error_info };
        let room = 96 + params.get().len() + result.map_or(0, |result| result.get().len());
        self.journal().record(vec![draft_in(room, event, &told)], Vec::new())
    }

    /// Waits until this and everything before it is in the journal. While the disk refuses, that is said
    /// in the log and in `server:status`; what has happened has happened all the same.
    pub(crate) async fn settle(&self, ticket: Ticket) {
        if let Err(error) = self.journal().committed(ticket).await {
            tracing::error!(%error, "an action was answered before it was in the journal");
        }
    }
}

/// An event of this name with this payload.
pub(crate) fn draft(name: &str, payload: &impl Serialize) -> Draft {
    draft_in(128, name, payload)
}

/// The same, for a payload of which it is known about how long it is: to grow on the way costs more than to write it.
fn draft_in(room: usize, name: &str, payload: &impl Serialize) -> Draft {
    let mut json = Vec::with_capacity(room);
    let written = serde_json::to_writer(&mut json, payload).map(|()| String::from_utf8(json));
    let payload = written.ok().and_then(Result::ok).unwrap_or_else(|| "{}".to_owned());
    Draft { name: name.to_owned(), payload }
}

/// The refusal of somebody whose grant ended before there was an answer.
fn too_late(kind: Kind) -> Refusal {
    let sentence = match kind {
        Kind::Question | Kind::Input => {
            "the grant that this was asked with is over, so it is not answered"
        }
        Kind::Event | Kind::Change => {
            "the grant that this was asked with is over: what was begun is finished, but not answered"
        }
    };
    Refusal::new(Code::Unauthorized, sentence)
}

fn forbidden(denial: permit::Denial) -> Refusal {
    Refusal::new(Code::Forbidden, denial.to_string())
}

/// The JSON as it may be shown: on one line, with secrets left out.
fn shown(json: &[u8], secrets: &[&str]) -> Box<RawValue> {
    if secrets.is_empty()
        && let Ok(line) = String::from_utf8(compact(json))
        && let Ok(shown) = RawValue::from_string(line)
    {
        return shown;
    }
    let mut value: Value = serde_json::from_slice(json).unwrap_or_else(|_| serde_json::json!({}));
    for secret in secrets {
        if let Some(field) = value.get_mut(*secret) {
            *field = Value::String("(not shown)".to_owned());
        }
    }
    serde_json::value::to_raw_value(&value).expect("a JSON value always becomes JSON")
}

/// JSON without the blanks between its parts.
fn compact(json: &[u8]) -> Vec<u8> {
    let (mut out, mut in_text, mut escaped) = (Vec::with_capacity(json.len()), false, false);
    for &byte in json {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !in_text => continue,
            b'"' if !escaped => in_text = !in_text,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expect: &str) {
        assert_eq!(shown(json.as_bytes(), &[]).get(), expect, "{json}");
    }

    #[test]
    fn what_is_shown_is_on_one_line_and_otherwise_as_it_was_sent() {
        check("{ \"a\" :\r\n\t[1, 2.50]}\n", r#"{"a":[1,2.50]}"#);
        check(r#"{"a b" : " \\" , "c":"\" x"}"#, r#"{"a b":" \\","c":"\" x"}"#);
        check(r#"{"ä": "\\\" y"}"#, r#"{"ä":"\\\" y"}"#);
    }

    #[test]
    fn nothing_is_shown_as_no_parameters() {
        check("", "{}");
        check("  ", "{}");
    }

    #[test]
    fn secrets_are_left_out() {
        let params = br#"{"token": "x", "name": "y"}"#;
        let expect = r#"{"token":"(not shown)","name":"y"}"#;
        assert_eq!(shown(params, &["token"]).get(), expect);
    }
}
