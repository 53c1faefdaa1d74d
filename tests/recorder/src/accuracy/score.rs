//! Counts milliseconds.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use paned_model::{AgentState, BlockKind};
use paned_policy::agent::Sample;

use super::{ExpectedState, GRACE, LABEL_DELAY, Label, Recording};

/// What was right, in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How long it was labelled.
    pub labelled: u64,
    /// How long the engine was right, strictly.
    pub strict: u64,
    /// How long it was right, or within the grace of a change.
    pub graced: u64,
    /// How long it said ready while it was busy or blocked.
    pub false_ready: u64,
    /// The same without the first moments after a label.
    pub false_ready_graced: u64,
    /// For each state.
    pub states: BTreeMap<ExpectedState, Share>,
    /// From each label until the engine said so; none when it never did.
    pub delays: Vec<Option<u64>>,
}

/// What was right of one state, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// How long it was so.
    pub true_for: u64,
    /// How long that was said, of that.
    pub right: u64,
    /// How long it was said, whether it was so or not.
    pub said: u64,
}

impl Share {
    /// How much of what was said was so.
    #[must_use]
    pub fn precision(self) -> f64 {
        ratio(self.right, self.said)
    }

    /// How much of what was so was said.
    #[must_use]
    pub fn recall(self) -> f64 {
        ratio(self.right, self.true_for)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "recordings are short")]
    let ratio = part as f64 / whole as f64;
    ratio
}

impl Tally {
    /// Compares what an engine said with what was true, millisecond by millisecond.
    #[must_use]
    pub fn of(recording: &Recording, samples: &[Sample]) -> Self {
        let mut tally = Self::default();
        let mut said = samples.iter().peekable();
        let mut now = None;
        let mut label = 0;
        let labels = &recording.labels;
        for at in labels.first().map_or(0, |first| first.at)..recording.end() {
            while let Some(sample) = said.next_if(|sample| millis(sample) <= at) {
                now = Some((sample.state, sample.kind));
            }
            while labels.get(label + 1).is_some_and(|next| next.at <= at) {
                label += 1;
            }
            if let Some((state, kind)) = now {
                tally.count(labels, label, at, state, kind);
            }
        }
        tally.delays = delays(labels, samples);
        tally
    }

    fn count(
        &mut self,
        labels: &[Label],
        label: usize,
        at: u64,
        state: AgentState,
        kind: Option<BlockKind>,
    ) {
        let Label { expected: truth, at: began, .. } = labels[label];
        let is_right = truth.is(state, kind);
        let before = label.checked_sub(1).map(|before| labels[before].expected);
        let next = labels.get(label + 1);
        let late = at < began + GRACE && before.is_some_and(|before| before.is(state, kind));
        let early = next.is_some_and(|next| {
            (next.after.saturating_sub(GRACE) <= at) && next.expected.is(state, kind)
        });
        self.labelled += 1;
        self.strict += u64::from(is_right);
        self.graced += u64::from(is_right || late || early);
        let working = matches!(
            truth,
            ExpectedState::Busy | ExpectedState::Permission | ExpectedState::Dialog
        );
        if working && state == AgentState::Ready {
            self.false_ready += 1;
            // From the end of the reply on, the label only waits for the next look at the screen.
            let is_over = next.is_some_and(|next| {
                next.after.min(next.at.saturating_sub(LABEL_DELAY)) <= at
                    && next.expected.is(state, kind)
            });
            self.false_ready_graced += u64::from(began + GRACE <= at && !is_over);
        }
        let share = self.states.entry(truth).or_default();
        share.true_for += 1;
        share.right += u64::from(is_right);
        if let Some(said) = said(state, kind, truth) {
            self.states.entry(said).or_default().said += 1;
        }
    }

    /// The share of labelled time in which the engine was right, strictly and with grace.
    #[must_use]
    pub fn shares(&self) -> (f64, f64) {
        (ratio(self.strict, self.labelled), ratio(self.graced, self.labelled))
    }

    /// The delay that this percentage of the changes does not exceed, and how many changes were
    /// never seen.
    #[must_use]
    pub fn delay(&self, percent: usize) -> (u64, usize) {
        let mut seen: Vec<u64> = self.delays.iter().flatten().copied().collect();
        seen.sort_unstable();
        let at = (seen.len() * percent).div_ceil(100).saturating_sub(1);
        (seen.get(at).copied().unwrap_or(0), self.delays.len() - seen.len())
    }
}

impl AddAssign<&Self> for Tally {
    fn add_assign(&mut self, other: &Self) {
        self.labelled += other.labelled;
        self.strict += other.strict;
        self.graced += other.graced;
        self.false_ready += other.false_ready;
        self.false_ready_graced += other.false_ready_graced;
        for (truth, share) in &other.states {
            let sum = self.states.entry(*truth).or_default();
            sum.true_for += share.true_for;
            sum.right += share.right;
            sum.said += share.said;
        }
        self.delays.extend(&other.delays);
    }
}

fn millis(sample: &Sample) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
    let millis = (sample.t * 1000.0).round() as u64;
    millis
}

/// Which truth the engine claimed; the true one where it would count as that.
fn said(state: AgentState, kind: Option<BlockKind>, truth: ExpectedState) -> Option<ExpectedState> {
    if truth.is(state, kind) {
        return Some(truth);
    }
    let all = [
        ExpectedState::Starting,
        ExpectedState::Ready,
        ExpectedState::Busy,
        ExpectedState::Permission,
        ExpectedState::Dialog,
        ExpectedState::Error,
        ExpectedState::Exited,
    ];
    all.into_iter().find(|truth| truth.is(state, kind))
}

/// From each change of label until the engine said so.
fn delays(labels: &[Label], samples: &[Sample]) -> Vec<Option<u64>> {
    let mut delays = Vec::new();
    for (at, label) in labels.iter().enumerate().skip(1) {
        let same = labels[at - 1].expected == label.expected;
        if same || label.expected == ExpectedState::Exited {
            continue;
        }
        let end = labels.get(at + 1).map_or(u64::MAX, |next| next.at);
        let before = samples.iter().rev().find(|sample| millis(sample) <= label.at);
        if before.is_some_and(|sample| label.expected.is(sample.state, sample.kind)) {
            delays.push(Some(0));
            continue;
        }
        let later = samples.iter().filter(|sample| (label.at..end).contains(&millis(sample)));
        let mut right = later.filter(|sample| label.expected.is(sample.state, sample.kind));
        delays.push(right.next().map(|sample| millis(sample) - label.at));
    }
    delays
}
