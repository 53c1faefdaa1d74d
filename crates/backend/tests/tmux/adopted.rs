//! Operations on adopted panes, and on no other.

use std::fs;

use paned_backend::tmux::adopted::TmuxPaneIdentity;
use paned_backend::tmux::{Error, TmuxPane};

use crate::test_tmux::{TestTmuxServer, wait_for};

/// A pane that records all input, and its file.
async fn typed_into(test: &TestTmuxServer, name: &str) -> (TmuxPaneIdentity, std::path::PathBuf) {
    let file = test.folder().join(name);
    let script = format!("stty raw -echo; exec cat > {}", file.display());
    let pane = test.session(name, &["sh", "-c", &script]).await.pane;
    wait_for("cat", || file.exists());
    (test.client.snapshot_pane(pane).await.unwrap().unwrap().identity.unwrap(), file)
}

#[tokio::test]
async fn a_pane_that_only_has_the_same_name_gets_nothing() {
    let test = TestTmuxServer::open().await;
    let (known, file) = typed_into(&test, "a").await;
    let (_, other) = typed_into(&test, "b").await;
    let wrong = [
        TmuxPaneIdentity { server: known.server + 1, ..known },
        TmuxPaneIdentity { pid: known.pid + 1, ..known },
        TmuxPaneIdentity { pane: TmuxPane(999), ..known },
        TmuxPaneIdentity { pane: TmuxPane(known.pane.0 + 1), ..known },
    ];
    let long = vec![b'x'; 100_000];
    for who in wrong {
        for bytes in [&b"x"[..], b"\0", &long] {
            let typed = test.client.type_into(&who, bytes, test.folder()).await;
            assert!(matches!(typed, Err(Error::SessionNotFound(_))), "{who:?}: {typed:?}");
        }
        assert!(matches!(test.client.kill_guarded(&who).await, Err(Error::SessionNotFound(_))));
        assert!(test.client.open_pipe(&who, &["/bin/true"]).await.is_err());
        assert!(test.client.close_pipe(&who).await.is_err());
    }
    test.client.type_into(&known, b"mine", test.folder()).await.unwrap();
    wait_for("typed", || fs::read(&file).unwrap() == b"mine");
    assert_eq!(fs::read(&other).unwrap(), b"");
}

#[tokio::test]
async fn the_command_of_a_pipe_is_run_as_it_is_said() {
    let test = TestTmuxServer::open().await;
    let (known, _) = typed_into(&test, "a").await;
    let folder = test.folder().join("it's #(touch x) %d $HOME \"`;");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("made").to_string_lossy().into_owned();
    test.client.open_pipe(&known, &["/usr/bin/touch", &file]).await.unwrap();
    wait_for("the file", || folder.join("made").exists());
}

#[tokio::test]
async fn a_pipe_that_is_there_is_left_alone() {
    let test = TestTmuxServer::open().await;
    let (known, _) = typed_into(&test, "a").await;
    test.client.open_pipe(&known, &["/bin/sleep", "1000"]).await.unwrap();
    let again = test.client.open_pipe(&known, &["/bin/true"]).await;
    assert!(matches!(again, Err(Error::SessionNotFound(_))), "{again:?}");
    assert!(test.client.snapshot_pane(known.pane).await.unwrap().unwrap().piped);
    test.client.close_pipe(&known).await.unwrap();
    assert!(!test.client.snapshot_pane(known.pane).await.unwrap().unwrap().piped);
}
