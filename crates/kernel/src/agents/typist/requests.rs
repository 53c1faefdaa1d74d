//! Presses keys: answers to dialogs and interrupts that callers ask for, and the answers to dialogs
//! at the startup of an agent that its profile has, if its creator allowed that.

use std::collections::BTreeSet;

use paned_model::{AgentInfo, AgentState, Code, Refusal};
use paned_policy::agent::{Observation, Profile};
use paned_policy::delivery::{
    AnswerAttempt, AnswerOutcome, InterruptAttempt, InterruptOutcome, NoSuchOption, OptionChoice,
    WriteResult, choose,
};
use paned_term::keys::Key;

use super::{AgentTypist, GuardedWrite, TypingContext, TypingReply};
use crate::panes::Pane;

/// How many dialogs are answered at startup at most.
const MAX_QUESTIONS: usize = 8;

/// The answer to a dialog.
pub(crate) struct DialogAnswer {
    /// Which option.
    pub(crate) choice: OptionChoice,
    /// The dialog to answer; any, if it is left out.
    pub(crate) dialog: Option<String>,
    /// Receives the result.
    pub(crate) reply: TypingReply<DialogAnswerOutcome>,
}

/// The result of an answered dialog.
pub(crate) struct DialogAnswerOutcome {
    /// The keys that were pressed.
    pub(crate) pressed: Vec<String>,
    /// Whether the dialog is gone from the screen.
    pub(crate) is_gone: bool,
}

impl AgentTypist {
    /// Continues an answer. `None`: it is finished. `Some(None)`: it waits. Otherwise the next
    /// write.
    pub(super) fn answer(
        &mut self,
        answer: DialogAnswer,
        under_way: Option<AnswerAttempt>,
        observation: &Observation,
        context: &TypingContext<'_>,
    ) -> Option<Option<GuardedWrite>> {
        let begun = under_way.map_or_else(|| begin(&answer, observation, context), Ok);
        let mut attempt = match begun {
            Ok(attempt) => attempt,
            Err(refusal) => {
                let _ = answer.reply.send(Err(refusal));
                return None;
            }
        };
        let end = match self.next_write(attempt.step(observation, context.now)) {
            Ok(write) => {
                self.answers.push_front((answer, Some(attempt)));
                return Some(write);
            }
            Err(end) => end,
        };
        let result = match end {
            AnswerOutcome::Answered => Ok(true),
            AnswerOutcome::StillAsked => Ok(false),
            AnswerOutcome::QuestionGone(0) => {
                Err(not_there("the question on the screen has changed or is gone"))
            }
            AnswerOutcome::QuestionGone(count) => {
                Err(not_there(&format!("the question disappeared after {count} keys")))
            }
            AnswerOutcome::NotSelected(count) => Err(not_there(&format!(
                "the option was not selected after {count} keys, so Enter was not pressed"
            ))),
        };
        let pressed = attempt.pressed().to_vec();
        let _ = answer.reply.send(result.map(|is_gone| DialogAnswerOutcome { pressed, is_gone }));
        None
    }

    /// Continues an interrupt; returns the same as `answer`.
    pub(super) fn interrupt(
        &mut self,
        reply: TypingReply<InterruptOutcome>,
        under_way: Option<InterruptAttempt>,
        observation: &Observation,
        context: &TypingContext<'_>,
    ) -> Option<Option<GuardedWrite>> {
        let begin = || {
            let profile = context.engine.profile().clone();
            InterruptAttempt::new(profile, context.engine.terminal(), context.now)
        };
        let mut interrupt = under_way.unwrap_or_else(begin);
        match self.next_write(interrupt.step(observation, context.now)) {
            Ok(write) => {
                self.interrupts.push_front((reply, Some(interrupt)));
                Some(write)
            }
            Err(outcome) => {
                let _ = reply.send(Ok(outcome));
                None
            }
        }
    }
}

fn begin(
    answer: &DialogAnswer,
    observation: &Observation,
    context: &TypingContext<'_>,
) -> Result<AnswerAttempt, Refusal> {
    let dialog = observation.dialog.as_ref();
    let dialog = dialog.ok_or_else(|| not_there("no question is on the screen"))?;
    if answer.dialog.as_ref().is_some_and(|wanted| *wanted != dialog.id) {
        return Err(not_there("the question on the screen has changed"));
    }
    let invalid = |refused: NoSuchOption| Refusal::invalid(refused.to_string());
    let option = choose(dialog, &answer.choice).map_err(invalid)?;
    let attempt = AnswerAttempt::new(dialog, option).map_err(invalid)?;
    // In canonical mode the program gets no key before Enter.
    let reads_line = context.engine.terminal().is_some_and(|terminal| terminal.is_canonical());
    let attempt = if reads_line { attempt.end_with_enter() } else { attempt };
    // A caller that names a dialog has read its text. If the text changes, the answer may not fit.
    Ok(if answer.dialog.is_none() { attempt.allow_redraw() } else { attempt })
}

fn not_there(why: &str) -> Refusal {
    Refusal::new(Code::Conflict, format!("{why}; `agent:state` shows the current question"))
}

/// Answers the startup dialogs of one agent: each once, and only until the agent is ready.
#[derive(Debug, Default)]
pub(in crate::agents) struct StartupAnswerer {
    is_allowed: bool,
    answered: BTreeSet<String>,
}

impl StartupAnswerer {
    pub(in crate::agents) fn new(pane: &Pane) -> Self {
        let state = pane.lock();
        let made = state.record.agent.as_ref().and_then(|agent| agent.made.as_ref());
        // A recovered agent that has worked is past its startup.
        let is_new = state.record.agent.as_ref().is_some_and(|agent| {
            matches!(agent.state, AgentState::Starting | AgentState::Blocked | AgentState::Unknown)
        });
        let is_allowed = is_new && made.is_some_and(|made| made.trust);
        Self { is_allowed, answered: BTreeSet::new() }
    }

    /// The id of the present dialog and the keys that answer it, if it is to be answered.
    pub(in crate::agents) fn keys(
        &mut self,
        judged: &AgentInfo,
        profile: &Profile,
    ) -> Option<(String, Vec<Key>)> {
        if !self.is_allowed {
            return None;
        }
        if judged.state.takes_prompts() || judged.state == AgentState::Busy {
            self.is_allowed = false;
            return None;
        }
        let dialog = judged.dialog.as_ref().filter(|_| judged.state == AgentState::Blocked)?;
        if MAX_QUESTIONS <= self.answered.len() || self.answered.contains(&dialog.id) {
            return None;
        }
        let option = dialog.options.get(profile.startup_answer(dialog)?)?;
        let keys: Option<Vec<Key>> = option.keys.iter().map(|key| key.parse().ok()).collect();
        Some((dialog.id.clone(), keys.filter(|keys| !keys.is_empty())?))
    }

    /// The keys for a dialog were written. If the guard refused the write, because of new output or
    /// unread input, the dialog is tried again.
    pub(in crate::agents) fn pressed(&mut self, dialog_id: String, result: &WriteResult) {
        if !matches!(result, WriteResult::Stale | WriteResult::Unread) {
            self.answered.insert(dialog_id);
        }
    }
}
