//! `paned attach`: which pane it is for, and how it says so.

use paned_e2e::Server;

use super::attach::{DETACH, attach};
use super::term::Term;
use super::{script, until, until_exit};

#[test]
fn without_a_name_the_only_running_pane_is_meant() {
    let server = Server::start();
    script(&server, "over", "true");
    until_exit(&server, "over");
    script(&server, "web", "echo here; cat");
    until(&server, "web", "here");
    let mut term = attach(&server, &[]);
    term.until("attached to web; ctrl+] detaches");
    term.until("\u{1b}]2;attached to web; ctrl+] detaches");
    term.until("here");
    term.type_in(DETACH);
    term.until("\u{1b}[23;0t");
    term.until("detached from web");
    assert_eq!(term.end(), 0);
}

#[test]
fn of_several_panes_one_is_picked_or_the_last_one_taken() {
    let server = Server::start();
    for id in ["web", "db"] {
        script(&server, id, &format!("echo this is {id}; cat"));
        until(&server, id, "this is");
    }
    let mut term = attach(&server, &[]);
    term.until("Attach to which pane?");
    term.type_in("\u{1b}[B\r");
    term.until("]2;attached to db");
    term.until("this is db");
    term.type_in(DETACH);
    assert_eq!(term.end(), 0);
    let mut term = attach(&server, &["-"]);
    term.until("this is db");
    term.type_in(DETACH);
    assert_eq!(term.end(), 0);
    let mut term =
        Term::script(&server, "stty -a; $PANED attach; echo code=$?; stty -a; echo over");
    let before = term.until("Attach to which pane?");
    let before = before.split("\u{1b}").next().unwrap().trim_end().to_owned();
    term.type_in("\u{3}");
    term.until("code=130\r\n");
    assert_eq!(term.until("over").trim_end(), before.trim_end_matches('\r'));
}

#[test]
fn where_nothing_runs_a_login_shell_is_started() {
    let server = Server::start();
    let mut term = attach(&server, &[]);
    term.until("started a login shell in pane");
    term.type_in("exit 3\r");
    assert_eq!(term.end(), 3);
}

#[test]
fn a_prefix_or_a_title_is_attached_to_and_a_wrong_name_asked_about() {
    let server = Server::start();
    script(&server, "web", "echo here; cat");
    until(&server, "web", "here");
    let mut term = attach(&server, &["we", "--read-only"]);
    term.until("attached to web (read-only)");
    term.until("here");
    term.type_in("x");
    term.until("\u{7}");
    term.type_in(DETACH);
    assert_eq!(term.end(), 0);
    let mut term = attach(&server, &["wbe"]);
    term.until("no pane `wbe`; did you mean `web`?");
    assert_eq!(term.end(), 3);
}
