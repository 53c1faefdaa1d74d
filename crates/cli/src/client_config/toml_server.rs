//! Our server in a TOML file that has a table of servers.

use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::{EditError, SERVER};

pub(super) fn install(text: &str, parent: &str, server: &Value) -> Result<String, EditError> {
    let mut document = parse(text)?;
    if !document.contains_key(parent) {
        let mut servers = Table::new();
        servers.set_implicit(true);
        document.insert(parent, Item::Table(servers));
    }
    let wrong = |name: &str| format!("has a `{name}` that is not a table");
    let is_inline = document.get(parent).is_some_and(Item::is_inline_table);
    let servers = document.get_mut(parent).and_then(Item::as_table_like_mut);
    let servers = servers.ok_or_else(|| wrong(parent))?;
    if !servers.contains_key(SERVER) {
        let item = match is_inline {
            true => Item::Value(toml_edit::InlineTable::new().into()),
            false => Item::Table(Table::new()),
        };
        servers.insert(SERVER, item);
    }
    let own = servers.get_mut(SERVER).and_then(Item::as_table_like_mut);
    merge(own.ok_or_else(|| wrong(&format!("{parent}.{SERVER}")))?, server);
    Ok(document.to_string())
}

/// Sets our fields and keeps those that the user has added, as a time-out.
fn merge(own: &mut dyn TableLike, server: &Value) {
    for (key, wanted) in server.as_object().into_iter().flatten() {
        let Some(wanted) = item(wanted) else { continue };
        let is_there = own.get(key).is_some_and(|found| plain(found) == plain(&wanted));
        if !is_there {
            own.insert(key, wanted);
        }
    }
}

/// A value without its spaces and comments.
fn plain(item: &Item) -> Option<String> {
    let mut value = item.as_value()?.clone();
    value.decor_mut().clear();
    if let Some(array) = value.as_array_mut() {
        array.fmt();
    }
    Some(value.to_string())
}

fn item(wanted: &Value) -> Option<Item> {
    match wanted {
        Value::String(text) => Some(value(text)),
        Value::Bool(flag) => Some(value(*flag)),
        Value::Array(items) => {
            Some(value(items.iter().filter_map(Value::as_str).collect::<toml_edit::Array>()))
        }
        Value::Null | Value::Number(_) | Value::Object(_) => None,
    }
}

pub(super) fn remove(text: &str, parent: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = document.get_mut(parent).and_then(Item::as_table_like_mut);
    let Some(servers) = servers else { return Ok(text.to_owned()) };
    if servers.remove(SERVER).is_none() {
        return Ok(text.to_owned());
    }
    if servers.is_empty() {
        document.remove(parent);
    }
    Ok(document.to_string())
}

/// The program that our server is started by.
pub(super) fn commands(text: &str, parent: &str) -> Vec<String> {
    let Ok(document) = parse(text) else { return Vec::new() };
    let own = document.get(parent).and_then(|servers| servers.get(SERVER));
    let command = own.and_then(|own| own.get("command")?.as_str());
    command.map(str::to_owned).into_iter().collect()
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| format!("is not valid TOML: {}", error.message()))
}
