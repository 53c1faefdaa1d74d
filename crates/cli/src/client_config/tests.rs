//! What an edit changes, and what it leaves as it is.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const COMMAND: &str = "paned agent hook --agent claude || true";

fn hooks(command: &str) -> Edit {
    Edit::JsonHooks(HookEvents {
        agent: "claude",
        events: &["UserPromptSubmit", "Stop"],
        command: command.to_owned(),
        timeout: 10,
    })
}

fn server() -> Edit {
    let server = json!({ "command": "paned", "args": ["mcp"] });
    Edit::JsonServer { parent: "mcpServers", server }
}

fn toml() -> Edit {
    let server = json!({ "command": "paned", "args": ["mcp"] });
    Edit::TomlServer { parent: "mcp_servers", server }
}

fn aider() -> Edit {
    Edit::AiderNotification {
        command: "'/o p/paned' agent hook --agent aider --event waiting || true".to_owned(),
    }
}

/// Installs into a text, checks that a second time changes nothing and that removing restores the
/// text; answers the installed text.
#[track_caller]
fn round_trip(edit: &Edit, text: &str) -> String {
    assert_eq!(edit.installed(text), Ok(InstallState::Absent), "{text}");
    assert_eq!(edit.remove(text).unwrap(), text);
    let installed = edit.install(text).unwrap();
    assert_eq!(edit.installed(&installed), Ok(InstallState::Current), "{installed}");
    assert_eq!(edit.install(&installed).unwrap(), installed);
    let removed = edit.remove(&installed).unwrap();
    let is_same = |one: Value| serde_json::from_str::<Value>(&removed).is_ok_and(|it| it == one);
    // What stood on one line may stand on several; an empty object has no text of its own.
    if removed.trim_end() != text.trim_end() && serde_json::from_str(text).is_ok_and(is_same) {
        return installed;
    }
    assert_eq!(removed.trim_end(), text.trim_end(), "{installed}");
    installed
}

/// Whether every line of a text is in another, in the same order; a line may get a comma.
#[track_caller]
fn assert_lines_stay(before: &str, after: &str) {
    let mut lines = after.lines();
    for line in before.lines() {
        let is_it = |found: &str| found == line || found.strip_suffix(',') == Some(line);
        assert!(lines.any(is_it), "{line:?} is not in\n{after}");
    }
}

const SETTINGS: &str = r#"{
    // The user's own.
    "model": "opus", /* not the default */
    "hooks": {
        "Stop": [
            { "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }, // keep
        ],
        "PreCompact": [],
    },

    "permissions": {"allow":["Bash(ls:*)"]},
}
"#;

#[test]
fn comments_order_and_the_hooks_of_the_user_stay() {
    let installed = round_trip(&hooks(COMMAND), SETTINGS);
    assert_lines_stay(SETTINGS, &installed);
    assert_eq!(installed.matches(COMMAND).count(), 2, "{installed}");
}

#[test]
fn strict_json_stays_strict_json() {
    for text in [
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  }\n}\n",
        "{\n\t\"a\": 1\n}",
        "{\"a\":1,\"b\":[1,2]}",
        "{}",
        "{\n}\n",
    ] {
        let installed = round_trip(&hooks(COMMAND), text);
        let value: Value = serde_json::from_str(&installed).expect(&installed);
        let hook = json!({ "type": "command", "command": COMMAND, "timeout": 10 });
        let group = json!({ "hooks": [hook] });
        let groups = value["hooks"]["Stop"].as_array().unwrap();
        assert_eq!(groups.last(), Some(&group), "{installed}");
        let installed = round_trip(&server(), text);
        let value: Value = serde_json::from_str(&installed).expect(&installed);
        assert_eq!(value["mcpServers"]["paned"]["command"], "paned", "{installed}");
    }
}

#[test]
fn new_lines_are_indented_like_those_around_them() {
    let installed = hooks(COMMAND).install("{\n\t\"a\": 1\n}\n").unwrap();
    assert!(installed.contains("\n\t\"hooks\": {\n\t\t\"UserPromptSubmit\": ["), "{installed}");
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    for text in [SETTINGS.to_owned(), "{\n  \"a\": 1\n}\n".to_owned()] {
        let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let installed = round_trip(&hooks(COMMAND), &text);
        assert_eq!(installed.matches('\n').count(), installed.matches("\r\n").count());
    }
    let text = "a = 1\r\n\r\n[mcp_servers.x] # theirs\r\ncommand = \"x\"\r\n";
    let installed = round_trip(&toml(), text);
    assert_eq!(installed.matches('\n').count(), installed.matches("\r\n").count());
}

