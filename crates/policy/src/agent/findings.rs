//! Everything that one snapshot of a screen shows, before time and other sources are considered.

use std::hash::{DefaultHasher, Hash, Hasher};

use paned_model::{AgentState, BlockKind, Dialog};

use super::Composer;
use super::composer_memory::ComposerSign;
use super::generic;
use super::profile::{Profile, ProfilePattern, ScreenRegion, ScreenRule};
use super::regions::RegionMap;
use super::screen_snapshot::ScreenSnapshot;

/// What one snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScreenFindings {
    pub(super) composer: Composer,
    pub(super) dialog: Option<Dialog>,
    pub(super) rule_matches: Vec<RuleMatch>,
    pub(super) context: Option<u8>,
    /// A hash of the rows above the composer: it changes when they do.
    pub(super) above: u64,
    /// Whether the user's last message has no answer yet.
    pub(super) unanswered: bool,
    /// Whether messages wait for the end of the turn.
    pub(super) queued: bool,
    pub(super) size: paned_model::Size,
    /// Whether the program enables bracketed paste.
    pub(super) takes_pastes: bool,
    /// How the composer looks, in a program without a profile.
    pub(super) sign: Option<ComposerSign>,
}

/// A rule that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleMatch {
    /// The index of the rule in the profile.
    pub(super) rule: usize,
    pub(super) supports: AgentState,
    pub(super) kind: Option<BlockKind>,
    /// The matched part of the row.
    pub(super) found: String,
    /// The whole row; it changes while the state lasts if the rule is an animated one.
    pub(super) row: String,
    /// Whether it is below the composer.
    pub(super) is_below: bool,
    /// Whether the rule is for the cursor's row.
    pub(super) is_at_cursor: bool,
    /// Whether more text follows above the composer, after a blank row.
    pub(super) is_followed: bool,
}

impl ScreenFindings {
    pub(super) fn of(look: &ScreenSnapshot, profile: &Profile) -> Self {
        let regions = RegionMap::of(look, profile);
        let composer = regions.composer(look, profile);
        let rules = profile.rules.iter().enumerate();
        let rule_matches =
            rules.filter_map(|(at, rule)| match_rule(look, &regions, at, rule)).collect();
        let context = context(look, profile, &regions);
        let below = regions.composer.as_ref().map_or(regions.end, |rows| rows.start);
        let mut above = DefaultHasher::new();
        look.view.rows[..below.min(look.view.rows.len())].hash(&mut above);
        if let Some(rows) = regions.composer.as_ref().filter(|_| profile.is_generic()) {
            // A border may contain a spinner.
            look.row(rows.start).hash(&mut above);
            look.view.rows.get(rows.end - 1..).hash(&mut above);
        }
        let sign = match &regions.dialog {
            None => generic::sign(look, profile, regions.end),
            Some(_) => None,
        };
        let above = above.finish();
        let size = look.view.size;
        let unanswered = regions.is_unanswered(look, profile);
        let queued = is_queued(look, profile, &regions);
        let dialog = regions.dialog;
        let takes_pastes = look.view.modes.bracketed_paste;
        Self {
            composer,
            dialog,
            rule_matches,
            context,
            above,
            unanswered,
            queued,
            size,
            takes_pastes,
            sign,
        }
    }
}

fn match_rule(
    look: &ScreenSnapshot,
    regions: &RegionMap,
    at: usize,
    rule: &ScreenRule,
) -> Option<RuleMatch> {
    if !rule.needs.iter().all(|need| need.holds(look, &(0..regions.end))) {
        return None;
    }
    let below = regions.composer.as_ref().map_or(usize::MAX, |rows| rows.end);
    let hit = |found: &str, row: &str, at_row: usize| RuleMatch {
        rule: at,
        supports: rule.supports,
        kind: rule.kind,
        found: found.trim().to_owned(),
        row: row.to_owned(),
        is_below: below <= at_row,
        is_at_cursor: rule.region == ScreenRegion::Cursor,
        is_followed: is_followed(look, regions, at_row),
    };
    let Some(pattern) = &rule.pattern else {
        return Some(hit("", "", 0));
    };
    let rows = regions.rows(look, rule.region, rule.rows);
    let unless = |pattern: &ProfilePattern| rows.iter().any(|row| pattern.is_in(look.row(*row)));
    if rule.unless.as_ref().is_some_and(unless) {
        return None;
    }
    rows.iter().find_map(|&row| {
        let text = look.row(row);
        let found = pattern.find(text)?;
        let first = text[..found.start].chars().count();
        let inked = first + text[found.clone()].chars().take_while(|c| c.is_whitespace()).count();
        let has_hue = rule.hue.is_none_or(|hue| look.style_from(row, inked).hue == Some(hue));
        has_hue.then(|| hit(&text[found], text, row))
    })
}

/// Whether another paragraph is between a row and the composer. Rules and boxes are not text.
fn is_followed(look: &ScreenSnapshot, regions: &RegionMap, row: usize) -> bool {
    let start = regions.composer.as_ref().map_or(regions.end, |rows| rows.start);
    let is_blank = |row: &usize| look.row(*row).trim().is_empty();
    let has_words = |row: usize| look.row(row).chars().any(char::is_alphabetic);
    let gap = (row + 1..start).find(is_blank);
    gap.is_some_and(|gap| (gap..start).any(has_words))
}

fn is_queued(look: &ScreenSnapshot, profile: &Profile, regions: &RegionMap) -> bool {
    let Some(queued) = &profile.messages.queued else {
        return false;
    };
    let rows = regions.rows(look, ScreenRegion::Turn, 12).into_iter();
    rows.chain(regions.rows(look, ScreenRegion::Footer, 4)).any(|row| queued.is_in(look.row(row)))
}

/// The newest figure, which is the lowest.
fn context(look: &ScreenSnapshot, profile: &Profile, regions: &RegionMap) -> Option<u8> {
    let pattern = profile.context.as_ref()?;
    let mut rows = regions.rows(look, profile.context_region, usize::MAX);
    rows.sort_unstable();
    let figure = rows.iter().rev().find_map(|row| pattern.capture(look.row(*row)))?;
    let percent: f64 = figure.trim_end_matches('%').parse().ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is from 0 to 100"
    )]
    (0.0..=100.0).contains(&percent).then(|| percent.round() as u8)
}
