//! The terminal after `paned attach`: as it was before, however the attach ends.

use paned_e2e::{Server, WAIT_TIMEOUT, children_of, gone, is_alive, kill9, signal, wait_for};
use rustix::process::{Pid, Signal, kill_process};

use super::attach::DETACH;
use super::script;
use super::term::Term;

/// A shell that says how its terminal is before and after a visit.
fn visit(server: &Server) -> Term {
    Term::script(server, "stty -a; $PANED attach a; echo code=$?; stty -a; echo over")
}

/// Waits for the end of a visit; the terminal must be as it was before it.
#[track_caller]
fn check_restored(mut visit: Term, before: &str, code: u8) {
    visit.until(&format!("code={code}\r\n"));
    assert_eq!(visit.until("over"), before);
    assert_eq!(visit.end(), 0);
}

#[test]
fn the_terminal_is_put_back_however_one_leaves() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[?2004h'; echo ready; cat");
    let mut detached = visit(&server);
    let before = detached.until("ready");
    let before = before.split_once("paned: attached").unwrap().0.to_owned();
    detached.type_in(DETACH);
    detached.until("\u{1b}[?2004l");
    check_restored(detached, &before, 0);
    for (signal, code) in [
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::USR1, 138),
        (Signal::ABORT, 134),
        (Signal::SYS, 159),
    ] {
        let mut signalled = visit(&server);
        signalled.until("ready");
        let [attached] = children_of(signalled.pid())[..] else { panic!("one child") };
        let attached = Pid::from_raw(i32::try_from(attached).unwrap()).unwrap();
        kill_process(attached, signal).unwrap();
        check_restored(signalled, &before, code);
    }
    let mut lost = visit(&server);
    lost.until("ready");
    kill9(server.tape("a").keeper());
    lost.until("its keeper died");
    check_restored(lost, &before, 10);
}

/// A shell whose terminal outlives a visit, which begins with a line.
fn guarded(server: &Server) -> Term {
    let mut term = Term::script(server, "echo shell; read x; $PANED attach a; read y");
    term.until("shell");
    term
}

/// Who is attached in such a shell, and their guard.
#[track_caller]
fn attached(term: &Term) -> (u32, u32) {
    let [attached] = children_of(term.pid())[..] else { panic!("one child") };
    let [guard] = children_of(attached)[..] else { panic!("one guard") };
    (attached, guard)
}

/// What nobody can catch, or what a crash is: the guard does what attach cannot any more.
#[test]
fn the_terminal_is_put_back_after_a_death_too() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[?1049h\\033[?1000h\\033[?2004hready'; read x");
    for signal in [Signal::KILL, Signal::SEGV, Signal::ILL, Signal::BUS] {
        let mut term = guarded(&server);
        let before = term.modes();
        term.type_in("\n");
        term.until("\u{1b}[?1049h");
        wait_for("raw", || (term.modes() != before).then_some(()));
        let (attached, guard) = attached(&term);
        // A fault that somebody made up is no fault the first time.
        wait_for("its death", || {
            paned_e2e::signal(attached, signal);
            (!is_alive(attached)).then_some(())
        });
        for undone in ["\u{1b}[?1049l", "\u{1b}[?1000l", "\u{1b}[?2004l"] {
            term.until(undone);
        }
        wait_for("the modes it had", || (term.modes() == before).then_some(()));
        assert!(gone(guard, WAIT_TIMEOUT), "the guard stays");
    }
}

#[test]
fn a_shell_that_has_put_the_terminal_back_knows_better() {
    let server = Server::start();
    script(&server, "a", "echo ready; read x");
    let mut term = guarded(&server);
    let before = term.modes();
    term.type_in("\n");
    term.until("ready");
    let (attached, guard) = attached(&term);
    signal(guard, Signal::STOP);
    kill9(attached);
    wait_for("its death", || (!is_alive(attached)).then_some(()));
    let shells = term.set_line_editing();
    signal(guard, Signal::CONT);
    assert!(gone(guard, WAIT_TIMEOUT), "the guard stays");
    assert!(term.modes() == shells && shells != before);
}
