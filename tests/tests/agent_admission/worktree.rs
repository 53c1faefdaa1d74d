//! A git worktree of an agent's own.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{MiniAgentServer, git};

fn repository(room: &MiniAgentServer) -> PathBuf {
    let folder = room.home().join("repository");
    fs::create_dir_all(folder.join("deep")).unwrap();
    fs::write(folder.join("deep/file"), "one\n").unwrap();
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "--quiet", "--message=Begin"]);
    folder
}

fn start(room: &MiniAgentServer, id: &str, cwd: &Path, worktree: &Value) -> PathBuf {
    let pane =
        room.act("agent:create", room.mini(id, &json!({ "cwd": cwd, "worktree": worktree })));
    PathBuf::from(pane["cwd"].as_str().unwrap())
}

#[test]
fn one_that_is_clean_goes_with_its_agent() {
    let room = MiniAgentServer::new();
    let folder = repository(&room);
    let cwd = start(&room, "a", &folder.join("deep"), &json!(true));
    assert!(cwd.ends_with("worktrees/a/deep") && cwd.join("file").exists(), "{}", cwd.display());
    assert_eq!(git(&cwd, &["branch", "--show-current"]), "paned/a");
    let mut events = room.server.events("agent:worktree-*", None);
    room.say("a", "exit 0");
    let told = events.next();
    assert_eq!(
        (told.name.as_str(), &told.data["keepsBranch"]),
        ("agent:worktree-removed", &json!(false))
    );
    assert!(!cwd.exists());
    assert_eq!(git(&folder, &["branch", "--list", "paned/*"]), "");
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn work_is_never_lost() {
    let room = MiniAgentServer::new();
    let folder = repository(&room);
    let mut events = room.server.events("agent:worktree-*", None);
    // A new file that nobody has committed.
    let dirty = start(&room, "dirty", &folder, &json!(true));
    fs::write(dirty.join("new"), "work\n").unwrap();
    room.act("pane:close", json!({ "paneId": "dirty" }));
    let told = events.next();
    assert_eq!((told.name.as_str(), &told.data["path"]), ("agent:worktree-kept", &json!(dirty)));
    assert_eq!(told.data["why"], "it has 1 changed or new files");
    assert!(dirty.join("new").exists());
    // A commit on its branch: the folder goes, the branch stays.
    let commits = start(&room, "commits", &folder, &json!({ "branch": "topic", "base": "main" }));
    git(&commits, &["commit", "--quiet", "--allow-empty", "--message=Work"]);
    room.act("pane:kill", json!({ "paneId": "commits", "graceMs": 0 }));
    let told = events.next();
    assert_eq!(
        (told.name.as_str(), &told.data["keepsBranch"]),
        ("agent:worktree-removed", &json!(true))
    );
    assert_eq!(git(&folder, &["log", "--format=%s", "-1", "topic"]), "Work");
    // A commit on no branch.
    let loose = start(&room, "loose", &folder, &json!(true));
    git(&loose, &["checkout", "--quiet", "--detach"]);
    git(&loose, &["commit", "--quiet", "--allow-empty", "--message=Loose"]);
    room.say("loose", "exit 1");
    let told = events.next();
    assert_eq!(told.data["why"], "it has 1 commits that are on no branch");
    assert!(loose.exists());
}

#[test]
fn one_whose_agent_ended_while_no_server_ran_goes_at_the_next_start() {
    let mut room = MiniAgentServer::new();
    let folder = repository(&room);
    let cwd = start(&room, "a", &folder, &json!(true));
    let pid = u32::try_from(room.server.pane("a")["pid"].as_u64().unwrap()).unwrap();
    room.server.kill();
    paned_e2e::kill9(pid);
    assert!(paned_e2e::gone(pid, paned_e2e::WAIT_TIMEOUT));
    assert!(cwd.exists());
    room.server.start_again();
    paned_e2e::wait_for("gone", || (!cwd.exists()).then_some(()));
}

#[test]
fn what_is_no_name_in_git_is_refused_and_nothing_is_left() {
    let room = MiniAgentServer::new();
    let folder = repository(&room);
    let refused = |worktree: Value, part: &str| {
        let params = room.mini("a", &json!({ "cwd": folder, "worktree": worktree }));
        let refusal = room.server.try_act("agent:create", params).unwrap_err();
        assert!(refusal.sentence.contains(part), "{refusal}");
    };
    refused(json!({ "branch": "--force" }), "invalid git name `--force`");
    refused(json!({ "branch": "a..b" }), "invalid branch name `a..b`");
    refused(json!({ "base": "no-such" }), "`no-such` is not a commit");
    refused(json!({ "branch": "main" }), "git worktree failed");
    refused(json!({ "colour": 1 }), "worktree");
    // A program that cannot be started takes its worktree with it.
    let argv = json!(["/no/such/program"]);
    let params =
        json!({ "id": "a", "profile": "mini", "argv": argv, "cwd": folder, "worktree": true });
    assert!(room.server.try_act("agent:create", params).is_err());
    assert_eq!(git(&folder, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&folder, &["branch", "--list"]), "* main");
}
