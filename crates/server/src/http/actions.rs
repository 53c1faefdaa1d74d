//! `POST /action/{name}` and `POST /emit/{event}`: the kernel's `dispatch` over HTTP.

use bytes::Bytes;
use paned_model::Refusal;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::http::call::Call;
use crate::http::reply::{HandlerResult, json};

/// Runs the action in the path with the body as its parameters and returns its answer.
pub(crate) async fn run(mut call: Call) -> HandlerResult {
    let name = call.name()?;
    let params = call.body().await?;
    let answer = call.shared.dispatch(&name, params, &call.caller).await?;
    Ok(json(answer))
}

#[derive(Serialize)]
struct EmitParams<'a> {
    name: &'a str,
    payload: Option<&'a RawValue>,
}

/// Records the event in the path with the body as its payload.
pub(crate) async fn emit(mut call: Call) -> HandlerResult {
    let name = call.name()?;
    let body = call.body().await?;
    let params = params(&name, &body)?;
    let answer = call.shared.dispatch("event:emit", params, &call.caller).await?;
    Ok(json(answer))
}

/// The parameters of `event:emit`. An empty body means no payload.
fn params(name: &str, body: &[u8]) -> Result<Bytes, Refusal> {
    let is_empty = body.trim_ascii().is_empty();
    let payload = (!is_empty).then(|| serde_json::from_slice(body)).transpose();
    let payload = payload
        .map_err(|error| Refusal::invalid(format!("the body is not valid JSON: {error}")))?;
    let params = serde_json::to_vec(&EmitParams { name, payload });
    params.map(Bytes::from).map_err(Refusal::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expect: Option<&str>) {
        let params = params("a:b", body.as_bytes()).ok();
        assert_eq!(params.as_deref(), expect.map(str::as_bytes), "{body}");
    }

    #[test]
    fn any_json_is_a_payload_and_nothing_is_none() {
        check("", Some(r#"{"name":"a:b","payload":null}"#));
        check(" \n", Some(r#"{"name":"a:b","payload":null}"#));
        check(r#" {"x": 1} "#, Some(r#"{"name":"a:b","payload":{"x": 1}}"#));
        check("[1,2]", Some(r#"{"name":"a:b","payload":[1,2]}"#));
    }

    #[test]
    fn a_body_cannot_break_out_of_the_payload() {
        for body in [r#"{},"name":"pane:exited""#, "{} {}", "{", "nope"] {
            check(body, None);
        }
    }
}
