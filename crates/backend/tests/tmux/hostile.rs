//! Hostile text. None of it may run, and all of it must come back unchanged.

use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use paned_backend::tmux::command::{clean, keys};
use paned_backend::tmux::operations::{SplitSide, TmuxProgram, TmuxSplit};
use paned_backend::tmux::{SessionName, TmuxCommand};

use crate::test_tmux::{TestTmuxServer, pause};

/// Hostile texts. `MARK` is a file that must never be created.
const TEXTS: &str = include_str!("../../../../tests/data/hostile.json");

fn texts(test: &TestTmuxServer) -> Vec<Vec<u8>> {
    let mark = mark(test);
    let given: Vec<String> = serde_json::from_str(TEXTS).unwrap();
    let mut texts: Vec<Vec<u8>> =
        given.iter().map(|text| text.replace("MARK", &mark).into_bytes()).collect();
    texts.push(Vec::new());
    texts.extend(
        [&b"\xff"[..], b"a\xffb\xfe", b"\xffrun-shell x\xff", b"\xc3", b"\xed\xa0\x80"]
            .map(<[u8]>::to_vec),
    );
    texts.push((1..=255).collect());
    texts.push([format!("\u{fffd}\nrun-shell 'touch {mark}'\n").as_bytes(), b"\xff"].concat());
    assert!(60 <= texts.len());
    texts
}

fn mark(test: &TestTmuxServer) -> String {
    test.folder().join("ran").display().to_string()
}

/// Gives everything that could still run the time to do so, and checks that nothing did.
async fn nothing_ran(test: &TestTmuxServer) {
    for _ in 0..20 {
        test.client.sessions().await.unwrap();
        pause().await;
    }
    assert!(!fs::exists(mark(test)).unwrap(), "something ran");
    assert!(test.client.server().is_some());
}

#[tokio::test]
async fn options_keep_every_byte() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    for text in texts(&test) {
        let set = TmuxCommand::new("set-option").word("-p").target(made.pane);
        let set = set.argument("@text").argument(&text);
        let show = TmuxCommand::new("show-options").word("-p").word("-v").target(made.pane);
        let replies = test.client.run(&set.then(show.argument("@text"))).await.unwrap();
        let shown = replies[1].lines.join(&b'\n');
        assert_eq!(shown.escape_ascii().to_string(), text.escape_ascii().to_string());
    }
    nothing_ran(&test).await;
}

#[tokio::test]
async fn names_and_titles_come_back_clean() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    for text in texts(&test) {
        let text = String::from_utf8_lossy(&text).into_owned();
        let expect = clean(text.as_bytes());
        test.client.rename_window(made.window, &text).await.unwrap();
        test.client.set_title(made.pane, &text).await.unwrap();
        let window = test.client.windows(None).await.unwrap().remove(0);
        let pane = test.client.panes(None).await.unwrap().remove(0);
        assert_eq!(window.name, expect, "the name of {text:?}");
        assert_eq!(pane.title, expect, "the title of {text:?}");
    }
    nothing_ran(&test).await;
}

#[tokio::test]
async fn new_windows_take_any_name_argument_variable_and_folder() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let out = test.folder().join("out");
    for text in texts(&test) {
        let folder = test.folder().join("d").join(std::ffi::OsStr::from_bytes(&text));
        fs::create_dir_all(&folder).unwrap();
        let script =
            "printf %s \"$1$IT\" > \"$2.part\"; pwd -P >> \"$2.part\"; mv \"$2.part\" \"$2\"";
        let words = ["/bin/sh", "-c", script, "sh"].map(|word| word.as_bytes().to_vec());
        let argv = [&words[..], &[text.clone(), out.as_os_str().as_bytes().to_vec()]].concat();
        let env = vec![("IT".to_owned(), text.clone())];
        let program = TmuxProgram { argv, env, cwd: Some(folder.clone()) };
        let name = String::from_utf8_lossy(&text).into_owned();
        test.client.new_window(made.session, &name, &program).await.unwrap();
        crate::test_tmux::wait_for("an output", || out.exists());
        let real = fs::canonicalize(&folder).unwrap().into_os_string().into_vec();
        let expect = [text.clone(), text, real, b"\n".to_vec()].concat();
        assert_eq!(
            fs::read(&out).unwrap().escape_ascii().to_string(),
            expect.escape_ascii().to_string()
        );
        fs::remove_file(&out).unwrap();
    }
    nothing_ran(&test).await;
}

