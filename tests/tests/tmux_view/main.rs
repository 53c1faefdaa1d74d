//! Panes shown in tmux: the real tmux, with people at real terminals.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod auto;
mod beside;
mod following;
mod hostile;
mod layout;
mod losses;
mod orders;
mod people;
mod queue;
mod sessions;
mod subagents;
mod widths;

use std::time::Duration;

use paned_e2e::{ReceivedEvent, Server, TestTmuxPane, Tmux, wait_for};
use paned_model::{Code, Size};
use serde_json::{Value, json};

/// How soon the table of panes must say what is true.
const SOON: Duration = Duration::from_secs(2);
const USUAL: Size = Size { cols: 200, rows: 50 };

/// Parameters that show a shell script in the session `main`.
fn shown(id: &str, script: &str) -> Value {
    in_session("main", id, script)
}

fn in_session(session: &str, id: &str, script: &str) -> Value {
    let mut params = paned_e2e::script(id, script);
    params["substrate"] = json!("tmux");
    params["session"] = json!(session);
    params
}

/// The same parameters with one more.
fn with(mut params: Value, name: &str, value: Value) -> Value {
    params[name] = value;
    params
}

/// Starts a shell script that is shown in the session `main`; answers the tmux pane.
#[track_caller]
fn show(server: &Server, id: &str, script: &str) -> TestTmuxPane {
    let made = server.act("pane:new", shown(id, script));
    assert_eq!(made["view"]["state"], "shown", "{made}");
    view(server, id)
}

/// The tmux pane that shows a pane, when it does.
#[track_caller]
fn view(server: &Server, id: &str) -> TestTmuxPane {
    let tmux = Tmux::of(server);
    wait_for(&format!("a view of {id}"), || tmux.view(id))
}

/// What the table says of a pane's view.
#[track_caller]
fn state(server: &Server, id: &str) -> String {
    server.pane(id)["view"]["state"].as_str().unwrap_or("none").to_owned()
}

/// Waits until the table says this of a pane's view.
#[track_caller]
fn until_state(server: &Server, id: &str, expect: &str) {
    wait_for(&format!("{id} is {expect}"), || (state(server, id) == expect).then_some(()));
}

/// Waits until a tmux pane shows a text.
#[track_caller]
fn until_screen(tmux: &Tmux, view: &str, text: &str) {
    wait_for(&format!("{text} in {view}"), || tmux.screen(view).contains(text).then_some(()));
}

/// Waits until a pane has printed a line that matches.
#[track_caller]
fn until(server: &Server, id: &str, pattern: &str) {
    let waited = server.act("pane:wait", json!({ "paneId": id, "pattern": pattern, "since": 0 }));
    assert_eq!(waited["met"], "pattern", "{waited}");
}

#[track_caller]
fn refused(server: &Server, action: &str, params: Value, code: Code, says: &str) {
    let refusal = server.try_act(action, params).unwrap_err();
    assert_eq!(refusal.code, code, "{refusal:?}");
    assert!(refusal.sentence.contains(says), "{refusal:?}");
}

/// An event of this name about a pane.
fn about<'a>(name: &'a str, pane: &'a str) -> impl Fn(&ReceivedEvent) -> bool + 'a {
    move |told| told.name == name && told.data["paneId"] == pane
}

/// An event of this name about a session.
fn of_session<'a>(name: &'a str, session: &'a str) -> impl Fn(&ReceivedEvent) -> bool + 'a {
    move |told| told.name == name && told.data["name"] == session
}

/// How often an event was told.
fn count(server: &Server, fits: impl Fn(&ReceivedEvent) -> bool) -> usize {
    server.history().iter().filter(|told| fits(told)).count()
}

/// Waits until there is no tmux server of ours.
#[track_caller]
fn until_no_tmux(server: &Server) {
    let tmux = Tmux::of(server);
    wait_for("the end of our tmux server", || tmux.pid().is_none().then_some(()));
}
