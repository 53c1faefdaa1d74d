//! Delivers the messages of the outbox to one agent, one after the other.

use paned_model::frame::InputGuard;
use paned_model::{Delivery, Time};
use paned_policy::delivery::{
    AgentObservation, DeliveryAttempt, DeliveryStep, DeliveryWait, InputAction, PreparedText,
    WhenBusy,
};

use super::super::message::{MessageOutcome, MessageTurn, OutboxMessage};
use super::super::recipe;
use super::{AgentTypist, CurrentMessage, TypingContext};
use crate::Kernel;

/// How long the turn of a submitted message may take to show on the screen, in milliseconds.
const TO_BEGIN: u64 = 2_000;
/// How soon a message that waits for the journal is tried again, in milliseconds.
const JOURNAL_RETRY_MS: u64 = 1_000;

impl AgentTypist {
    /// Continues with the waiting messages: the next write, if there is one.
    pub(super) fn next_message_write(
        &mut self,
        observation: &AgentObservation<'_>,
        context: &TypingContext<'_>,
    ) -> Option<(InputAction, InputGuard)> {
        let outbox = context.kernel.agents().outbox();
        loop {
            if self.current.is_none() {
                let message = outbox.next(&self.pane)?;
                if context.kernel.journal().write_error().is_some() {
                    // The journal could not record that the text was typed, so a restarted server
                    // would type it again.
                    self.wake = Some(Time(context.now.0 + JOURNAL_RETRY_MS));
                    return None;
                }
                if let Some(until) = previous_turn_deadline(&message, context) {
                    self.wake = Some(until);
                    let why = "the prompt before it was submitted a moment ago".to_owned();
                    let delivery = Delivery::Queued;
                    outbox.update_status(
                        &self.pane,
                        message.number,
                        DeliveryWait { delivery, why, transient: true },
                    );
                    return None;
                }
                self.current = self.begin_message(message, context);
                continue;
            }
            let current = self.current.as_mut()?;
            match current.attempt.step(observation, context.now) {
                DeliveryStep::Write(action, guard) => {
                    if matches!(action, InputAction::Press(_)) && current.turn.is_none() {
                        current.turn = Some(turn_of_message(context));
                    }
                    return Some((action, guard));
                }
                DeliveryStep::Wait(until, wait) => {
                    self.wake = until;
                    self.update_status(wait, context.kernel);
                    return None;
                }
                DeliveryStep::Finished(outcome) => {
                    let outcome = MessageOutcome::of(outcome, context.now);
                    self.finish_message(outcome, context.kernel);
                }
            }
        }
    }

    /// Starts an attempt for a message. A text that the agent's profile cannot type any more is
    /// refused at once.
    fn begin_message(
        &self,
        message: OutboxMessage,
        context: &TypingContext<'_>,
    ) -> Option<CurrentMessage> {
        let profile = context.engine.profile();
        let outbox = context.kernel.agents().outbox();
        let recipe = recipe::recipe_for(profile);
        let prepared =
            match PreparedText::new(&message.text, |text| recipe::format_prompt(profile, text)) {
                Ok(prepared) => prepared,
                Err(why) => {
                    let outcome = MessageOutcome::with_reason(Delivery::Refused, &why, context.now);
                    outbox.finish(context.kernel, &self.pane, message.number, outcome, None);
                    return None;
                }
            };
        let leftover = outbox.leftover(&self.pane);
        let mut attempt = DeliveryAttempt::new(prepared, recipe, message.when_busy, leftover);
        if outbox.has_waited(&self.pane, message.number) {
            attempt = attempt.already_queued();
        }
        if let Some(begun) = message.begun {
            attempt = attempt.resume(begun, context.pane.guarded_writes(), context.now);
        }
        Some(CurrentMessage { message, attempt, turn: None })
    }

    fn update_status(&mut self, wait: DeliveryWait, kernel: &Kernel) {
        let Some(current) = &self.current else { return };
        let outbox = kernel.agents().outbox();
        let number = current.message.number;
        if current.attempt.is_untouched() && !wait.transient {
            // Nothing was typed after all.
            outbox.begin(kernel, &self.pane, number, None);
        }
        outbox.update_status(&self.pane, number, wait);
    }

    pub(super) fn finish_message(&mut self, outcome: MessageOutcome, kernel: &Kernel) {
        let Some(current) = self.current.take() else { return };
        let outbox = kernel.agents().outbox();
        outbox.finish(kernel, &self.pane, current.message.number, outcome, current.turn);
    }
}

/// Until when a message waits because the previous one was submitted a moment ago: the turn of that
/// one may not show yet.
fn previous_turn_deadline(message: &OutboxMessage, context: &TypingContext<'_>) -> Option<Time> {
    let expected = context.turns.expected.filter(|_| message.when_busy != WhenBusy::Send)?;
    Some(Time(expected.0 + TO_BEGIN)).filter(|until| context.now < *until)
}

/// The turn of a message that is submitted now.
fn turn_of_message(context: &TypingContext<'_>) -> MessageTurn {
    let under_way = context.turns.is_under_way();
    MessageTurn { ends: context.turns.begun + u64::from(!under_way), since: context.now }
}
