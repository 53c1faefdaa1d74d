//! Tests of the layout: by tables, by recorded behaviour of tmux, and by [`laws`] over random
//! windows.

mod laws;
mod named;
mod replacing;
mod waiting;

use std::time::Duration;

use paned_model::{Code, PaneId, Refusal, Time};

use super::*;

fn pane(number: usize) -> PaneId {
    format!("agent-{number}").parse().unwrap()
}

fn request(number: usize) -> LayoutRequest {
    LayoutRequest { pane: pane(number), replace_ok: true, no_room: NoRoom::Wait }
}

fn limits(layout: LayoutKind) -> LayoutLimits {
    LayoutLimits { layout, ..LayoutLimits::default() }
}

fn alone(cols: u16, rows: u16) -> LayoutWindow {
    let root = LayoutCell::pane(Some(TmuxPaneId(0)), cols, rows);
    LayoutWindow::new(LayoutTree::new(root).unwrap(), Some(TmuxPaneId(0)))
}

fn ours(number: usize, state: ManagedPaneState) -> PaneOwner {
    let since = Time(1000 - number as u64);
    PaneOwner::Managed(ManagedPane { pane: pane(number), state, persistent: false, since })
}

fn only_main() -> PaneOwners {
    [(TmuxPaneId(0), PaneOwner::Main)].into_iter().collect()
}

fn next_id(window: &LayoutWindow) -> TmuxPaneId {
    TmuxPaneId(window.panes().iter().map(|pane| pane.0 + 1).max().unwrap())
}

/// Requests this many panes; returns the window, its owners, and the last decision.
fn fill(
    cols: u16,
    rows: u16,
    panes: usize,
    limits: &LayoutLimits,
) -> (LayoutWindow, PaneOwners, Option<Decision>) {
    let (mut window, mut owners, mut last) = (alone(cols, rows), only_main(), None);
    for number in 0..panes {
        let decision = decide(&window, &owners, &request(number), limits);
        let steps = decision.steps();
        last = Some(decision);
        if steps.is_empty() {
            break;
        }
        let id = next_id(&window);
        window = window.apply(&steps, id).unwrap();
        owners.set(id, ours(number, ManagedPaneState::Busy));
    }
    (window, owners, last)
}

