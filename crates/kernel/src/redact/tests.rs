//! Tests of `redact`.

use super::*;

#[track_caller]
fn check(json: &str, secrets: &[&str], expect: &str) {
    assert_eq!(redact(json.as_bytes(), secrets).get(), expect, "{json}");
}

#[test]
fn what_is_shown_is_on_one_line_and_otherwise_as_it_was_sent() {
    check("{ \"a\" :\r\n\t[1, 2.50]}\n", &[], r#"{"a":[1,2.50]}"#);
    check(r#"{"a b" : " \\" , "c":"\" x"}"#, &[], r#"{"a b":" \\","c":"\" x"}"#);
    check(r#"{"ä": "\\\" y"}"#, &[], r#"{"ä":"\\\" y"}"#);
}

#[test]
fn nothing_is_shown_as_no_parameters() {
    check("", &[], "{}");
    check("  ", &[], "{}");
}

#[test]
fn secrets_are_left_out_at_every_depth() {
    let params = r#"{"token": "x", "name": "y"}"#;
    check(params, &["token"], r#"{"token":"(not shown)","name":"y"}"#);
    let nested = r#"{"hits":[{"line":"x","n":1},{"line":"y"}],"more":{"a":{"b":1}}}"#;
    let expect = r#"{"hits":[{"line":"(not shown)","n":1},{"line":"(not shown)"}],"more":{"a":{"b":"(not shown)"}}}"#;
    check(nested, &["hits.line", "more.a.b", "none.at.all"], expect);
    let all = r#"{"paneId":"p","prompt":"x","agent":{"a":1}}"#;
    check(all, &["*"], r#"{"paneId":"p","prompt":"(not shown)","agent":"(not shown)"}"#);
}

/// Fields of free text that events show: names, places, commands, meta, and what paned itself
/// says. Each wherever it is, or in one action alone.
const SHOWN: &[&str] = &[
    "actions",
    "argv",
    "base",
    "beside",
    "branch",
    "command",
    "cwd",
    "damage",
    "data",
    "deleteKeys",
    "description",
    "dialogId",
    "dir",
    "events",
    "exitSignal",
    "file",
    "files",
    "folder",
    "id",
    "idempotencyKey",
    "installCommand",
    "instance",
    "key",
    "label",
    "layout",
    "leftOut",
    "link",
    "log",
    "messageId",
    "meta",
    "missing",
    "model",
    "name",
    "owner",
    "pane",
    "paneId",
    "parentId",
    "pattern",
    "previousMeta",
    "profile",
    "reason",
    "rev",
    "session",
    "sizeHeldBy",
    "socket",
    "stop",
    "tag",
    "tags",
    "target",
    "testCommand",
    "title",
    "tmux",
    "tmuxPane",
    "toml",
    "umask",
    "url",
    "version",
    "veto",
    "warning",
    "why",
    "event:emit payload",
    "pane:tag add",
    "pane:tag remove",
    "pane:delete-meta keys",
    "pane:set-meta value",
    "pane:update-meta set",
    // An approval names the request by its action, its panes and the rule, and who answered.
    "approval:answer approval.action",
    "approval:answer approval.answer.by",
    "approval:answer approval.caller",
    "approval:answer approval.covers",
    "approval:answer approval.rule",
    "approval:answer approval.subject",
    "approval:forget by",
    "approval:forget covers",
    "audit:list action",
    "audit:list caller",
    "grant:create grant.createdWith",
    "permission:test openCode",
    "notify:test channel",
    "notify:test error",
    "notify:test rule",
    "agent:wait state",
    "ext:install source",
    "pane:new notice.recipient.agent",
    "pane:new notice.recipient.sessionId",
    "ext:logs after",
    "pane:wait agentState",
    "pane:wait paneIds",
    "pane:wait port",
    "pane:wait quietMs",
    "pane:wait screenChangeSince",
    "session:start configErrors",
];

/// The paths of all fields that hold free text or anything at all.
fn free_fields(schema: &Value, path: &str, found: &mut Vec<String>) {
    let at = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        free_fields(field, &at(name), found);
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        let parts = schema[key].as_array().into_iter().flatten();
        parts.for_each(|part| free_fields(part, path, found));
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() || schema[key] == true {
            free_fields(&schema[key], path, found);
        }
    }
    let is_text = |kind: &Value| kind == "string" || kind == &serde_json::json!(["string", "null"]);
    let is_bounded =
        ["enum", "const", "format", "pattern"].iter().any(|key| !schema[*key].is_null());
    let is_open = schema == &Value::Bool(true)
        || schema.as_object().is_some_and(|fields| {
            !fields.keys().any(|key| {
                // A rule about several fields limits one that has its type elsewhere.
                [
                    "type",
                    "anyOf",
                    "oneOf",
                    "allOf",
                    "enum",
                    "const",
                    "properties",
                    "$ref",
                    "maximum",
                    "minimum",
                ]
                .contains(&key.as_str())
            })
        });
    if !path.is_empty() && (is_open || is_text(&schema["type"]) && !is_bounded) {
        found.push(path.to_owned());
    }
}

#[test]
fn every_free_text_of_every_action_is_declared_as_shown_or_is_a_secret() {
    let registry = crate::actions::registry();
    let mut undeclared = Vec::new();
    for action in registry.iter() {
        let (params, answer) = action.schemas();
        let mut fields = Vec::new();
        free_fields(&params, "", &mut fields);
        if action.kind != crate::ActionKind::Question {
            free_fields(&answer, "", &mut fields);
        }
        fields.retain(|field| {
            let name = field.rsplit('.').next().unwrap_or(field);
            let here = format!("{} {field}", action.name);
            let is_shown = SHOWN.contains(&name) || SHOWN.contains(&here.as_str());
            !is_redacted(field, &action.secrets) && !is_shown
        });
        fields.sort();
        fields.dedup();
        undeclared.extend(fields.into_iter().map(|field| format!("{} {field}", action.name)));
    }
    assert!(
        undeclared.is_empty(),
        "each of these is a secret of its action, or is declared here as shown:\n{}",
        undeclared.join("\n")
    );
}

#[test]
fn a_token_is_recognised_wherever_it_stands() {
    let secret = "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE";
    let check = |json: &str, expect: &str| {
        assert_eq!(redact_tokens(json.replace('$', secret)), expect.replace('$', secret));
    };
    check(r#"{"id":"paned_abc_$"}"#, r#"{"id":"paned_abc_(not shown)"}"#);
    check("paned_a_$ paned_b_$x paned_", "paned_a_(not shown) paned_b_(not shown) paned_");
    for harmless in ["{}", "paned_abc", "paned_abc_short", "paned__$", "/tmp/paned_x/a_b"] {
        check(harmless, harmless);
    }
}
