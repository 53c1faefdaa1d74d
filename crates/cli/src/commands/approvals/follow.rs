//! `paned approvals follow`: approvals as they are asked for, answered one by one on a terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::Result;
use paned_model::{ApprovalInfo, ApprovalKind, Code, Refusal};
use serde_json::{Value, json};

use super::{ApprovalAnswerReply, ApprovalListReply, outcome, show};
use crate::client::{self, ApiClient};
use crate::commands::support::event_stream::EventStream;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, in_commands};

pub(super) fn run(context: &CliContext) -> Result<ExitCode> {
    let client = context.client()?;
    client::block_on(follow(context.out, &client))??;
    Ok(ExitCode::SUCCESS)
}

async fn follow(out: Out, client: &ApiClient) -> Result<()> {
    let asks = out.is_terminal() && !out.is_json() && io::stdin().is_terminal();
    // Opened first, so that an approval between the list and the stream is not missed.
    let mut events = EventStream::from_now(client, out, "approval:asked,approval:answered").await?;
    let reply: ApprovalListReply = client.call("approval:list", &()).await?;
    if asks && reply.approvals.is_empty() {
        out.note(StyledLine::new(TextStyle::Faint, "waiting for approvals; ctrl+c stops"))?;
    }
    let mut shown: Vec<String> = Vec::new();
    for approval in &reply.approvals {
        shown.push(approval.id.to_string());
        take(out, client, approval, asks).await?;
    }
    loop {
        let event = events.next().await?;
        let payload: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let Some(id) = payload.get("id").and_then(Value::as_str) else { continue };
        match event.event.as_str() {
            "approval:asked" if !shown.iter().any(|it| it == id) => {
                let Some(approval) = open(client, id).await? else { continue };
                take(out, client, &approval, asks).await?;
            }
            "approval:answered" if out.is_json() => out.json(&payload)?,
            "approval:answered" => {
                let text = |name: &str| payload.get(name).and_then(Value::as_str).unwrap_or("");
                let line = format!("{id} {} by {}", text("outcome"), text("by"));
                out.note(StyledLine::new(TextStyle::Faint, &line))?;
            }
            _ => {}
        }
        shown.retain(|it| it != id);
    }
}

/// An approval, unless it was answered before it could be shown.
async fn open(client: &ApiClient, id: &str) -> Result<Option<ApprovalInfo>> {
    let found = client.call("approval:get", &json!({ "id": id })).await;
    match found {
        Ok(approval) => Ok(Some(approval).filter(|it: &ApprovalInfo| it.answer.is_none())),
        Err(error) if has_code(&error, Code::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn take(out: Out, client: &ApiClient, approval: &ApprovalInfo, asks: bool) -> Result<()> {
    if out.is_json() {
        return Ok(out.json(approval)?);
    }
    show::approval(out, approval)?;
    if !asks {
        return Ok(out.line("")?);
    }
    while let Some(answer) = prompt(approval)? {
        let request = json!({ "id": approval.id, "answer": answer });
        match client.call("approval:answer", &request).await {
            Ok(ApprovalAnswerReply { approval }) => return Ok(out.line(outcome(&approval))?),
            Err(error) => {
                let refusal: Refusal = error.downcast()?;
                out.note(in_commands(&refusal.sentence))?;
                // It was answered elsewhere, or is gone: the next one has its turn.
                if refusal.code != Code::Invalid {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Asks for an answer; nothing if the approval is to stay open.
fn prompt(approval: &ApprovalInfo) -> Result<Option<Value>> {
    let question = match (approval.kind, &approval.covers) {
        (ApprovalKind::Dialog, _) => "option, or enter to leave it open: ",
        (_, Some(_)) => "[a]llow once, allow for the [p]ane, [d]eny, or enter to leave it open: ",
        (_, None) => "[a]llow once, [d]eny, or enter to leave it open: ",
    };
    let mut terminal = io::stderr();
    terminal.write_all(question.as_bytes())?;
    terminal.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let word = line.trim();
    if word.is_empty() {
        return Ok(None);
    }
    if approval.kind == ApprovalKind::Dialog {
        return Ok(Some(
            word.parse::<usize>().map_or_else(|_| json!(word), |number| json!(number)),
        ));
    }
    Ok(Some(match word {
        "a" | "allow" | "y" | "yes" => json!("allow"),
        "p" | "pane" => json!("allow-pane"),
        "d" | "deny" | "n" | "no" => json!("deny"),
        other => json!(other),
    }))
}

fn has_code(error: &anyhow::Error, code: Code) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == code)
}
