//! Puts the evidence of a judgement into sentences.

use paned_model::{AgentState, StateSource, Time};

use super::Composer;
use super::engine::EvidenceItem;
use super::facts::{AgentFacts, TimedRuleMatch};
use super::judge;
use super::profile::Profile;

/// All evidence for or against a state, strongest first.
pub(super) fn reasons(facts: &AgentFacts, profile: &Profile, now: Time) -> Vec<EvidenceItem> {
    let explainer = Explainer { facts, profile, now };
    let mut reasons: Vec<EvidenceItem> = Vec::new();
    reasons.extend(explainer.exit());
    reasons.extend(explainer.dialog());
    reasons.extend(explainer.title());
    reasons.extend(explainer.osc());
    reasons.extend(explainer.status());
    reasons.extend(explainer.hook());
    reasons.extend(facts.rule_matches.iter().map(|held| explainer.hit(held)));
    reasons.extend(explainer.enter());
    reasons.extend(explainer.composer());
    reasons.extend(explainer.learned());
    reasons.extend(explainer.computes());
    reasons.extend(explainer.waits());
    reasons.extend(explainer.terminal());
    reasons.extend(explainer.quiet());
    reasons.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    reasons
}

struct Explainer<'a> {
    facts: &'a AgentFacts,
    profile: &'a Profile,
    now: Time,
}

