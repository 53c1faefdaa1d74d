//! Recreates a pane's files if another process has deleted them: the next server finds a running
//! program by its folder.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::owned_file::OwnedFile;
use crate::process::spawn;
use crate::tape::TapeWriter;

/// Where a pane's tape and its keeper's socket are.
pub(crate) struct PaneFiles {
    tape: PathBuf,
    socket: PathBuf,
}

impl PaneFiles {
    pub(crate) fn new(tape: &str, socket: &str) -> Self {
        Self { tape: tape.into(), socket: socket.into() }
    }

    /// Recreates the files that are gone. Answers the new listener if the socket was among them. An
    /// existing file is left alone: it may be another pane's by now.
    pub(crate) fn restore(
        &self,
        tape: &mut TapeWriter,
    ) -> io::Result<Option<(UnixListener, OwnedFile)>> {
        if is_gone(&self.tape) {
            make_folder(&self.tape)?;
            tape.move_to(&self.tape)?;
        }
        if !is_gone(&self.socket) {
            return Ok(None);
        }
        make_folder(&self.socket)?;
        spawn::listen(&self.socket).map(Some)
    }
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn make_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    DirBuilder::new().mode(0o700).recursive(true).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use paned_model::Time;

    use super::*;
    use crate::tape::{MIN_CAPACITY, TapeReader};

    #[test]
    fn deleted_files_are_made_anew_and_the_tape_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let pane = folder.path().join("panes/a");
        let (tape, socket) = (pane.join("tape"), pane.join("keeper.sock"));
        fs::create_dir_all(&pane).unwrap();
        let files = PaneFiles::new(&tape.to_string_lossy(), &socket.to_string_lossy());
        let mut writer = TapeWriter::create(&tape, MIN_CAPACITY, Time(1)).unwrap();
        writer.append(b"before\n", Time(2)).unwrap();
        let first = files.restore(&mut writer).unwrap().expect("there was no socket");
        assert!(files.restore(&mut writer).unwrap().is_none(), "all is there");
        fs::remove_dir_all(folder.path().join("panes")).unwrap();
        let second = files.restore(&mut writer).unwrap().expect("the socket is gone");
        writer.append(b"after\n", Time(3)).unwrap();
        UnixStream::connect(&socket).unwrap();
        let reader = TapeReader::open(&tape).unwrap();
        let mut bytes = [0; 100];
        let read = reader.read(0, &mut bytes).unwrap().unwrap();
        assert_eq!(&bytes[..read], b"before\nafter\n");
        assert_eq!((reader.lines(), reader.damage(), reader.has_live_keeper()), (2, None, true));
        drop((first, second));
    }
}