#[test]
fn an_outdated_hook_is_replaced_where_it_is() {
    let old = hooks("'/old place/paned' agent hook --agent claude || true");
    let before = old.install(SETTINGS).unwrap();
    let own = hooks(COMMAND);
    let found = own.installed(&before).unwrap();
    let InstallState::Outdated(commands) = found else { panic!("{found:?}") };
    assert_eq!(command::program_of(&commands[0]), Some("/old place/paned"));
    assert_eq!(own.install(&before).unwrap(), own.install(SETTINGS).unwrap());
}

#[test]
fn a_hook_is_found_again_after_its_user_has_edited_around_it() {
    let own = hooks(COMMAND);
    let installed = own.install("{}\n").unwrap();
    let mut value: Value = serde_json::from_str(&installed).unwrap();
    let theirs = json!({ "type": "command", "command": "say done" });
    value["hooks"]["Stop"][0]["hooks"].as_array_mut().unwrap().insert(0, theirs.clone());
    value["hooks"]["Stop"][0]["matcher"] = json!("x");
    value["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"] = json!(3);
    value["env"] = json!({});
    let edited = serde_json::to_string(&value).unwrap();
    assert!(matches!(own.installed(&edited), Ok(InstallState::Outdated(_))), "{edited}");
    let removed: Value = serde_json::from_str(&own.remove(&edited).unwrap()).unwrap();
    let stop = json!([{ "hooks": [theirs], "matcher": "x" }]);
    assert_eq!(removed, json!({ "hooks": { "Stop": stop }, "env": {} }));
}

#[test]
fn hooks_of_others_that_mention_paned_are_not_ours() {
    let is_own = |command| is_own_command(command, "claude");
    assert!(is_own(COMMAND) && is_own("/a/paned agent hook --agent claude"));
    assert!(is_own("'/a b/paned' agent hook --agent claude || true"));
    assert!(is_own("/a/paned-1.2 agent hook --agent claude --event Stop || true"));
    for command in [
        "paned agent hook --agent claude-2",
        "paned agent hook --agent codex",
        "paned agent hook",
        "paned emit build:done",
        "echo paned agent hook --agent claude",
        "log.sh; paned agent hook --agent claude",
        "paned agent hook --agent claude; log.sh",
        "paned agent hook --agent claude --event Stop && log.sh",
        " agent hook --agent claude",
    ] {
        assert!(!is_own(command), "{command}");
    }
}

#[test]
fn a_file_that_cannot_be_understood_is_refused() {
    for text in [
        "{ \"a\": }",
        "{ \"a\": 1 ",
        "[1]",
        "\"text\"",
        "{ 'a': 1 }",
        "{ a: 1 }",
        "{ \"hooks\": [] }",
        "{ \"hooks\": { \"Stop\": {} } }",
        "{ \"hooks\": {}, \"hooks\": {} }",
        "{ \"a\": 1 } trailing",
    ] {
        let refused = hooks(COMMAND).install(text);
        assert!(refused.is_err(), "{text}: {refused:?}");
    }
    assert!(server().install("{ \"mcpServers\": { \"paned\": 1 } }").is_err());
    assert!(toml().install("a = ").is_err());
    assert!(toml().install("mcp_servers = 1").is_err());
}

#[test]
fn fields_that_the_user_has_added_to_our_server_stay() {
    let text = r#"{ "mcpServers": { "paned": { "command": "/old/paned", "args": ["mcp"], "timeout": 9 }, "x": {} } }"#;
    assert_eq!(server().installed(text), Ok(InstallState::Outdated(vec!["/old/paned".to_owned()])));
    let installed: Value = serde_json::from_str(&server().install(text).unwrap()).unwrap();
    let own = json!({ "command": "paned", "args": ["mcp"], "timeout": 9 });
    assert_eq!(installed, json!({ "mcpServers": { "paned": own, "x": {} } }));
    let removed: Value = serde_json::from_str(&server().remove(text).unwrap()).unwrap();
    assert_eq!(removed, json!({ "mcpServers": { "x": {} } }));
}

