//! What a person means by the name of a pane: its id, the beginning of one id, or a title.

use paned_model::near::{self, nearest};

/// A pane that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCandidate {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
}

/// Which names count as the pane's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Ids and titles.
    Any,
    /// Ids only: programs may set their titles themselves, so a title must not choose what is
    /// ended.
    IdsOnly,
}

/// What may be meant, as ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameMatches {
    /// The panes that the name fits; it is unambiguous if there is one.
    pub matches: Vec<String>,
    /// Panes with similar names.
    pub near: Vec<String>,
}

/// How many panes are listed at most.
const MAX: usize = 10;

impl NameMatches {
    /// The panes that a name fits which is no id, and those with similar names.
    #[must_use]
    pub fn find(typed: &str, candidates: &[NameCandidate], rule: NameRule) -> Self {
        if typed.is_empty() {
            return Self::default();
        }
        let fits = |it: &&NameCandidate| {
            it.id.starts_with(typed) || (rule == NameRule::Any && it.title == typed)
        };
        let matches: Vec<String> =
            candidates.iter().filter(fits).take(MAX).map(|it| it.id.clone()).collect();
        if !matches.is_empty() {
            return Self { matches, near: Vec::new() };
        }
        let names = candidates.iter().flat_map(|it| [it.id.as_str(), it.title.as_str()]);
        let mut near: Vec<String> = Vec::new();
        for name in nearest(typed, names) {
            let by_id = candidates.iter().find(|it| it.id == name);
            let found = by_id.or_else(|| candidates.iter().find(|it| it.title == name));
            near.extend(found.map(|it| it.id.clone()).filter(|id| !near.contains(id)));
        }
        Self { matches, near }
    }

    /// The end of a sentence about the name, if anything may be meant.
    #[must_use]
    pub fn question(&self) -> Option<String> {
        match self.matches.is_empty() {
            true => near::did_you_mean(&self.near),
            false => near::did_you_mean(&self.matches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, rule: NameRule, matches: &[&str], near: &[&str]) {
        let pane = |(id, title): (&str, &str)| NameCandidate { id: id.into(), title: title.into() };
        let panes = [("web", "the server"), ("worker", "queue"), ("p-7k2", "vim"), ("x", "queue")];
        let found = NameMatches::find(typed, &panes.map(pane), rule);
        assert_eq!((found.matches, found.near), (owned(matches), owned(near)), "{typed}");
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_beginning_of_one_id_is_unambiguous() {
        check("we", NameRule::Any, &["web"], &[]);
        check("p-", NameRule::IdsOnly, &["p-7k2"], &[]);
        check("w", NameRule::Any, &["web", "worker"], &[]);
    }

    #[test]
    fn a_title_is_a_name_unless_the_pane_is_to_be_ended() {
        check("the server", NameRule::Any, &["web"], &[]);
        check("vim", NameRule::IdsOnly, &[], &["p-7k2"]);
        check("queue", NameRule::Any, &["worker", "x"], &[]);
    }

    #[test]
    fn a_misspelled_name_has_near_ones() {
        check("wbe", NameRule::Any, &[], &["web"]);
        check("vmi", NameRule::Any, &[], &["p-7k2"]);
        check("nothing", NameRule::Any, &[], &[]);
        check("", NameRule::Any, &[], &[]);
    }
}
