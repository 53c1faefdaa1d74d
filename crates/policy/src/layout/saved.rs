//! A named layout: how a window was divided and which pane was where, to be restored in a window of
//! any size.

use std::fmt;

use paned_model::{Code, Refusal};
use serde::{Deserialize, Serialize};

use super::cell::{CellContent, LayoutCell, LayoutDirection, TmuxPaneId};
use super::limits::{LayoutKind, LayoutLimits};
use super::owners::{PaneOwner, PaneOwners};
use super::text::LayoutTree;
use super::window::{LayoutStep, LayoutWindow, reorder};

/// The maximum nesting depth of a saved layout.
const DEEPEST: usize = 64;

/// A layout as it is stored, in TOML or JSON.
///
/// ```toml
/// layout = "vertical"
/// main_pane_size = 60
/// [tree]
/// row = [
///   { size = 120, pane = "main" },
///   { size = 79, column = [{ size = 24, pane = "tests" }, { size = 25, pane = "logs" }] },
/// ]
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedLayout {
    /// How further panes are placed.
    pub layout: LayoutKind,
    /// The main pane's share of the window when it was saved, in percent.
    pub main_pane_size: u16,
    /// The arrangement of the panes.
    pub tree: SavedNode,
}

/// A part of a saved layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawSavedNode", into = "RawSavedNode")]
pub struct SavedNode {
    /// Its size relative to its siblings; only the proportions matter.
    pub size: u16,
    /// What it is.
    pub kind: SavedNodeKind,
}

/// What a part of a saved layout is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedNodeKind {
    /// One pane.
    Pane(SavedRole),
    /// At least two parts in a row or column.
    Parts(LayoutDirection, Vec<SavedNode>),
}

/// Which pane belongs in a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SavedRole {
    /// The main pane, written `main`.
    Main,
    /// The pane with this title.
    Titled(String),
}

/// Why a saved layout cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedLayoutError {
    /// It needs a larger window.
    TooSmall {
        /// The window's size.
        window: (u16, u16),
        /// The minimum size.
        need: (u32, u32),
    },
    /// Two positions ask for the same pane.
    DuplicateRole(SavedRole),
}

/// A node as it is serialized: one of `pane`, `row` and `column`.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawSavedNode {
    size: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<Vec<SavedNode>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<Vec<SavedNode>>,
}

impl SavedLayout {
    /// Describes a window; `role` maps each pane to its role.
    #[must_use]
    pub fn of(
        window: &LayoutWindow,
        limits: &LayoutLimits,
        role: impl Fn(TmuxPaneId) -> SavedRole,
    ) -> Self {
        let root = window.root();
        let tree = describe(root, LayoutDirection::Right, &role);
        let beside = limits.layout.beside();
        let main =
            root.leaves().into_iter().find(|leaf| leaf.id().map(&role) == Some(SavedRole::Main));
        let part = main.map_or(0, |main| u32::from(main.size(beside)) * 100);
        let percent = part.div_ceil(u32::from(root.size(beside).saturating_sub(1).max(1)));
        let main_pane_size = u16::try_from(percent).unwrap_or(80).clamp(20, 80);
        Self { layout: limits.layout, main_pane_size, tree }
    }

    /// The roles, in the order in which tmux must list their panes before the layout is applied.
    #[must_use]
    pub fn roles(&self) -> Vec<&SavedRole> {
        roles(&self.tree)
    }

    /// The steps that move the panes of a window to their positions. Every pane must have one
    /// there, and every position a pane; `role` maps each pane to its role.
    ///
    /// # Errors
    /// When the layout does not fit the window or its panes, or some of them are foreign.
    pub fn steps(
        &self,
        window: &LayoutWindow,
        owners: &PaneOwners,
        limits: &LayoutLimits,
        role: impl Fn(TmuxPaneId) -> SavedRole,
    ) -> Result<Vec<LayoutStep>, Refusal> {
        let conflict = |sentence: String| Err(Refusal::new(Code::Conflict, sentence));
        let panes = window.panes();
        if panes.iter().any(|id| matches!(owners.of(*id), PaneOwner::Foreign)) {
            let sentence =
                "the window contains panes that paned does not manage, and those are not moved";
            return conflict(sentence.to_owned());
        }
        let roles: Vec<_> = panes.iter().map(|id| (role(*id), *id)).collect();
        let pane_of = |role: &SavedRole| roles.iter().find(|(it, _)| it == role).map(|(_, id)| *id);
        let layout = self
            .fit((window.cols(), window.rows()), limits, pane_of)
            .map_err(|misfit| Refusal::invalid(format!("the layout does not fit: {misfit}")))?;
        let positions = layout.root().panes();
        let wanted: Vec<TmuxPaneId> = positions.iter().copied().flatten().collect();
        if wanted.len() != panes.len() || positions.len() != panes.len() {
            return conflict(format!(
                "the layout has {} places, but {} of the window's {} panes belong in one",
                positions.len(),
                wanted.len(),
                panes.len()
            ));
        }
        let mut steps = reorder(&panes, &wanted);
        steps.push(LayoutStep::Arrange(layout));
        Ok(steps)
    }

