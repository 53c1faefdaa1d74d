//! Hooks in JSON: `hooks.EVENT` is a list of groups, and each group has a list of commands.
//!
//! Each of ours is a group of its own behind those of the user, so that theirs keep their place.

use jsonc_parser::cst::{CstArray, CstNode, CstObject};
use serde_json::{Value, json};

use super::json_text::{child, node, once, parse};
use super::{EditError, HookEvents, is_own_command};

const HOOKS: &str = "hooks";

pub(super) fn install(text: &str, hooks: &HookEvents) -> Result<String, EditError> {
    let (root, object) = parse(text)?;
    let events = child(&object, HOOKS)?;
    let is_unwanted = |own: &OwnHook| !hooks.events.contains(&own.event.as_str());
    let unwanted = own_groups(&events, hooks.agent).into_iter().filter(is_unwanted);
    remove_all(&events, unwanted.collect());
    for event in hooks.events {
        install_event(&events, event, hooks)?;
    }
    Ok(root.to_string())
}

fn install_event(events: &CstObject, event: &str, hooks: &HookEvents) -> Result<(), EditError> {
    once(events, event)?;
    let wrong = || format!("has a `hooks.{event}` that is not a list");
    let groups = events.array_value_or_create(event).ok_or_else(wrong)?;
    let wanted = json!({ "type": "command", "command": hooks.command, "timeout": hooks.timeout });
    let own: Vec<OwnHook> =
        own_groups(events, hooks.agent).into_iter().filter(|own| own.event == *event).collect();
    let mut own = own.into_iter();
    match own.next() {
        Some(first) if first.value() != Some(wanted.clone()) => {
            // Its place stays: Codex knows hooks by their place.
            first.replace(&wanted);
        }
        Some(_) => {}
        None => {
            groups.append(node(&json!({ "hooks": [wanted] })));
        }
    }
    own.for_each(OwnHook::remove);
    Ok(())
}

pub(super) fn remove(text: &str, agent: &str) -> Result<String, EditError> {
    let (root, object) = parse(text)?;
    let Some(events) = object.object_value(HOOKS) else { return Ok(text.to_owned()) };
    let own = own_groups(&events, agent);
    if own.is_empty() {
        return Ok(text.to_owned());
    }
    remove_all(&events, own);
    if events.properties().is_empty()
        && let Some(property) = object.get(HOOKS)
    {
        property.remove();
    }
    Ok(root.to_string())
}

/// Removes hooks, and the lists of events that have none left.
fn remove_all(events: &CstObject, own: Vec<OwnHook>) {
    for own in own {
        let event = own.event.clone();
        own.remove();
        let is_empty = |list: CstArray| list.elements().is_empty();
        if let Some(property) = events.get(&event)
            && property.array_value().is_some_and(is_empty)
        {
            property.remove();
        }
    }
}

/// The commands of ours, each once.
pub(super) fn commands(text: &str, agent: &str) -> Vec<String> {
    let Ok((_, object)) = parse(text) else { return Vec::new() };
    let events = object.object_value(HOOKS);
    let own = events.map(|events| own_groups(&events, agent)).unwrap_or_default();
    let mut commands: Vec<String> = own.iter().filter_map(OwnHook::command).collect();
    commands.dedup();
    commands
}

/// One hook of ours.
struct OwnHook {
    event: String,
    group: CstObject,
    list: CstArray,
    hook: CstObject,
}

impl OwnHook {
    fn value(&self) -> Option<Value> {
        self.hook.to_serde_value()
    }

    fn command(&self) -> Option<String> {
        command_of(&self.hook)
    }

    /// Sets its fields one by one, so that the layout around them stays.
    fn replace(self, wanted: &Value) {
        let Value::Object(wanted) = wanted else { return };
        for property in self.hook.properties() {
            let name = property.decoded_name().unwrap_or_default();
            match wanted.get(&name) {
                Some(value) => property.set_value(node(value)),
                None => property.remove(),
            }
        }
        for (name, value) in wanted {
            if self.hook.get(name).is_none() {
                self.hook.append(name, node(value));
            }
        }
    }

    /// Removes it, and its group unless the user has put other hooks into that.
    fn remove(self) {
        match self.list.elements().len() {
            1 => self.group.remove(),
            _ => self.hook.remove(),
        }
    }
}

fn command_of(hook: &CstObject) -> Option<String> {
    let command = hook.get("command")?.value()?;
    command.as_string_lit()?.decoded_value().ok()
}

fn own_groups(events: &CstObject, agent: &str) -> Vec<OwnHook> {
    let mut own = Vec::new();
    for property in events.properties() {
        let (Some(event), Some(groups)) = (property.decoded_name(), property.array_value()) else {
            continue;
        };
        let groups = groups.elements().iter().filter_map(CstNode::as_object).collect::<Vec<_>>();
        for group in groups {
            let Some(list) = group.array_value(HOOKS) else { continue };
            let hooks = list.elements().into_iter().filter_map(|hook| hook.as_object());
            let hooks = hooks
                .filter(|it| command_of(it).is_some_and(|command| is_own_command(&command, agent)));
            own.extend(hooks.map(|hook| OwnHook {
                event: event.clone(),
                group: group.clone(),
                list: list.clone(),
                hook,
            }));
        }
    }
    own
}
