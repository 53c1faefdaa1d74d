//! Decides where a pane is shown, or why it is not.
//!
//! If a window holds only the main pane and panes that we manage, and the main one is first, the
//! whole window is laid out anew. In any other window, foreign panes keep their positions and
//! sizes: space is found among the managed panes, or taken from the main one.

use paned_model::{PaneId, Time};
use serde::{Deserialize, Serialize};

use super::balance;
use super::cell::{LayoutCell, LayoutDirection, TmuxPaneId};
use super::limits::{Capacity, LayoutKind, LayoutLimits, capacity};
use super::owners::{Blockers, ManagedPane, ManagedPaneState, PaneOwner, PaneOwners};
use super::reason::{NotShownReason, ReplaceReason};
use super::region::{ManagedRegion, refill, regions};
use super::text::LayoutTree;
use super::window::{LayoutStep, LayoutWindow};

/// What is done with a pane for which its window has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoRoom {
    /// It gets a window of its own, because a person asked to see it. Before that, smaller panes
    /// are tried: [`LayoutLimits::for_person`].
    Window,
    /// It waits for room.
    Wait,
    /// It is not shown.
    Skip,
}

/// A request to show a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayoutRequest {
    /// The pane to show.
    pub pane: PaneId,
    /// Whether it may replace a pane that is idle or has exited.
    pub replace_ok: bool,
    /// What is done if there is no room.
    pub no_room: NoRoom,
}

/// Where a pane goes, or why it is not shown. Each variant carries what is needed to do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Create a new pane.
    Spawn {
        /// The pane to split.
        target: TmuxPaneId,
        /// The direction to split it in.
        direction: LayoutDirection,
        /// The window's layout afterwards.
        layout: LayoutTree,
        /// The pane to zoom again afterwards, because it was zoomed; it then covers the new pane.
        zoom: Option<TmuxPaneId>,
    },
    /// Show it in place of another pane.
    Replace {
        /// The pane to close.
        victim: TmuxPaneId,
        /// Why that one.
        reason: ReplaceReason,
        /// The window's layout afterwards.
        layout: LayoutTree,
        /// The pane to zoom again afterwards, because it was zoomed.
        zoom: Option<TmuxPaneId>,
    },
    /// Show it in a new window of the same session.
    Window {
        /// Why it does not fit into this one.
        reason: NotShownReason,
    },
    /// There is no space now. Decide again when a pane exits or the window changes.
    Defer {
        /// Why.
        reason: NotShownReason,
    },
    /// It is not shown, and waiting would not help.
    Skip {
        /// Why.
        reason: NotShownReason,
    },
}

impl Decision {
    /// The tmux commands to run, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<LayoutStep> {
        let (mut steps, layout, zoom) = match self {
            Self::Spawn { target, direction, layout, zoom } => {
                let split = LayoutStep::Split { target: *target, direction: *direction };
                (vec![split], layout, zoom)
            }
            // The victim may be too small to be split until the panes are even.
            Self::Replace { victim, layout, zoom, .. } => {
                let even = LayoutStep::Arrange(layout.clone());
                let split =
                    LayoutStep::Split { target: *victim, direction: LayoutDirection::Right };
                (vec![even, split, LayoutStep::Close(*victim)], layout, zoom)
            }
            Self::Window { .. } | Self::Defer { .. } | Self::Skip { .. } => return Vec::new(),
        };
        steps.push(LayoutStep::Arrange(layout.clone()));
        steps.extend(zoom.map(LayoutStep::Zoom));
        steps
    }
}

/// Decides where a pane goes.
#[must_use]
pub fn decide(
    window: &LayoutWindow,
    owners: &PaneOwners,
    request: &LayoutRequest,
    limits: &LayoutLimits,
) -> Decision {
    let mut panes = window.panes().into_iter();
    if let Some(pane) =
        panes.find(|id| owners.managed(*id).is_some_and(|it| it.pane == request.pane))
    {
        return Decision::Skip { reason: NotShownReason::AlreadyShown(pane) };
    }
    let Some(context) = DecisionContext::new(window, owners, limits) else {
        let reason = NotShownReason::NoMain;
        return match request.no_room {
            NoRoom::Window => Decision::Window { reason },
            NoRoom::Wait | NoRoom::Skip => Decision::Skip { reason },
        };
    };
    let spawn = context.spawn();
    let decision = spawn.or_else(|| request.replace_ok.then(|| context.replace()).flatten());
    decision.unwrap_or_else(|| match request.no_room {
        NoRoom::Window => spawn_small(window, owners, limits)
            .unwrap_or_else(|| Decision::Window { reason: context.reason(request) }),
        NoRoom::Wait => Decision::Defer { reason: context.reason(request) },
        NoRoom::Skip => Decision::Skip { reason: context.reason(request) },
    })
}

