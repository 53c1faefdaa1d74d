//! Whether a grant covers an action and a pane.

use std::fmt;

use paned_model::{Grant, Instance, PaneId, PaneSet, Scope, Time};

/// Why a grant does not cover a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It lacks this scope.
    Scope(Scope),
    /// It does not cover this pane.
    Pane(PaneId),
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scope(scope) => write!(f, "this token lacks the scope `{scope}`"),
            Self::Pane(pane) => write!(f, "this token does not cover pane `{pane}`"),
        }
    }
}

/// Whether the grant has a scope. `admin` includes all of them.
///
/// # Errors
/// When it does not.
pub fn scope(grant: &Grant, needed: Scope) -> Result<(), Denial> {
    let holds = |scope| grant.scopes.contains(&scope);
    if holds(needed) || holds(Scope::Admin) { Ok(()) } else { Err(Denial::Scope(needed)) }
}

/// Whether the grant covers a pane, given the instances of the pane itself, its parent, its
/// parent's parent and so on. The list is empty for a pane that does not exist; only a grant over
/// all panes covers that.
#[must_use]
pub fn reaches(grant: &Grant, lineage: &[Instance]) -> bool {
    match &grant.panes {
        PaneSet::All => true,
        PaneSet::Only(panes) => panes.iter().any(|pane| lineage.contains(&pane.instance)),
    }
}

/// Whether the grant has expired.
#[must_use]
pub fn is_expired(grant: &Grant, now: Time) -> bool {
    grant.expires_at.is_some_and(|at| at <= now)
}

#[cfg(test)]
mod tests {
    use paned_model::{GrantId, PaneRef};

    use super::*;

    fn grant(scopes: &[Scope], panes: Option<&[&str]>) -> Grant {
        let pane =
            |id: &&str| PaneRef { id: "x".parse().unwrap(), instance: Instance((*id).into()) };
        let only = |ids: &[&str]| PaneSet::Only(ids.iter().map(pane).collect());
        Grant {
            id: GrantId("g".into()),
            label: String::new(),
            scopes: scopes.iter().copied().collect(),
            panes: panes.map_or(PaneSet::All, only),
            pane: None,
            device: false,
            created_with: Vec::new(),
            created_at: Time(0),
            expires_at: Some(Time(100)),
        }
    }

    /// A lineage written as `child<parent<grandparent`.
    #[track_caller]
    fn check(panes: Option<&[&str]>, lineage: &str, reached: bool) {
        let ids = lineage.split('<').filter(|id| !id.is_empty());
        let lineage: Vec<_> = ids.map(|id| Instance(id.to_owned())).collect();
        assert_eq!(reaches(&grant(&[], panes), &lineage), reached);
    }

    #[test]
    fn a_grant_reaches_its_panes_and_what_was_started_from_them() {
        check(None, "a", true);
        check(Some(&["a"]), "a", true);
        check(Some(&["a"]), "c<b<a", true);
        check(Some(&["a"]), "b", false);
        check(Some(&["b"]), "a", false);
        check(Some(&[]), "a", false);
        check(None, "", true);
        check(Some(&["a"]), "", false);
    }

    #[test]
    fn admin_holds_every_scope_and_the_others_hold_only_themselves() {
        for held in Scope::ALL {
            for needed in Scope::ALL {
                let expect = held == needed || held == Scope::Admin;
                assert_eq!(scope(&grant(&[held], None), needed).is_ok(), expect, "{held} {needed}");
            }
        }
    }

    #[test]
    fn a_grant_ends_at_its_moment() {
        let grant = grant(&[], None);
        assert!(!is_expired(&grant, Time(99)));
        assert!(is_expired(&grant, Time(100)));
    }
}
