//! Folders and sockets that no other user of the machine can replace.
//!
//! A path is trusted when every folder on it belongs to us or to root, and other users can neither
//! write into it nor remove an entry of ours from it. A sticky folder such as `/tmp` passes,
//! because only the owner of an entry can remove or rename it there, and every entry on the path
//! must belong to us or to root. Folders are opened one by one from `/`, never by their path, so
//! what was checked is what is used. Symbolic links are resolved here and must belong to us or to
//! root as well.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};

use paned_keeper::peer_uid;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, fstat, mkdirat, open, openat, readlinkat, statat,
};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// How many symbolic links a path may have, as in Linux.
const MAX_LINKS: usize = 40;

/// Why a path is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {doing} {}: {reason}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        reason: String,
        /// Its error number, which identifies a limit of the machine.
        errno: Option<i32>,
        /// Whether nothing exists there.
        is_missing: bool,
    },
    /// Another user could replace it, or it is not what it should be.
    #[error("{0}")]
    Untrusted(String),
}

/// Which owners are trusted beside ourselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrustedOwners {
    /// Root.
    Root,
    /// Root, and users that this user namespace does not map if root is one of them: in such a
    /// sandbox `/` and `/home` have no other owner. Only for folders of our own.
    RootOrUnmapped,
}

/// An open folder that passed the check.
#[derive(Debug)]
pub struct TrustedDir {
    fd: OwnedFd,
    path: PathBuf,
}

impl TrustedDir {
    /// Opens a folder if it is trusted.
    ///
    /// # Errors
    /// When it does not exist, or another user could replace it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        walk(path, TrustedOwners::Root, MissingDir::Refuse)
    }

    /// Opens a folder of our own that only its user can enter; makes it and its parents where they
    /// are missing.
    ///
    /// # Errors
    /// When it cannot be made, or another user could enter or replace it.
    pub fn make_private(path: &Path) -> Result<Self, Error> {
        let folder = walk(path, TrustedOwners::RootOrUnmapped, MissingDir::Make)?;
        folder.check_private()?;
        Ok(folder)
    }

    /// The same, and removes the access of others to a folder of ours. For folders that hold
    /// nothing but our files.
    ///
    /// # Errors
    /// When it cannot be made or closed, or another user could replace it.
    pub fn make_closed(path: &Path) -> Result<Self, Error> {
        let folder = walk(path, TrustedOwners::RootOrUnmapped, MissingDir::Make)?;
        let found = fstat(&folder.fd).map_err(|errno| failed(&folder.path, errno))?;
        let is_own = found.st_uid == rustix::process::geteuid().as_raw();
        if is_own && mode(&found) & 0o077 != 0 {
            // By its path, which no other user can change: the descriptor is opened for path
            // lookups only.
            let closed = fs::set_permissions(&folder.path, fs::Permissions::from_mode(0o700));
            closed.map_err(|error| io_error("close the folder", &folder.path, &error))?;
        }
        folder.check_private()?;
        Ok(folder)
    }

    /// Opens an existing folder of our own that only its user can enter.
    ///
    /// # Errors
    /// As [`TrustedDir::make_private`].
    pub fn open_private(path: &Path) -> Result<Self, Error> {
        let folder = walk(path, TrustedOwners::RootOrUnmapped, MissingDir::Refuse)?;
        folder.check_private()?;
        Ok(folder)
    }

    /// Where it is, without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path to the open folder itself, also after it was renamed. `None` where the system has no
    /// such paths. It is valid in this process and in a child until it runs its program.
    #[must_use]
    pub fn descriptor_path(&self) -> Option<PathBuf> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()));
        (cfg!(target_os = "linux") && fs::symlink_metadata(&path).is_ok()).then_some(path)
    }

    fn check_private(&self) -> Result<(), Error> {
        let shown = self.path.display();
        let found = fstat(&self.fd).map_err(|errno| failed(&self.path, errno))?;
        if found.st_uid != rustix::process::geteuid().as_raw() {
            return Err(Error::Untrusted(format!(
                "the folder {shown} belongs to another user; use a folder that you own"
            )));
        }
        if mode(&found) & 0o077 != 0 {
            return Err(Error::Untrusted(format!(
                "other users can access {shown}; restrict it with `chmod 700 {shown}`"
            )));
        }
        Ok(())
    }
}

