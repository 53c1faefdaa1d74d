//! The official TypeScript SDK as the client.

use std::path::Path;
use std::process::{Command, Stdio};

use paned_e2e::{FakeAgent, Server, binary, decode_output};

/// Installs the SDK, unless it is there.
#[track_caller]
fn install(folder: &Path) {
    if folder.join("node_modules/@modelcontextprotocol/sdk").is_dir() {
        return;
    }
    let npm = Command::new("npm").args(["ci", "--silent"]).current_dir(folder).status().unwrap();
    assert!(npm.success(), "`npm ci` in {} failed", folder.display());
}

#[test]
fn the_typescript_sdk_drives_every_tool_over_both_transports() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp-client");
    install(&folder);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary().parent().unwrap().display());
    let server = Server::start_set("", &[("PATH", &path)]);
    let profiles = server.home().join(".config/paned/profiles");
    std::fs::create_dir_all(&profiles).unwrap();
    std::fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
    let url = format!("http://{}", server.authority());
    let state = server.state().display().to_string();
    let program = binary().display().to_string();
    let token = server.token();
    for args in [["http", &url, &token], ["stdio", &program, &state]] {
        let mut command = Command::new("node");
        command.arg("drive.mjs").args(args).current_dir(&folder).stdin(Stdio::null());
        let (out, err, code) = decode_output(&command.output().unwrap());
        assert_eq!((code, out.trim()), (0, "ok"), "{}: {err}\n{}", args[0], server.log());
    }
}