#[tokio::test]
async fn a_program_of_one_word_is_no_shell_command() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let program = crate::test_tmux::program(&[&format!("touch {}", mark(&test))]);
    let split = TmuxSplit { side: SplitSide::Right, size: None, focus: false };
    test.client.split(made.pane, split, &program).await.unwrap();
    nothing_ran(&test).await;
}

#[tokio::test]
async fn input_arrives_byte_for_byte() {
    let test = TestTmuxServer::open().await;
    let file = test.folder().join("input");
    let script = format!("stty raw -echo; echo ready; exec cat > {}", file.display());
    let made = test.session("work", &["/bin/sh", "-c", &script]).await;
    test.wait_for_screen(made.pane, |screen| screen.contains("ready")).await;
    let mut expect = Vec::new();
    for text in
        texts(&test).into_iter().chain([(0..=255).collect(), vec![0; 600], vec![b'x'; 40_000]])
    {
        test.client.send(made.pane, &text).await.unwrap();
        expect.extend_from_slice(&text);
    }
    for command in keys(made.pane, &(0..=255).collect::<Vec<u8>>()) {
        test.client.run(&command).await.unwrap();
    }
    expect.extend(0..=255);
    crate::test_tmux::wait_for("all of the input", || {
        expect.len() <= fs::read(&file).unwrap().len()
    });
    let got = fs::read(&file).unwrap();
    let first = got.iter().zip(&expect).position(|(got, expect)| got != expect);
    assert!(got == expect, "{} of {} bytes, different from {first:?}", got.len(), expect.len());
    nothing_ran(&test).await;
}

#[tokio::test]
async fn input_goes_to_the_program_while_somebody_scrolls() {
    let test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    test.client.run(&TmuxCommand::new("copy-mode").target(made.pane)).await.unwrap();
    test.client.send(made.pane, b"seen by cat\r").await.unwrap();
    test.wait_for_screen(made.pane, |screen| screen.matches("seen by cat").count() == 2).await;
    assert!(test.client.panes(None).await.unwrap()[0].in_mode);
}

#[tokio::test]
async fn a_screen_full_of_endings_ends_nothing() {
    let test = TestTmuxServer::open().await;
    // Every number that the next replies can have, for every second in which they can come.
    let script = "now=$(date +%s); for t in 0 1 2 3; do for n in $(seq 1 1500); do \
        echo \"%end $((now + t)) $n 1\"; done; done; echo all of them; exec cat";
    let made = test.session("work", &["/bin/sh", "-c", script]).await;
    test.wait_for_screen(made.pane, |screen| screen.contains("all of them")).await;
    let style = paned_backend::tmux::capture::CaptureStyle::Plain;
    let lines = test.client.last_lines(made.pane, 6001, style).await.unwrap();
    assert_eq!(lines.len(), 6001);
    assert_eq!(lines[6000], b"all of them");
    assert_eq!(test.client.sessions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_full_of_endings_is_one_pane() {
    let test = TestTmuxServer::open().await;
    let folder = test.folder().join("a\n%end 1 1 1\n\tb\n\n\u{ff}");
    fs::create_dir(&folder).unwrap();
    let program =
        TmuxProgram { cwd: Some(folder.clone()), ..crate::test_tmux::program(&["cat", "-"]) };
    let made = test.session("work", &["cat"]).await;
    test.client.new_window(made.session, "x", &program).await.unwrap();
    let folder = fs::canonicalize(folder).unwrap();
    let end = std::time::Instant::now() + crate::test_tmux::TIMEOUT;
    loop {
        let panes = test.client.panes(None).await.unwrap();
        assert_eq!(panes.len(), 2);
        if panes[1].cwd == folder {
            return;
        }
        assert!(std::time::Instant::now() < end, "it is in {:?}", panes[1].cwd);
        pause().await;
    }
}

#[tokio::test]
async fn session_names_are_exact() {
    let test = TestTmuxServer::open().await;
    let ten = test.session("agent-10", &["cat"]).await;
    let one = SessionName::new("agent-1").unwrap();
    assert!(test.client.session(&one).await.is_err(), "no prefix is a match");
    let dotted = test.session("-a.b", &["cat"]).await;
    let found = test.client.session(&SessionName::new("-a.b").unwrap()).await.unwrap();
    assert_eq!((found.id, found.tmux_name.as_str()), (dotted.session, "-a_b"));
    test.client.kill_session(ten.session).await.unwrap();
    assert_eq!(test.client.sessions().await.unwrap().len(), 1);
    test.client.rename_session(dotted.session, &one).await.unwrap();
    assert_eq!(test.client.session(&one).await.unwrap().id, dotted.session);
}