/// A socket of ours in a trusted folder.
#[derive(Debug)]
pub struct TrustedSocket {
    folder: TrustedDir,
    name: OsString,
}

impl TrustedSocket {
    /// Finds a socket of ours whose path is trusted. Does not connect.
    ///
    /// # Errors
    /// When it does not exist, is not ours, or another user could replace it.
    pub fn find(path: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
        // If the last component is a symbolic link, its target's folder is checked in turn.
        let mut next = absolute;
        for _ in 0..MAX_LINKS {
            let no_socket = || Error::Untrusted(format!("{} is not a socket", path.display()));
            let name = next.file_name().ok_or_else(no_socket)?.to_owned();
            let parent = next.parent().unwrap_or(Path::new("/"));
            let folder = TrustedDir::open(parent)?;
            let full = folder.path.join(&name);
            let found = entry(&folder, &name)?;
            if FileType::from_raw_mode(found.st_mode) == FileType::Symlink {
                check_owner(&full, &found, TrustedOwners::Root)?;
                next = folder.path.join(target(&folder, &name)?);
                continue;
            }
            if FileType::from_raw_mode(found.st_mode) != FileType::Socket {
                return Err(no_socket());
            }
            if found.st_uid != rustix::process::geteuid().as_raw() {
                let sentence = format!("{} belongs to another user", path.display());
                return Err(Error::Untrusted(sentence));
            }
            return Ok(Self { folder, name });
        }
        Err(too_many_links(path))
    }

    /// The folder it is in.
    #[must_use]
    pub fn folder(&self) -> &TrustedDir {
        &self.folder
    }

    /// Its name in that folder.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Where it is, without symbolic links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path.join(&self.name)
    }

    /// Connects, and refuses a listener that runs as another user. Never waits: a listener that
    /// accepts no connection is refused, too.
    ///
    /// # Errors
    /// When the connection fails, or the listener is another user's.
    pub fn connect(&self) -> Result<UnixStream, Error> {
        let path = self.path();
        let near = self.folder.descriptor_path().unwrap_or_else(|| self.folder.path.clone());
        let fail = |errno: Errno| failed(&path, errno);
        let address = SocketAddrUnix::new(near.join(&self.name)).map_err(fail)?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(fail)?;
        connect(&fd, &address).map_err(fail)?;
        let stream = UnixStream::from(fd);
        let peer = peer_uid(stream.as_fd()).map_err(|error| unreadable(&path, &error))?;
        if peer != rustix::process::geteuid().as_raw() {
            let sentence = format!("another user (uid {peer}) listens at {}", path.display());
            return Err(Error::Untrusted(sentence));
        }
        Ok(stream)
    }
}

/// What to do where a folder is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MissingDir {
    Refuse,
    Make,
}

/// Opens a folder, level by level from `/`.
fn walk(path: &Path, owners: TrustedOwners, missing: MissingDir) -> Result<TrustedDir, Error> {
    let absolute = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
    let mut rest = names(&absolute);
    let mut levels = vec![root()?];
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        let Some(here) = levels.last() else { return Err(too_many_links(path)) };
        if name == ".." {
            levels.truncate((levels.len() - 1).max(1));
            continue;
        }
        let full = here.path.join(&name);
        let found = match entry(here, &name) {
            Err(Error::Io { is_missing: true, .. }) if missing == MissingDir::Make => {
                make(here, &name)?;
                entry(here, &name)?
            }
            found => found?,
        };
        check_owner(&full, &found, owners)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Symlink {
            links += 1;
            if MAX_LINKS < links {
                return Err(too_many_links(path));
            }
            let target = target(here, &name)?;
            if target.is_absolute() {
                levels.truncate(1);
            }
            names(&target).into_iter().rev().for_each(|name| rest.push_front(name));
            continue;
        }
        let next = enter(here, &name, owners)?;
        levels.push(next);
    }
    levels.pop().ok_or_else(|| too_many_links(path))
}

/// The names on a path, without `.` and the root.
fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY;

/// `/` is always trusted.
fn root() -> Result<TrustedDir, Error> {
    let path = PathBuf::from("/");
    let flags = LOOK | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = open(&path, flags, Mode::empty()).map_err(|errno| failed(&path, errno))?;
    Ok(TrustedDir { fd, path })
}

