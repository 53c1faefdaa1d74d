//! Layouts as tmux writes them: `9b0e,200x50,0,0{100x50,0,0,0,99x50,101,0,1}`.
//!
//! tmux parses the ids in a layout but ignores them: `select-layout` assigns the panes to the cells
//! in the order in which it lists them. So only the order of the cells matters, and a pane that is
//! not created yet is a cell without an id.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::cell::{CellContent, LayoutCell, LayoutDirection, TmuxPaneId};

/// The largest size of anything in tmux.
const TMUX_MAXIMUM: u32 = 10_000;
/// The maximum nesting depth of cells; layouts made by hand reach about five.
const DEEPEST: usize = 64;

/// The cells of a whole window: consistent, starting at the top left, without duplicate panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTree(LayoutCell);

/// Why a text is not a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutParseError {
    /// The syntax is wrong from this byte on.
    Syntax(usize),
    /// The checksum does not match.
    Checksum {
        /// The checksum in the text.
        said: u16,
        /// The checksum of the text.
        found: u16,
    },
    /// Its cells do not fill it, or overlap.
    Inconsistent,
    /// A pane is in it twice.
    DuplicatePane(TmuxPaneId),
}

impl LayoutTree {
    /// Checks a tree that fills a window.
    ///
    /// # Errors
    /// When the cells do not fit together or a pane occurs twice.
    pub fn new(root: LayoutCell) -> Result<Self, LayoutParseError> {
        if (root.left, root.top) != (0, 0) || !root.is_consistent() {
            return Err(LayoutParseError::Inconsistent);
        }
        let mut seen = BTreeSet::new();
        match root.panes().into_iter().flatten().find(|pane| !seen.insert(*pane)) {
            Some(pane) => Err(LayoutParseError::DuplicatePane(pane)),
            None => Ok(Self(root)),
        }
    }

    /// Its tree.
    #[must_use]
    pub fn root(&self) -> &LayoutCell {
        &self.0
    }
}

/// The checksum that tmux puts in front.
fn checksum(text: &str) -> u16 {
    text.bytes().fold(0, |sum: u16, byte| sum.rotate_right(1).wrapping_add(u16::from(byte)))
}

fn write(cell: &LayoutCell, to: &mut String) -> fmt::Result {
    write!(to, "{}x{},{},{}", cell.width, cell.height, cell.left, cell.top)?;
    let (direction, cells) = match &cell.content {
        CellContent::Pane(None) => return Ok(()),
        CellContent::Pane(Some(TmuxPaneId(id))) => return write!(to, ",{id}"),
        CellContent::Cells(direction, cells) => (direction, cells),
    };
    let (open, close) = brackets(*direction);
    for (at, cell) in cells.iter().enumerate() {
        to.push(if at == 0 { open } else { ',' });
        write(cell, to)?;
    }
    to.push(close);
    Ok(())
}

fn brackets(direction: LayoutDirection) -> (char, char) {
    match direction {
        LayoutDirection::Right => ('{', '}'),
        LayoutDirection::Down => ('[', ']'),
    }
}

/// Parses a layout from left to right; `None` is a syntax error at the current position.
struct LayoutReader<'a> {
    text: &'a [u8],
    at: usize,
}

impl LayoutReader<'_> {
    fn eat(&mut self, byte: u8) -> Option<()> {
        let here = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(here);
        here.then_some(())
    }

    fn number(&mut self) -> Option<u32> {
        let rest = self.text.get(self.at..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        self.at += digits;
        Some(number)
    }

    fn size(&mut self) -> Option<u16> {
        let size = self.number().filter(|size| *size <= TMUX_MAXIMUM)?;
        u16::try_from(size).ok()
    }

    fn cell(&mut self, depth: usize) -> Option<LayoutCell> {
        let width = self.size()?;
        self.eat(b'x')?;
        let height = self.size()?;
        self.eat(b',')?;
        let left = self.size()?;
        self.eat(b',')?;
        let top = self.size()?;
        let content = match self.text.get(self.at) {
            Some(b'{') => self.cells(LayoutDirection::Right, depth)?,
            Some(b'[') => self.cells(LayoutDirection::Down, depth)?,
            _ => CellContent::Pane(self.id()),
        };
        Some(LayoutCell { width, height, left, top, content })
    }

    /// The id after a pane. What follows the comma may be the next cell instead; then an `x` comes
    /// after the number.
    fn id(&mut self) -> Option<TmuxPaneId> {
        let start = self.at;
        let id = self.eat(b',').and_then(|()| self.number());
        if id.is_none() || self.text.get(self.at) == Some(&b'x') {
            self.at = start;
            return None;
        }
        id.map(TmuxPaneId)
    }

    fn cells(&mut self, direction: LayoutDirection, depth: usize) -> Option<CellContent> {
        self.at += 1;
        if depth == DEEPEST {
            return None;
        }
        let mut cells = vec![self.cell(depth + 1)?];
        while self.eat(b',').is_some() {
            cells.push(self.cell(depth + 1)?);
        }
        let (_, close) = brackets(direction);
        self.eat(u8::try_from(close).ok()?)?;
        Some(CellContent::Cells(direction, cells))
    }
}

impl FromStr for LayoutTree {
    type Err = LayoutParseError;

    fn from_str(text: &str) -> Result<Self, LayoutParseError> {
        let (sum, body) = text.split_once(',').ok_or(LayoutParseError::Syntax(0))?;
        let hex = sum.len() == 4 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let expected =
            u16::from_str_radix(sum, 16).ok().filter(|_| hex).ok_or(LayoutParseError::Syntax(0))?;
        let found = checksum(body);
        if expected != found {
            return Err(LayoutParseError::Checksum { said: expected, found });
        }
        let mut reader = LayoutReader { text: body.as_bytes(), at: 0 };
        let root = reader.cell(0).filter(|_| reader.at == body.len());
        Self::new(root.ok_or(LayoutParseError::Syntax(sum.len() + 1 + reader.at))?)
    }
}

impl fmt::Display for LayoutTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::new();
        write(&self.0, &mut body)?;
        write!(f, "{:04x},{body}", checksum(&body))
    }
}

impl Serialize for LayoutTree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LayoutTree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl fmt::Display for LayoutParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(at) => write!(f, "invalid tmux layout at byte {at}"),
            Self::Checksum { said, found } => {
                write!(f, "the layout's checksum is {found:04x}, not {said:04x}")
            }
            Self::Inconsistent => f.write_str("the cells of the layout do not add up to its size"),
            Self::DuplicatePane(pane) => write!(f, "pane {pane} is in the layout twice"),
        }
    }
}
