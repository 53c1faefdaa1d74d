//! The address of a server: programs in panes were given it, so a restart keeps it.

use std::net::TcpListener;

use paned_e2e::{Server, Tmux, wait_for};
use serde_json::json;

use super::{PolyServer, file_of_a_pane};

#[test]
fn a_restart_keeps_the_ports_that_it_chose() {
    let PolyServer { mut server, authority } = PolyServer::open();
    let main = server.authority();
    let url = file_of_a_pane(&server, "a", "printf %s \"$PANED_URL\"");
    assert_eq!(url, format!("http://{main}"));
    for _ in 0..2 {
        server.kill();
        server.start_again();
        assert_eq!(server.authority(), main);
        assert_eq!(server.ready()["compat"]["poly"], format!("http://{authority}"));
        assert_eq!(server.ready().get("notes"), None);
    }
}

#[test]
fn a_port_that_is_taken_is_replaced_and_a_sentence_says_so() {
    let mut server = Server::start();
    server.act("session:start", json!({ "argv": ["cat"] }));
    let before = server.authority();
    let port = before.rsplit(':').next().unwrap().to_owned();
    server.kill();
    let _taken = TcpListener::bind(&before).unwrap();
    server.start_again();
    assert_ne!(server.authority(), before);
    let note = server.ready()["notes"][0].as_str().unwrap().to_owned();
    for part in [format!("port {port}, on which the server listened"), "PANED_SOCKET".to_owned()] {
        assert!(note.contains(&part), "{note}");
    }
    wait_for("the same in the log", || server.log().contains(&note).then_some(()));
    // What a user opens in our session from now on has the new address.
    let tmux = Tmux::of(&server);
    wait_for("the new address in tmux", || {
        let url = format!("PANED_URL=http://{}", server.authority());
        let shown = tmux.try_run(&["show-environment", "-g", "PANED_URL"]).stdout;
        (String::from_utf8_lossy(&shown).trim() == url).then_some(())
    });
}

#[test]
fn the_address_is_named_as_poly_names_it() {
    let server = Server::start_with(&["--hostname", "::1"]);
    assert!(server.authority().starts_with("[::1]:"), "{}", server.authority());
}
