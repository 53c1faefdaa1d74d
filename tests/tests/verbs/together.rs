//! Some who type into one pane at the same time: at the server, and past it.

use std::sync::atomic::{AtomicBool, Ordering};

use paned_e2e::Server;
use paned_model::Size;
use serde_json::json;

use super::term::Term;
use super::{script, until};

const DETACH: &str = "\u{1d}";

#[test]
fn who_types_here_and_who_types_at_the_server_never_mix() {
    let server = Server::start();
    script(&server, "a", "stty -echo; echo ready; sed '/^end$/q' | sort | uniq -c; echo over");
    until(&server, "a", "ready");
    let line = |letter: &str| format!("{}\n", letter.repeat(200));
    let over = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let server = &server;
        let type_on = |letter| {
            let write = || server.act("pane:write", json!({ "paneId": "a", "text": line(letter) }));
            (1..).find(|_| (write(), over.load(Ordering::SeqCst)).1).unwrap()
        };
        let typists = ["b", "c"].map(|letter| (letter, scope.spawn(move || type_on(letter))));
        // Whoever comes and goes changes by which way the server types.
        for _ in 0..6 {
            let mut term = Term::paned(server, &["attach", "a", "--no-resize"], Size::default());
            term.until("ready");
            (0..10).for_each(|_| term.type_in(&line("v")));
            term.type_in(DETACH);
            term.until("detached");
            assert_eq!(term.end(), 0);
        }
        over.store(true, Ordering::SeqCst);
        typists.map(|(letter, typist)| (letter, typist.join().unwrap()))
    });
    server.act("pane:write", json!({ "paneId": "a", "text": "end\n" }));
    until(&server, "a", "over");
    for (letter, count) in counts.into_iter().chain([("v", 60)]) {
        until(&server, "a", &format!(" {count} {}", letter.repeat(200)));
    }
}
