//! The names of the events that paned records itself. Nothing else may record an event of one of
//! these names, so that a subscriber can take such an event for a fact.

/// Every name, in alphabetical order. `gap` is no event of the journal: it is sent in place of
/// events that are no longer kept.
pub(crate) const OWN_EVENTS: &[&str] = &[
    "action:added",
    "action:error",
    "action:removed",
    "action:start",
    "action:success",
    "agent:created",
    "agent:delivered",
    "agent:gave-up",
    "agent:restarted",
    "agent:state",
    "agent:worktree-kept",
    "agent:worktree-removed",
    "approval:answered",
    "approval:asked",
    "gap",
    "grant:revoked",
    "grant:signed-in",
    "handler:error",
    "journal:dropped",
    "journal:recovered",
    "journal:withdrawn",
    "layout:changed",
    "layout:deferred",
    "layout:expired",
    "notify:failed",
    "notify:sent",
    "pane:activated",
    "pane:bell",
    "pane:created",
    "pane:exited",
    "pane:found",
    "pane:hidden",
    "pane:killed",
    "pane:lost",
    "pane:moved",
    "pane:notice",
    "pane:removed",
    "pane:resized",
    "pane:restart-cancelled",
    "pane:restart-gave-up",
    "pane:restart-scheduled",
    "pane:restarted",
    "pane:shown",
    "pane:size-held",
    "pane:survived",
    "pane:title",
    "server:shutdown",
    "server:started",
    "session:attached",
    "session:detached",
    "session:started",
    "session:stopped",
];

/// Whether only paned itself records events of this name, in whatever case it is written.
pub(crate) fn is_own(name: &str) -> bool {
    OWN_EVENTS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::registry::RESERVED_NOUNS;

    /// The names in quotes that have one of our nouns, in the code of this crate without its tests.
    /// Names of actions are left out.
    fn names_in(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "tests" {
                names_in(&path, found);
            } else if name.ends_with(".rs") && !["event_names.rs", "tests.rs"].contains(&name) {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                found.extend(code.lines().flat_map(names_in_line));
            }
        }
    }

    fn names_in_line(line: &str) -> Vec<String> {
        let is_code = !line.trim_start().starts_with("//") && !line.contains("const NAME:");
        let words = line.split('"').skip(1).step_by(2).filter(|_| is_code);
        words.filter(|word| is_name(word)).map(str::to_owned).collect()
    }

    fn is_name(word: &str) -> bool {
        let is_plain = |rest: &str| {
            !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        let parts = word.split_once(':');
        parts.is_some_and(|(noun, rest)| RESERVED_NOUNS.contains(&noun) && is_plain(rest))
    }

    #[test]
    fn the_list_holds_every_event_that_this_crate_records() {
        let mut found = BTreeSet::new();
        names_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let listed: BTreeSet<String> = OWN_EVENTS.iter().map(|name| (*name).to_owned()).collect();
        let actions = crate::actions::registry();
        let is_action = |name: &&String| actions.iter().any(|action| *action.name == **name);
        let unlisted: Vec<_> = found.difference(&listed).filter(|it| !is_action(it)).collect();
        assert!(unlisted.is_empty(), "add these to OWN_EVENTS: {unlisted:?}");
        let unused: Vec<_> = listed.difference(&found).filter(|name| *name != "gap").collect();
        assert!(unused.is_empty(), "no event has these names of OWN_EVENTS: {unused:?}");
        assert!(OWN_EVENTS.is_sorted());
    }

    #[test]
    fn a_name_is_ours_in_any_case() {
        assert!(is_own("pane:exited") && is_own("Pane:Exited") && is_own("GAP"));
        assert!(!is_own("pane:ready") && !is_own("pane:exited2") && !is_own("gaps"));
    }
}
