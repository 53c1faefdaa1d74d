//! The panes of a state folder by session, and which of them are alive.
//!
//! A pane's record names its session and the split that made it, and never changes. Only the first
//! pane's record also holds the size of the session, which can change. A session's folders stay
//! until all its panes have ended: so its name stays taken, and every process can compute the sizes
//! of its panes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use paned_model::{PaneId, Size};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::layout::{self, PaneNumber, SplitRecord};
use crate::{Name, SplitOrientation};
use paned_backend::native::StateDir;

/// How long a pane may take to start. One that is not alive after that counts as ended.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(30);
/// A longer name does not fit into a pane's id.
const LONGEST_STEM: usize = 48;

/// What is stored of a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionPaneRecord {
    pub(super) session: Name,
    pub(super) number: PaneNumber,
    pub(super) origin: SplitOrigin,
}

/// How a pane was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SplitOrigin {
    /// As the first pane of a session of this size.
    Window(Size),
    /// By a split of another pane.
    Split(PaneNumber, SplitOrientation),
}

impl SessionPaneRecord {
    /// The id of its pane: the number and the session's name. A long name is shortened, and made
    /// unique by a hash.
    pub(super) fn id(&self) -> Option<PaneId> {
        let name = self.session.as_str();
        let number = self.number;
        let id = match name.len() {
            ..=LONGEST_STEM => format!("{number}.{name}"),
            _ => format!("{number}.{}.{:016x}", &name[..32], hash(name.as_bytes())),
        };
        id.parse().ok()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// FNV-1a: the same in every process and build.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}

/// A pane of a session.
#[derive(Debug)]
pub(super) struct SessionMember {
    pub(super) id: PaneId,
    pub(super) record: SessionPaneRecord,
    pub(super) state: MemberState,
}

/// Whether a pane is alive.
#[derive(Debug)]
pub(super) enum MemberState {
    /// It is being started.
    Starting,
    /// It is alive; this is its tape.
    Alive(TapeReader),
    /// Its program has ended, or its keeper is gone.
    Ended,
}

/// A session: its panes in the order they were made, alive or not.
#[derive(Debug)]
pub(super) struct SessionPanes {
    pub(super) name: Name,
    pub(super) members: Vec<SessionMember>,
}

impl SessionPanes {
    /// How large the session is.
    pub(super) fn window(&self) -> Size {
        let window = self.members.iter().find_map(|member| match member.record.origin {
            SplitOrigin::Window(size) => Some(size),
            SplitOrigin::Split(..) => None,
        });
        window.unwrap_or_default()
    }

    /// The live panes, with their tapes.
    pub(super) fn living(&self) -> impl DoubleEndedIterator<Item = (&SessionMember, &TapeReader)> {
        self.members.iter().filter_map(|member| match &member.state {
            MemberState::Alive(tape) => Some((member, tape)),
            MemberState::Starting | MemberState::Ended => None,
        })
    }

    /// The pane that the session as a target means.
    pub(super) fn active(&self) -> Option<(&SessionMember, &TapeReader)> {
        self.living().next_back()
    }

    /// Whether no pane is alive or starting.
    pub(super) fn is_over(&self) -> bool {
        self.members.iter().all(|member| matches!(member.state, MemberState::Ended))
    }

    /// The computed size of each live pane.
    pub(super) fn sizes(&self) -> BTreeMap<PaneNumber, Size> {
        let splits = self.members.iter().filter_map(|member| match member.record.origin {
            SplitOrigin::Window(_) => None,
            SplitOrigin::Split(of, direction) => {
                Some((member.record.number, SplitRecord { of, direction }))
            }
        });
        let living: BTreeSet<PaneNumber> =
            self.living().map(|(member, _)| member.record.number).collect();
        layout::sizes(self.window(), &splits.collect(), &living)
    }

    /// The number of the next pane.
    pub(super) fn next(&self) -> PaneNumber {
        self.members.last().map_or(0, |last| last.record.number + 1)
    }
}

/// Every session in a state folder; the files of those that are over are removed.
pub(super) fn list_and_cleanup(state_dir: &StateDir) -> io::Result<Vec<SessionPanes>> {
    if !state_dir.panes_dir().exists() {
        return Ok(Vec::new());
    }
    let _lock = lock(state_dir)?;
    let (over, mut groups): (Vec<_>, Vec<_>) =
        all(state_dir)?.into_iter().partition(|group| group.is_over());
    over.iter().try_for_each(|group| remove(state_dir, group))?;
    groups.retain(|group| group.active().is_some());
    Ok(groups)
}

/// Removes a session's files if no pane of it is alive.
pub(super) fn cleanup(state_dir: &StateDir, name: &Name) -> io::Result<()> {
    let _lock = lock(state_dir)?;
    let groups = all(state_dir)?;
    let over = groups.iter().filter(|group| group.name == *name && group.is_over());
    over.into_iter().try_for_each(|group| remove(state_dir, group))
}

/// The first pane's folder is removed last: it reserves the name.
fn remove(state_dir: &StateDir, group: &SessionPanes) -> io::Result<()> {
    let mut ids = group.members.iter().rev().map(|member| &member.id);
    ids.try_for_each(|id| state_dir.remove_now(id)).map_err(io::Error::other)
}

/// Stores another size of a session, for all later calls of any process.
pub(super) fn set_window(state_dir: &StateDir, group: &SessionPanes, size: Size) -> io::Result<()> {
    let _lock = lock(state_dir)?;
    let Some(first) = group.members.first() else { return Ok(()) };
    let record = SessionPaneRecord { origin: SplitOrigin::Window(size), ..first.record.clone() };
    let file = state_dir.record(&first.id);
    let new = state_dir.pane_dir(&first.id).join("pane.json.new");
    let mut options = OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(&new);
    written.and_then(|mut written| written.write_all(record.text().as_bytes()))?;
    fs::rename(new, file)
}

/// Only one process cleans up at a time: a folder that it has checked must not be created again
/// before it is removed.
fn lock(state_dir: &StateDir) -> io::Result<File> {
    let file = state_dir.panes_dir().with_file_name("sessions.lock");
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn all(state_dir: &StateDir) -> io::Result<Vec<SessionPanes>> {
    let mut groups: BTreeMap<Name, Vec<SessionMember>> = BTreeMap::new();
    let entries = match fs::read_dir(state_dir.panes_dir()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    for entry in entries.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(member) = id.and_then(|id| member(state_dir, id)) {
            groups.entry(member.record.session.clone()).or_default().push(member);
        }
    }
    let mut groups: Vec<SessionPanes> =
        groups.into_iter().map(|(name, members)| SessionPanes { name, members }).collect();
    groups.iter_mut().for_each(|group| group.members.sort_by_key(|member| member.record.number));
    Ok(groups)
}

/// A pane of a session; `None` for a folder with another kind of record.
fn member(state_dir: &StateDir, id: PaneId) -> Option<SessionMember> {
    let record = fs::read_to_string(state_dir.record(&id)).ok()?;
    let record: SessionPaneRecord = serde_json::from_str(&record).ok()?;
    let state = member_state(state_dir, &id);
    Some(SessionMember { id, record, state })
}

fn member_state(state_dir: &StateDir, id: &PaneId) -> MemberState {
    let tape = TapeReader::open(&state_dir.tape(id)).ok();
    if tape.as_ref().is_some_and(|tape| tape.ending().is_some()) {
        return MemberState::Ended;
    }
    // A keeper that listens at the socket has made the tape before.
    let is_listening = UnixStream::connect(state_dir.socket(id)).is_ok();
    match tape {
        Some(tape) if is_listening => MemberState::Alive(tape),
        Some(_) | None if is_young(&state_dir.pane_dir(id)) => MemberState::Starting,
        Some(_) | None => MemberState::Ended,
    }
}

fn is_young(folder: &Path) -> bool {
    let made = folder.metadata().and_then(|found| found.modified());
    made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < SPAWN_TIMEOUT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_an_id_of_its_own() {
        let id = |name: &str, number| {
            let (session, origin) = (name.parse().unwrap(), SplitOrigin::Window(Size::default()));
            SessionPaneRecord { session, number, origin }.id().unwrap()
        };
        assert_eq!(id("..", 0).as_str(), "0...");
        assert_eq!(id("-x", 12).as_str(), "12.-x");
        let (long, other) = ("x".repeat(128), format!("{}y", "x".repeat(127)));
        assert_ne!(id(&long, 0), id(&other, 0));
        let stem = id(&long, 0).as_str().strip_prefix("0.").unwrap().to_owned();
        assert!(LONGEST_STEM < stem.len(), "a short name could be the same");
    }

    #[test]
    fn a_record_comes_back() {
        for origin in [
            SplitOrigin::Window(Size::default()),
            SplitOrigin::Split(3, SplitOrientation::Vertical),
        ] {
            let record = SessionPaneRecord { session: "a.b".parse().unwrap(), number: 7, origin };
            assert_eq!(serde_json::from_str::<SessionPaneRecord>(&record.text()).unwrap(), record);
        }
    }

    #[test]
    fn what_never_came_to_life_is_cleared_away_and_others_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let state_dir = StateDir::new(dir.path());
        let origin = SplitOrigin::Window(Size::default());
        let record = SessionPaneRecord { session: "a".parse().unwrap(), number: 0, origin };
        let (ours, theirs) = (record.id().unwrap(), "theirs".parse().unwrap());
        for (id, text) in [(&ours, record.text()), (&theirs, "{}".to_owned())] {
            fs::create_dir_all(state_dir.pane_dir(id)).unwrap();
            fs::write(state_dir.record(id), text).unwrap();
        }
        assert_eq!(list_and_cleanup(&state_dir).unwrap().len(), 0);
        assert!(state_dir.pane_dir(&ours).exists(), "it may be on its way");
        let old = std::time::SystemTime::now() - 2 * SPAWN_TIMEOUT;
        File::open(state_dir.pane_dir(&ours)).unwrap().set_modified(old).unwrap();
        list_and_cleanup(&state_dir).unwrap();
        assert!(!state_dir.pane_dir(&ours).exists());
        assert!(state_dir.pane_dir(&theirs).exists());
    }
}