fn enter(here: &TrustedDir, name: &OsStr, owners: TrustedOwners) -> Result<TrustedDir, Error> {
    let path = here.path.join(name);
    let flags = LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match openat(&here.fd, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return Err(Error::Untrusted(format!("{} is not a folder", path.display())));
        }
        fd => fd.map_err(|errno| failed(&path, errno))?,
    };
    // The open folder is checked, because the name may lead elsewhere since the last check.
    let found = fstat(&fd).map_err(|errno| failed(&path, errno))?;
    check_owner(&path, &found, owners)?;
    let is_sticky = mode(&found) & 0o1000 != 0;
    if !is_sticky && others_can_write(&found) {
        let shown = path.display();
        return Err(Error::Untrusted(format!(
            "other users can write to {shown} and replace its files; restrict it with `chmod \
            go-w {shown}`, or choose another folder"
        )));
    }
    Ok(TrustedDir { fd, path })
}

fn make(here: &TrustedDir, name: &OsStr) -> Result<(), Error> {
    let path = here.path.join(name);
    match mkdirat(&here.fd, name, Mode::RWXU) {
        // Another process of ours may have made it meanwhile; it is checked like any other folder.
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(io_error("make the folder", &path, &errno.into())),
    }
}

fn entry(here: &TrustedDir, name: &OsStr) -> Result<Stat, Error> {
    let found = statat(&here.fd, name, AtFlags::SYMLINK_NOFOLLOW);
    found.map_err(|errno| failed(&here.path.join(name), errno))
}

fn target(here: &TrustedDir, name: &OsStr) -> Result<PathBuf, Error> {
    let target = readlinkat(&here.fd, name, Vec::new());
    let target = target.map_err(|errno| failed(&here.path.join(name), errno))?;
    Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

fn check_owner(path: &Path, found: &Stat, owners: TrustedOwners) -> Result<(), Error> {
    let own = rustix::process::geteuid().as_raw();
    let is_unmapped =
        || owners == TrustedOwners::RootOrUnmapped && Some(found.st_uid) == uid_of_the_unmapped();
    if found.st_uid == 0 || found.st_uid == own || is_unmapped() {
        return Ok(());
    }
    Err(Error::Untrusted(format!(
        "{} belongs to another user (uid {}), who could replace its files",
        path.display(),
        found.st_uid
    )))
}

/// The owner id of files of unmapped users, where root itself is not mapped in our user namespace.
fn uid_of_the_unmapped() -> Option<u32> {
    let map = fs::read_to_string("/proc/self/uid_map").ok()?;
    let mut outside = map.lines().filter_map(|line| line.split_whitespace().nth(1));
    if outside.any(|first| first == "0") {
        return None;
    }
    fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
}

/// Whether a user other than its owner and root can write into a folder. An ACL shows in the group
/// bits.
fn others_can_write(found: &Stat) -> bool {
    let by_all = mode(found) & 0o002 != 0;
    let by_group = mode(found) & 0o020 != 0;
    by_all || by_group && found.st_gid != 0 && !is_private_group(found)
}

/// Whether the group of a folder of ours has us as its only member, as is usual where the umask is
/// 002.
fn is_private_group(found: &Stat) -> bool {
    let own = rustix::process::geteuid().as_raw();
    if found.st_uid != own || found.st_gid != own {
        return false;
    }
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let gid = own.to_string();
    let group = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let mut group = group.filter(|fields| fields.get(2) == Some(&gid.as_str()));
    group.all(|fields| {
        let members = fields.get(3).copied().unwrap_or_default().split(',');
        members.filter(|member| !member.is_empty()).all(|member| Some(&member) == fields.first())
    })
}

#[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "16 bits on macOS"))]
fn mode(found: &Stat) -> u32 {
    u32::from(found.st_mode)
}

fn failed(path: &Path, errno: Errno) -> Error {
    unreadable(path, &errno.into())
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    io_error("look at", path, error)
}

fn io_error(doing: &'static str, path: &Path, error: &io::Error) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let errno = error.raw_os_error();
    Error::Io { doing, path: path.to_owned(), reason: error.to_string(), errno, is_missing }
}

fn too_many_links(path: &Path) -> Error {
    Error::Untrusted(format!("{} has too many symbolic links", path.display()))
}

#[cfg(test)]
mod tests;
