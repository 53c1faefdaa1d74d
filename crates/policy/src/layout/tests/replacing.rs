//! Which pane is replaced in a full window.

use super::*;

/// A full window whose panes are, one letter each: idle, busy, blocked (`w`), starting, exited
/// (`x`), quiet (`q`), unknown (`?`); upper case is persistent, and a `*` after one has the focus.
/// The first is the youngest. `expect` is the pane that is replaced.
#[track_caller]
fn check_replaced(panes: &str, expect: Option<u32>) {
    let letters: Vec<char> = panes.chars().filter(|letter| *letter != '*').collect();
    let rows = 12 * u16::try_from(letters.len()).unwrap() - 1;
    let (mut window, mut owners, _) = fill(153, rows, letters.len(), &LayoutLimits::default());
    for (at, letter) in letters.iter().enumerate() {
        let state = match letter.to_ascii_lowercase() {
            'i' => ManagedPaneState::Idle,
            'b' => ManagedPaneState::Busy,
            'w' => ManagedPaneState::Blocked,
            's' => ManagedPaneState::Starting,
            'x' => ManagedPaneState::Exited,
            'q' => ManagedPaneState::Quiet,
            _ => ManagedPaneState::Unknown,
        };
        let PaneOwner::Managed(mut ours) = ours(at, state) else { unreachable!() };
        ours.persistent = letter.is_ascii_uppercase();
        owners.set(TmuxPaneId(u32::try_from(at).unwrap() + 1), PaneOwner::Managed(ours));
    }
    if let Some(at) = panes.find('*') {
        window.active = Some(TmuxPaneId(u32::try_from(at).unwrap()));
    }
    let victim = match decide(&window, &owners, &request(99), &LayoutLimits::default()) {
        Decision::Replace { victim, .. } => Some(victim.0),
        Decision::Defer { .. } => None,
        other => panic!("{panes}: {other:?}"),
    };
    assert_eq!(victim, expect, "{panes}");
}

#[test]
fn the_one_idle_for_longest_makes_room() {
    check_replaced("iii", Some(3));
    check_replaced("iib", Some(2));
    check_replaced("ibb", Some(1));
}

#[test]
fn one_that_has_ended_goes_before_any_that_is_idle() {
    check_replaced("xii", Some(1));
    check_replaced("xix", Some(3));
}

#[test]
fn one_that_went_quiet_goes_after_all_that_are_known_to_be_done() {
    check_replaced("qqb", Some(2));
    check_replaced("iqq", Some(1));
    check_replaced("xqi", Some(1));
    check_replaced("q*b", None);
    check_replaced("Qb", None);
}

#[test]
fn nobody_goes_who_is_busy_blocked_focused_persistent_starting_or_unknown() {
    check_replaced("bws?", None);
    check_replaced("IX", None);
    check_replaced("i*b", None);
    check_replaced("x*i", Some(2));
}

#[test]
fn nobody_goes_when_that_was_not_allowed() {
    let (window, mut owners, _) = fill(153, 11, 1, &LayoutLimits::default());
    owners.set(TmuxPaneId(1), ours(1, ManagedPaneState::Idle));
    let request = LayoutRequest { replace_ok: false, ..request(9) };
    match decide(&window, &owners, &request, &LayoutLimits::default()) {
        Decision::Defer { reason } => {
            assert!(reason.to_string().ends_with("1 are shown and replacing one is not allowed"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_new_one_stands_where_the_old_one_stood() {
    let (window, mut owners, _) = fill(153, 35, 3, &LayoutLimits::default());
    owners.set(TmuxPaneId(2), ours(1, ManagedPaneState::Idle));
    let decision = decide(&window, &owners, &request(9), &LayoutLimits::default());
    let after = window.apply(&decision.steps(), TmuxPaneId(9)).unwrap();
    assert_eq!(after.panes(), [0, 1, 9, 3].map(TmuxPaneId));
    assert_eq!(sizes(&after), sizes(&window));
}

#[test]
fn a_victim_that_is_too_small_to_split_is_made_larger_first() {
    let limits = LayoutLimits::default();
    let (window, mut owners, _) = fill(153, 23, 2, &limits);
    owners.set(TmuxPaneId(2), ours(1, ManagedPaneState::Exited));
    let root = "153x23,0,0{151x23,0,0,0,1x23,152,0[1x21,152,0,1,1x1,152,22,2]}";
    let sum = root.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
    let squeezed = LayoutWindow::parse(&format!("{sum:04x},{root}"), None).unwrap();
    let decision = decide(&squeezed, &owners, &request(9), &limits);
    let after = squeezed.apply(&decision.steps(), TmuxPaneId(9)).unwrap();
    assert_eq!(
        (sizes(&after), after.panes()),
        (sizes(&window), [0, 1, 9].map(TmuxPaneId).to_vec())
    );
}
