//! What is allowed: `deny.toml` as `cargo deny` reads it, and `xtask/pinned.toml`, which is ours.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use toml::{Table, Value};

use super::version;

/// What packages may be like.
pub(crate) struct Policy {
    /// The targets that the program is built for.
    pub(crate) targets: Vec<String>,
    pub(crate) licences: Vec<String>,
    /// Crates that are refused, and why.
    pub(crate) banned: BTreeMap<String, String>,
    /// How many crates may be there in more than one version.
    pub(crate) duplicates: usize,
    pub(crate) advisories: Vec<Advisory>,
}

/// A known fault of some versions of a crate.
pub(crate) struct Advisory {
    pub(crate) id: String,
    pub(crate) about: String,
    package: String,
    since: Option<String>,
    fixed: Option<String>,
    is_accepted: bool,
}

impl Policy {
    pub(crate) fn parse(deny: &str, pinned: &str) -> Result<Policy> {
        let deny: Table = deny.parse().context("deny.toml is not TOML")?;
        let pinned: Table = pinned.parse().context("xtask/pinned.toml is not TOML")?;
        for source in ["unknown-registry", "unknown-git"] {
            let word = text(section(&deny, "sources")?, source);
            ensure!(word.as_deref() == Some("deny"), "deny.toml must say {source} = \"deny\"");
        }
        let bans = list(section(&deny, "bans")?, "deny").iter().filter_map(Value::as_table);
        let banned = bans.filter_map(|ban| Some((text(ban, "crate")?, reason(ban)))).collect();
        let duplicates = pinned.get("duplicates").and_then(Value::as_integer);
        let duplicates = duplicates.context("xtask/pinned.toml has no number `duplicates`")?;
        let advisories = list(&pinned, "advisory").iter().filter_map(Value::as_table);
        Ok(Policy {
            targets: texts(section(&deny, "graph")?, "targets"),
            licences: texts(section(&deny, "licenses")?, "allow"),
            banned,
            duplicates: usize::try_from(duplicates)?,
            advisories: advisories.map(Advisory::parse).collect::<Result<_>>()?,
        })
    }
}

impl Advisory {
    fn parse(table: &Table) -> Result<Advisory> {
        let id = text(table, "id").context("an advisory has no `id`")?;
        let package = text(table, "crate").with_context(|| format!("{id} has no `crate`"))?;
        Ok(Advisory {
            about: text(table, "about").unwrap_or_default(),
            since: text(table, "since"),
            fixed: text(table, "fixed"),
            is_accepted: table.contains_key("accepted"),
            id,
            package,
        })
    }

    /// Whether this version of this crate has the fault, and the advisory was not accepted.
    pub(crate) fn concerns(&self, package: &str, version: &str) -> bool {
        let begun = self.since.as_ref().is_none_or(|since| !version::is_before(version, since));
        let open = self.fixed.as_ref().is_none_or(|fixed| version::is_before(version, fixed));
        self.package == package && begun && open && !self.is_accepted
    }
}

fn section<'a>(table: &'a Table, name: &str) -> Result<&'a Table> {
    let found = table.get(name).and_then(Value::as_table);
    found.with_context(|| format!("deny.toml has no section [{name}]"))
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    table.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    list(table, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn reason(ban: &Table) -> String {
    text(ban, "reason").unwrap_or_else(|| "deny.toml says so".to_owned())
}
