//! The manager with a runner that remembers what it was asked, and starts nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use paned_kernel::extensions::{ExtensionStatus, StarterLanguage};
use paned_model::{Code, Scope};
use tempfile::TempDir;

use super::*;
use crate::RunState;

#[derive(Default)]
struct RecordingRunner {
    running: StdMutex<BTreeMap<String, RunState>>,
    calls: StdMutex<Vec<String>>,
}

impl RecordingRunner {
    fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

impl ExtensionRunner for RecordingRunner {
    fn state(&self, name: &str) -> Option<RunState> {
        self.running.lock().unwrap().get(name).cloned()
    }

    fn set_installed(&self, _: BTreeSet<String>) {}

    fn start(&self, setup: ExtensionSetup) -> BoxedFuture<'_, ()> {
        let name = setup.manifest.name;
        let scopes: Vec<_> = setup.scopes.iter().map(|scope| scope.as_str()).collect();
        self.calls.lock().unwrap().push(format!("start {name} {}", scopes.join(",")));
        let state = RunState {
            name: (name == "inner").then(|| "exported".to_owned()),
            status: ExtensionStatus::Running,
            reason: None,
            pid: Some(7),
            restarts: 0,
            events: Vec::new(),
            veto: Vec::new(),
            actions: Vec::new(),
        };
        self.running.lock().unwrap().insert(name, state);
        Box::pin(async {})
    }

    fn stop<'a>(&'a self, name: &'a str, keep_place: bool) -> BoxedFuture<'a, ()> {
        self.calls.lock().unwrap().push(format!("stop {name} {keep_place}"));
        self.running.lock().unwrap().remove(name);
        Box::pin(async {})
    }
}

struct Fixture {
    dir: TempDir,
    runner: Arc<RecordingRunner>,
    manager: ExtensionManager,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runner = Arc::new(RecordingRunner::default());
        let paths = ExtensionPaths::new(&dir.path().join("state"));
        let manager = ExtensionManager::new(dir.path().join("ext"), paths, runner.clone());
        Self { dir, runner, manager }
    }

    fn write(&self, folder: &str, manifest: &str) -> PathBuf {
        let folder = self.dir.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("paned.toml"), manifest).unwrap();
        folder
    }

    async fn names(&self) -> Vec<(String, ExtensionStatus)> {
        let list = self.manager.list().await.unwrap();
        list.into_iter().map(|info| (info.name, info.status)).collect()
    }
}

fn manifest(name: &str) -> String {
    format!("name = '{name}'\ncommand = ['x']\nscopes = ['read', 'spawn']")
}

fn change(name: &str) -> SetRequest {
    SetRequest { name: name.into(), scopes: None, reset_scopes: false, enabled: None }
}

#[tokio::test]
async fn what_is_in_the_folder_is_started_and_what_is_gone_is_stopped() {
    let fixture = Fixture::new();
    fixture.manager.start_all().await.unwrap().await;
    assert!(fixture.names().await.is_empty());
    for name in ["a", "b"] {
        fixture.write(&format!("ext/{name}"), &manifest(name));
    }
    fixture.manager.start_all().await.unwrap().await;
    assert_eq!(fixture.runner.take_calls(), ["start a read,spawn", "start b read,spawn"]);
    fs::remove_dir_all(fixture.dir.path().join("ext/a")).unwrap();
    // Another name in the manifest: the old one must not keep running.
    fixture.write("ext/b", &manifest("c"));
    fixture.write("ext/broken", "name = 1");
    let list = fixture.manager.reload(None).await.unwrap();
    let mut calls = fixture.runner.take_calls();
    calls.sort();
    assert_eq!(calls, ["start c read,spawn", "stop a true", "stop b true"]);
    assert_eq!(list.len(), 2);
    let (broken, c) = (&list[0], &list[1]);
    assert_eq!((broken.name.as_str(), broken.status), ("broken", ExtensionStatus::Invalid));
    assert!(broken.reason.as_ref().unwrap().contains("paned.toml: line 1"), "{broken:?}");
    assert_eq!((c.name.as_str(), c.status, c.pid), ("c", ExtensionStatus::Running, Some(7)));
}

