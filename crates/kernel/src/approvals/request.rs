//! A request that needs an approval: what it is bound to, and how people see it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use paned_model::{ApprovalKind, GrantId, Instance, PaneId};
use paned_policy::approval::Asker;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::grants::Token;
use crate::redact::redact_tokens;
use crate::{Caller, Kernel};

/// The longest subject, in characters.
const LONGEST_SUBJECT: usize = 300;
/// The longest text in the details, in characters.
const LONGEST_TEXT: usize = 4000;
/// How many fields and items of the details are shown.
const MAX_VALUES: usize = 500;

/// A request that needs an approval.
pub(crate) struct NewApproval {
    /// What asks.
    pub(crate) kind: ApprovalKind,
    /// What is asked, in one line, as in "run `git push`". It must hold no secret.
    pub(crate) subject: String,
    /// What a person needs to know to decide, without secrets.
    pub(crate) details: Value,
    /// The rule that asks, as it is written in its file.
    pub(crate) rule: Option<String>,
    /// What an answer for the pane covers, if such an answer is offered.
    pub(crate) coverage: Option<Coverage>,
    /// The action that waits.
    pub(crate) action: Arc<str>,
    /// The exact request.
    pub(crate) request: RequestDigest,
    /// Who sends it.
    pub(crate) caller: Caller,
    /// How long a person has to decide; as configured, if left out.
    pub(crate) expires_after: Option<Duration>,
}

/// What an answer "for this pane" covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Requests of the pane with the same key are covered.
    pub(crate) key: String,
    /// The same for people, as in "every `pane:remove`".
    pub(crate) sentence: String,
}

/// The digest of an action, its parameters and the instances of the panes that it names: another
/// request has another digest, and so has the same one once a name means another pane.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RequestDigest(String);

impl RequestDigest {
    /// The digest of a request. Parameters that differ in whitespace or in the order of fields are
    /// the same.
    pub(crate) fn new(action: &str, params: &[u8], panes: &[(PaneId, Option<Instance>)]) -> Self {
        let params = if params.trim_ascii().is_empty() { b"{}" } else { params };
        let mut hash = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        field(action.as_bytes());
        match serde_json::from_slice::<Value>(params) {
            Ok(value) => field(sorted(value).to_string().as_bytes()),
            Err(_) => field(params),
        }
        for (pane, instance) in panes {
            field(pane.as_str().as_bytes());
            field(instance.as_ref().map_or(&[], |instance| instance.0.as_bytes()));
        }
        let mut text = String::with_capacity(64);
        for byte in hash.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }
}

/// The same JSON with the fields of all objects in alphabetical order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Who asks, for what: the same caller with the same request has the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestKey {
    grants: Vec<GrantId>,
    pane: Option<Instance>,
    extension: Option<Arc<str>>,
    request: RequestDigest,
}

impl RequestKey {
    pub(super) fn new(caller: &Caller, request: RequestDigest) -> Self {
        Self {
            grants: std::iter::once(caller.grant.id.clone()).chain(pane_grant(caller)).collect(),
            pane: caller.pane.as_ref().map(|pane| pane.instance.clone()),
            extension: caller.extension.clone(),
            request,
        }
    }

    /// Whether the same caller asks, for whatever it is.
    pub(super) fn is_of_same_asker(&self, other: &Self) -> bool {
        (&self.grants, &self.pane, &self.extension)
            == (&other.grants, &other.pane, &other.extension)
    }
}

/// The grant of the pane that a caller runs in, by the token that it has proven that with.
pub(super) fn pane_grant(caller: &Caller) -> Option<GrantId> {
    caller.pane_token.as_ref().and_then(|token| Token::grant_of(token.reveal()))
}

/// A caller as the one that asks. The owner's grant is not its own where it runs in a pane: over
/// the unix socket every program of the user has that.
pub(super) fn asker(caller: &Caller) -> Asker {
    let own = (!caller.is_owner()).then(|| caller.grant.id.clone());
    Asker {
        grants: own.into_iter().chain(pane_grant(caller)).collect(),
        pane: caller.pane.as_ref().map(|pane| pane.instance.clone()),
        is_person: caller.is_owner() && caller.pane.is_none() && caller.extension.is_none(),
    }
}

