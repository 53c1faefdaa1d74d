//! kill -9 of the tmux server, of the control client and of our server, in each order, under output.

use paned_e2e::{Server, Tmux, kill9, wait_for};
use serde_json::json;

use super::losses::{COUNT, check_count, program};
use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Tmux,
    Client,
    Ours,
}

fn check(order: [Part; 3]) {
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
            Part::Tmux => kill9(pid),
            Part::Client => kill9(client),
            Part::Ours => server.kill(),
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
    assert_eq!(tmux.tiles().len(), 4, "{order:?}: {:?}", tmux.tiles());
    let lost = |told: &Told| {
        matches!(told.name.as_str(), "pane:removed" | "session:stopped" | "pane:hidden")
    };
    assert_eq!(count(&server, lost), 0, "{order:?}");
    server.act("pane:activate", json!({ "paneId": "close" }));
    wait_for("the focus", || tmux.view("close")?.active.then_some(()));
}

#[test]
fn tmux_then_client_then_ours() {
    check([Part::Tmux, Part::Client, Part::Ours]);
}

#[test]
fn tmux_then_ours_then_client() {
    check([Part::Tmux, Part::Ours, Part::Client]);
}

#[test]
fn client_then_tmux_then_ours() {
    check([Part::Client, Part::Tmux, Part::Ours]);
}

#[test]
fn client_then_ours_then_tmux() {
    check([Part::Client, Part::Ours, Part::Tmux]);
}

#[test]
fn ours_then_tmux_then_client() {
    check([Part::Ours, Part::Tmux, Part::Client]);
}

#[test]
fn ours_then_client_then_tmux() {
    check([Part::Ours, Part::Client, Part::Tmux]);
}
