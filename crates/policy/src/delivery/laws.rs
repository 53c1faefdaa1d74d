//! Properties that hold for every sequence of screens, inputs and write results.

use paned_model::{AgentState, Delivery, Time};
use proptest::prelude::*;

use super::tests::{WROTE, prepare, profile, question, ready};
use super::*;
use crate::agent::Composer;

/// One moment of an agent: the screen, whether a user typed, the result of the next write, and the
/// time until the next moment.
#[derive(Clone, Debug)]
struct AgentMoment {
    state: AgentState,
    asks: bool,
    composer: Composer,
    types: bool,
    prints: bool,
    wrote: WriteResult,
    ms: u64,
}

const TEXT: &str = "look at the third line of it";

fn moments() -> impl Strategy<Value = Vec<AgentMoment>> {
    let state = prop::sample::select(AgentState::ALL.to_vec());
    let usual = prop::sample::select(vec![AgentState::Ready, AgentState::Ready, AgentState::Busy]);
    let state = prop_oneof![1 => state, 3 => usual];
    let composer = prop_oneof![
        4 => Just(Composer::Empty),
        1 => Just(Composer::Hidden),
        4 => Just(Composer::Draft(TEXT.to_owned())),
        1 => Just(Composer::Draft("[Pasted text #1]".to_owned())),
        1 => "[a-z]{1,8}".prop_map(Composer::Draft),
    ];
    let wrote = prop_oneof![
        6 => Just(WriteResult::Done { refereed: true }),
        1 => Just(WriteResult::Done { refereed: false }),
        2 => Just(WriteResult::Stale),
        1 => Just(WriteResult::Unread),
        1 => Just(WriteResult::Unknown("gone".to_owned())),
        1 => Just(WriteResult::Refused("no".to_owned())),
    ];
    let bools = (prop::bool::weighted(0.1), prop::bool::weighted(0.1), any::<bool>());
    let ms = prop_oneof![Just(0_u64), 1..200_u64, 500..4_000_u64];
    let moment = (state, bools, composer, wrote, ms).prop_map(
        |(state, (asks, types, prints), composer, wrote, ms)| AgentMoment {
            state,
            asks,
            composer,
            types,
            prints,
            wrote,
            ms,
        },
    );
    prop::collection::vec(moment, 1..80)
}

/// The result of a sequence of moments.
#[derive(Default)]
struct PlayResult {
    pastes: usize,
    enters: usize,
    outcome: Option<Outcome>,
}

/// Runs the attempt through the moments and checks each write against the screen of that moment.
fn play(
    mut attempt: Attempt,
    moments: &[AgentMoment],
    result: &mut PlayResult,
) -> Result<Time, TestCaseError> {
    let mut scene = ready();
    let mut now = Time(1_000_000);
    let mut typed_before = None;
    for moment in moments {
        now = Time(now.0 + moment.ms);
        (scene.state, scene.composer) = (moment.state, moment.composer.clone());
        scene.dialog = moment.asks.then(question);
        scene.end += u64::from(moment.prints);
        if moment.types {
            (scene.typed, scene.typed_at) = (scene.typed.map(|count| count + 1), Some(now));
        }
        let (act, guard) = match attempt.step(&scene, now) {
            DeliveryStep::Write(act, guard) => (act, guard),
            DeliveryStep::Wait(until, _) => {
                prop_assert!(until.is_none_or(|until| now < until), "it waits for what is over");
                continue;
            }
            DeliveryStep::Finished(outcome) => {
                result.outcome = Some(outcome);
                break;
            }
        };
        prop_assert!(!moment.asks && moment.state != AgentState::Blocked, "{act:?} at a question");
        prop_assert_eq!((guard.end, guard.typed), (Some(scene.end), scene.typed));
        let done = matches!(moment.wrote, WriteResult::Done { .. } | WriteResult::Unknown(_));
        match act {
            InputAction::Paste(text) => {
                prop_assert_eq!(&text, TEXT);
                prop_assert_eq!(&scene.composer, &Composer::Empty, "pasted over something");
                prop_assert!(attempt.attempt_start(None).is_some());
                if done {
                    (result.pastes, typed_before) = (result.pastes + 1, Some(scene.typed));
                }
            }
            InputAction::Press(_) => {
                let known = !matches!(moment.state, AgentState::Unknown | AgentState::Starting);
                prop_assert!(known, "Enter where a question may be");
                prop_assert!(result.pastes == 1, "Enter without a text");
                prop_assert!(matches!(scene.composer, Composer::Draft(_)), "Enter on nothing");
                prop_assert_eq!(typed_before, Some(scene.typed), "Enter on a user's text");
                result.enters += usize::from(done);
            }
            InputAction::Type(_) => prop_assert!(false, "it asked for pastes"),
        }
        if let Some(outcome) = attempt.write_finished(&moment.wrote, now) {
            result.outcome = Some(outcome);
            break;
        }
    }
    prop_assert!(result.pastes <= 1 && result.enters <= 4);
    Ok(now)
}

