//! Clients and servers that are stopped or killed: detected, reported, and reconnected. How soon is
//! tested with the watchdog.

use std::time::Duration;

use paned_backend::tmux::{Error, TmuxCommand, TmuxEvent};
use rustix::process::Signal;

use crate::test_tmux::{TestTmuxServer, client_pid, is_alive, signal, wait_for};

/// Waits for the event that the client is lost.
async fn lost(test: &mut TestTmuxServer) {
    let reason = |fact: &TmuxEvent| match fact {
        TmuxEvent::ClientLost(reason) => Some(reason.clone()),
        _ => None,
    };
    let reason = test.wait_for_event("lost", reason).await;
    assert!(!reason.is_empty());
}

#[tokio::test]
async fn a_killed_client_is_replaced() {
    let mut test = TestTmuxServer::open().await;
    let before = test.client.server().unwrap();
    let made = test.session("work", &["cat"]).await;
    signal(client_pid(&before), Signal::KILL);
    lost(&mut test).await;
    let after = test.connected().await;
    assert_eq!(after.pid, before.pid, "the server lives");
    assert_ne!(after.client, before.client);
    let panes = test.client.panes(None).await.unwrap();
    assert_eq!(panes.iter().map(|pane| pane.id).collect::<Vec<_>>(), [made.pane]);
}

#[tokio::test]
async fn a_stopped_client_is_replaced() {
    let mut test = TestTmuxServer::open().await;
    let before = test.client.server().unwrap();
    signal(client_pid(&before), Signal::STOP);
    lost(&mut test).await;
    test.connected().await;
    assert!(!is_alive(client_pid(&before)), "the stopped one is ended");
    assert_eq!(test.client.sessions().await.unwrap(), []);
}

#[tokio::test]
async fn whoever_waits_is_told_when_the_client_goes() {
    let mut test = TestTmuxServer::open().await;
    let server = test.client.server().unwrap();
    signal(server.pid, Signal::STOP);
    let answer = test.client.run(&TmuxCommand::new("list-sessions")).await;
    assert!(matches!(answer, Err(Error::Gone(_) | Error::Timeout(_))), "{answer:?}");
    // The client runs, but its server does not answer: that is no connection either.
    lost(&mut test).await;
    signal(server.pid, Signal::CONT);
}

#[tokio::test]
async fn a_request_that_was_not_written_goes_to_the_next_client() {
    let test = TestTmuxServer::open().await;
    let server = test.client.server().unwrap();
    // The server reads nothing, so the pipe fills with lines; the last line is not written.
    signal(server.pid, Signal::STOP);
    let long = TmuxCommand::new("display-message").word("-p").argument("x".repeat(12_000));
    let (first, last) = (test.client.clone(), test.client.clone());
    let fills = tokio::spawn(async move {
        futures_util::future::join_all((0..8).map(|_| first.run(&long))).await
    });
    tokio::task::yield_now().await;
    let limit = Duration::from_secs(10);
    let asks =
        tokio::spawn(
            async move { last.run_within(&TmuxCommand::new("list-sessions"), limit).await },
        );
    // The client is replaced. The server answers again before the next one gives up.
    signal(client_pid(&server), Signal::KILL);
    wait_for("the end of the client", || !is_alive(client_pid(&server)));
    signal(server.pid, Signal::CONT);
    let fills = fills.await.unwrap();
    assert!(fills.iter().any(|answer| matches!(answer, Err(Error::Gone(_)))), "{fills:?}");
    let answer = asks.await.unwrap();
    assert!(answer.is_ok(), "{answer:?}");
}

#[tokio::test]
async fn a_deadline_is_kept() {
    let test = TestTmuxServer::open().await;
    let server = test.client.server().unwrap();
    signal(server.pid, Signal::STOP);
    let limit = Duration::from_millis(100);
    let answer = test.client.run_within(&TmuxCommand::new("list-sessions"), limit).await;
    assert_eq!(answer, Err(Error::Timeout(limit)));
    signal(server.pid, Signal::CONT);
}

#[tokio::test]
async fn a_killed_server_is_told_and_started_again_on_demand() {
    let mut test = TestTmuxServer::open().await;
    test.session("work", &["cat"]).await;
    let before = test.client.server().unwrap();
    signal(before.pid, Signal::KILL);
    lost(&mut test).await;
    let gone = |fact: &TmuxEvent| match fact {
        TmuxEvent::ServerGone(error) => Some(error.clone()),
        _ => None,
    };
    let error = test.wait_for_event("gone", gone).await;
    assert!(matches!(error, Error::NoServer(_)), "{error:?}");
    assert_eq!(test.client.server(), None);
    // It is not started again until the next request.
    assert_eq!(test.client.sessions().await.unwrap(), []);
    let after = test.connected().await;
    assert_ne!(after.pid, before.pid);
}

#[tokio::test]
async fn an_idle_connection_stays() {
    let mut test = TestTmuxServer::open().await;
    let before = test.client.server();
    // not a wait: the silence is what is tested; meanwhile the client is pinged several times.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(test.client.server(), before);
    assert!(!matches!(test.events.try_recv(), Ok(TmuxEvent::ClientLost(_))));
}
