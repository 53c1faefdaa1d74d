//! Property tests over random windows.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::named::{pane_of_role, role};
use super::waiting::wait;
use super::*;

/// A random split of a pane, by us or by the user.
#[derive(Clone, Debug)]
struct RandomSplit {
    of: Index,
    right: bool,
    size: Option<u16>,
    owner: u8,
}

fn cuts() -> impl Strategy<Value = Vec<RandomSplit>> {
    let cut = (any::<Index>(), any::<bool>(), proptest::option::of(1u16..80), 0u8..24);
    vec(cut.prop_map(|(of, right, size, owner)| RandomSplit { of, right, size, owner }), 0..10)
}

fn some_limits() -> impl Strategy<Value = LayoutLimits> {
    let kinds = prop_oneof![
        Just(LayoutKind::Vertical),
        Just(LayoutKind::Horizontal),
        Just(LayoutKind::Grid)
    ];
    (kinds, 20u16..=80, 40u16..=120, 20u16..=60, 3u16..=14).prop_map(
        |(layout, size, main, agent, high)| LayoutLimits {
            layout,
            main_pane_size: size,
            main_pane_min_width: main,
            agent_pane_min_width: agent,
            min_height: high,
        },
    )
}

fn owner(number: usize, code: u8, foreign: bool) -> PaneOwner {
    if foreign && code >= 18 {
        return PaneOwner::Foreign;
    }
    let states = [
        ManagedPaneState::Idle,
        ManagedPaneState::Busy,
        ManagedPaneState::Blocked,
        ManagedPaneState::Starting,
        ManagedPaneState::Exited,
        ManagedPaneState::Unknown,
    ];
    let state = states[usize::from(code % 6)];
    let since = Time(u64::from(code) * 7 % 5);
    PaneOwner::Managed(ManagedPane { pane: pane(number), state, persistent: code % 4 == 3, since })
}

#[derive(Clone, Debug)]
struct RandomWindow {
    window: LayoutWindow,
    owners: PaneOwners,
    limits: LayoutLimits,
}

/// Any window: with or without foreign panes, zoomed or not, main first or anywhere.
fn any_window() -> impl Strategy<Value = RandomWindow> {
    let size = (3u16..420, 2u16..110);
    (size, cuts(), some_limits(), any::<(Index, Index, [bool; 3])>()).prop_map(
        |((cols, rows), cuts, limits, (main, active, [zoomed, foreign, first]))| {
            let mut window = alone(cols, rows);
            for cut in &cuts {
                let panes = window.panes();
                let way = if cut.right { LayoutDirection::Right } else { LayoutDirection::Down };
                let new = TmuxPaneId(u32::try_from(panes.len()).unwrap());
                window =
                    window.split(*cut.of.get(&panes), way, cut.size, Some(new)).unwrap_or(window);
            }
            let panes = window.panes();
            let codes = cuts.iter().map(|cut| cut.owner).chain([0]);
            let mut owners: PaneOwners = panes
                .iter()
                .zip(codes)
                .enumerate()
                .map(|(at, (id, code))| (*id, owner(at, code, foreign)))
                .collect();
            let main = if first { panes[0] } else { *main.get(&panes) };
            owners.set(main, PaneOwner::Main);
            window.active = Some(*active.get(&panes));
            window.zoomed = zoomed;
            RandomWindow { window, owners, limits }
        },
    )
}

fn place(window: &LayoutWindow) -> BTreeMap<TmuxPaneId, LayoutTile> {
    window.tiles().into_iter().filter_map(|tile| Some((tile.pane?, tile))).collect()
}

impl RandomWindow {
    fn count(&self) -> usize {
        self.window.panes().iter().filter(|pane| self.owners.managed(**pane).is_some()).count()
    }

    fn is_whole(&self) -> bool {
        let panes = self.window.panes();
        panes.len() == self.count() + 1 && Some(panes[0]) == self.owners.main(&self.window)
    }

    fn capacity(&self) -> usize {
        capacity(self.window.cols(), self.window.rows(), &self.limits).total()
    }

    fn fits(&self, tile: &LayoutTile) -> bool {
        tile.width >= self.limits.agent_pane_min_width && tile.height >= self.limits.min_height
    }

