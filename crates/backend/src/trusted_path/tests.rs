//! Folders and links in a temporary folder: which are trusted, and the errors for the others.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

use super::*;

struct TestDir(tempfile::TempDir);

impl TestDir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn folder(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }
}

/// The sentence that refuses a folder; empty if it is trusted.
fn refusal(path: &Path) -> String {
    TrustedDir::open(path).map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn a_folder_that_others_can_write_into_is_refused_wherever_it_is_on_the_way() {
    let dir = TestDir::new();
    for (mode, is_trusted) in [
        (0o700, true),
        (0o755, true),
        (0o1777, true),
        (0o1770, true),
        (0o777, false),
        (0o757, false),
    ] {
        let above = dir.folder("above", mode);
        let below = dir.folder("above/below", 0o700);
        for path in [above, below] {
            let refusal = refusal(&path);
            assert_eq!(refusal.is_empty(), is_trusted, "{mode:o}: {refusal}");
            assert!(is_trusted || refusal.contains("chmod go-w"), "{refusal}");
        }
    }
}

#[test]
fn symbolic_links_are_followed_and_what_they_lead_to_is_checked() {
    let dir = TestDir::new();
    let open = dir.folder("open", 0o777);
    dir.folder("open/inner", 0o700);
    let private = dir.folder("private", 0o700);
    symlink(&private, dir.path("good")).unwrap();
    symlink("./private/../private", dir.path("relative")).unwrap();
    symlink(open.join("inner"), dir.path("bad")).unwrap();
    symlink("loop", dir.path("loop")).unwrap();
    for good in ["good", "relative", "good/../private"] {
        let folder = TrustedDir::open(&dir.path(good)).unwrap();
        assert_eq!(folder.path(), fs::canonicalize(&private).unwrap());
    }
    assert!(refusal(&dir.path("bad")).contains("other users can write to"));
    assert!(refusal(&dir.path("loop")).contains("too many symbolic links"));
}

#[test]
fn a_private_folder_is_made_with_its_parents_and_one_that_others_can_enter_is_refused() {
    let dir = TestDir::new();
    let made = TrustedDir::make_private(&dir.path("a/b/c")).unwrap();
    let mode = fs::metadata(made.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let open = dir.folder("open", 0o750);
    let error = TrustedDir::make_private(&open).unwrap_err().to_string();
    assert!(error.contains("chmod 700"), "{error}");
    TrustedDir::make_closed(&open).unwrap();
    TrustedDir::open_private(&open).unwrap();
    assert!(TrustedDir::open_private(&dir.path("none")).is_err());
    fs::write(dir.path("file"), "").unwrap();
    let error = TrustedDir::make_private(&dir.path("file")).unwrap_err().to_string();
    assert!(error.contains("is not a folder"), "{error}");
}

#[test]
fn a_socket_of_ours_is_found_and_its_listener_is_ours() {
    let dir = TestDir::new();
    let path = dir.path("s");
    let _listener = UnixListener::bind(&path).unwrap();
    symlink(&path, dir.path("link")).unwrap();
    for name in ["s", "link"] {
        let socket = TrustedSocket::find(&dir.path(name)).unwrap();
        assert_eq!(socket.name(), "s");
        socket.connect().unwrap();
    }
    fs::write(dir.path("file"), "").unwrap();
    let error = TrustedSocket::find(&dir.path("file")).unwrap_err().to_string();
    assert!(error.contains("is not a socket"), "{error}");
    let missing = TrustedSocket::find(&dir.path("none"));
    assert!(matches!(missing, Err(Error::Io { is_missing: true, .. })), "{missing:?}");
}

#[test]
fn a_socket_is_reached_through_the_open_folder_whatever_has_its_name() {
    let dir = TestDir::new();
    let folder = dir.folder("folder", 0o700);
    let listener = UnixListener::bind(folder.join("s")).unwrap();
    let socket = TrustedSocket::find(&folder.join("s")).unwrap();
    fs::rename(&folder, dir.path("moved")).unwrap();
    if socket.folder().descriptor_path().is_some() {
        socket.connect().unwrap();
        listener.accept().unwrap();
    }
}