impl Kernel {
    /// What open approvals are counted by: the pane that all others of the caller's were started
    /// from, or else its grant. Otherwise a pane could ask without end through panes it starts.
    pub(super) fn family(&self, caller: &Caller) -> Arc<str> {
        let root = caller.pane.as_ref().and_then(|pane| self.panes().lineage_of(pane).pop());
        let family = root.map(|root| format!("pane {root}"));
        family.unwrap_or_else(|| format!("grant {}", caller.grant.id)).into()
    }
}

/// One line without control characters, of bounded length.
pub(super) fn one_line(text: &str) -> String {
    let line: Vec<&str> = text.split(|c: char| c.is_control() || c.is_whitespace()).collect();
    let words = line.into_iter().filter(|word| !word.is_empty());
    cut(&words.collect::<Vec<_>>().join(" "), LONGEST_SUBJECT)
}

/// Details of bounded size, without tokens.
pub(super) fn bounded(details: Value) -> Value {
    let mut left = MAX_VALUES;
    bound(details, &mut left)
}

fn bound(value: Value, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        Value::String(text) => Value::String(redact_tokens(cut(&text, LONGEST_TEXT))),
        Value::Array(items) => {
            let count = items.len();
            let mut kept = Vec::new();
            for item in items {
                if *left == 0 {
                    let more = count - kept.len();
                    kept.push(Value::String(format!("(… {more} more)")));
                    break;
                }
                kept.push(bound(item, left));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            let count = fields.len();
            let mut kept = Map::new();
            for (name, value) in fields {
                if *left == 0 {
                    let more = count - kept.len();
                    kept.insert("…".to_owned(), Value::String(format!("({more} more)")));
                    break;
                }
                kept.insert(redact_tokens(cut(&name, LONGEST_SUBJECT)), bound(value, left));
            }
            Value::Object(kept)
        }
        other => other,
    }
}

fn cut(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let start: String = text.chars().take(longest).collect();
    format!("{start} (… {} more characters)", count - longest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digest(action: &str, params: &str, instance: &str) -> RequestDigest {
        let pane = ("a".parse().unwrap(), Some(Instance(instance.to_owned())));
        RequestDigest::new(action, params.as_bytes(), &[pane])
    }

    #[test]
    fn only_the_same_request_has_the_same_digest() {
        let one = digest("pane:remove", r#"{"paneId":"a","b":{"c":1,"d":[1,2]}}"#, "i");
        assert_eq!(one, digest("pane:remove", r#"{ "b":{"d":[1, 2],"c":1},"paneId":"a" }"#, "i"));
        for other in [
            digest("pane:kill", r#"{"paneId":"a","b":{"c":1,"d":[1,2]}}"#, "i"),
            digest("pane:remove", r#"{"paneId":"a","b":{"c":1,"d":[2,1]}}"#, "i"),
            digest("pane:remove", r#"{"paneId":"b","b":{"c":1,"d":[1,2]}}"#, "i"),
            digest("pane:remove", r#"{"paneId":"a","b":{"c":1,"d":[1,2]},"e":0}"#, "i"),
            digest("pane:remove", r#"{"paneId":"a","b":{"c":1,"d":[1,2]}}"#, "j"),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(digest("x", "", "i"), digest("x", "{}", "i"));
    }

    #[test]
    fn a_subject_is_one_short_line() {
        assert_eq!(one_line("run\n `a\u{1b}[2J`\t b"), "run `a [2J` b");
        let long = one_line(&"x".repeat(1000));
        assert!(long.ends_with("(… 700 more characters)"), "{long}");
    }

    #[test]
    fn details_say_what_was_cut() {
        let long = bounded(json!({ "text": "y".repeat(5000), "n": 1 }));
        assert!(long["text"].as_str().unwrap().ends_with("(… 1000 more characters)"));
        assert_eq!(long["n"], 1);
        let many = bounded(json!({ "list": vec![1; 2000] }));
        let last = many["list"].as_array().unwrap().last().unwrap().clone();
        assert!(last.as_str().unwrap().ends_with("more)"), "{last}");
    }
}
