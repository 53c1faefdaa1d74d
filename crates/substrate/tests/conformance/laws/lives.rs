//! Sessions are made, named and ended.

use paned_model::Size;
use paned_substrate::{
    CaptureStyle, Error, Program, SplitOrientation, SubstratePaneId, SubstrateSession, Target,
};

use crate::programs;
use crate::test_substrate::{SIZE, TestSubstrate, is_alive, named};

pub(crate) async fn nothing_is_there_at_first(server: TestSubstrate) {
    assert_eq!(server.substrate().list().await, Ok(Vec::new()));
    let refused = server.substrate().destroy(&named("x")).await.unwrap_err();
    assert!(matches!(refused, Error::SessionNotFound(_) | Error::NoServer(_)), "{refused:?}");
    assert_eq!(server.substrate().list().await, Ok(Vec::new()), "asking starts nothing");
}

pub(crate) async fn a_session_is_listed_with_its_real_size(server: TestSubstrate) {
    let (name, size) = (named("b"), Size { cols: 132, rows: 43 });
    let made = server.substrate().spawn(&name, &programs::size(), size).await.unwrap();
    let expect = SubstrateSession { name, size, panes: 1, attached: false };
    assert_eq!(made, expect);
    server.spawn("a", &programs::cat()).await;
    let first = SubstrateSession { name: named("a"), size: SIZE, panes: 1, attached: false };
    assert_eq!(server.substrate().list().await, Ok(vec![first, expect]));
    let target = Target::from(&made.name);
    server.wait_for_size(&target, "43 132").await;
}

pub(crate) async fn a_name_is_taken_once(server: TestSubstrate) {
    let target = server.spawn("a", &programs::say("first\\n")).await;
    let again = server.substrate().spawn(&named("a"), &programs::cat(), SIZE).await;
    let says = "session exists: session `a` already exists";
    assert_eq!(again.unwrap_err().to_string(), says);
    server.wait_for_line(&target, "first").await;
    assert_eq!(server.names().await, ["a"]);
}

pub(crate) async fn of_two_at_once_one_gets_the_name(server: TestSubstrate) {
    let (other, name, cat) = (server.second_handle(), named("a"), programs::cat());
    let (one, two) =
        tokio::join!(server.substrate().spawn(&name, &cat, SIZE), other.spawn(&name, &cat, SIZE),);
    assert_eq!(u8::from(one.is_ok()) + u8::from(two.is_ok()), 1, "{one:?} {two:?}");
    let refused = one.err().or(two.err()).unwrap();
    assert!(matches!(refused, Error::SessionExists(_)), "{refused:?}");
    assert_eq!(server.names().await, ["a"]);
}

pub(crate) async fn a_name_may_have_dots_and_dashes(server: TestSubstrate) {
    let long = "x".repeat(128);
    let names = ["a.b", "..", "-x", "0", &long];
    for name in names {
        let target = server.spawn(name, &programs::cat()).await;
        server.substrate().send(&target, &format!("to {name:.9}")).await.unwrap();
    }
    for name in names {
        server.wait_for_line(&Target::from(&named(name)), &format!("to {name:.9}")).await;
    }
    assert_eq!(server.names().await, ["-x", "..", "0", "a.b", &long]);
    for name in names {
        server.substrate().destroy(&named(name)).await.unwrap();
    }
    assert_eq!(server.names().await, [""; 0]);
}

/// Each call with a target that does not exist, though other names begin like it.
pub(crate) async fn a_name_is_matched_whole(server: TestSubstrate) {
    server.spawn("agent-10", &programs::cat()).await;
    let (name, cat) = (named("agent-1"), programs::cat());
    let (session, pane) = (Target::from(&name), Target::Pane(SubstratePaneId("%999".to_owned())));
    let it = server.substrate();
    let mut refused = vec![
        it.destroy(&name).await.unwrap_err(),
        it.panes(&name).await.unwrap_err(),
        it.resize(&name, SIZE).await.unwrap_err(),
    ];
    for target in [&session, &pane] {
        refused.extend([
            it.send(target, "x").await.unwrap_err(),
            it.key(target, "C-c").await.unwrap_err(),
            it.capture(target, 1).await.unwrap_err(),
            it.screen(target, CaptureStyle::Plain).await.unwrap_err(),
            it.split(target, SplitOrientation::Horizontal, &cat).await.unwrap_err(),
        ]);
    }
    let says: Vec<String> = refused.iter().map(Error::to_string).collect();
    let (none, no_pane) =
        ("session not found: no session `agent-1`", "session not found: no pane `%999`");
    assert_eq!(says, [[none; 8].as_slice(), &[no_pane; 5]].concat());
    assert_eq!(server.names().await, ["agent-10"]);
}

