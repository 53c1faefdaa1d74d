//! `paned web`: opens the web page, signed in by a one-use code.

mod browser;
mod qr;

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::support::duration::seconds;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle};
use crate::serve::remote::RemoteInfo;
use crate::web_page::PAGE;
use browser::Browser;

const EXAMPLES: &str = "\
Examples:
  paned web                            open the page in your browser
  paned web --print                    print the link only
  paned web --qr --device \"my phone\"   a QR code for another device
  paned web --print --read-only        a link that only shows

The link signs one browser in and is then used up. `paned token ls` lists the devices that are \
signed in, `paned token revoke` signs one out. Other devices reach the server with \
`paned serve --listen lan`.";

/// For how many seconds a code is good that is used at once.
const CODE_SECONDS: u32 = 60;
/// For how many seconds a code is good that is shown to a person.
pub(crate) const LONG_CODE_SECONDS: u32 = 300;
/// The scopes of a device of the owner.
const ALL: [Scope; 6] =
    [Scope::Read, Scope::Input, Scope::Spawn, Scope::Kill, Scope::Approve, Scope::Admin];

/// Open the web page, signed in
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the link and do not open it
    #[arg(long)]
    print: bool,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Print a QR code for another device, which must be able to reach the server
    #[arg(long)]
    qr: bool,
    /// The page can show everything and change nothing
    #[arg(long)]
    read_only: bool,
    /// A label for `paned token ls` [default: what the browser says of itself]
    #[arg(long, value_name = "LABEL")]
    device: Option<String>,
    /// How long the device stays signed in, as in 12h; a number alone is seconds [default: 30d]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    expires: Option<u32>,
}

/// The parameters of `grant:create-code`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeviceParams {
    scopes: Vec<Scope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_in_seconds: Option<u32>,
    code_expires_in_seconds: u32,
}

/// What it answers.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CodeReply {
    code: String,
    code_expires_at: Value,
}

/// What is made for the owner's own browser.
pub(crate) fn owner_device(code_seconds: u32) -> DeviceParams {
    DeviceParams {
        scopes: ALL.to_vec(),
        label: None,
        expires_in_seconds: None,
        code_expires_in_seconds: code_seconds,
    }
}

/// The link that signs a browser in. What follows `#` is not sent to any server.
pub(crate) fn link(url: &str, code: &str) -> String {
    format!("{}/#t={code}", url.trim_end_matches('/'))
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    if PAGE.files.is_empty() {
        context.out.note(
            "paned: this build has no web page; install Node 20 or newer and run `make install` in \
             the source folder",
        )?;
    }
    let client = context.client_or_start()?;
    // A server that is reached by its address is not the one of our state folder.
    let info = if client.is_remote() { None } else { context.state()?.server_info() };
    let remote = info.and_then(|info| info.remote);
    let url = match (args.qr, &remote) {
        (true, Some(remote)) => remote.url_now(),
        (true, None) => return Err(unreachable_server().into()),
        (false, _) => client.web_url().map_or_else(|| url_of_server(context), Ok)?,
    };
    let browser = Browser::find().filter(|_| !(args.print || args.no_open || args.qr));
    let code_seconds = if browser.is_some() { CODE_SECONDS } else { LONG_CODE_SECONDS };
    let made: CodeReply = context.call("grant:create-code", &params(args, code_seconds))?;
    let mut link = link(&url, &made.code);
    if args.qr {
        // The other device stays signed in when its page is closed.
        link.push_str("&keep");
    }
    let is_open = browser.is_some_and(|browser| browser.open(&link));
    if context.out.is_json() {
        let remote = remote.as_ref().filter(|_| args.qr);
        context.out.json(&json!({
            "url": url,
            "link": link,
            "codeExpiresAt": made.code_expires_at,
            "opened": is_open,
            "fingerprint": remote.map(|remote| &remote.fingerprint),
        }))?;
    } else if let (true, Some(remote)) = (args.qr, &remote) {
        show_qr(context, &link, remote)?;
    } else {
        show(context, args, &link, code_seconds, is_open)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn params(args: &Args, code_seconds: u32) -> DeviceParams {
    DeviceParams {
        scopes: if args.read_only { vec![Scope::Read] } else { ALL.to_vec() },
        label: args.device.clone(),
        expires_in_seconds: args.expires,
        code_expires_in_seconds: code_seconds,
    }
}

/// The address that the server itself gives.
fn url_of_server(context: &CliContext) -> Result<String> {
    let status: Value = context.call("server:status", &())?;
    let url = status.get("url").and_then(Value::as_str).map(str::to_owned);
    url.ok_or_else(|| Refusal::internal("the server has no address for a browser").into())
}

fn unreachable_server() -> Refusal {
    let sentence = "no other device can reach this server; run `paned server restart --listen lan`, \
                    which serves the local network with TLS (panes keep running)";
    Refusal::new(Code::Unavailable, sentence)
}

fn show(
    context: &CliContext,
    args: &Args,
    link: &str,
    code_seconds: u32,
    is_open: bool,
) -> Result<()> {
    let out = context.out;
    if is_open {
        out.line("opened the page in your browser; if it does not come up, open this link:")?;
    }
    out.line(StyledLine::new(TextStyle::Strong, link))?;
    if !args.print {
        out.note(StyledLine::new(TextStyle::Faint, &good_for(code_seconds)))?;
    }
    Ok(())
}

fn show_qr(context: &CliContext, link: &str, remote: &RemoteInfo) -> Result<()> {
    let out = context.out;
    out.bytes(qr::draw(link, out.has_colour())?.as_bytes())?;
    out.line(StyledLine::new(TextStyle::Strong, link))?;
    out.line("")?;
    out.line(
        "The browser warns once, because no authority has signed the certificate. Continue only if",
    )?;
    out.line("it shows this SHA-256 fingerprint:")?;
    let half = remote.fingerprint.len() / 2 + 1;
    let (first, second) = remote.fingerprint.split_at_checked(half).unwrap_or_default();
    out.line(format!("  {}", first.trim_end_matches(':')))?;
    out.line(format!("  {second}"))?;
    out.note(StyledLine::new(TextStyle::Faint, &good_for(LONG_CODE_SECONDS)))?;
    Ok(())
}

fn good_for(seconds: u32) -> String {
    match seconds {
        CODE_SECONDS => "good for one browser and 60 seconds".to_owned(),
        more => format!("good for one browser and {} minutes", more / 60),
    }
}