    /// The properties of a window after a plan, where `new` is the pane that was created.
    fn assert_lawful(&self, after: &LayoutWindow, new: Option<TmuxPaneId>) {
        assert_covered(after);
        assert_eq!((after.cols(), after.rows()), (self.window.cols(), self.window.rows()));
        assert_eq!((after.zoomed, after.active), (self.window.zoomed, self.window.active));
        let before = place(&self.window);
        for (id, tile) in place(after) {
            let Some(old) = before.get(&id) else {
                assert_eq!(Some(id), new);
                assert!(self.fits(&tile), "the new pane is {tile:?}");
                continue;
            };
            match self.owners.of(id) {
                PaneOwner::Foreign => assert_eq!(tile, *old, "a foreign pane was touched"),
                PaneOwner::Managed(_) => {
                    assert!(self.fits(&tile) || tile == *old, "{old:?} became {tile:?}")
                }
                PaneOwner::Main => {
                    let cols = if self.is_whole() { self.window.cols() } else { old.width };
                    assert!(tile.width >= old.width.min(self.limits.main_floor(cols)), "{tile:?}");
                    assert!(tile.height >= old.height.min(self.limits.min_height), "{tile:?}");
                }
            }
        }
    }

    fn assert_even(&self, after: &LayoutWindow) {
        let mut lines: BTreeMap<u16, Vec<(u16, u16)>> = BTreeMap::new();
        for tile in after.tiles() {
            if tile.pane == self.owners.main(&self.window) {
                continue;
            }
            let (line, thick, long) = match self.limits.layout {
                LayoutKind::Vertical => (tile.left, tile.width, tile.height),
                LayoutKind::Horizontal | LayoutKind::Grid => (tile.top, tile.height, tile.width),
            };
            lines.entry(line).or_default().push((thick, long));
        }
        let spread = |all: Vec<usize>| all.iter().max().unwrap() - all.iter().min().unwrap();
        let each = |of: fn(&(u16, u16)) -> u16| {
            lines.values().map(move |line| line.iter().map(of).map(usize::from))
        };
        assert!(spread(lines.values().map(Vec::len).collect()) <= 1, "{}", after.layout());
        assert!(spread(each(|it| it.0).flatten().collect()) <= 1, "{}", after.layout());
        for line in each(|it| it.1) {
            assert!(spread(line.collect()) <= 1, "{}", after.layout());
        }
    }
}

fn balance() -> impl Strategy<Value = BalanceRule> {
    prop_oneof![Just(BalanceRule::Keep), Just(BalanceRule::IfTight), Just(BalanceRule::Even)]
}

/// Panes to be shown: some may replace others, some may wait, some must spare others.
fn desired_panes() -> impl Strategy<Value = Vec<DesiredPane>> {
    let desired = |(at, (replace_ok, wait_ok, spares)): (usize, (bool, bool, u8))| DesiredPane {
        request: LayoutRequest {
            pane: pane(70 + at),
            replace_ok,
            no_room: if wait_ok { NoRoom::Wait } else { NoRoom::Skip },
        },
        spared: (0..10).filter(|number| spares & (1 << (number % 8)) != 0).map(pane).collect(),
    };
    let panes = vec((any::<bool>(), any::<bool>(), any::<u8>()), 0..6);
    panes.prop_map(move |panes| panes.into_iter().enumerate().map(desired).collect())
}

impl RandomWindow {
    fn shown(&self, pane: &PaneId) -> Option<TmuxPaneId> {
        let mut panes = self.window.panes().into_iter();
        panes.find(|id| self.owners.managed(*id).is_some_and(|ours| ours.pane == *pane))
    }

    /// The window after tmux has done a plan.
    fn after(&self, plan: &ViewPlan) -> Self {
        // tmux uses no id twice.
        let new = next_id(&self.window).max(TmuxPaneId(100));
        let window = self.window.apply(&plan.steps, new).unwrap();
        let mut owners = self.owners.clone();
        if let Some(pane) = plan.opens.clone() {
            let (state, since) = (ManagedPaneState::Starting, Time(0));
            owners.set(
                new,
                PaneOwner::Managed(ManagedPane { pane, state, persistent: false, since }),
            );
        }
        Self { window, owners, limits: self.limits.clone() }
    }

