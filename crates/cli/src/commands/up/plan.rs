//! What `paned up` and `paned down` do, decided from the definitions and the panes that there are.
//! Pure.

use std::collections::BTreeMap;

use paned_model::{Code, PaneInfo, Refusal};
use serde_json::Value;

use super::definition::{PaneDefinition, Project, ReadyCondition};

/// The meta keys by which a pane of a project is recognised.
pub(super) const PROJECT: &str = "up.project";
pub(super) const NAME: &str = "up.name";
pub(super) const HASH: &str = "up.hash";
pub(super) const DEPENDS_ON: &str = "up.dependsOn";
/// The instance that was ready once.
pub(super) const READY: &str = "up.ready";

/// What is done with one pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UpStep {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) hash: String,
    pub(super) kind: UpStepKind,
}

/// How a pane comes to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpStepKind {
    /// There is none.
    Start,
    /// Its definition has changed.
    Change,
    /// It has ended.
    StartAgain,
    /// It runs as it is defined.
    Keep {
        /// Whether it was ready before.
        is_ready: bool,
    },
}

/// The steps, dependencies first. The key is that of hashes.
///
/// # Errors
/// When a name is taken by a pane of another origin, or the definitions are wrong.
pub(super) fn plan_up(
    project: &Project,
    names: &[String],
    panes: &[PaneInfo],
    key: &str,
) -> Result<Vec<UpStep>, Refusal> {
    let order = project.in_order(names)?;
    order.iter().map(|name| step(project, name, panes, key)).collect()
}

fn step(project: &Project, name: &str, panes: &[PaneInfo], key: &str) -> Result<UpStep, Refusal> {
    let definition = &project.panes[name];
    let id = project.id(name);
    let found = panes.iter().find(|pane| pane.id.as_str() == id);
    let found_hash = found.and_then(|pane| text(pane, HASH));
    let hash = definition.hash(key)?;
    let kind = match found {
        None => UpStepKind::Start,
        Some(pane) if !is_of(project, pane) || text(pane, NAME) != Some(name) => {
            return Err(name_taken(name, &id, pane));
        }
        Some(_) if found_hash != Some(&hash) => UpStepKind::Change,
        Some(pane) if !is_current(definition, pane) => UpStepKind::StartAgain,
        Some(pane) => {
            let is_ready = text(pane, READY) == Some(pane.instance.0.as_str());
            UpStepKind::Keep { is_ready }
        }
    };
    Ok(UpStep { name: name.to_owned(), id, hash, kind })
}

/// Whether a pane needs no start: it runs, its policy starts it again, or it was to end well and
/// did.
fn is_current(definition: &PaneDefinition, pane: &PaneInfo) -> bool {
    let is_due = pane.restart.as_ref().is_some_and(|restart| restart.next_at.is_some());
    let ends = definition.wait.as_ref().is_some_and(|it| it.condition == ReadyCondition::Exit);
    pane.status.is_live() || is_due || ends && pane.exit_code == Some(0)
}

/// Whether `paned up` has started a pane for this project.
fn is_of(project: &Project, pane: &PaneInfo) -> bool {
    text(pane, PROJECT) == project.folder.to_str() && pane.previous_of.is_none()
}

fn text<'a>(pane: &'a PaneInfo, key: &str) -> Option<&'a str> {
    pane.meta.get(key).and_then(Value::as_str)
}

fn name_taken(name: &str, id: &str, pane: &PaneInfo) -> Refusal {
    let owner = text(pane, PROJECT).map_or_else(
        || "was not started by `paned up`".to_owned(),
        |other| format!("belongs to the project in {other}"),
    );
    let sentence = format!(
        "cannot start `{name}`: pane `{id}` already exists and {owner}; delete it with `paned close {id}`, or \
         choose other names with `--prefix`"
    );
    Refusal::new(Code::Conflict, sentence)
}

/// The panes to end, dependents first: those of the project, or those with these names and what
/// depends on them.
pub(super) fn plan_down(folder: &str, names: &[String], panes: &[PaneInfo]) -> Vec<String> {
    let own = panes.iter().filter(|pane| text(pane, PROJECT) == Some(folder));
    let mut by_name: BTreeMap<&str, Vec<&PaneInfo>> = BTreeMap::new();
    for pane in own {
        by_name.entry(text(pane, NAME).unwrap_or_default()).or_default().push(pane);
    }
    let mut order = DownOrder::default();
    for name in by_name.keys().copied() {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            order.visit(name, &by_name);
        }
    }
    let ids = order.names.iter().flat_map(|name| &by_name[name]);
    ids.map(|pane| pane.id.to_string()).collect()
}

