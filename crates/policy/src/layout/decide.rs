//! Where a pane goes, or why it does not.
//!
//! A window that holds only the main pane and ours, the main one first, is laid out anew as a whole. In any other,
//! panes that are not ours keep their places and sizes: room is made within our own panes, or taken from the main one.

use paned_model::{PaneId, Time};
use serde::Serialize;

use super::cell::{Cell, Direction, TmuxId};
use super::even;
use super::limits::{Capacity, Kind, Limits, capacity};
use super::owners::{Kept, Ours, Owner, Owners, State};
use super::reason::{Oldest, Reason};
use super::region::{Region, refill, regions};
use super::text::Layout;
use super::window::{Step, Window};

/// A wish to show a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Request {
    /// What is to be shown.
    pub pane: PaneId,
    /// Whether a pane that is done may go for it.
    pub replace_ok: bool,
    /// Whether it may wait for room. Otherwise it is skipped.
    pub wait_ok: bool,
}

/// Where a pane goes, or why it does not. Each case carries what is needed to do it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Make a new pane.
    Spawn {
        /// The pane to split.
        target: TmuxId,
        /// The direction to split it in.
        direction: Direction,
        /// The window's layout afterwards.
        layout: Layout,
        /// The pane that was zoomed and is to be again; the new one is then behind it.
        zoom: Option<TmuxId>,
    },
    /// Put it in the place of another pane.
    Replace {
        /// The pane that goes.
        victim: TmuxId,
        /// Why that one.
        reason: Oldest,
        /// The window's layout afterwards.
        layout: Layout,
        /// The pane that was zoomed and is to be again.
        zoom: Option<TmuxId>,
    },
    /// There is no room now. Ask again when a pane exits or the window changes.
    Defer {
        /// Why.
        reason: Reason,
    },
    /// It is not shown, and waiting would not help.
    Skip {
        /// Why.
        reason: Reason,
    },
}

impl Decision {
    /// What to ask of tmux, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let (mut steps, layout, zoom) = match self {
            Self::Spawn { target, direction, layout, zoom } => {
                (vec![split(*target, *direction)], layout, zoom)
            }
            // The victim may be too small to be split until the panes are even.
            Self::Replace { victim, layout, zoom, .. } => {
                let even = Step::Arrange(layout.clone());
                (vec![even, split(*victim, Direction::Right), Step::Close(*victim)], layout, zoom)
            }
            Self::Defer { .. } | Self::Skip { .. } => return Vec::new(),
        };
        steps.push(Step::Arrange(layout.clone()));
        steps.extend(zoom.map(Step::Zoom));
        steps
    }
}

fn split(target: TmuxId, direction: Direction) -> Step {
    Step::Split { target, direction, size: None }
}

/// Decides where a pane goes.
#[must_use]
pub fn decide(window: &Window, owners: &Owners, request: &Request, limits: &Limits) -> Decision {
    let mut panes = window.panes().into_iter();
    if let Some(pane) = panes.find(|id| owners.ours(*id).is_some_and(|it| it.pane == request.pane))
    {
        return Decision::Skip { reason: Reason::Shown(pane) };
    }
    let Some(scene) = Scene::new(window, owners, limits) else {
        return Decision::Skip { reason: Reason::NoMain };
    };
    let spawn = scene.spawn();
    let decision = spawn.or_else(|| request.replace_ok.then(|| scene.replace()).flatten());
    decision.unwrap_or_else(|| {
        let reason = scene.reason(request);
        if request.wait_ok { Decision::Defer { reason } } else { Decision::Skip { reason } }
    })
}

/// What becomes of several requests, each decided in the window that those before it leave behind.
///
/// Panes to come are numbered from the highest id on; tmux may number them otherwise, so this is for showing a plan.
#[must_use]
pub fn plan_all(
    window: &Window,
    owners: &Owners,
    requests: &[Request],
    limits: &Limits,
) -> Vec<Decision> {
    let (mut window, mut owners) = (window.clone(), owners.clone());
    let mut decisions = Vec::new();
    for request in requests {
        let decision = decide(&window, &owners, request, limits);
        let next = TmuxId(window.panes().iter().map(|pane| pane.0 + 1).max().unwrap_or(0));
        let steps = decision.steps();
        if let (false, Ok(after)) = (steps.is_empty(), window.apply(&steps, next)) {
            window = after;
            let (pane, state) = (request.pane.clone(), State::Starting);
            let ours = Ours { pane, state, persistent: false, since: Time::default() };
            owners.set(next, Owner::Ours(ours));
        }
        decisions.push(decision);
    }
    decisions
}