    /// Reconciles until there is nothing to do; returns the window, and the last plan.
    fn converged(&self, desired: &DesiredView) -> (Self, ViewPlan) {
        // One plan closes, one makes panes even, and each of the others shows a pane; after that,
        // the panes are made even again.
        let most = 2 + 2 * desired.panes.len();
        let mut now = self.clone();
        for _ in 0..=most {
            let plan = reconcile(&now.window, &now.owners, desired, &now.limits);
            if plan.steps.is_empty() {
                return (now, plan);
            }
            assert!(plan.steps.len() <= 5.max(desired.closed.len()), "{:?}", plan.steps);
            let next = now.after(&plan);
            if !plan.steps.iter().all(|step| matches!(step, LayoutStep::Close(_))) {
                now.assert_lawful(
                    &next.window,
                    plan.opens.as_ref().and_then(|pane| next.shown(pane)),
                );
            }
            now = next;
        }
        panic!("no end after {most} plans: {}", now.window.layout());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_window_is_covered_and_its_text_comes_back(any in any_window(), cols in 1u16..300, rows in 1u16..90) {
        assert_covered(&any.window);
        let text = any.window.layout().to_string();
        prop_assert_eq!(&text.parse::<LayoutTree>().unwrap(), any.window.layout());
        let resized = any.window.resized(cols, rows);
        assert_covered(&resized);
        prop_assert!(resized.panes() == any.window.panes());
        for pane in any.window.panes() {
            if let Ok(closed) = any.window.close(pane) {
                assert_covered(&closed);
                prop_assert_eq!(closed.panes().len() + 1, any.window.panes().len());
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[0-9a-fx,{}\\[\\]]{0,40}") {
        let sum = text.bytes().fold(0u16, |sum, byte| sum.rotate_right(1).wrapping_add(byte.into()));
        let _ = text.parse::<LayoutTree>();
        if let Ok(layout) = format!("{sum:04x},{text}").parse::<LayoutTree>() {
            assert_covered(&LayoutWindow::new(layout, None));
        }
    }

    #[test]
    fn a_plan_can_be_done_and_yields_no_pane_below_its_minimum(any in any_window()) {
        let decision = decide(&any.window, &any.owners, &request(77), &any.limits);
        let new = next_id(&any.window);
        match &decision {
            Decision::Spawn { target, layout, .. } => {
                let after = any.window.apply(&decision.steps(), new).unwrap();
                any.assert_lawful(&after, Some(new));
                prop_assert!(!matches!(any.owners.of(*target), PaneOwner::Foreign));
                let named = layout.root().panes().into_iter().map(|pane| pane.unwrap_or(new));
                prop_assert_eq!(named.collect::<Vec<_>>(), after.panes());
                if any.is_whole() {
                    any.assert_even(&after);
                }
            }
            Decision::Replace { victim, .. } => {
                let after = any.window.apply(&decision.steps(), new).unwrap();
                any.assert_lawful(&after, Some(new));
                prop_assert!(!after.panes().contains(victim));
                let gone = any.owners.managed(*victim).unwrap();
                prop_assert!(matches!(gone.state, ManagedPaneState::Idle | ManagedPaneState::Exited) && !gone.persistent);
                prop_assert_ne!(any.window.active, Some(*victim));
            }
            Decision::Defer { reason } => prop_assert!(!reason.to_string().is_empty()),
            Decision::Window { reason } | Decision::Skip { reason } => prop_assert!(false, "{}", reason),
        }
    }

    #[test]
    fn a_whole_window_takes_a_pane_exactly_while_there_is_capacity(any in any_window()) {
        let decision = decide(&any.window, &any.owners, &request(77), &any.limits);
        let spawned = matches!(decision, Decision::Spawn { .. });
        if any.is_whole() {
            prop_assert_eq!(spawned, any.count() < any.capacity());
        }
    }

    #[test]
    fn an_empty_window_takes_as_many_as_its_capacity_says(
        cols in 3u16..300, rows in 2u16..60, limits in some_limits(),
    ) {
        let most = capacity(cols, rows, &limits).total();
        let (window, _, _) = fill(cols, rows, most + 2, &limits);
        prop_assert_eq!(window.panes().len(), most + 1);
    }

    #[test]
    fn settling_is_lawful_and_done_after_once(any in any_window()) {
        let steps = rebalance(&any.window, &any.owners, &any.limits);
        let after = any.window.apply(&steps, TmuxPaneId(99)).unwrap();
        any.assert_lawful(&after, None);
        prop_assert_eq!(rebalance(&after, &any.owners, &any.limits), []);
        prop_assert_eq!(after.panes(), any.window.panes());
        if any.is_whole() && any.count() > 0 && any.count() <= any.capacity() {
            any.assert_even(&after);
        }
    }

    #[test]
    fn swaps_bring_any_order_into_any_other(order in Just((0..8).map(TmuxPaneId).collect::<Vec<_>>()).prop_shuffle()) {
        let (window, _, _) = fill(320, 90, 7, &LayoutLimits::default());
        let after = window.apply(&reorder(&window.panes(), &order), TmuxPaneId(99)).unwrap();
        prop_assert_eq!(after.panes(), order);
        prop_assert_eq!(sizes(&after), sizes(&window));
    }

    #[test]
    fn a_saved_layout_fits_or_says_what_it_needs(any in any_window(), cols in 3u16..420, rows in 2u16..110) {
        let saved = SavedLayout::of(&any.window, &any.limits, role);
        let text = serde_json::to_string(&saved).unwrap();
        prop_assert_eq!(&serde_json::from_str::<SavedLayout>(&text).unwrap(), &saved);
        match saved.fit((cols, rows), &any.limits, pane_of_role) {
            Ok(layout) => {
                let window = LayoutWindow::new(layout, None);
                assert_covered(&window);
                prop_assert_eq!((window.cols(), window.rows()), (cols, rows));
                prop_assert_eq!(window.panes(), any.window.panes());
                for tile in window.tiles() {
                    let main = tile.pane == Some(TmuxPaneId(0));
                    let limits = any.limits.for_person();
                    let least = if main { limits.main_pane_min_width } else { limits.agent_pane_min_width };
                    prop_assert!(tile.width >= least && tile.height >= limits.min_height, "{:?}", tile);
                }
            }
            Err(SavedLayoutError::TooSmall { need: (wide, high), .. }) => {
                prop_assert!(u32::from(cols) < wide || u32::from(rows) < high);
                let (wide, high) = (u16::try_from(wide).unwrap(), u16::try_from(high).unwrap());
                prop_assert!(saved.fit((wide, high), &any.limits, pane_of_role).is_ok());
            }
            Err(SavedLayoutError::DuplicateRole(role)) => prop_assert!(false, "{}", role),
        }
    }

    #[test]
    fn reconciling_ends_and_leaves_the_panes_of_others_alone(
        any in any_window(), wanted in desired_panes(), closed in vec(any::<Index>(), 0..3), balance in balance(),
    ) {
        let panes = any.window.panes();
        let mut closed: BTreeSet<_> = closed.iter().map(|at| *at.get(&panes)).collect();
        // The main pane may be a user's.
        closed.retain(|id| any.owners.main(&any.window) != Some(*id));
        let desired = DesiredView { closed, balance, panes: wanted };
        let (after, last) = any.converged(&desired);
        // What the window does not show waits, or cannot be shown: nothing is lost.
        for pane in &desired.panes {
            let shown = after.shown(&pane.request.pane);
            let settled = last.settled.iter().find(|(id, _)| *id == pane.request.pane);
            let reason = match settled {
                Some((_, Decision::Defer { reason })) => Some((reason, true)),
                Some((_, Decision::Skip { reason })) => Some((reason, false)),
                other => panic!("{other:?}"),
            };
            let (reason, waits) = reason.unwrap();
            match (shown, reason) {
                (Some(id), NotShownReason::AlreadyShown(at)) => prop_assert_eq!(id, *at),
                (None, NotShownReason::NoMain) => prop_assert!(!waits),
                (None, _) => prop_assert_eq!(waits, pane.request.no_room == NoRoom::Wait),
                (Some(_), reason) => prop_assert!(false, "{}", reason),
            }
        }
        // Only what was asked for is closed, and what may be replaced.
        for id in panes {
            let spared = any.owners.managed(id).is_some_and(|ours| desired.panes.iter().all(|it| it.spared.contains(&ours.pane)));
            let foreign = matches!(any.owners.of(id), PaneOwner::Foreign);
            let stays = foreign || (spared && !desired.closed.contains(&id));
            prop_assert!(!stays || after.window.root().find(id).is_some());
        }
    }

    #[test]
    fn who_waits_is_not_lost_and_keeps_the_place(turns in vec((0u8..3, 0usize..40, any::<u32>()), 0..60)) {
        let (mut queue, mut inside, mut now) = (LayoutQueue::new(6, Duration::from_millis(10)), Vec::new(), 0);
        for (kind, number, bits) in turns {
            now += u64::from(bits % 3);
            match kind {
                0 => if queue.push(pane(number), request(number), wait(), Time(now)).is_ok() {
                    if !inside.contains(&pane(number)) {
                        inside.push(pane(number));
                    }
                } else {
                    prop_assert_eq!(inside.len(), 6);
                },
                1 => for entry in queue.expire(Time(now)) {
                    prop_assert!(now - entry.since.0 >= 10);
                    inside.retain(|pane| *pane != entry.request.pane);
                },
                _ => if queue.remove(&pane(number)).is_some() {
                    inside.retain(|it| *it != pane(number));
                },
            }
            let waiting: Vec<_> = queue.entries().map(|entry| entry.request.pane.clone()).collect();
            prop_assert_eq!(&waiting, &inside);
            prop_assert!(waiting.len() <= 6);
        }
    }
}
