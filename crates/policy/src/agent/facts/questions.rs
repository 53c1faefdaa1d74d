//! Numbers the questions on the screen, so that a redraw of a question is not a new one.

use paned_model::{Dialog, Time};

use super::super::keystrokes::Keystroke;
use super::{AgentFacts, REDRAW_TIMEOUT};

/// A question that was on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedQuestion {
    asked: Dialog,
    number: u64,
    /// Keys that only begin an answer: Enter has to follow.
    begins: Vec<String>,
    seen: Time,
    /// Whether an event since it appeared may have answered it. If so, the same text is a new
    /// question after it has left the screen.
    answered: bool,
}

/// Whether one of two readings of a question has every line of the other, and the same options.
fn is_redraw(one: &Dialog, other: &Dialog) -> bool {
    let labels = |dialog: &Dialog| -> Vec<String> {
        dialog.options.iter().map(|option| option.label.clone()).collect()
    };
    let holds = |all: &Dialog, some: &Dialog| {
        some.text.lines().all(|line| all.text.lines().any(|other| other == line))
    };
    labels(one) == labels(other) && (holds(one, other) || holds(other, one))
}

impl AgentFacts {
    /// The number of this question. A question that left the screen and comes back with the same
    /// text, or with more or fewer of its lines, keeps its number while this may be a redraw.
    pub(super) fn number(&mut self, dialog: &Dialog, stayed: bool, now: Time) -> u64 {
        self.questions.retain(|old| now.since(old.seen) < REDRAW_TIMEOUT || stayed);
        let same = |old: &&mut AskedQuestion| match old.asked.id == dialog.id {
            true => stayed || !old.answered,
            false => !old.answered && is_redraw(&old.asked, dialog),
        };
        if let Some(old) = self.questions.iter_mut().rev().find(same) {
            old.seen = now;
            return old.number;
        }
        self.dialogs += 1;
        let several = dialog.options.iter().filter(|option| 1 < option.keys.len());
        let begins = several.flat_map(|option| option.keys[..option.keys.len() - 1].to_vec());
        let begins = begins.collect();
        let question = AskedQuestion {
            asked: dialog.clone(),
            number: self.dialogs,
            begins,
            seen: now,
            answered: false,
        };
        self.questions.push(question);
        self.dialogs
    }

    /// Marks all open questions as answered.
    pub(super) fn mark_answered(&mut self) {
        for question in &mut self.questions {
            question.answered = true;
        }
    }

    /// Whether a keystroke answers a question by itself. Arrows, and text that needs Enter, do not.
    pub(super) fn answers(&self, stroke: &Keystroke) -> bool {
        match stroke {
            Keystroke::Enter | Keystroke::Esc | Keystroke::Cancel => true,
            Keystroke::Text(text) => !self.questions.iter().any(|it| it.begins.contains(text)),
            Keystroke::Erase | Keystroke::Other => false,
        }
    }
}