/// What to ask of tmux so that our panes are even again, after one was closed or the window was resized. Nothing when
/// they are, or when they do not fit.
#[must_use]
pub fn settle(window: &Window, owners: &Owners, limits: &Limits) -> Vec<Step> {
    let Some(scene) = Scene::new(window, owners, limits) else { return Vec::new() };
    let even = scene.settled().filter(|layout| layout != window.layout());
    let zoom = scene.zoom().map(Step::Zoom);
    even.map_or_else(Vec::new, |layout| [Step::Arrange(layout)].into_iter().chain(zoom).collect())
}

/// All that a decision looks at.
struct Scene<'a> {
    window: &'a Window,
    owners: &'a Owners,
    limits: Limits,
    main: TmuxId,
    /// Our panes, in tmux's order.
    ours: Vec<TmuxId>,
}

impl<'a> Scene<'a> {
    fn new(window: &'a Window, owners: &'a Owners, limits: &Limits) -> Option<Self> {
        let main = owners.main(window)?;
        let ours = window.panes().into_iter().filter(|pane| owners.ours(*pane).is_some()).collect();
        let mut limits = limits.clone();
        // A title may take a line from any pane, so every pane gets one more.
        limits.min_height += u16::from(window.titled);
        Some(Self { window, owners, limits, main, ours })
    }

    fn size(&self) -> (u16, u16) {
        (self.window.cols(), self.window.rows())
    }

    /// Whether the whole window may be laid out: tmux fills a layout in the order of its list, and the main pane is
    /// the first of a layout.
    fn is_whole(&self) -> bool {
        let panes = self.window.panes();
        panes.len() == self.ours.len() + 1 && panes.first() == Some(&self.main)
    }

    fn zoom(&self) -> Option<TmuxId> {
        self.window.active.filter(|_| self.window.zoomed)
    }

    fn spawn(&self) -> Option<Decision> {
        let (target, direction, root) = if self.is_whole() {
            let (target, direction) = self.target(&self.ours, true)?;
            let panes = behind(&self.ours, target);
            (target, direction, even::window(self.size(), self.main, &panes, &self.limits)?)
        } else {
            self.spawn_within().or_else(|| self.spawn_from_main())?
        };
        let layout = Layout::new(root.at(0, 0)).ok()?;
        Some(Decision::Spawn { target, direction, layout, zoom: self.zoom() })
    }

    /// The best pane to split: the last of ours, so that the new one comes last, or else any that tmux can split.
    fn target(&self, ours: &[TmuxId], or_main: bool) -> Option<(TmuxId, Direction)> {
        let beside = self.limits.layout.beside();
        let ours = ours.iter().rev().map(|pane| (*pane, beside.across()));
        let mut all = ours.chain(or_main.then_some((self.main, beside)));
        all.find_map(|(pane, wish)| {
            let cell = self.window.root().find(pane)?;
            let way = [wish, wish.across()].into_iter().find(|way| cell.size(*way) >= 3)?;
            Some((pane, way))
        })
    }

    /// A new pane among ours, where it leaves the most room.
    fn spawn_within(&self) -> Option<(TmuxId, Direction, Cell)> {
        let root = self.window.root();
        let fill = |region: &Region| {
            let (target, direction) = self.target(&region.panes, false)?;
            let panes = behind(&region.panes, target);
            let cell = even::area((region.width, region.height), &panes, &self.limits)?;
            Some((target, direction, cell))
        };
        let filled = regions(root, self.owners).iter().filter_map(fill).collect::<Vec<_>>();
        let best = filled.into_iter().rev().max_by_key(|(_, _, cell)| self.tightest(cell))?;
        let (target, direction, cell) = best;
        Some((target, direction, refill(root, self.owners, target, &cell)))
    }

