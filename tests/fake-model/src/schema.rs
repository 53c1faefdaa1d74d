//! Values that fit a JSON schema, for tools and for answers that must have a shape.

use serde_json::{Map, Value, json};

use super::request::Tool;

/// What the model says about a command, where it is asked why.
const REASON: &str = "The fake model wants to run this";

/// The names that programs give to their shell, and to their way of asking a person.
const SHELLS: [&str; 11] = [
    "exec_command",
    "shell_command",
    "shell",
    "bash",
    "Bash",
    "run_shell_command",
    "developer__shell",
    "execute_command",
    "run_command",
    "run_commands",
    "execute",
];
const QUESTIONS: [&str; 5] =
    ["question", "ask_user", "ask_user_question", "request_user_input", "AskUserQuestion"];
const PLANS: [&str; 1] = ["ExitPlanMode"];

/// The shell among the tools, and the arguments that make it run a command.
pub(super) fn shell(tools: &[Tool], command: &str) -> Option<(String, Value)> {
    let tool = SHELLS.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name))?;
    let fields = tool.schema["properties"].as_object().cloned().unwrap_or_default();
    let mut args = Map::new();
    for (name, schema) in &fields {
        let value = match name.as_str() {
            "command" | "cmd" if is_list(schema) => json!(["bash", "-lc", command]),
            "command" | "cmd" => json!(command),
            "commands" => json!([command]),
            "code" => json!(command),
            "language" => json!("shell"),
            "description" | "justification" | "reason" => json!(REASON),
            "sandbox_permissions" => json!("require_escalated"),
            name if is_required(&tool.schema, name) => fill(schema),
            _ => continue,
        };
        args.insert(name.clone(), value);
    }
    Some((tool.name.clone(), Value::Object(args)))
}

/// The tool of this name, or the first whose name ends with it.
pub(super) fn named(tools: &[Tool], name: &str) -> Option<String> {
    let suffix = format!("_{name}");
    let exact = tools.iter().find(|tool| tool.name == name);
    let found = exact.or_else(|| tools.iter().find(|tool| tool.name.ends_with(&suffix)))?;
    Some(found.name.clone())
}

/// The tool that asks a person, and a question for it; with `multi` one that takes several answers.
pub(super) fn question(tools: &[Tool], multi: bool) -> Option<(String, Value)> {
    let tool = QUESTIONS.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name))?;
    let mut args = fill(&tool.schema);
    for question in args["questions"].as_array_mut().into_iter().flatten() {
        if let Some(several) = question.get_mut("multiSelect") {
            *several = json!(multi);
        }
    }
    Some((tool.name.clone(), args))
}

/// The tool that shows a plan and asks whether to carry it out, and a plan for it.
pub(super) fn plan(tools: &[Tool]) -> Option<(String, Value)> {
    let tool = PLANS.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name))?;
    let mut args = fill(&tool.schema);
    args["plan"] = json!("1. Read main.py\n2. Write made.txt");
    Some((tool.name.clone(), args))
}

fn is_list(schema: &Value) -> bool {
    schema["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"))
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().into_iter().flatten().any(|required| required == name)
}

/// A value that fits.
pub(super) fn fill(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let least = schema["minItems"].as_u64().unwrap_or(1).clamp(1, 4);
    match schema["type"].as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "object" => {
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            let needed = fields.iter().filter(|(name, _)| is_required(schema, name));
            Value::Object(needed.map(|(name, schema)| (name.clone(), fill(schema))).collect())
        }
        "array" => (0..least).map(|n| numbered(fill(&schema["items"]), n)).collect(),
        "boolean" => json!(false),
        "number" | "integer" => json!(0),
        _ => json!("fake"),
    }
}

/// Options must differ from each other.
fn numbered(value: Value, n: u64) -> Value {
    match value {
        Value::String(text) => json!(format!("{text} {n}")),
        Value::Object(mut fields) => {
            if let Some(label) = fields.get_mut("label") {
                *label = json!(format!("fake {n}"));
            }
            Value::Object(fields)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_that_takes_a_list_gets_one() {
        let schema = json!({ "properties": { "command": { "type": "array" }, "workdir": { "type": "string" } },
            "required": ["command"] });
        let tools = [Tool { name: "shell".into(), schema }];
        let (name, args) = shell(&tools, "touch x").unwrap();
        assert_eq!(
            (name.as_str(), args),
            ("shell", json!({ "command": ["bash", "-lc", "touch x"] }))
        );
    }

    #[test]
    fn what_is_required_is_filled() {
        let schema = json!({ "type": "object", "required": ["a", "b"], "properties": {
            "a": { "type": "string" }, "b": { "type": "array", "items": { "type": "boolean" } }, "c": {} } });
        assert_eq!(fill(&schema), json!({ "a": "fake", "b": [false] }));
    }
}