    /// The layout for a window of this size: in proportion, with nothing below its minimum. `pane`
    /// maps a role to its pane; `None` is one that is not created yet.
    ///
    /// # Errors
    /// When the window is too small, or two positions get the same pane.
    pub fn fit(
        &self,
        (cols, rows): (u16, u16),
        limits: &LayoutLimits,
        pane: impl Fn(&SavedRole) -> Option<TmuxPaneId>,
    ) -> Result<LayoutTree, SavedLayoutError> {
        let small = limits.for_person();
        let need = |limits: &LayoutLimits| {
            [LayoutDirection::Right, LayoutDirection::Down]
                .map(|direction| least(&self.tree, direction, limits))
        };
        let fits = |limits: &&LayoutLimits| {
            let [width, height] = need(limits);
            width <= u32::from(cols) && height <= u32::from(rows)
        };
        // A person has asked for it, so small panes will do.
        let Some(limits) = [limits, &small].into_iter().find(fits) else {
            let [width, height] = need(&small);
            return Err(SavedLayoutError::TooSmall { window: (cols, rows), need: (width, height) });
        };
        let root = build(&self.tree, (cols, rows), limits, &pane).at(0, 0);
        LayoutTree::new(root).map_err(|_| {
            let all = self.roles();
            let duplicate = all.iter().enumerate().find(|(at, role)| {
                let id = pane(role);
                id.is_some() && all[..*at].iter().any(|other| pane(other) == id)
            });
            SavedLayoutError::DuplicateRole(
                duplicate.map_or(SavedRole::Main, |(_, role)| (*role).clone()),
            )
        })
    }
}

fn describe(
    cell: &LayoutCell,
    along: LayoutDirection,
    role: &impl Fn(TmuxPaneId) -> SavedRole,
) -> SavedNode {
    let kind = match &cell.content {
        CellContent::Pane(pane) => {
            SavedNodeKind::Pane(pane.map_or_else(|| SavedRole::Titled(String::new()), role))
        }
        CellContent::Cells(direction, cells) => {
            let parts = cells.iter().map(|cell| describe(cell, *direction, role)).collect();
            SavedNodeKind::Parts(*direction, parts)
        }
    };
    SavedNode { size: cell.size(along), kind }
}

fn roles(node: &SavedNode) -> Vec<&SavedRole> {
    match &node.kind {
        SavedNodeKind::Pane(role) => vec![role],
        SavedNodeKind::Parts(_, parts) => parts.iter().flat_map(roles).collect(),
    }
}

/// The minimum size of a part in a direction.
fn least(node: &SavedNode, direction: LayoutDirection, limits: &LayoutLimits) -> u32 {
    match &node.kind {
        SavedNodeKind::Pane(role) => u32::from(match (direction, role) {
            (LayoutDirection::Down, _) => limits.min_height,
            (LayoutDirection::Right, SavedRole::Main) => limits.main_pane_min_width,
            (LayoutDirection::Right, SavedRole::Titled(_)) => limits.agent_pane_min_width,
        }),
        SavedNodeKind::Parts(own, parts) => {
            let each = parts.iter().map(|part| least(part, direction, limits));
            if *own == direction {
                each.map(|size| size + 1).sum::<u32>().saturating_sub(1)
            } else {
                each.max().unwrap_or(0)
            }
        }
    }
}

fn build(
    node: &SavedNode,
    (width, height): (u16, u16),
    limits: &LayoutLimits,
    pane: &impl Fn(&SavedRole) -> Option<TmuxPaneId>,
) -> LayoutCell {
    let (direction, parts) = match &node.kind {
        SavedNodeKind::Pane(role) => return LayoutCell::pane(pane(role), width, height),
        SavedNodeKind::Parts(direction, parts) => (*direction, parts),
    };
    let all = if direction == LayoutDirection::Right { width } else { height };
    let demands: Vec<_> = parts
        .iter()
        .map(|part| (u32::from(part.size.max(1)), least(part, direction, limits)))
        .collect();
    let dividers = u32::try_from(parts.len()).unwrap_or(u32::MAX).saturating_sub(1);
    let sizes = divide(u32::from(all).saturating_sub(dividers), &demands);
    let cells = parts.iter().zip(sizes).map(|(part, size)| {
        let size = u16::try_from(size).unwrap_or(u16::MAX);
        match direction {
            LayoutDirection::Right => build(part, (size, height), limits, pane),
            LayoutDirection::Down => build(part, (width, size), limits, pane),
        }
    });
    LayoutCell::chain(direction, cells.collect())
}

