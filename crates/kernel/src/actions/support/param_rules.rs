//! The rules of parameters as JSON Schema, each in one place: a field names its rule in a
//! `schemars` attribute, and a struct those about several fields together.
//!
//! A schema says no more and no less than the check that refuses a value. The test `schema_rules`
//! compares the two for every action.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::agents::SESSION;
use crate::event_names::OWN_EVENTS;

/// Types that exist only for their schema.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $schema:expr;)*) => {$(
        $(#[$doc])*
        pub(in crate::actions) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

rules! {
    /// A program and its arguments: at least one text without a NUL character.
    Argv = json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": NO_NUL },
        "minItems": 1,
    });
    /// Bytes as base64.
    Base64Text = json_schema!({ "type": "string", "pattern": BASE64, "contentEncoding": "base64" });
    /// Variables of an environment.
    Environment = json_schema!({
        "type": "object",
        "propertyNames": { "pattern": r"^[^=\x00]+$" },
        "additionalProperties": { "type": "string", "pattern": NO_NUL },
    });
    /// The name of a custom event: none of paned's own.
    EventName = json_schema!({
        "type": "string",
        "pattern": "^[A-Za-z0-9._:-]{1,128}$",
        "not": { "pattern": reserved_names() },
    });
    /// The absolute path of a folder that exists.
    Folder = json_schema!({ "type": "string", "pattern": r"^/[^\x00]*$", "format": "folder" });
    /// The name of a branch or a commit, as git accepts it.
    GitName = json_schema!({
        "type": "string",
        "pattern": r"^[^\x00-\x1f\x7f-\x9f-][^\x00-\x1f\x7f-\x9f]*$",
        "format": "git-name",
    });
    /// An address for a GET without TLS.
    HttpAddress = json_schema!({
        "type": "string",
        "pattern": r"^http://[!-~]+$",
        "format": "http-address",
    });
    /// The name of a key, in the notation of any terminal program.
    KeyName = json_schema!({ "type": "string", "minLength": 1, "format": "key" });
    /// The name of a saved layout.
    LayoutName = json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" });
    /// A saved layout.
    LayoutToml = json_schema!({ "type": "string", "format": "layout-toml" });
    /// The key of an entry of a pane's meta.
    MetaKey = json_schema!({ "type": "string", "minLength": 1, "not": { "const": SESSION } });
    /// Entries for a pane's meta.
    MetaEntries = json_schema!({
        "type": "object",
        "propertyNames": { "minLength": 1, "not": { "const": SESSION } },
        "additionalProperties": true,
    });
    /// The name of a model, which is passed to a program as the value of an option.
    ModelName = json_schema!({ "type": "string", "pattern": r"^[^\x00-][^\x00]*$" });
    /// A text that can be pasted: no control characters but tabs and line ends.
    PasteText = json_schema!({
        "type": "string",
        "pattern": r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$",
    });
    /// A text that a program can be given.
    ProgramText = json_schema!({ "type": "string", "pattern": NO_NUL });
    /// A regular expression, as the crate `regex` reads it.
    RegexText = json_schema!({ "type": "string", "maxLength": 1000, "format": "regex" });
    /// The name of a tmux session.
    SessionNameText = json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$" });
    /// A command for a shell, which is not blank.
    ShellCommand = json_schema!({ "type": "string", "pattern": r"^[^\x00]*[^\s\x00][^\x00]*$" });
    /// The id of a sub-agent's session.
    SubagentId = json_schema!({
        "type": "string",
        "pattern": "^[A-Za-z0-9_.:][A-Za-z0-9_.:-]{0,199}$",
    });
    /// A tag.
    Tag = json_schema!({ "type": "string", "minLength": 1 });
    /// A title: one line that is not blank.
    Title = json_schema!({ "type": "string", "maxLength": 256, "pattern": TITLE });
    /// The id of a tmux pane.
    TmuxPaneName = json_schema!({ "type": "string", "pattern": "^%[0-9]{1,9}$" });
    /// The value of `$TMUX`, or the path of a socket.
    TmuxServer = json_schema!({ "type": "string", "pattern": "^/" });
    /// A file mode creation mask, in octal.
    Umask = json_schema!({ "type": "string", "pattern": "^0?[0-7]{1,3}$" });
}

const NO_NUL: &str = r"^[^\x00]*$";
const TITLE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
const BASE64: &str = "^([A-Za-z0-9+/]{4})*\
                      ([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$";

/// The names of the events that paned records itself, in any case.
fn reserved_names() -> String {
    let names: Vec<String> = OWN_EVENTS.iter().map(|name| any_case(name)).collect();
    format!("^({})$", names.join("|"))
}

/// A pattern for a word in upper or lower case: JSON Schema has no flag for that.
pub(in crate::actions) fn any_case(word: &str) -> String {
    let either = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        false => c.to_string(),
    };
    word.chars().map(either).collect()
}