#[test]
fn a_toml_file_keeps_its_comments_and_its_order() {
    for text in [
        "",
        "# mine\nmodel = \"x\" # this one\n",
        "model = \"x\"\n\n[mcp_servers.other] # theirs\ncommand = \"x\"\nargs = [ 'a',  'b' ]\n\n[features]\nhooks = true\n",
        "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n\n# the end\n",
        "mcp_servers = { other = { command = \"x\" } }\n",
        "mcp_servers.other.command = \"x\"\n",
    ] {
        let installed = round_trip(&toml(), text);
        if !text.starts_with("mcp_servers =") {
            assert_lines_stay(text, &installed);
        }
        let read: toml::Table = installed.parse().expect(&installed);
        assert_eq!(read["mcp_servers"]["paned"]["command"].as_str(), Some("paned"));
    }
}

#[test]
fn aider_gets_two_lines_or_the_lines_to_add() {
    for text in ["", "# mine\nmodel: x\n", "read:\n- a\n- b\n", "---\nmodel: x\n"] {
        let installed = round_trip(&aider(), text);
        assert!(installed.starts_with(text), "{installed}");
        let own = "notifications-command: '''/o p/paned'' agent hook --agent aider --event waiting";
        assert!(installed.contains(own), "{installed}");
        assert!(installed.contains("\nnotifications: true") || text.is_empty());
    }
    let installed = aider().install("notifications: yes\n").unwrap();
    assert_eq!(installed.matches("notifications:").count(), 1, "{installed}");
    assert_eq!(aider().remove(&installed).unwrap(), "notifications: yes\n");
    for (text, why) in [
        ("notifications-command: say done\n", "has a `notifications-command` already"),
        ("notifications: false\n", "turns `notifications` off"),
        ("{ model: x }\n", "is not a plain list of keys"),
        ("  model: x\n", "is not a plain list of keys"),
        ("model: x\n---\nmodel: y\n", "has several documents"),
    ] {
        let refused = aider().install(text).unwrap_err();
        assert!(refused.contains(why) && refused.contains("agent hook --agent aider"), "{refused}");
    }
}

#[test]
fn a_file_that_is_not_ours_is_not_replaced() {
    let own = "// written by `paned hooks install pi`\nconst PANED = \"/a/paned\";\n";
    let edit = Edit::Script(own.to_owned());
    assert_eq!(round_trip(&edit, ""), own);
    assert!(edit.install("export default 1;\n").is_err());
    assert_eq!(edit.remove("export default 1;\n").unwrap(), "export default 1;\n");
    let old = own.replace("/a/", "/b/");
    assert_eq!(edit.installed(&old), Ok(InstallState::Outdated(vec!["/b/paned".to_owned()])));
}

/// A JSON value of few names, so that some of them are those that the edits look for.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\\n\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let name = "hooks|Stop|mcpServers|other|[a-z]{1,3}";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn other_values_survive_an_installation_and_its_removal(value in any_json(), pretty: bool) {
        let value = json!({ "before": 1, "value": value.clone(), "hooks": value["hooks"].clone() });
        let mut value = value;
        if value["hooks"].is_null() {
            value.as_object_mut().unwrap().remove("hooks");
        }
        let text = if pretty { format!("{value:#}\n") } else { value.to_string() };
        for edit in [hooks(COMMAND), server()] {
            let Ok(installed) = edit.install(&text) else { continue };
            prop_assert_eq!(edit.installed(&installed), Ok(InstallState::Current));
            let after: Value = serde_json::from_str(&installed).unwrap();
            prop_assert_eq!(&after["value"], &value["value"]);
            let removed: Value = serde_json::from_str(&edit.remove(&installed).unwrap()).unwrap();
            prop_assert_eq!(without_empty(&removed), without_empty(&value));
        }
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[{}\\[\\]\",:a-z/*# \\n=.']{0,40}") {
        for edit in [hooks(COMMAND), server(), toml(), aider()] {
            let _ = (edit.install(&text), edit.remove(&text), edit.installed(&text));
        }
    }
}

/// Without an empty `hooks`, and empty lists in it: they may go with what was in them.
fn without_empty(value: &Value) -> Value {
    let mut value = value.clone();
    let object = value.as_object_mut().unwrap();
    if let Some(hooks) = object.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
        if hooks.is_empty() {
            object.remove("hooks");
        }
    }
    value
}