/// Splits the window into panes that are as small as a person may want them: beside each other or
/// one below the other, whichever fits, the configured way first. Panes that are there keep their
/// order: only the first pane beside the main one may be put the other way.
fn spawn_small(
    window: &LayoutWindow,
    owners: &PaneOwners,
    limits: &LayoutLimits,
) -> Option<Decision> {
    let kinds = [limits.layout, LayoutKind::Horizontal, LayoutKind::Vertical];
    kinds.into_iter().find_map(|layout| {
        let small = LayoutLimits { layout, ..limits.for_person() };
        let context = DecisionContext::new(window, owners, &small)?;
        let may_turn = layout == limits.layout || context.ours.is_empty();
        context.spawn().filter(|_| may_turn)
    })
}

/// Plans several requests, each decided for the window that the ones before it leave behind.
///
/// New panes are numbered from the highest id on; tmux may number them differently, so use this
/// only to preview a plan.
#[must_use]
pub fn plan_all(
    window: &LayoutWindow,
    owners: &PaneOwners,
    requests: &[LayoutRequest],
    limits: &LayoutLimits,
) -> Vec<Decision> {
    let mut window = window.clone();
    let mut owners = owners.clone();
    let mut decisions = Vec::new();
    for request in requests {
        let decision = decide(&window, &owners, request, limits);
        let next = TmuxPaneId(window.panes().iter().map(|pane| pane.0 + 1).max().unwrap_or(0));
        let steps = decision.steps();
        if let (false, Ok(after)) = (steps.is_empty(), window.apply(&steps, next)) {
            window = after;
            let managed = ManagedPane {
                pane: request.pane.clone(),
                state: ManagedPaneState::Starting,
                persistent: false,
                since: Time::default(),
            };
            owners.set(next, PaneOwner::Managed(managed));
        }
        decisions.push(decision);
    }
    decisions
}

/// The tmux commands that make the managed panes even again, after one was closed or the window was
/// resized. Empty if they are even, or if they do not fit.
#[must_use]
pub fn rebalance(
    window: &LayoutWindow,
    owners: &PaneOwners,
    limits: &LayoutLimits,
) -> Vec<LayoutStep> {
    let Some(context) = DecisionContext::new(window, owners, limits) else { return Vec::new() };
    let even = context.rebalanced().filter(|layout| layout != window.layout());
    let zoom = context.zoom().map(LayoutStep::Zoom);
    even.map_or_else(Vec::new, |layout| {
        [LayoutStep::Arrange(layout)].into_iter().chain(zoom).collect()
    })
}

/// The inputs of a decision.
struct DecisionContext<'a> {
    window: &'a LayoutWindow,
    owners: &'a PaneOwners,
    limits: LayoutLimits,
    main: TmuxPaneId,
    /// The managed panes, in tmux's order.
    ours: Vec<TmuxPaneId>,
}

impl<'a> DecisionContext<'a> {
    fn new(
        window: &'a LayoutWindow,
        owners: &'a PaneOwners,
        limits: &LayoutLimits,
    ) -> Option<Self> {
        let main = owners.main(window)?;
        let ours =
            window.panes().into_iter().filter(|pane| owners.managed(*pane).is_some()).collect();
        let mut limits = limits.clone();
        // A pane title takes a line from some panes, so the minimum of every pane grows by one.
        limits.min_height += u16::from(window.titled);
        Some(Self { window, owners, limits, main, ours })
    }

    fn size(&self) -> (u16, u16) {
        (self.window.cols(), self.window.rows())
    }

    /// Whether the whole window may be laid out anew: tmux assigns panes to a layout in list order,
    /// and the main pane comes first in ours.
    fn is_whole(&self) -> bool {
        let panes = self.window.panes();
        panes.len() == self.ours.len() + 1 && panes.first() == Some(&self.main)
    }

    fn zoom(&self) -> Option<TmuxPaneId> {
        self.window.active.filter(|_| self.window.zoomed)
    }

    fn spawn(&self) -> Option<Decision> {
        let (target, direction, root) = if self.is_whole() {
            let (target, direction) = self.target(&self.ours, true)?;
            let panes = behind(&self.ours, target);
            (target, direction, balance::window(self.size(), self.main, &panes, &self.limits)?)
        } else {
            self.spawn_within().or_else(|| self.spawn_from_main())?
        };
        let layout = LayoutTree::new(root.at(0, 0)).ok()?;
        Some(Decision::Spawn { target, direction, layout, zoom: self.zoom() })
    }

    /// The best pane to split: the last managed one, so that the new pane comes last, otherwise any
    /// that tmux can split.
    fn target(&self, ours: &[TmuxPaneId], or_main: bool) -> Option<(TmuxPaneId, LayoutDirection)> {
        let beside = self.limits.layout.beside();
        let ours = ours.iter().rev().map(|pane| (*pane, beside.across()));
        let mut all = ours.chain(or_main.then_some((self.main, beside)));
        all.find_map(|(pane, preferred)| {
            let cell = self.window.root().find(pane)?;
            let direction = [preferred, preferred.across()]
                .into_iter()
                .find(|direction| cell.size(*direction) >= 3)?;
            Some((pane, direction))
        })
    }