#[tokio::test]
async fn the_user_changes_scopes_and_turns_extensions_off() {
    let fixture = Fixture::new();
    fixture.write("ext/a", &manifest("a"));
    let manager = &fixture.manager;
    manager.start_all().await.unwrap().await;
    let scopes = Some(BTreeSet::from([Scope::Read]));
    let info = manager.set(SetRequest { scopes, ..change("a") }).await.unwrap();
    assert_eq!(info.scopes, BTreeSet::from([Scope::Read]));
    assert_eq!(info.scopes_asked, BTreeSet::from([Scope::Read, Scope::Spawn]));
    let info = manager.set(SetRequest { enabled: Some(false), ..change("a") }).await.unwrap();
    assert_eq!((info.status, info.enabled), (ExtensionStatus::Stopped, false));
    assert!(info.reason.unwrap().contains("`paned ext set a --enabled`"));
    assert_eq!(fixture.runner.take_calls(), ["start a read,spawn", "start a read", "stop a true"]);
    // It stays off, also for another server on the same state folder.
    manager.reload(None).await.unwrap();
    manager.start_all().await.unwrap().await;
    assert!(fixture.runner.take_calls().is_empty());
    let on = SetRequest { enabled: Some(true), reset_scopes: true, ..change("a") };
    manager.set(on).await.unwrap();
    assert_eq!(fixture.runner.take_calls(), ["start a read,spawn"]);
    for wrong in [change("a"), change("nothing")] {
        assert!(manager.set(wrong).await.is_err());
    }
}

#[tokio::test]
async fn install_info_and_remove_go_together() {
    let fixture = Fixture::new();
    let manager = &fixture.manager;
    let source = fixture.write("source", &manifest("guard"));
    let request = |replace| InstallRequest {
        source: source.display().to_string(),
        name: None,
        rev: None,
        replace,
    };
    let info = manager.install(request(false)).await.unwrap();
    assert_eq!((info.name.as_str(), info.status), ("guard", ExtensionStatus::Running));
    assert_eq!(manager.install(request(false)).await.unwrap_err().code, Code::Conflict);
    manager.install(request(true)).await.unwrap();
    assert_eq!(fixture.runner.take_calls(), ["start guard read,spawn", "start guard read,spawn"]);
    let refusal = manager.info("gaurd".into()).await.unwrap_err();
    assert!(refusal.sentence.contains("did you mean `guard`?"), "{refusal}");

    manager.set(SetRequest { enabled: Some(false), ..change("guard") }).await.unwrap();
    let data = fixture.manager.paths.data("guard");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("mine"), "").unwrap();
    let remove = |keep_data| RemoveRequest { name: "guard".into(), keep_data };
    let removed = manager.remove(remove(true)).await.unwrap();
    assert_eq!(removed.data.as_deref(), Some(data.as_path()));
    assert!(data.join("mine").exists() && fixture.names().await.is_empty());
    let info = manager.install(request(false)).await.unwrap();
    assert!(!info.enabled, "the user's settings were kept");
    assert_eq!(manager.remove(remove(false)).await.unwrap().data, None);
    assert!(!data.exists());
    assert!(manager.install(request(false)).await.unwrap().enabled);
    assert!(source.join("paned.toml").exists());
}

#[tokio::test]
async fn of_a_linked_extension_only_the_link_is_removed() {
    let fixture = Fixture::new();
    let source = fixture.write("source", &manifest("guard"));
    let extensions = fixture.dir.path().join("ext");
    fs::create_dir(&extensions).unwrap();
    std::os::unix::fs::symlink(&source, extensions.join("guard")).unwrap();
    let manager = &fixture.manager;
    manager.start_all().await.unwrap().await;
    let real = fs::canonicalize(&source).unwrap();
    assert_eq!(manager.info("guard".into()).await.unwrap().link.as_ref(), Some(&real));
    let remove = RemoveRequest { name: "guard".into(), keep_data: false };
    assert_eq!(manager.remove(remove).await.unwrap().link, Some(real));
    assert!(source.join("paned.toml").exists() && fixture.names().await.is_empty());
}

