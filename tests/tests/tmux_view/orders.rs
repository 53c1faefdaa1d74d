//! kill -9 of the tmux server, of the control client and of our server, in each order, under
//! output.

use paned_e2e::{Server, Tmux, kill9, wait_for};
use serde_json::json;

use super::losses::{COUNT, check_count, program};
use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KillTarget {
    Tmux,
    Client,
    Ours,
}

fn check(order: [KillTarget; 3]) {
    let mut server = Server::start();
    show(&server, "main", COUNT);
    show(&server, "close", COUNT);
    server.act("pane:new", with(shown("detach", "cat"), "onViewClosed", json!("detach")));
    server.act("session:start", json!({ "name": "other", "argv": ["cat"] }));
    until(&server, "main", "^20$");
    let tmux = Tmux::of(&server);
    let programs = ["main", "close", "detach"].map(|id| program(&server, id));
    let (pid, client) = (tmux.pid().unwrap(), tmux.control_client().unwrap());
    for part in order {
        match part {
            KillTarget::Tmux => kill9(pid),
            KillTarget::Client => kill9(client),
            KillTarget::Ours => server.kill(),
        }
    }
    server.start_again();
    for id in ["main", "close", "detach"] {
        wait_for(&format!("{id} after {order:?}"), || {
            (state(&server, id) == "shown" && tmux.view(id).is_some()).then_some(())
        });
    }
    wait_for("both sessions", || {
        (server.act("session:list", json!({})).as_array()?.len() == 2).then_some(())
    });
    assert_eq!(["main", "close", "detach"].map(|id| program(&server, id)), programs, "{order:?}");
    check_count(&server, "main");
    check_count(&server, "close");
    assert_eq!(tmux.panes().len(), 4, "{order:?}: {:?}", tmux.panes());
    let lost = |told: &ReceivedEvent| {
        matches!(told.name.as_str(), "pane:removed" | "session:stopped" | "pane:hidden")
    };
    assert_eq!(count(&server, lost), 0, "{order:?}");
    server.act("pane:activate", json!({ "paneId": "close" }));
    wait_for("the focus", || tmux.view("close")?.active.then_some(()));
}

#[test]
fn tmux_then_client_then_ours() {
    check([KillTarget::Tmux, KillTarget::Client, KillTarget::Ours]);
}

#[test]
fn tmux_then_ours_then_client() {
    check([KillTarget::Tmux, KillTarget::Ours, KillTarget::Client]);
}

#[test]
fn client_then_tmux_then_ours() {
    check([KillTarget::Client, KillTarget::Tmux, KillTarget::Ours]);
}

#[test]
fn client_then_ours_then_tmux() {
    check([KillTarget::Client, KillTarget::Ours, KillTarget::Tmux]);
}

#[test]
fn ours_then_tmux_then_client() {
    check([KillTarget::Ours, KillTarget::Tmux, KillTarget::Client]);
}

#[test]
fn ours_then_client_then_tmux() {
    check([KillTarget::Ours, KillTarget::Client, KillTarget::Tmux]);
}