/// Adds a rule about several fields together.
fn add(schema: &mut Schema, rule: Value) {
    let rules = schema.ensure_object().entry("allOf").or_insert_with(|| json!([]));
    if let Some(rules) = rules.as_array_mut() {
        rules.push(rule);
    }
}

/// The fields are missing or null.
fn without(names: &[&str]) -> Value {
    let fields = names.iter().map(|name| ((*name).to_owned(), json!({ "type": "null" })));
    json!({ "properties": Value::Object(fields.collect()) })
}

/// The field is there and not null.
fn with(name: &str) -> Value {
    json!({ "required": [name], "properties": { name: { "not": { "type": "null" } } } })
}

/// The field is there and true.
fn with_true(name: &str) -> Value {
    json!({ "required": [name], "properties": { name: { "const": true } } })
}

/// All of these rules.
fn all(rules: &[Value]) -> Value {
    json!({ "allOf": rules })
}

/// Any of these rules.
fn any(rules: &[Value]) -> Value {
    json!({ "anyOf": rules })
}

fn others<'a>(names: &[&'a str], name: &str) -> Vec<&'a str> {
    names.iter().copied().filter(|other| *other != name).collect()
}

/// Exactly one of these fields is given.
pub(in crate::actions) fn exactly_one(names: &'static [&'static str]) -> impl FnMut(&mut Schema) {
    move |schema| {
        let one = |name: &&str| all(&[with(name), without(&others(names, name))]);
        add(schema, any(&names.iter().map(one).collect::<Vec<_>>()));
    }
}

/// At least one of these fields is given.
pub(in crate::actions) fn at_least_one(names: &'static [&'static str]) -> impl FnMut(&mut Schema) {
    move |schema| add(schema, any(&names.iter().map(|name| with(name)).collect::<Vec<_>>()))
}

/// At most one of these fields is given.
pub(in crate::actions) fn at_most_one(names: &'static [&'static str]) -> impl FnMut(&mut Schema) {
    move |schema| {
        let one = |name: &&str| without(&others(names, name));
        add(schema, any(&names.iter().map(one).collect::<Vec<_>>()));
    }
}

/// `session`, or `beside` and `tmux` together, or none of them.
pub(in crate::actions) fn tmux_location(schema: &mut Schema) {
    let beside = all(&[with("beside"), with("tmux"), without(&["session"])]);
    add(schema, any(&[without(&["beside", "tmux"]), beside]));
}

/// What `agent:wait` waits for.
pub(in crate::actions) fn agent_conditions(schema: &mut Schema) {
    add(schema, any(&[with("state"), with_true("done"), with_true("blocked")]));
}

/// What `pane:wait` waits for, and in which panes.
pub(in crate::actions) fn pane_conditions(schema: &mut Schema) {
    const IN_PANE: [&str; 4] = ["pattern", "quietMs", "screenChangeSince", "agentState"];
    let no_list = |name: &str| json!({ "properties": { name: { "maxItems": 0 } } });
    let list =
        |name: &str| json!({ "required": [name], "properties": { name: { "minItems": 1 } } });
    let mut in_pane: Vec<Value> = IN_PANE.iter().map(|name| with(name)).collect();
    in_pane.extend([with_true("exit"), list("stop")]);
    let reached = [with("port"), with("http")];
    let no_exit = json!({ "properties": { "exit": { "const": false } } });
    let of_no_pane = all(&[without(&IN_PANE), no_list("stop"), no_exit]);
    let either = [in_pane.as_slice(), reached.as_slice()].concat();
    let one = all(&[with("paneId"), no_list("paneIds"), any(&either)]);
    let none = all(&[without(&["paneId"]), no_list("paneIds"), of_no_pane, any(&reached)]);
    let without_one = without(&["paneId", "port", "http"]);
    let many = all(&[list("paneIds"), without_one, any(&in_pane)]);
    add(schema, any(&[one, none, many]));
}

/// What goes with each view of `pane:read`.
pub(in crate::actions) fn read_views(schema: &mut Schema) {
    let view = |name: &str| json!({ "properties": { "view": { "const": name } } });
    let named = |name: &str| all(&[view(name), json!({ "required": ["view"] })]);
    let no_times = json!({ "properties": { "times": { "const": false } } });
    let no_context =
        json!({ "properties": { "before": { "maximum": 0 }, "after": { "maximum": 0 } } });
    let of_lines = json!({ "properties": { "limit": { "maximum": 10_000 } } });
    let no_pattern = all(&[without(&["pattern"]), no_context.clone()]);
    let lines =
        [view("lines"), no_times.clone(), of_lines.clone(), any(&[with("pattern"), no_context])];
    let rendered = [
        named("rendered"),
        no_times,
        of_lines,
        no_pattern.clone(),
        without(&["since", "sinceTime"]),
    ];
    add(schema, any(&[all(&lines), all(&[named("raw"), no_pattern]), all(&rendered)]));
}