#[tokio::test]
async fn a_broken_extension_can_be_removed_by_the_name_of_its_folder() {
    let fixture = Fixture::new();
    fixture.write("ext/Broken.Thing", "nothing");
    let remove = RemoveRequest { name: "Broken.Thing".into(), keep_data: false };
    fixture.manager.remove(remove).await.unwrap();
    assert!(fixture.names().await.is_empty());
    for name in ["..", ".", "", "../source", "/etc"] {
        let remove = RemoveRequest { name: name.into(), keep_data: false };
        assert_eq!(
            fixture.manager.remove(remove).await.unwrap_err().code,
            Code::NotFound,
            "{name}"
        );
    }
}

#[tokio::test]
async fn an_extension_is_known_by_the_name_it_exports() {
    let fixture = Fixture::new();
    fixture.write("ext/inner", &manifest("inner"));
    let manager = &fixture.manager;
    manager.start_all().await.unwrap().await;
    for name in ["exported", "inner"] {
        assert_eq!(manager.info(name.into()).await.unwrap().name, "exported");
    }
    let source = fixture.write("source", &manifest("exported")).display().to_string();
    let request = InstallRequest { source, name: None, rev: None, replace: true };
    let refusal = manager.install(request).await.unwrap_err();
    assert_eq!(refusal.code, Code::Conflict, "{refusal}");
}

#[tokio::test]
async fn a_new_extension_is_written_and_started() {
    let fixture = Fixture::new();
    let manager = &fixture.manager;
    let request = |name: &str, dir: Option<&Path>| CreateRequest {
        name: name.into(),
        language: StarterLanguage::Python,
        dir: dir.map(Path::to_owned),
    };
    let made = manager.create(request("mine", None)).await.unwrap();
    assert_eq!(made.test_command, "python3 -m unittest");
    assert!(made.extension.is_some() && made.folder.join("main.py").exists());
    assert_eq!(fixture.runner.take_calls(), ["start mine read"]);
    let elsewhere = fixture.dir.path().join("work");
    let made = manager.create(request("mine", Some(&elsewhere))).await.unwrap();
    assert!(made.extension.is_none() && made.folder == elsewhere.join("mine"));
    assert!(fixture.runner.take_calls().is_empty());
    for (name, dir, code) in [
        ("mine", None, Code::Conflict),
        ("mine", Some(elsewhere.as_path()), Code::Conflict),
        ("Mine", None, Code::Invalid),
        ("x", Some(Path::new("work")), Code::Invalid),
    ] {
        assert_eq!(manager.create(request(name, dir)).await.unwrap_err().code, code, "{name}");
    }
}

#[tokio::test]
async fn a_log_is_read_and_followed() {
    let fixture = Fixture::new();
    fixture.write("ext/a", &manifest("a"));
    let manager = &fixture.manager;
    let request = |after: Option<&str>, wait_ms| LogRequest {
        name: "a".into(),
        lines: Some(1),
        after: after.map(str::to_owned),
        wait_ms,
    };
    let empty = manager.logs(request(None, None)).await.unwrap();
    assert_eq!(empty.text, "");
    fs::create_dir_all(empty.file.parent().unwrap()).unwrap();
    fs::write(&empty.file, "one\ntwo\n").unwrap();
    let tail = manager.logs(request(None, None)).await.unwrap();
    assert_eq!(tail.text, "two\n");
    let file = empty.file.clone();
    let write = async {
        tokio::task::yield_now().await;
        fs::write(&file, "one\ntwo\nthree\n").unwrap();
    };
    let (later, ()) = tokio::join!(manager.logs(request(Some(&tail.next), Some(30_000))), write);
    assert_eq!(later.unwrap().text, "three\n");
    let many = LogRequest { lines: Some(100_001), ..request(None, None) };
    for beyond in [request(Some("x"), None), request(None, Some(30_001)), many] {
        assert_eq!(manager.logs(beyond).await.unwrap_err().code, Code::Invalid);
    }
}
