//! Which tools a client sees, and what the actions behind `action_call` may do. Pure.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use paned_kernel::Caller;
use paned_model::Scope;

/// How much a client may do, chosen when it connects. A tier only takes away from what its grant
/// permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// It only looks.
    ReadOnly,
    /// It also starts, types into and ends programs.
    #[default]
    Standard,
    /// Everything its grant permits, also approvals and administration.
    Full,
}

impl Tier {
    /// Every tier, the smallest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::Standard, Self::Full];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// Whether actions of this scope can be run.
    pub(crate) fn permits(self, scope: Scope) -> bool {
        match self {
            Self::ReadOnly => scope == Scope::Read,
            Self::Standard => !matches!(scope, Scope::Admin | Scope::Approve),
            Self::Full => true,
        }
    }

    /// The caller as this tier limits it. A read-only client must not act by a tool that does more
    /// than its name says; the others keep their grant, so that events name them as they are.
    pub(crate) fn limit(self, mut caller: Caller) -> Caller {
        if self == Self::ReadOnly {
            let scopes = &mut Arc::make_mut(&mut caller.grant).scopes;
            let may_read = scopes.contains(&Scope::Read) || scopes.contains(&Scope::Admin);
            // An administrator has every scope.
            *scopes = may_read.then_some(Scope::Read).into_iter().collect();
        }
        caller
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|tier| tier.name() == text).ok_or_else(|| {
            let shown = text.escape_debug();
            format!("no tier `{shown}`; the tiers are read-only, standard and full")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tier_permits_what_the_smaller_ones_do() {
        for scope in
            [Scope::Read, Scope::Input, Scope::Spawn, Scope::Kill, Scope::Approve, Scope::Admin]
        {
            let permits = Tier::ALL.map(|tier| tier.permits(scope));
            assert!(permits.is_sorted(), "{scope}: {permits:?}");
        }
        assert!(!Tier::ReadOnly.permits(Scope::Input));
        assert!(!Tier::Standard.permits(Scope::Approve));
        assert!(Tier::Full.permits(Scope::Admin));
    }

    #[test]
    fn a_tier_is_read_by_its_name() {
        for tier in Tier::ALL {
            assert_eq!(tier.name().parse(), Ok(tier));
        }
        let error = "all".parse::<Tier>().unwrap_err();
        assert_eq!(error, "no tier `all`; the tiers are read-only, standard and full");
    }
}