/// Divides a size among parts in proportion to their weights, none below its minimum. Each pair is
/// (weight, minimum); the caller ensures that the minimums fit.
fn divide(room: u32, demands: &[(u32, u32)]) -> Vec<u32> {
    let mut sizes: Vec<Option<u32>> = vec![None; demands.len()];
    loop {
        // A part whose proportion is below its minimum gets exactly the minimum; the rest share
        // what is left.
        let free = || demands.iter().zip(&sizes).filter(|(_, size)| size.is_none());
        let left = u64::from(room - sizes.iter().flatten().sum::<u32>());
        let total: u64 = free().map(|((weight, _), _)| u64::from(*weight)).sum();
        let short = demands.iter().zip(&sizes).position(|((weight, least), size)| {
            size.is_none() && left * u64::from(*weight) < u64::from(*least) * total
        });
        let Some(short) = short else { return share(left, total, demands, &sizes) };
        sizes[short] = Some(demands[short].1);
    }
}

/// The parts without a size share what is left, rounded down; the remainder goes to the first of
/// them.
fn share(left: u64, total: u64, demands: &[(u32, u32)], sizes: &[Option<u32>]) -> Vec<u32> {
    let floor =
        |weight: u32| u32::try_from(left * u64::from(weight) / total.max(1)).unwrap_or(u32::MAX);
    let free = demands.iter().zip(sizes).filter(|(_, size)| size.is_none());
    let used: u64 = free.map(|((weight, _), _)| u64::from(floor(*weight))).sum();
    let mut over = left - used;
    let mut size = |((weight, _), size): (&(u32, u32), &Option<u32>)| {
        size.unwrap_or_else(|| {
            let more = u32::from(over > 0);
            over -= u64::from(more);
            floor(*weight) + more
        })
    };
    demands.iter().zip(sizes).map(&mut size).collect()
}

impl TryFrom<RawSavedNode> for SavedNode {
    type Error = String;

    fn try_from(raw: RawSavedNode) -> Result<Self, String> {
        let kind = match (raw.pane, raw.row, raw.column) {
            (Some(role), None, None) => SavedNodeKind::Pane(role.into()),
            (None, Some(parts), None) => SavedNodeKind::Parts(LayoutDirection::Right, parts),
            (None, None, Some(parts)) => SavedNodeKind::Parts(LayoutDirection::Down, parts),
            _ => {
                return Err(
                    "each part of a layout must be one of `pane`, `row` and `column`".into()
                );
            }
        };
        let node = Self { size: raw.size, kind };
        match &node.kind {
            SavedNodeKind::Parts(_, parts) if parts.len() < 2 => {
                Err("a row or column must have at least two parts".into())
            }
            SavedNodeKind::Parts(..) if depth(&node) > DEEPEST => {
                Err(format!("a layout can be at most {DEEPEST} levels deep"))
            }
            SavedNodeKind::Parts(..) | SavedNodeKind::Pane(_) => Ok(node),
        }
    }
}

fn depth(node: &SavedNode) -> usize {
    match &node.kind {
        SavedNodeKind::Pane(_) => 0,
        SavedNodeKind::Parts(_, parts) => 1 + parts.iter().map(depth).max().unwrap_or(0),
    }
}

impl From<SavedNode> for RawSavedNode {
    fn from(node: SavedNode) -> Self {
        let raw = Self { size: node.size, ..Self::default() };
        match node.kind {
            SavedNodeKind::Pane(role) => Self { pane: Some(role.to_string()), ..raw },
            SavedNodeKind::Parts(LayoutDirection::Right, parts) => Self { row: Some(parts), ..raw },
            SavedNodeKind::Parts(LayoutDirection::Down, parts) => {
                Self { column: Some(parts), ..raw }
            }
        }
    }
}

impl From<String> for SavedRole {
    fn from(text: String) -> Self {
        if text == "main" { Self::Main } else { Self::Titled(text) }
    }
}

impl fmt::Display for SavedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("main"),
            Self::Titled(title) => f.write_str(title),
        }
    }
}

impl fmt::Display for SavedLayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSmall { window: (cols, rows), need: (wide, high) } => {
                write!(f, "the layout needs {wide}x{high}, but the window is {cols}x{rows}")
            }
            Self::DuplicateRole(role) => write!(f, "pane `{role}` is in the layout twice"),
        }
    }
}