/// The sizes of the panes in tmux's order, as `126x50 85x25 85x24`.
fn sizes(window: &LayoutWindow) -> String {
    let sizes = window.tiles().into_iter().map(|tile| format!("{}x{}", tile.width, tile.height));
    sizes.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check_layout(kind: LayoutKind, cols: u16, rows: u16, panes: usize, expect: &str) {
    let (window, _, _) = fill(cols, rows, panes, &limits(kind));
    assert_eq!(sizes(&window), expect, "{kind} {cols}x{rows}, {panes} panes: {}", window.layout());
}

/// Checks that the tiles fill the window. Each tile is extended by a column and a row: then they
/// cover it without gap or overlap.
fn assert_covered(window: &LayoutWindow) {
    let (cols, rows) = (usize::from(window.cols()) + 1, usize::from(window.rows()) + 1);
    let mut seen = vec![false; cols * rows];
    for tile in window.tiles() {
        let (left, top) = (usize::from(tile.left), usize::from(tile.top));
        for y in top..=top + usize::from(tile.height) {
            for x in left..=left + usize::from(tile.width) {
                assert!(x < cols && y < rows, "{tile:?} sticks out of {}", window.layout());
                let before = std::mem::replace(&mut seen[y * cols + x], true);
                assert!(!before, "{tile:?} lies on another in {}", window.layout());
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen), "there is a gap in {}", window.layout());
}

// ---- tmux itself --------------------------------------------------------------------------------

fn replay(window: &LayoutWindow, words: &[&str]) -> Result<LayoutWindow, LayoutError> {
    let id = |word: &str| word.parse::<TmuxPaneId>().unwrap();
    match words {
        ["split", target, way, size, new] => {
            let direction =
                if *way == "h" { LayoutDirection::Right } else { LayoutDirection::Down };
            window.split(id(target), direction, size.parse().ok(), new.parse().ok())
        }
        ["close", pane] => window.close(id(pane)),
        ["swap", a, b] => window.step(&LayoutStep::Swap(id(a), id(b)), None),
        ["resize", size] => {
            let (cols, rows) = size.split_once('x').unwrap();
            Ok(window.resized(cols.parse().unwrap(), rows.parse().unwrap()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn windows_change_as_tmux_changes_them() {
    let recorded = include_str!("../../../tests/tmux-3.3a.txt");
    let (mut window, mut lines) = (alone(1, 1), 0);
    for line in recorded.lines().filter(|line| !line.starts_with('#')) {
        lines += 1;
        let words: Vec<&str> = line.split(' ').collect();
        let (layout, words) = words.split_last().unwrap();
        window = match words {
            ["window"] => LayoutWindow::parse(layout, None).unwrap(),
            [.., "none"] => {
                let refused = replay(&window, words).unwrap_err();
                assert!(matches!(refused, LayoutError::NoSpace(_)), "{line}: {refused}");
                window
            }
            words => replay(&window, words).unwrap(),
        };
        assert_eq!(window.layout().to_string(), *layout, "{line}");
    }
    assert!(lines > 100, "only {lines} lines were recorded");
}

// ---- layouts as text ----------------------------------------------------------------------------

#[test]
fn a_layout_with_a_pane_to_come_is_written_without_its_id() {
    let text = "26e0,200x50,0,0{120x50,0,0,0,79x50,121,0[79x24,121,0,1,79x25,121,25]}";
    let layout: LayoutTree = text.parse().unwrap();
    assert_eq!(layout.root().panes(), [Some(TmuxPaneId(0)), Some(TmuxPaneId(1)), None]);
    assert_eq!(layout.to_string(), text);
}

#[test]
fn what_is_no_layout_is_refused_with_a_sentence() {
    for (text, says) in [
        ("", "invalid tmux layout at byte 0"),
        ("even-vertical", "invalid tmux layout at byte 0"),
        ("+c9d,200x50,0,0,0", "invalid tmux layout at byte 0"),
        ("ac9e,200x50,0,0,0", "the layout's checksum is ac9d, not ac9e"),
        ("cb3a,200x50,0,0{100x50,0,0,0,98x50,101,0,1}", "the layout's checksum is"),
        (
            "cf2a,200x50,0,0{100x50,0,0,0,98x50,101,0,1}",
            "the cells of the layout do not add up \
            to its size",
        ),
        ("4f3a,200x50,0,0{100x50,0,0,0,99x50,101,0,0}", "pane %0 is in the layout twice"),
    ] {
        let refused = text.parse::<LayoutTree>().unwrap_err().to_string();
        assert!(refused.starts_with(says), "{text}: {refused}");
    }
}

#[test]
fn cells_within_cells_without_end_are_refused() {
    let body = format!("{}1x1,0,0", "1x1,0,0{".repeat(100_000));
    let sum = body.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
    let refused = format!("{sum:04x},{body}").parse::<LayoutTree>().unwrap_err();
    assert!(matches!(refused, LayoutParseError::Syntax(_)), "{refused}");
}

// ---- limits and capacity ------------------------------------------------------------------------

#[test]
fn limits_read_from_toml_and_say_what_is_wrong() {
    let limits: LayoutLimits = toml::from_str("layout = 'grid'\nmain_pane_size = 81").unwrap();
    assert_eq!((limits.layout, limits.agent_pane_min_width), (LayoutKind::Grid, 52));
    assert_eq!(
        limits.check().unwrap_err().to_string(),
        "`main_pane_size` must be from 20 to 80, not 81"
    );
    for bad in [
        "main_pane_size = 19",
        "main_pane_min_width = 39",
        "agent_pane_min_width = 19",
        "min_height = 2",
    ] {
        assert!(toml::from_str::<LayoutLimits>(bad).unwrap().check().is_err(), "{bad}");
    }
    assert!(toml::from_str::<LayoutLimits>("main_pane_width = 3").is_err());
    assert_eq!(LayoutLimits::default().check(), Ok(()));
}

#[test]
fn capacity_is_what_fits_beside_the_main_pane_at_its_minimum() {
    for (kind, cols, rows, columns, down) in [
        (LayoutKind::Vertical, 104, 50, 0, 4),
        (LayoutKind::Vertical, 105, 50, 1, 4),
        (LayoutKind::Grid, 152, 50, 1, 4),
        (LayoutKind::Vertical, 153, 50, 1, 4),
        (LayoutKind::Vertical, 205, 50, 1, 4),
        (LayoutKind::Vertical, 206, 50, 2, 4),
        (LayoutKind::Grid, 206, 10, 2, 0),
        (LayoutKind::Vertical, 206, 11, 2, 1),
        (LayoutKind::Vertical, 206, 22, 2, 1),
        (LayoutKind::Vertical, 206, 23, 2, 2),
        (LayoutKind::Horizontal, 105, 22, 0, 0),
        (LayoutKind::Horizontal, 105, 23, 2, 1),
        (LayoutKind::Horizontal, 51, 23, 0, 1),
        (LayoutKind::Vertical, 20, 5, 0, 0),
    ] {
        let found = capacity(cols, rows, &limits(kind));
        let expect = Capacity { columns, rows: down };
        // Where the main pane itself does not fit, neither number has a meaning.
        assert_eq!(found.total(), expect.total(), "{kind} {cols}x{rows}: {found:?}");
        assert!(found.total() == 0 || found == expect, "{kind} {cols}x{rows}: {found:?}");
    }
}

// ---- where panes go -----------------------------------------------------------------------------

#[test]
fn vertical_stacks_beside_the_main_pane_and_opens_a_column_when_the_height_is_used_up() {
    check_layout(LayoutKind::Vertical, 212, 50, 0, "212x50");
    check_layout(LayoutKind::Vertical, 212, 50, 1, "126x50 85x50");
    check_layout(LayoutKind::Vertical, 212, 50, 2, "126x50 85x25 85x24");
    check_layout(LayoutKind::Vertical, 212, 50, 4, "126x50 85x12 85x12 85x12 85x11");
    // The fifth needs a column, and the main pane gives up part of its share for it.
    check_layout(LayoutKind::Vertical, 212, 50, 5, "106x50 52x16 52x16 52x16 52x25 52x24");
    check_layout(
        LayoutKind::Vertical,
        212,
        50,
        99,
        "106x50 52x12 52x12 52x12 52x11 52x12 52x12 52x12 52x11",
    );
}

#[test]
fn the_main_pane_gives_up_its_share_and_its_minimum_only_for_one_column() {
    check_layout(LayoutKind::Vertical, 153, 50, 1, "100x50 52x50");
    check_layout(LayoutKind::Vertical, 152, 50, 1, "99x50 52x50");
    check_layout(LayoutKind::Vertical, 105, 30, 1, "52x30 52x30");
    check_layout(LayoutKind::Vertical, 105, 30, 2, "52x30 52x15 52x14");
    check_layout(LayoutKind::Vertical, 104, 30, 1, "104x30");
    check_layout(LayoutKind::Vertical, 400, 12, 1, "239x12 160x12");
    check_layout(LayoutKind::Vertical, 400, 12, 99, "135x12 52x12 52x12 52x12 52x12 52x12");
    check_layout(LayoutKind::Horizontal, 212, 23, 99, "212x11 53x11 52x11 52x11 52x11");
}

#[test]
fn horizontal_puts_a_row_below_and_then_another() {
    check_layout(LayoutKind::Horizontal, 212, 50, 1, "212x29 212x20");
    check_layout(LayoutKind::Horizontal, 212, 50, 3, "212x29 70x20 70x20 70x20");
    check_layout(LayoutKind::Horizontal, 212, 50, 5, "212x26 70x11 70x11 70x11 106x11 105x11");
}

#[test]
fn grid_leaves_every_pane_the_most_room_and_fills_row_by_row() {
    check_layout(LayoutKind::Grid, 300, 50, 2, "179x50 120x25 120x24");
    check_layout(LayoutKind::Grid, 300, 50, 3, "179x50 120x16 120x16 120x16");
    check_layout(LayoutKind::Grid, 400, 50, 3, "239x50 80x25 79x25 160x24");
    check_layout(LayoutKind::Grid, 300, 50, 4, "179x50 60x25 59x25 60x24 59x24");
    check_layout(LayoutKind::Grid, 212, 80, 4, "126x80 85x20 85x19 85x19 85x19");
}

#[test]
fn a_plan_is_one_split_and_one_layout() {
    let (window, owners, _) = fill(212, 50, 1, &LayoutLimits::default());
    let decision = decide(&window, &owners, &request(7), &LayoutLimits::default());
    let json = serde_json::to_value(&decision).unwrap();
    assert_eq!(json["decision"], "spawn");
    assert_eq!(json["target"], "%1");
    assert_eq!(json["direction"], "down");
    let layout: LayoutTree = serde_json::from_value(json["layout"].clone()).unwrap();
    assert_eq!(layout.root().panes(), [Some(TmuxPaneId(0)), Some(TmuxPaneId(1)), None]);
    assert!(matches!(decision.steps()[..], [LayoutStep::Split { .. }, LayoutStep::Arrange(_)]));
}

/// Why the last of this many panes is not shown.
#[track_caller]
fn check_refusal(kind: LayoutKind, cols: u16, rows: u16, panes: usize, says: &str) {
    let (_, _, last) = fill(cols, rows, panes, &limits(kind));
    match last {
        Some(Decision::Defer { reason }) => assert_eq!(reason.to_string(), says),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_window_that_is_too_small_says_what_it_would_need() {
    let says =
        "the window is 80x23; a main pane and one agent pane of 52 columns each need 105 columns";
    check_refusal(LayoutKind::Vertical, 80, 23, 1, says);
    check_refusal(LayoutKind::Grid, 160, 9, 1, "the window is 160x9; an agent pane needs 11 rows");
    let says = "the window is 160x20; a main pane and one agent pane of 11 rows each need 23 rows";
    check_refusal(LayoutKind::Horizontal, 160, 20, 1, says);
    check_refusal(
        LayoutKind::Horizontal,
        40,
        40,
        1,
        "the window is 40x40; an agent pane needs 52 columns",
    );
}

#[test]
fn a_full_window_says_what_it_holds_and_why_nobody_goes() {
    let says = "the window is 153x23 and holds 2 agent panes (1 across, 2 down); 2 are shown and \
               none can be replaced: 2 busy";
    check_refusal(LayoutKind::Vertical, 153, 23, 3, says);
}

#[test]
fn without_a_main_pane_and_when_it_is_shown_already_it_is_skipped() {
    let (window, mut owners, _) = fill(212, 50, 1, &LayoutLimits::default());
    let decision = decide(&window, &owners, &request(0), &LayoutLimits::default());
    assert_eq!(decision, Decision::Skip { reason: NotShownReason::AlreadyShown(TmuxPaneId(1)) });
    owners.set(TmuxPaneId(0), PaneOwner::Foreign);
    let decision = decide(&window, &owners, &request(1), &LayoutLimits::default());
    assert_eq!(decision, Decision::Skip { reason: NotShownReason::NoMain });
}

#[test]
fn who_may_not_wait_is_skipped_for_the_same_reason() {
    let request = LayoutRequest { no_room: NoRoom::Skip, ..request(1) };
    let decision = decide(&alone(80, 24), &only_main(), &request, &LayoutLimits::default());
    assert!(matches!(decision, Decision::Skip { reason: NotShownReason::TooSmall { .. } }));
}

#[test]
fn a_zoom_is_kept_and_the_plan_made_behind_it() {
    let mut window = alone(212, 50);
    window.zoomed = true;
    let decision = decide(&window, &only_main(), &request(1), &LayoutLimits::default());
    let after = window.apply(&decision.steps(), TmuxPaneId(1)).unwrap();
    assert_eq!((after.zoomed, after.active), (true, Some(TmuxPaneId(0))));
    assert_eq!(sizes(&after), "126x50 85x50");
}

#[test]
fn titles_take_a_line_so_panes_get_one_more() {
    let mut window = alone(153, 23);
    let two = [request(1), request(2)];
    let fit = |window: &LayoutWindow| {
        let all = plan_all(window, &only_main(), &two, &LayoutLimits::default());
        all.iter().filter(|decision| matches!(decision, Decision::Spawn { .. })).count()
    };
    assert_eq!(fit(&window), 2);
    window.titled = true;
    assert_eq!(fit(&window), 1);
}

#[test]
fn a_plan_for_many_shows_who_waits() {
    let requests: Vec<_> = (0..6).map(request).collect();
    let plan = plan_all(&alone(153, 50), &only_main(), &requests, &LayoutLimits::default());
    let spawned = plan.iter().map(|decision| matches!(decision, Decision::Spawn { .. }));
    assert_eq!(spawned.collect::<Vec<_>>(), [true, true, true, true, false, false]);
}

// ---- what a person asked to see -----------------------------------------------------------------

/// What becomes of each of four panes that a person asks for in a window: the sizes in the window
/// after it, or `window`.
#[track_caller]
fn check_person(kind: LayoutKind, cols: u16, rows: u16, expect: [&str; 4]) {
    let mut window = alone(cols, rows);
    let mut owners = only_main();
    for (number, expect) in expect.into_iter().enumerate() {
        let request =
            LayoutRequest { replace_ok: false, no_room: NoRoom::Window, ..request(number) };
        let decision = decide(&window, &owners, &request, &limits(kind));
        let found = match &decision {
            Decision::Spawn { .. } => {
                let id = next_id(&window);
                window = window.apply(&decision.steps(), id).unwrap();
                owners.set(id, ours(number, ManagedPaneState::Busy));
                sizes(&window)
            }
            Decision::Window { .. } => "window".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expect, "{kind} {cols}x{rows}, pane {number}");
    }
}

#[test]
fn what_a_person_asks_for_is_split_while_it_is_readable_and_then_gets_a_window() {
    let window = "window";
    check_person(LayoutKind::Vertical, 20, 10, [window; 4]);
    check_person(LayoutKind::Vertical, 39, 60, [window; 4]);
    check_person(LayoutKind::Vertical, 60, 19, ["60x10 60x8", window, window, window]);
    check_person(LayoutKind::Vertical, 60, 16, [window; 4]);
    check_person(LayoutKind::Vertical, 80, 23, ["80x13 80x9", window, window, window]);
    check_person(LayoutKind::Grid, 80, 23, ["80x13 80x9", window, window, window]);
    check_person(LayoutKind::Vertical, 81, 10, ["40x10 40x10", window, window, window]);
    check_person(LayoutKind::Horizontal, 81, 10, ["40x10 40x10", window, window, window]);
    let third = "52x29 52x14 52x14";
    check_person(
        LayoutKind::Vertical,
        105,
        29,
        ["52x29 52x29", third, "62x29 42x9 42x9 42x9", window],
    );
}

#[test]
fn a_person_gets_a_window_also_where_no_main_pane_is() {
    let request = LayoutRequest { no_room: NoRoom::Window, ..request(1) };
    let decision =
        decide(&alone(200, 50), &PaneOwners::default(), &request, &LayoutLimits::default());
    assert_eq!(decision, Decision::Window { reason: NotShownReason::NoMain });
    assert_eq!(decision.steps(), []);
    let panes = vec![DesiredPane { request, spared: Default::default() }];
    let desired = DesiredView { panes, ..DesiredView::default() };
    let plan = reconcile(&alone(30, 9), &only_main(), &desired, &LayoutLimits::default());
    assert_eq!((plan.opens, plan.in_new_window, plan.steps), (Some(pane(1)), true, Vec::new()));
}

// ---- among foreign panes ------------------------------------------------------------------------

#[test]
fn a_foreign_pane_keeps_its_place_and_the_main_one_is_split() {
    let window = alone(300, 50)
        .split(TmuxPaneId(0), LayoutDirection::Right, Some(99), Some(TmuxPaneId(1)))
        .unwrap();
    let decision = decide(&window, &only_main(), &request(1), &LayoutLimits::default());
    let after = window.apply(&decision.steps(), TmuxPaneId(2)).unwrap();
    assert_eq!(sizes(&after), "119x50 80x50 99x50");
    assert_eq!(after.panes(), [0, 2, 1].map(TmuxPaneId));
    let mut owners = only_main();
    owners.set(TmuxPaneId(2), ours(1, ManagedPaneState::Busy));
    let decision = decide(&after, &owners, &request(2), &LayoutLimits::default());
    let after = after.apply(&decision.steps(), TmuxPaneId(3)).unwrap();
    assert_eq!(sizes(&after), "119x50 80x25 80x24 99x50");
}

#[test]
fn a_crowded_window_says_who_is_in_the_way() {
    let window = alone(210, 50)
        .split(TmuxPaneId(0), LayoutDirection::Right, Some(105), Some(TmuxPaneId(1)))
        .unwrap();
    match decide(&window, &only_main(), &request(1), &LayoutLimits::default()) {
        Decision::Defer { reason } => assert_eq!(
            reason.to_string(),
            "the window also contains panes that paned does not manage; the main pane is 104x50 \
            and cannot give 52 columns and keep 52; 0 agent panes are shown, none large enough \
            to be split, and none can be replaced"
        ),
        other => panic!("{other:?}"),
    }
}

// ---- rebalancing --------------------------------------------------------------------------------

#[test]
fn a_closed_pane_leaves_the_others_even() {
    let limits = LayoutLimits::default();
    let (window, owners, _) = fill(212, 50, 5, &limits);
    let window = window.close(TmuxPaneId(2)).unwrap();
    assert_eq!(sizes(&window), "106x50 52x33 52x16 52x25 52x24");
    let settled = window.apply(&rebalance(&window, &owners, &limits), TmuxPaneId(99)).unwrap();
    assert_eq!(sizes(&settled), "126x50 85x12 85x12 85x12 85x11");
    assert_eq!(rebalance(&settled, &owners, &limits), []);
}
