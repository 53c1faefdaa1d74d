//! Whether the process that writes a tape is alive.

use super::TapeReader;

impl TapeReader {
    /// Whether the tape's keeper is alive. Another process that has reused its pid does not count.
    #[must_use]
    pub fn has_live_keeper(&self) -> bool {
        system::is_kept(self)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::TapeReader;

    /// The keeper is the process with that pid that has this very file open for writing; readers
    /// have it open, too. A process that exits closes its files before its peers see its sockets
    /// closed.
    pub(super) fn is_kept(tape: &TapeReader) -> bool {
        let Ok(own) = tape.file.metadata() else { return false };
        let keeper = tape.keeper();
        let open = fs::read_dir(format!("/proc/{keeper}/fd")).into_iter().flatten();
        open.flatten().any(|fd| {
            let file = fs::metadata(fd.path());
            let is_it = file.is_ok_and(|file| (file.dev(), file.ino()) == (own.dev(), own.ino()));
            is_it && is_written(keeper, &fd.file_name().to_string_lossy())
        })
    }

    /// Whether a descriptor is for writing: the last digit of its flags, which are octal.
    fn is_written(process: u32, fd: &str) -> bool {
        let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{fd}")).unwrap_or_default();
        let mut flags = info.lines().filter_map(|line| line.strip_prefix("flags:"));
        flags.any(|flags| flags.ends_with(['1', '2']))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    use super::TapeReader;
    use crate::time;

    /// `ps` reports whole seconds.
    const ROUNDING: u64 = 2;

    /// The keeper is older than its tape; a process that got its pid later is not.
    pub(super) fn is_kept(tape: &TapeReader) -> bool {
        let keeper = tape.keeper().to_string();
        let process = ["-o", "stat=,etime=", "-p", &keeper];
        let Ok(output) = Command::new("/bin/ps").args(process).output() else { return false };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut fields = text.split_ascii_whitespace();
        let lives = fields.next().is_some_and(|stat| !stat.starts_with('Z'));
        let since = time::now().since(tape.started()) / 1000;
        lives && fields.next().and_then(seconds).is_some_and(|age| since <= age + ROUNDING)
    }

    /// Reads `[[days-]hours:]minutes:seconds`.
    fn seconds(text: &str) -> Option<u64> {
        let (days, rest) = text.split_once('-').unwrap_or(("0", text));
        let parts = rest.split(':').map(|part| part.parse::<u64>().ok());
        let within_day = parts.reduce(|sum, part| Some(sum? * 60 + part?))??;
        Some(days.parse::<u64>().ok()? * 24 * 60 * 60 + within_day)
    }
}