    /// Adds a pane to the managed region where the tightest pane keeps the most space.
    fn spawn_within(&self) -> Option<(TmuxPaneId, LayoutDirection, LayoutCell)> {
        let root = self.window.root();
        let fill = |region: &ManagedRegion| {
            let (target, direction) = self.target(&region.panes, false)?;
            let panes = behind(&region.panes, target);
            let cell = balance::area((region.width, region.height), &panes, &self.limits)?;
            Some((target, direction, cell))
        };
        let filled = regions(root, self.owners).iter().filter_map(fill).collect::<Vec<_>>();
        let best = filled.into_iter().rev().max_by_key(|(_, _, cell)| self.tightest(cell))?;
        let (target, direction, cell) = best;
        Some((target, direction, refill(root, self.owners, target, &cell)))
    }

    fn tightest(&self, cell: &LayoutCell) -> u32 {
        let room =
            |leaf: &&LayoutCell| balance::room(leaf.width.into(), leaf.height.into(), &self.limits);
        cell.leaves().iter().map(room).min().unwrap_or(0)
    }

    /// Adds a pane beside the main one, by splitting the main pane's own cell.
    fn spawn_from_main(&self) -> Option<(TmuxPaneId, LayoutDirection, LayoutCell)> {
        let limits = &self.limits;
        let main = self.window.root().find(self.main)?;
        let kinds: &[LayoutKind] = match limits.layout {
            LayoutKind::Vertical => &[LayoutKind::Vertical],
            LayoutKind::Horizontal => &[LayoutKind::Horizontal],
            LayoutKind::Grid => &[LayoutKind::Grid, LayoutKind::Horizontal],
        };
        kinds.iter().find_map(|kind| {
            let limits = LayoutLimits { layout: *kind, ..limits.clone() };
            let direction = kind.beside();
            if capacity(main.width, main.height, &limits).total() == 0 {
                return None;
            }
            let size = balance::room_beside(main.size(direction), 1, &limits);
            let after = self.window.split(self.main, direction, Some(size), None).ok()?;
            Some((self.main, direction, after.root().clone()))
        })
    }

    fn replace(&self) -> Option<Decision> {
        self.owners.victims(self.window).into_iter().find_map(|victim| {
            let state = self.owners.managed(victim)?.state;
            let layout = self.replaced(victim)?;
            let reason = ReplaceReason { victim, state };
            Some(Decision::Replace { victim, reason, layout, zoom: self.zoom() })
        })
    }

    /// The layout with a new pane in place of the victim, if that cell is large enough.
    fn replaced(&self, victim: TmuxPaneId) -> Option<LayoutTree> {
        let even = self.rebalanced().unwrap_or_else(|| self.window.layout().clone());
        let cell = even.root().find(victim)?;
        let fits =
            cell.width >= self.limits.agent_pane_min_width && cell.height >= self.limits.min_height;
        let mut root = even.root().clone();
        let panes = root.panes().into_iter().map(|pane| pane.filter(|pane| *pane != victim));
        root.assign(&mut panes.collect::<Vec<_>>().into_iter());
        LayoutTree::new(root).ok().filter(|_| fits)
    }

    /// The layout with the managed panes even, where they fit.
    fn rebalanced(&self) -> Option<LayoutTree> {
        if self.is_whole() {
            let ours: Vec<_> = self.ours.iter().copied().map(Some).collect();
            return LayoutTree::new(balance::window(self.size(), self.main, &ours, &self.limits)?)
                .ok();
        }
        let mut root = self.window.root().clone();
        for region in regions(&root, self.owners) {
            let panes: Vec<_> = region.panes.iter().copied().map(Some).collect();
            let even = balance::area((region.width, region.height), &panes, &self.limits);
            if let (Some(even), Some(first)) = (even, region.panes.first()) {
                root = refill(&root, self.owners, *first, &even);
            }
        }
        LayoutTree::new(root.at(0, 0)).ok()
    }

    fn reason(&self, request: &LayoutRequest) -> NotShownReason {
        let replace_forbidden = !request.replace_ok;
        let kept = Blockers { replace_forbidden, ..self.owners.kept(self.window) };
        let limits = self.limits.clone();
        let shown = self.ours.len();
        let (cols, rows) = self.size();
        let capacity: Capacity = capacity(cols, rows, &limits);
        if capacity.total() == 0 {
            return NotShownReason::TooSmall { cols, rows, limits };
        }
        if self.is_whole() {
            return NotShownReason::Full { cols, rows, shown, capacity, kept };
        }
        let main = self.window.root().find(self.main);
        let (width, height) = main.map_or((0, 0), |main| (main.width, main.height));
        NotShownReason::Crowded { width, height, shown, limits, kept }
    }
}

/// The panes with a new one after the target; first if the target is not among them.
fn behind(panes: &[TmuxPaneId], target: TmuxPaneId) -> Vec<Option<TmuxPaneId>> {
    let at = panes.iter().position(|pane| *pane == target).map_or(0, |at| at + 1);
    let mut all: Vec<_> = panes.iter().copied().map(Some).collect();
    all.insert(at, None);
    all
}