pub(crate) async fn a_destroyed_session_is_gone_with_its_processes(server: TestSubstrate) {
    let target = server.spawn("a", &programs::pid()).await;
    let is_number = |lines: &[String]| lines.iter().any(|line| line.parse::<u32>().is_ok());
    let lines = server.wait_for_lines(&target, is_number).await;
    let process: u32 = lines.iter().find_map(|line| line.parse().ok()).unwrap();
    server.substrate().split(&target, SplitOrientation::Vertical, &programs::cat()).await.unwrap();
    server.substrate().destroy(&named("a")).await.unwrap();
    assert_eq!(server.names().await, [""; 0]);
    server.until("gone", || async { process == 0 || !is_alive(process) }).await;
    let again = server.spawn("a", &programs::cat()).await;
    assert_eq!(server.substrate().capture(&again, 10).await, Ok(Vec::new()), "it is another one");
}

pub(crate) async fn a_session_ends_with_its_last_program(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    server.substrate().key(&target, "C-d").await.unwrap();
    server.until("over", || async { server.names().await.is_empty() }).await;
    let refused = server.substrate().send(&target, "x").await.unwrap_err();
    assert!(matches!(refused, Error::SessionNotFound(_)), "{refused:?}");
    server.spawn("a", &programs::cat()).await;
    assert_eq!(server.names().await, ["a"]);
}

pub(crate) async fn a_session_outlives_whoever_made_it(mut server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    let pane = server
        .substrate()
        .split(&target, SplitOrientation::Horizontal, &programs::cat())
        .await
        .unwrap();
    server.substrate().send(&target, "before").await.unwrap();
    server.wait_for_lines(&target, |lines| lines == ["before", "before"]).await;
    let (sessions, panes) = (server.substrate().list().await.unwrap(), server.panes("a").await);
    server.reopen();
    assert_eq!(server.substrate().list().await.unwrap(), sessions);
    assert_eq!(server.panes("a").await, panes);
    let target = Target::from(&pane.id);
    server.substrate().send(&target, "after").await.unwrap();
    server.wait_for_lines(&target, |lines| lines == ["before", "before", "after", "after"]).await;
    server.substrate().destroy(&named("a")).await.unwrap();
    assert_eq!(server.names().await, [""; 0]);
}

pub(crate) async fn a_program_that_is_not_there_leaves_nothing(server: TestSubstrate) {
    let refused =
        server.substrate().spawn(&named("a"), &Program::new(["no-such-program"]), SIZE).await;
    let says = "invalid command: no program `no-such-program`";
    assert_eq!(refused.unwrap_err().to_string(), says);
    assert_eq!(server.names().await, [""; 0]);
    let target = server.spawn("a", &programs::cat()).await;
    let nobody = Program::new(["no-such-program"]);
    let refused =
        server.substrate().split(&target, SplitOrientation::Vertical, &nobody).await.unwrap_err();
    assert_eq!(refused.to_string(), says);
    assert_eq!(server.panes("a").await[0].size, SIZE, "nothing was halved");
    let wide = Size { cols: 1001, rows: 5 };
    let refused = server.substrate().spawn(&named("b"), &programs::cat(), wide).await.unwrap_err();
    assert!(matches!(refused, Error::InvalidCommand(_)), "{refused:?}");
}

pub(crate) async fn a_program_gets_its_variables_and_its_folder(server: TestSubstrate) {
    let folder = server.folder().canonicalize().unwrap();
    let word = "$HOME; #{pid} 'x' \"y\"";
    let env = vec![("WORD".to_owned(), word.to_owned())];
    let program = Program { env, cwd: Some(folder.clone()), ..programs::place() };
    let target = server.spawn("a", &program).await;
    server.wait_for_lines(&target, |lines| lines == [word, folder.to_str().unwrap()]).await;
}
