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

use paned_keeper::tape::Reader;
use paned_model::{PaneId, Size};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::native::Places;
use crate::sessions::layout::{self, Number, Split};
use crate::sessions::{Direction, Name};

/// How long a pane may take to come to life. What is not alive then never was.
const BIRTH: Duration = Duration::from_secs(30);
/// A longer name does not fit into a pane's id.
const LONGEST_STEM: usize = 48;

/// What is written down of a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) session: Name,
    pub(super) number: Number,
    pub(super) origin: Origin,
}

/// Where a pane came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Origin {
    /// It is the first of a session of this size.
    Window(Size),
    /// It was split off another.
    Split(Number, Direction),
}

impl Record {
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
pub(super) struct Member {
    pub(super) id: PaneId,
    pub(super) record: Record,
    pub(super) life: Life,
}

/// Whether a pane lives.
#[derive(Debug)]
pub(super) enum Life {
    /// It is being started.
    Coming,
    /// It prints here.
    Alive(Reader),
    /// Its program has ended, or its keeper is gone.
    Ended,
}

/// A session: its panes in the order they were made, living or not.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: Name,
    pub(super) members: Vec<Member>,
}

impl Group {
    /// How large the session is.
    pub(super) fn window(&self) -> Size {
        let window = self.members.iter().find_map(|member| match member.record.origin {
            Origin::Window(size) => Some(size),
            Origin::Split(..) => None,
        });
        window.unwrap_or_default()
    }

    /// The panes that live, with what they print.
    pub(super) fn living(&self) -> impl DoubleEndedIterator<Item = (&Member, &Reader)> {
        self.members.iter().filter_map(|member| match &member.life {
            Life::Alive(tape) => Some((member, tape)),
            Life::Coming | Life::Ended => None,
        })
    }

    /// The pane that the session as a target means.
    pub(super) fn active(&self) -> Option<(&Member, &Reader)> {
        self.living().next_back()
    }

    /// Whether nothing of it lives or will.
    pub(super) fn is_over(&self) -> bool {
        self.members.iter().all(|member| matches!(member.life, Life::Ended))
    }

    /// How large each living pane is to be.
    pub(super) fn sizes(&self) -> BTreeMap<Number, Size> {
        let splits = self.members.iter().filter_map(|member| match member.record.origin {
            Origin::Window(_) => None,
            Origin::Split(of, direction) => Some((member.record.number, Split { of, direction })),
        });
        let living: BTreeSet<Number> =
            self.living().map(|(member, _)| member.record.number).collect();
        layout::sizes(self.window(), &splits.collect(), &living)
    }

    /// The number of the next pane.
    pub(super) fn next(&self) -> Number {
        self.members.last().map_or(0, |last| last.record.number + 1)
    }
}

/// Every session in a state folder; those that are over are cleared away.
pub(super) fn tidy(places: &Places) -> io::Result<Vec<Group>> {
    if !places.all().exists() {
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
pub(super) fn bury(places: &Places, name: &Name) -> io::Result<()> {
    let _lock = lock(places)?;
    let groups = all(places)?;
    let over = groups.iter().filter(|group| group.name == *name && group.is_over());
    over.into_iter().try_for_each(|group| remove(places, group))
}

/// The first pane goes last: its folder holds the name.
fn remove(places: &Places, group: &Group) -> io::Result<()> {
    let mut ids = group.members.iter().rev().map(|member| &member.id);
    ids.try_for_each(|id| places.remove_now(id)).map_err(io::Error::other)
}

/// Gives a session another size, for everybody who asks from now on.
pub(super) fn set_window(places: &Places, group: &Group, size: Size) -> io::Result<()> {
    let _lock = lock(places)?;
    let Some(first) = group.members.first() else { return Ok(()) };
    let record = Record { origin: Origin::Window(size), ..first.record.clone() };
    let (file, new) = (places.record(&first.id), places.folder(&first.id).join("pane.json.new"));
    let mut options = OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(&new);
    written.and_then(|mut written| written.write_all(record.text().as_bytes()))?;
    fs::rename(new, file)
}

/// One process at a time clears away: what it has looked at must not be made anew before it is removed.
fn lock(places: &Places) -> io::Result<File> {
    let file = places.all().with_file_name("sessions.lock");
    let file =
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

fn all(places: &Places) -> io::Result<Vec<Group>> {
    let mut groups: BTreeMap<Name, Vec<Member>> = BTreeMap::new();
    let entries = match fs::read_dir(places.all()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    for entry in entries.flatten() {
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(member) = id.and_then(|id| member(places, id)) {
            groups.entry(member.record.session.clone()).or_default().push(member);
        }
    }
    let mut groups: Vec<Group> =
        groups.into_iter().map(|(name, members)| Group { name, members }).collect();
    groups.iter_mut().for_each(|group| group.members.sort_by_key(|member| member.record.number));
    Ok(groups)
}

/// A pane that is ours; a folder whose record is not is somebody else's.
fn member(places: &Places, id: PaneId) -> Option<Member> {
    let record = fs::read_to_string(places.record(&id)).ok()?;
    let record: Record = serde_json::from_str(&record).ok()?;
    let life = life(places, &id);
    Some(Member { id, record, life })
}

fn life(places: &Places, id: &PaneId) -> Life {
    let tape = Reader::open(&places.tape(id)).ok();
    if tape.as_ref().is_some_and(|tape| tape.ending().is_some()) {
        return Life::Ended;
    }
    // Whoever listens at the socket has made the tape before.
    let listens = UnixStream::connect(places.socket(id)).is_ok();
    match tape {
        Some(tape) if listens => Life::Alive(tape),
        Some(_) | None if is_young(&places.folder(id)) => Life::Coming,
        Some(_) | None => Life::Ended,
    }
}

fn is_young(folder: &Path) -> bool {
    let made = folder.metadata().and_then(|found| found.modified());
    made.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < BIRTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_makes_an_id_of_its_own() {
        let id = |name: &str, number| {
            let (session, origin) = (name.parse().unwrap(), Origin::Window(Size::default()));
            Record { session, number, origin }.id().unwrap()
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
        for origin in [Origin::Window(Size::default()), Origin::Split(3, Direction::Vertical)] {
            let record = Record { session: "a.b".parse().unwrap(), number: 7, origin };
            assert_eq!(serde_json::from_str::<Record>(&record.text()).unwrap(), record);
        }
    }

    #[test]
    fn what_never_came_to_life_is_cleared_away_and_others_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::new(dir.path());
        let origin = Origin::Window(Size::default());
        let record = Record { session: "a".parse().unwrap(), number: 0, origin };
        let (ours, theirs) = (record.id().unwrap(), "theirs".parse().unwrap());
        for (id, text) in [(&ours, record.text()), (&theirs, "{}".to_owned())] {
            fs::create_dir_all(places.folder(id)).unwrap();
            fs::write(places.record(id), text).unwrap();
        }
        assert_eq!(tidy(&places).unwrap().len(), 0);
        assert!(places.folder(&ours).exists(), "it may be on its way");
        let old = std::time::SystemTime::now() - 2 * BIRTH;
        File::open(places.folder(&ours)).unwrap().set_modified(old).unwrap();
        tidy(&places).unwrap();
        assert!(!places.folder(&ours).exists());
        assert!(places.folder(&theirs).exists());
    }
}