/// The order in which panes are ended.
#[derive(Default)]
struct DownOrder<'a> {
    /// Those that were looked at. A changed file may have made a circle of what runs.
    visited: Vec<&'a str>,
    names: Vec<&'a str>,
}

impl<'a> DownOrder<'a> {
    /// Adds what depends on a pane, then the pane.
    fn visit(&mut self, name: &'a str, panes: &BTreeMap<&'a str, Vec<&PaneInfo>>) {
        if self.visited.contains(&name) {
            return;
        }
        self.visited.push(name);
        let depends = |pane: &&PaneInfo| {
            let on = pane.meta.get(DEPENDS_ON).and_then(Value::as_array);
            on.is_some_and(|on| on.iter().any(|it| it.as_str() == Some(name)))
        };
        let dependents = panes.iter().filter(|(_, them)| them.iter().any(depends));
        for (dependent, _) in dependents {
            self.visit(dependent, panes);
        }
        self.names.push(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::ls::tests::pane;
    use super::super::definition::tests::project;
    use super::super::definition::{Readiness, shell};
    use super::*;

    /// A pane that `up` has started for `web` in `/p`, with these fields on top.
    fn started(name: &str, more: Value) -> PaneInfo {
        let hash = project(name).panes[name].hash("key").unwrap();
        let mut meta = json!({ PROJECT: "/p", NAME: name, HASH: hash });
        let mut fields = json!({ "id": name, "instance": "one" });
        for (key, value) in more.as_object().unwrap() {
            let target = if key.starts_with("up.") { &mut meta } else { &mut fields };
            target[key] = value.clone();
        }
        fields["meta"] = meta;
        pane(fields)
    }

    #[track_caller]
    fn check(panes: &[PaneInfo], expect: &str) {
        let steps = plan_up(&project("web"), &[], panes, "key");
        let shown = match steps {
            Ok(steps) => format!("{:?}", steps[0].kind),
            Err(refusal) => refusal.sentence,
        };
        assert!(shown.contains(expect), "{shown}");
    }

    #[test]
    fn what_runs_unchanged_stays() {
        check(&[], "Start");
        check(&[started("web", json!({}))], "Keep { is_ready: false }");
        check(&[started("web", json!({ READY: "one" }))], "Keep { is_ready: true }");
        check(&[started("web", json!({ READY: "an earlier run" }))], "Keep { is_ready: false }");
        check(&[started("web", json!({ HASH: "0" }))], "Change");
        check(&[started("web", json!({ "status": "exited", "exitCode": 1 }))], "StartAgain");
        let restart =
            json!({ "policy": "always", "count": 1, "nextAt": "2026-11-15T21:30:00.000Z" });
        let due = json!({ "status": "exited", "exitCode": 1, "restart": restart });
        check(&[started("web", due)], "Keep");
    }

    #[test]
    fn a_program_that_was_to_end_well_is_not_started_again() {
        let mut project = project("web");
        let web = project.panes.get_mut("web").unwrap();
        web.argv = shell("migrate");
        web.wait = Some(Readiness { condition: ReadyCondition::Exit, timeout_ms: 1 });
        let hash = web.hash("key").unwrap();
        for (code, expect) in
            [(0, UpStepKind::Keep { is_ready: false }), (1, UpStepKind::StartAgain)]
        {
            let ended = json!({ "status": "exited", "exitCode": code, HASH: hash });
            let steps = plan_up(&project, &[], &[started("web", ended)], "key").unwrap();
            assert_eq!(steps[0].kind, expect);
        }
    }

    #[test]
    fn panes_of_others_are_not_touched() {
        check(
            &[pane(json!({}))],
            "exists and was not started by `paned up`; delete it with `paned close web`",
        );
        check(&[started("web", json!({ PROJECT: "/other" }))], "belongs to the project in /other");
        check(&[started("web", json!({ NAME: "other" }))], "pane `web` already exists");
        let others = [pane(json!({})), started("db", json!({ PROJECT: "/other" }))];
        assert!(plan_down("/p", &[], &others).is_empty());
    }

    #[test]
    fn dependents_end_first() {
        let panes = [
            started("a", json!({})),
            started("b", json!({ DEPENDS_ON: ["a"] })),
            started("c", json!({ DEPENDS_ON: ["b"] })),
            started("d", json!({})),
        ];
        assert_eq!(plan_down("/p", &[], &panes), ["c", "b", "a", "d"]);
        assert_eq!(plan_down("/p", &["b".to_owned()], &panes), ["c", "b"]);
        let circle = [
            started("a", json!({ DEPENDS_ON: ["b"] })),
            started("b", json!({ DEPENDS_ON: ["a"] })),
        ];
        assert_eq!(plan_down("/p", &[], &circle).len(), 2);
    }
}