    fn tightest(&self, cell: &Cell) -> u32 {
        let ratio = |size: u16, least: u16| u32::from(size) * 1000 / u32::from(least.max(1));
        let room = |leaf: &&Cell| {
            let wide = ratio(leaf.width, self.limits.agent_pane_min_width);
            wide.min(ratio(leaf.height, self.limits.min_height))
        };
        cell.leaves().iter().map(room).min().unwrap_or(0)
    }

    /// A new pane beside the main one, out of the main one's own cell.
    fn spawn_from_main(&self) -> Option<(TmuxId, Direction, Cell)> {
        let limits = &self.limits;
        let main = self.window.root().find(self.main)?;
        let ways: &[Kind] = match limits.layout {
            Kind::Vertical => &[Kind::Vertical],
            Kind::Horizontal => &[Kind::Horizontal],
            Kind::Grid => &[Kind::Grid, Kind::Horizontal],
        };
        ways.iter().find_map(|kind| {
            let limits = Limits { layout: *kind, ..limits.clone() };
            let direction = kind.beside();
            if capacity(main.width, main.height, &limits).total() == 0 {
                return None;
            }
            let size = even::room_beside(main.size(direction), 1, &limits);
            let after = self.window.split(self.main, direction, Some(size), None).ok()?;
            Some((self.main, direction, after.root().clone()))
        })
    }

    fn replace(&self) -> Option<Decision> {
        self.owners.victims(self.window).into_iter().find_map(|victim| {
            let state = self.owners.ours(victim)?.state;
            let layout = self.replaced(victim)?;
            let reason = Oldest { victim, state };
            Some(Decision::Replace { victim, reason, layout, zoom: self.zoom() })
        })
    }

    /// The layout with a pane to come in the place of another, if that is large enough then.
    fn replaced(&self, victim: TmuxId) -> Option<Layout> {
        let even = self.settled().unwrap_or_else(|| self.window.layout().clone());
        let place = even.root().find(victim)?;
        let fits = place.width >= self.limits.agent_pane_min_width
            && place.height >= self.limits.min_height;
        let mut root = even.root().clone();
        let panes = root.panes().into_iter().map(|pane| pane.filter(|pane| *pane != victim));
        root.assign(&mut panes.collect::<Vec<_>>().into_iter());
        Layout::new(root).ok().filter(|_| fits)
    }

    /// The layout with our panes even, where they fit.
    fn settled(&self) -> Option<Layout> {
        if self.is_whole() {
            let ours: Vec<_> = self.ours.iter().copied().map(Some).collect();
            return Layout::new(even::window(self.size(), self.main, &ours, &self.limits)?).ok();
        }
        let mut root = self.window.root().clone();
        for region in regions(&root, self.owners) {
            let panes: Vec<_> = region.panes.iter().copied().map(Some).collect();
            let even = even::area((region.width, region.height), &panes, &self.limits);
            if let (Some(even), Some(first)) = (even, region.panes.first()) {
                root = refill(&root, self.owners, *first, &even);
            }
        }
        Layout::new(root.at(0, 0)).ok()
    }

    fn reason(&self, request: &Request) -> Reason {
        let unasked = !request.replace_ok;
        let kept = Kept { unasked, ..self.owners.kept(self.window) };
        let (limits, shown, (cols, rows)) = (self.limits.clone(), self.ours.len(), self.size());
        let capacity: Capacity = capacity(cols, rows, &limits);
        if capacity.total() == 0 {
            return Reason::TooSmall { cols, rows, limits };
        }
        if self.is_whole() {
            return Reason::Full { cols, rows, shown, capacity, kept };
        }
        let main = self.window.root().find(self.main);
        let (width, height) = main.map_or((0, 0), |main| (main.width, main.height));
        Reason::Crowded { width, height, shown, limits, kept }
    }
}

/// The panes with one to come behind this one; in front when it is none of them.
fn behind(panes: &[TmuxId], target: TmuxId) -> Vec<Option<TmuxId>> {
    let at = panes.iter().position(|pane| *pane == target).map_or(0, |at| at + 1);
    let mut all: Vec<_> = panes.iter().copied().map(Some).collect();
    all.insert(at, None);
    all
}