proptest! {
    #[test]
    fn it_never_types_where_it_must_not(moments in moments(), send in any::<bool>()) {
        let when_busy = if send { WhenBusy::Send } else { WhenBusy::Queue };
        let mut result = PlayResult::default();
        play(Attempt::new(prepare(TEXT), profile(), when_busy, None), &moments, &mut result)?;
        if let Some(outcome) = result.outcome {
            prop_assert!(outcome.delivery.is_final());
            prop_assert!(!outcome.evidence.is_empty());
            match outcome.delivery {
                Delivery::Refused => prop_assert_eq!(result.pastes, 0, "refused, but typed"),
                Delivery::Submitted => prop_assert!(result.enters > 0, "submitted without Enter"),
                _ => prop_assert_eq!(result.pastes, 1, "{:?}", outcome),
            }
        }
    }

    #[test]
    fn after_a_restart_it_is_submitted_only_if_the_screen_shows_it(
        moments in moments(),
        send in any::<bool>(),
    ) {
        let when_busy = if send { WhenBusy::Send } else { WhenBusy::Queue };
        let begun = AttemptStart { typed: ready().typed, guarded: Some(7), pieces: 1 };
        let mut now = Time(1_000_000);
        let mut attempt =
            Attempt::new(prepare(TEXT), profile(), when_busy, None).resume(begun, Some(9), now);
        let mut scene = ready();
        let mut has_typed = false;
        for moment in &moments {
            now = Time(now.0 + moment.ms);
            (scene.state, scene.composer) = (moment.state, moment.composer.clone());
            scene.dialog = moment.asks.then(question);
            scene.end += u64::from(moment.prints);
            has_typed |= moment.types;
            scene.typed = scene.typed.map(|count| count + u64::from(moment.types));
            match attempt.step(&scene, now) {
                DeliveryStep::Write(act, _) => {
                    prop_assert!(!matches!(act, InputAction::Paste(_)), "typed twice");
                    if attempt.write_finished(&moment.wrote, now).is_some() { return Ok(()) }
                }
                DeliveryStep::Wait(..) => {}
                DeliveryStep::Finished(outcome) => {
                    if outcome.delivery == Delivery::Submitted {
                        let is_ours = matches!(
                            &scene.composer,
                            Composer::Draft(draft) if draft == TEXT || draft.contains("[Pasted")
                        );
                        prop_assert!(!is_ours, "the text is still in the composer");
                        let asks = scene.dialog.is_some() && scene.composer == Composer::Hidden;
                        let busy = scene.state == AgentState::Busy;
                        let emptied = scene.composer == Composer::Empty;
                        let may_ask = asks && !send && !has_typed;
                        prop_assert!(may_ask || busy || emptied, "{outcome:?} at {moment:?}");
                    }
                    return Ok(());
                }
            }
        }
    }

    #[test]
    fn it_always_ends(moments in moments(), composer in 0..4_usize, busy in any::<bool>()) {
        let mut attempt = Attempt::new(prepare(TEXT), profile(), WhenBusy::Send, None);
        let mut scene = ready();
        let mut now = Time(1_000_000);
        for moment in &moments {
            now = Time(now.0 + moment.ms);
            (scene.state, scene.composer) = (moment.state, moment.composer.clone());
            match attempt.step(&scene, now) {
                DeliveryStep::Write(..) => if attempt.write_finished(&moment.wrote, now).is_some() { return Ok(()) },
                DeliveryStep::Wait(..) => {}
                DeliveryStep::Finished(_) => return Ok(()),
            }
        }
        // From here on nothing changes any more.
        scene.state = if busy { AgentState::Busy } else { AgentState::Ready };
        scene.composer = [
            Composer::Empty, Composer::Hidden, Composer::Draft(TEXT.into()), Composer::Draft("x".into()),
        ][composer].clone();
        for _ in 0..200 {
            match attempt.step(&scene, now) {
                DeliveryStep::Write(..) => {
                    if attempt.write_finished(&WROTE, now).is_some() { return Ok(()) }
                }
                DeliveryStep::Finished(_) => return Ok(()),
                DeliveryStep::Wait(None, standing) => {
                    prop_assert_eq!(standing.delivery, Delivery::Held);
                    prop_assert!(attempt.is_untouched(), "what was typed is left hanging");
                    return Ok(());
                }
                DeliveryStep::Wait(Some(until), _) => {
                    prop_assert!(now < until);
                    now = until;
                }
            }
        }
        prop_assert!(false, "it never ends");
    }
}
