//! Our server in a JSON file that has an object of servers.

use jsonc_parser::cst::CstObject;
use serde_json::Value;

use super::json_text::{child, node, once, parse};
use super::{EditError, SERVER};

pub(super) fn install(text: &str, parent: &str, server: &Value) -> Result<String, EditError> {
    let (root, object) = parse(text)?;
    let servers = child(&object, parent)?;
    once(&servers, SERVER)?;
    match servers.get(SERVER) {
        Some(property) => {
            let wrong = || format!("has a `{parent}.{SERVER}` that is not an object");
            let own = property.object_value().ok_or_else(wrong)?;
            merge(&own, server);
        }
        None => {
            servers.append(SERVER, node(server));
        }
    }
    Ok(root.to_string())
}

/// Sets our fields and keeps those that the user has added, as a time-out.
fn merge(own: &CstObject, server: &Value) {
    for (key, value) in server.as_object().into_iter().flatten() {
        match own.get(key) {
            Some(property) => {
                let found = property.value().and_then(|found| found.to_serde_value());
                if found.as_ref() != Some(value) {
                    property.set_value(node(value));
                }
            }
            None => {
                own.append(key, node(value));
            }
        }
    }
}

pub(super) fn remove(text: &str, parent: &str) -> Result<String, EditError> {
    let (root, object) = parse(text)?;
    let Some(servers) = object.object_value(parent) else { return Ok(text.to_owned()) };
    let Some(property) = servers.get(SERVER) else { return Ok(text.to_owned()) };
    property.remove();
    if servers.properties().is_empty()
        && let Some(property) = object.get(parent)
    {
        property.remove();
    }
    Ok(root.to_string())
}

/// The program that our server is started by.
pub(super) fn commands(text: &str, parent: &str) -> Vec<String> {
    let Ok((_, object)) = parse(text) else { return Vec::new() };
    let own = object.object_value(parent).and_then(|servers| servers.object_value(SERVER));
    let command = own.and_then(|own| own.get("command")?.value()?.to_serde_value());
    command.and_then(|value| program(&value)).into_iter().collect()
}

fn program(command: &Value) -> Option<String> {
    let program = command.as_array().map_or(Some(command), |words| words.first());
    program.and_then(Value::as_str).map(str::to_owned)
}
