//! Which panes of a state folder belong together, and which of them live.
//!
//! A pane's record says its session and where it came from, and never changes; the first one's also says how large
//! the session is. A session's folders stay until all of it is over, so that its name is taken that long and everybody
//! can tell how its panes share its room.

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

/// How long a pane may take to come to life. What is not alive then never was.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(30);
/// A longer name does not fit into a pane's id.
const LONGEST_STEM: usize = 48;

/// What is written down of a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionPaneRecord {
    pub(super) session: Name,
    pub(super) number: PaneNumber,
    pub(super) origin: SplitOrigin,
}

/// Where a pane came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SplitOrigin {
    /// It is the first of a session of this size.
    Window(Size),
    /// It was split off another.
    Split(PaneNumber, SplitOrientation),
}

impl SessionPaneRecord {
    /// The id of its pane: the session's name after its number. A long name is shortened, and told apart by a hash.
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

/// Whether a pane lives.
#[derive(Debug)]
pub(super) enum MemberState {
    /// It is being started.
    Starting,
    /// It prints here.
    Alive(TapeReader),
    /// Its program has ended, or its keeper is gone.
    Ended,
}

/// A session: its panes in the order they were made, living or not.
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

    /// The panes that live, with what they print.
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

    /// Whether nothing of it lives or will.
    pub(super) fn is_over(&self) -> bool {
        self.members.iter().all(|member| matches!(member.state, MemberState::Ended))
    }

    /// How large each living pane is to be.
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

/// Every session in a state folder; those that are over are cleared away.
pub(super) fn list_and_cleanup(places: &StateDir) -> io::Result<Vec<SessionPanes>> {
    if !places.panes_dir().exists() {
        return Ok(Vec::new());
    }
    let _lock = lock(places)?;
    let (over, mut groups): (Vec<_>, Vec<_>) =
        all(places)?.into_iter().partition(|group| group.is_over());
    over.iter().try_for_each(|group| remove(places, group))?;
    groups.retain(|group| group.active().is_some());
    Ok(groups)
}

/// Removes a session's files once nothing of it lives.
pub(super) fn cleanup(places: &StateDir, name: &Name) -> io::Result<()> {
    let _lock = lock(places)?;
    let groups = all(places)?;
    let over = groups.iter().filter(|group| group.name == *name && group.is_over());
    over.into_iter().try_for_each(|group| remove(places, group))
}

/// The first pane goes last: its folder holds the name.
fn remove(places: &StateDir, group: &SessionPanes) -> io::Result<()> {
    let mut ids = group.members.iter().rev().map(|member| &member.id);
    ids.try_for_each(|id| places.remove_now(id)).map_err(io::Error::other)
}

/// Gives a session another size, for everybody who asks from now on.
pub(super) fn set_window(places: &StateDir, group: &SessionPanes, size: Size) -> io::Result<()> {
    let _lock = lock(places)?;
    let Some(first) = group.members.first() else { return Ok(()) };
    let record = SessionPaneRecord { origin: SplitOrigin::Window(size), ..first.record.clone() };
    let (file, new) = (places.record(&first.id), places.pane_dir(&first.id).join("pane.json.new"));
    let mut options = OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(&new);
    written.and_then(|mut written| written.write_all(record.text().as_bytes()))?;
    fs::rename(new, file)
}

/// One process at a time clears away: what it has looked at must not be made anew before it is removed.
fn lock(places: &StateDir) -> io::Result<File> {
    let file = places.panes_dir().with_file_name("sessions.lock");
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn all(places: &StateDir) -> io::Result<Vec<SessionPanes>> {
    let mut groups: BTreeMap<Name, Vec<SessionMember>> = BTreeMap::new();
    let entries = match fs::read_dir(places.panes_dir()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    for entry in entries.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(member) = id.and_then(|id| member(places, id)) {
            groups.entry(member.record.session.clone()).or_default().push(member);
        }
    }
    let mut groups: Vec<SessionPanes> =
        groups.into_iter().map(|(name, members)| SessionPanes { name, members }).collect();
    groups.iter_mut().for_each(|group| group.members.sort_by_key(|member| member.record.number));
    Ok(groups)
}

/// A pane that is ours; a folder whose record is not is somebody else's.
fn member(places: &StateDir, id: PaneId) -> Option<SessionMember> {
    let record = fs::read_to_string(places.record(&id)).ok()?;
    let record: SessionPaneRecord = serde_json::from_str(&record).ok()?;
    let life = member_state(places, &id);
    Some(SessionMember { id, record, state: life })
}

fn member_state(places: &StateDir, id: &PaneId) -> MemberState {
    let tape = TapeReader::open(&places.tape(id)).ok();
    if tape.as_ref().is_some_and(|tape| tape.ending().is_some()) {
        return MemberState::Ended;
    }
    // Whoever listens at the socket has made the tape before.
    let listens = UnixStream::connect(places.socket(id)).is_ok();
    match tape {
        Some(tape) if listens => MemberState::Alive(tape),
        Some(_) | None if is_young(&places.pane_dir(id)) => MemberState::Starting,
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
        let places = StateDir::new(dir.path());
        let origin = SplitOrigin::Window(Size::default());
        let record = SessionPaneRecord { session: "a".parse().unwrap(), number: 0, origin };
        let (ours, theirs) = (record.id().unwrap(), "theirs".parse().unwrap());
        for (id, text) in [(&ours, record.text()), (&theirs, "{}".to_owned())] {
            fs::create_dir_all(places.pane_dir(id)).unwrap();
            fs::write(places.record(id), text).unwrap();
        }
        assert_eq!(list_and_cleanup(&places).unwrap().len(), 0);
        assert!(places.pane_dir(&ours).exists(), "it may be on its way");
        let old = std::time::SystemTime::now() - 2 * SPAWN_TIMEOUT;
        File::open(places.pane_dir(&ours)).unwrap().set_modified(old).unwrap();
        list_and_cleanup(&places).unwrap();
        assert!(!places.pane_dir(&ours).exists());
        assert!(places.pane_dir(&theirs).exists());
    }
}