impl Explainer<'_> {
    fn reason(
        &self,
        source: StateSource,
        supports: AgentState,
        weight: f32,
        at: Time,
        words: &str,
    ) -> EvidenceItem {
        let age_ms = self.now.since(at);
        let sentence = format!("{words} ({} ago)", seconds(age_ms));
        EvidenceItem { source, supports, weight, age_ms, sentence }
    }

    fn exit(&self) -> Option<EvidenceItem> {
        let code = self.facts.exited?;
        let sentence = match code {
            Some(code) => format!("its program exited with code {code}"),
            None => "its program is gone".to_owned(),
        };
        Some(EvidenceItem {
            source: StateSource::Process,
            supports: AgentState::Exited,
            weight: 1.0,
            age_ms: 0,
            sentence,
        })
    }

    fn dialog(&self) -> Option<EvidenceItem> {
        let dialog = self.facts.findings.as_ref()?.dialog.as_ref()?;
        let first = dialog.text.lines().last().unwrap_or("a question");
        let options = dialog.options.len();
        let words = format!("a question with {options} options is on the screen: `{first}`");
        let since = self.facts.dialog.since;
        Some(self.reason(StateSource::Screen, AgentState::Blocked, 0.97, since, &words))
    }

    fn title(&self) -> Option<EvidenceItem> {
        let title = self.facts.title.as_ref()?;
        let says = title.says?;
        let words = format!("the title `{}` means {says}", title.words);
        let is_stale = title.moves && self.profile.timing.stale < self.now.since(title.moved);
        let weight = if is_stale { 0.4 } else { 0.95 };
        Some(self.reason(StateSource::Title, says, weight, title.moved, &words))
    }

    fn osc(&self) -> Option<EvidenceItem> {
        let osc = self.facts.osc.as_ref()?;
        let says = osc.says?;
        let words = format!("its output contained {}, which means {says}", osc.words);
        Some(self.reason(StateSource::Osc, says, 0.9, osc.since, &words))
    }

    fn status(&self) -> Option<EvidenceItem> {
        let (status, at) = self.facts.status?;
        let kind = status.kind().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let words = format!("the program reports `{}`{kind} by OSC 7501", status.word());
        Some(self.reason(StateSource::Osc, status.state(), judge::STATUS, at, &words))
    }

    fn hook(&self) -> Option<EvidenceItem> {
        let claim = self.facts.hook.as_ref()?;
        let words = format!("its hook `{}` reported {}", claim.name, claim.says);
        Some(self.reason(StateSource::Hook, claim.says, claim.weight, claim.at, &words))
    }

    fn hit(&self, held: &TimedRuleMatch) -> EvidenceItem {
        let rule = &self.profile.rules[held.rule_match.rule];
        let place = rule.region.noun();
        let is_stale = rule.moves && self.profile.timing.stale < self.now.since(held.moved);
        let words = match (&rule.pattern, is_stale) {
            (None, _) => format!("the terminal's modes mean {}", rule.name),
            (Some(_), false) => format!("{place} shows `{}`", held.rule_match.found),
            (Some(_), true) => {
                format!("{place} shows `{}` and does not change", held.rule_match.found)
            }
        };
        let weight = if is_stale { rule.weight * 0.5 } else { rule.weight };
        self.reason(StateSource::Screen, rule.supports, weight, held.moved, &words)
    }

    fn enter(&self) -> Option<EvidenceItem> {
        let enter = self.facts.enter.as_ref()?;
        let words = "Enter was pressed on a draft";
        Some(self.reason(StateSource::Input, AgentState::Busy, 0.8, enter.at, words))
    }

    fn composer(&self) -> Option<EvidenceItem> {
        let shape = self.profile.composer.as_ref()?;
        let since = self.facts.composer.since;
        let (says, weight, words) = match &self.facts.findings.as_ref()?.composer {
            Composer::Empty => {
                (AgentState::Ready, shape.weight(), "the composer is visible and empty".to_owned())
            }
            Composer::Draft(draft) => {
                let draft: String = draft.chars().take(40).collect();
                (
                    AgentState::Ready,
                    shape.weight(),
                    format!("the composer contains a draft: `{draft}`"),
                )
            }
            Composer::Hidden => {
                let says = shape.absent.unwrap_or(AgentState::Unknown);
                (says, 0.3, "the composer is not on the screen".to_owned())
            }
        };
        Some(self.reason(StateSource::Screen, says, weight, since, &words))
    }

    fn learned(&self) -> Option<EvidenceItem> {
        let at = self.facts.known_since()?;
        let words = format!("its composer `{}` was learned earlier", self.facts.sign()?.text);
        Some(self.reason(StateSource::Screen, AgentState::Ready, 0.4, at, &words))
    }

    fn computes(&self) -> Option<EvidenceItem> {
        let at = self.facts.computed.filter(|at| self.now.since(*at) < 3000)?;
        let words = "its processes used CPU time";
        Some(self.reason(StateSource::Process, AgentState::Busy, 0.5, at, words))
    }

    fn waits(&self) -> Option<EvidenceItem> {
        let at = self.facts.waited?;
        let words = "its foreground process is blocked reading the terminal";
        Some(self.reason(StateSource::Process, AgentState::Ready, 0.5, at, words))
    }

    fn terminal(&self) -> Option<EvidenceItem> {
        let facts = self.facts;
        let words = match (facts.reads_no_line(), facts.has_other_modes()) {
            (true, _) => "no foreground process is reading a line from the terminal",
            (false, true) => {
                "the terminal modes differ from those when the program accepted \
                             input"
            }
            (false, false) => return None,
        };
        let is_used = self.profile.reads_lines();
        let at = facts.enter.as_ref().map_or(facts.moved_at, |enter| enter.at);
        is_used.then(|| self.reason(StateSource::Process, AgentState::Busy, 0.8, at, words))
    }

    fn quiet(&self) -> Option<EvidenceItem> {
        let moved = self.facts.moved_at;
        let (says, words) = if self.now.since(moved) < 1000 {
            (AgentState::Busy, "the screen changed")
        } else {
            (AgentState::Unknown, "the screen has not changed since")
        };
        self.facts.findings.as_ref()?;
        Some(self.reason(StateSource::Quiet, says, 0.1, moved, words))
    }
}

/// `0.2 s`, `14 s`, `3 min`, `5 h`, `9 days`.
fn seconds(millis: u64) -> String {
    match millis {
        0..10_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        10_000..120_000 => format!("{} s", millis / 1000),
        120_000..7_200_000 => format!("{} min", millis / 60_000),
        7_200_000..172_800_000 => format!("{} h", millis / 3_600_000),
        _ => format!("{} days", millis / 86_400_000),
    }
}
