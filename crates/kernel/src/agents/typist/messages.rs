//! Delivers the messages of the outbox to one agent, one after the other.

use paned_model::{Delivery, Refusal, Time};
use paned_policy::agent::Observation;
use paned_policy::delivery::{Attempt, DeliveryStep, InputAction, Outcome, PreparedText, WhenBusy};

use super::{AgentTypist, CurrentMessage, GuardedWrite, TypingContext};
use crate::Kernel;
use crate::agents::outbox::{Message, MessageTurn};

/// How long the turn of a submitted message may take to show on the screen, in milliseconds.
const TO_SHOW: u64 = 2_000;
/// How soon a message that waits for the journal is tried again, in milliseconds.
const JOURNAL_RETRY_MS: u64 = 1_000;

impl AgentTypist {
    /// Continues with the waiting messages: the next write, if there is one.
    pub(super) fn next_message_write(
        &mut self,
        observation: &Observation,
        context: &TypingContext<'_>,
    ) -> Option<GuardedWrite> {
        let outbox = context.kernel.agents().outbox();
        loop {
            let Some(current) = &mut self.current else {
                let message = outbox.next(&self.pane)?;
                if context.kernel.journal().write_error().is_some() {
                    // The journal could not record that the text was typed, so a restarted server
                    // would type it again.
                    self.wake = Some(Time(context.now.0 + JOURNAL_RETRY_MS));
                    return None;
                }
                if let Some(until) = previous_turn_deadline(&message, context) {
                    self.wake = Some(until);
                    let why = "the previous prompt was submitted a moment ago";
                    outbox.report_wait(&self.pane, message.number, Outcome::transient(why));
                    return None;
                }
                self.current = self.begin_message(message, context);
                continue;
            };
            match current.attempt.step(observation, context.now) {
                DeliveryStep::Write(action, guard) => {
                    if matches!(action, InputAction::Press(_)) && current.turn.is_none() {
                        current.turn = Some(turn_of_message(context));
                    }
                    return Some((action, guard));
                }
                DeliveryStep::Wait(until, outcome) => {
                    if current.attempt.is_untouched() && !outcome.transient {
                        // Nothing was typed after all.
                        outbox.begin(context.kernel, &self.pane, current.number, None);
                    }
                    outbox.report_wait(&self.pane, current.number, outcome);
                    self.wake = until;
                    return None;
                }
                DeliveryStep::Finished(outcome) => self.finish_message(outcome, context.kernel),
            }
        }
    }

    /// Starts an attempt for a message. A text that the agent's profile cannot type any more is
    /// refused at once.
    fn begin_message(
        &self,
        message: Message,
        context: &TypingContext<'_>,
    ) -> Option<CurrentMessage> {
        let profile = context.engine.profile();
        let outbox = context.kernel.agents().outbox();
        let number = message.number;
        let prepared = PreparedText::new(&message.text, |text| profile.submit.escape_prompt(text));
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(why) => {
                let outcome = Outcome::new(Delivery::Refused, why);
                outbox.finish(context.kernel, &self.pane, number, outcome, None);
                return None;
            }
        };
        let leftover = outbox.leftover(&self.pane);
        let mut attempt = Attempt::new(prepared, profile.clone(), message.when_busy, leftover);
        if message.has_waited {
            attempt = attempt.already_queued();
        }
        if let Some(begun) = message.begun {
            attempt = attempt.resume(begun, context.pane.guarded_writes(), context.now);
        }
        Some(CurrentMessage { number, attempt, turn: None })
    }

    /// Records in the journal that a message is about to be typed, before its first write.
    pub(super) async fn record_start(&self, context: &TypingContext<'_>) {
        let Some(current) = &self.current else { return };
        let begun = current.attempt.attempt_start(context.pane.guarded_writes());
        let Some(begun) = begun else { return };
        let outbox = context.kernel.agents().outbox();
        let ticket = outbox.begin(context.kernel, &self.pane, current.number, Some(begun));
        if let Some(ticket) = ticket
            && let Err(error) = context.kernel.journal().committed(ticket).await
        {
            tracing::error!(%error, "typing a message that is not in the journal");
        }
    }

    /// Cancels a message, unless some of it is typed.
    pub(crate) fn cancel(&mut self, kernel: &Kernel, number: u64) -> Result<(), Refusal> {
        let current = self.current.as_ref().filter(|current| current.number == number);
        let is_current = current.is_some();
        let is_untouched = current.is_some_and(|current| current.attempt.is_untouched());
        kernel.agents().outbox().cancel(kernel, &self.pane, number, is_untouched)?;
        if is_current {
            self.current = None;
        }
        Ok(())
    }

    pub(super) fn finish_message(&mut self, outcome: Outcome, kernel: &Kernel) {
        let Some(CurrentMessage { number, turn, .. }) = self.current.take() else { return };
        kernel.agents().outbox().finish(kernel, &self.pane, number, outcome, turn);
    }
}

/// Until when a message waits because the previous one was submitted a moment ago: the turn of that
/// one may not show yet.
fn previous_turn_deadline(message: &Message, context: &TypingContext<'_>) -> Option<Time> {
    let expected = context.turns.expected.filter(|_| message.when_busy != WhenBusy::Send)?;
    Some(Time(expected.0 + TO_SHOW)).filter(|until| context.now < *until)
}

/// The turn of a message that is submitted now.
fn turn_of_message(context: &TypingContext<'_>) -> MessageTurn {
    let under_way = context.turns.is_under_way();
    MessageTurn { ends: context.turns.begun + u64::from(!under_way), since: context.now }
}
