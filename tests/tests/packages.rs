//! The release archive and the Debian package, installed in a clean folder and used from there.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use paned_e2e::{binary, decode_output};
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Packages of this build. The binary is stripped first, because that of a debug build is large.
struct Packages {
    dir: TempDir,
}

impl Packages {
    fn make() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("paned");
        let stripped = Command::new("strip").arg("-o").arg(&bare).arg(binary()).status();
        if !stripped.is_ok_and(|status| status.success()) {
            fs::copy(binary(), &bare).unwrap();
        }
        let mut package = Command::new(root().join("scripts/package"));
        package.arg(&bare).arg(dir.path().join("out")).env("LEVEL", "1");
        check(package.env("TARGET", "some-target"));
        Self { dir }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// The package whose name ends like this.
    fn file(&self, end: &str) -> Option<PathBuf> {
        let files = fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path());
        files.into_iter().find(|file| file.to_string_lossy().ends_with(end))
    }
}

/// Runs a command that must succeed; its output.
#[track_caller]
fn check(command: &mut Command) -> String {
    let (out, err, code) = decode_output(&command.output().unwrap());
    assert_eq!(code, 0, "{command:?}: {out}{err}");
    out
}

/// Runs a shell script with nothing but an installed paned and a home folder.
#[track_caller]
fn shell(bin: &Path, home: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-euc", script]).env_clear().current_dir(home);
    command.env("HOME", home).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command.env("PANED_STATE_DIR", home.join("state")).env("PANED_PORT", "0");
    check(&mut command)
}

/// A newcomer's first minute, as in the README.
const TOUR: &str = r#"
    paned server start
    paned new --id count -- sh -c 'n=0; while :; do n=$((n+1)); echo "count $n"; sleep 0.1; done'
    paned wait count --pattern '^count 3$' --since 0
    pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$PANED_STATE_DIR/server.json")
    kill -9 "$pid"
    paned server start
    paned get count | grep running
    paned run -- sh -c 'echo one command; exit 3' || echo "exit code $?"
    paned kill count
    paned server stop
"#;

#[track_caller]
fn check_tour(bin: &Path) {
    let home = tempfile::tempdir().unwrap();
    let out = shell(bin, home.path(), TOUR);
    assert!(out.contains("one command") && out.contains("exit code 3"), "{out}");
}

fn install(archive: &Path, prefix: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg(root().join("install.sh")).arg(archive).env_clear();
    command.env("HOME", prefix).env("PREFIX", prefix).env("PATH", "/usr/bin:/bin");
    command
}

#[test]
fn the_archive_is_installed_used_and_removed() {
    let packages = Packages::make();
    let archive = packages.file("some-target.tar.gz").unwrap();
    let prefix = tempfile::tempdir().unwrap();
    let out = check(&mut install(&archive, prefix.path()));
    assert!(out.contains("installed paned 0.1.0 in ") && out.contains("on your PATH"), "{out}");
    for file in [
        "bin/paned",
        "share/man/man1/paned.1",
        "share/man/man1/paned-agent-new.1",
        "share/bash-completion/completions/paned",
        "share/zsh/site-functions/_paned",
        "share/fish/vendor_completions.d/paned.fish",
    ] {
        assert!(prefix.path().join(file).is_file(), "{file}");
    }
    check_tour(&prefix.path().join("bin"));
    check(&mut install(Path::new("--uninstall"), prefix.path()));
    let left = shell(Path::new("/usr/bin"), prefix.path(), "find . -type f");
    assert_eq!(left, "");
}

#[test]
fn a_damaged_archive_is_not_installed() {
    let packages = Packages::make();
    let archive = packages.file("some-target.tar.gz").unwrap();
    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&archive, bytes).unwrap();
    let prefix = tempfile::tempdir().unwrap();
    let (_, err, code) = decode_output(&install(&archive, prefix.path()).output().unwrap());
    assert!(code == 1 && err.contains("is damaged"), "{code} {err}");
    assert_eq!(fs::read_dir(prefix.path()).unwrap().count(), 0);
    let (_, err, code) =
        decode_output(&install(Path::new("9.9.9"), prefix.path()).output().unwrap());
    assert!(code == 1 && err.contains("set PANED_DOWNLOAD"), "{code} {err}");
}

#[test]
fn the_debian_package_is_unpacked_and_used() {
    let packages = Packages::make();
    // Made where there is dpkg-deb.
    let Some(deb) = packages.file(".deb") else { return };
    let root = tempfile::tempdir().unwrap();
    check(Command::new("dpkg").arg("-x").arg(&deb).arg(root.path()));
    let info = check(Command::new("dpkg-deb").arg("--field").arg(&deb));
    for field in ["Package: paned", "Version: 0.1.0", "Depends: libc6", "Recommends: tmux"] {
        assert!(info.contains(field), "{field}: {info}");
    }
    let unit = root.path().join("usr/lib/systemd/user/paned.service");
    let unit = fs::read_to_string(unit).unwrap();
    assert!(unit.starts_with("[Unit]\n") && unit.contains("ExecStart=/usr/bin/paned serve\n"));
    assert!(!unit.contains(".local/bin/paned "), "{unit}");
    for file in ["man/man1/paned.1.gz", "doc/paned/copyright", "zsh/vendor-completions/_paned"] {
        assert!(root.path().join("usr/share").join(file).is_file(), "{file}");
    }
    check_tour(&root.path().join("usr/bin"));
}

#[test]
fn man_pages_are_well_formed() {
    let dir = tempfile::tempdir().unwrap();
    check(Command::new(binary()).args(["generate", "man"]).arg(dir.path()));
    let pages: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(50 < pages.len(), "{pages:?}");
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tutf8", "-ww", "-z"]).args(&pages);
    // Most machines have it for `man`.
    let Ok(read) = groff.output() else { return };
    assert_eq!(String::from_utf8_lossy(&read.stderr), "");
}

#[test]
fn scripts_are_posix_shell_and_name_no_host() {
    for file in ["install.sh", "scripts/stage", "scripts/package"] {
        check(Command::new("sh").arg("-n").arg(root().join(file)));
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(!text.contains("://"), "{file}");
    }
}

#[test]
fn workflows_run_what_there_is() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for name in ["ci.yml", "release.yml"] {
        let text = fs::read_to_string(root().join(".github/workflows").join(name)).unwrap();
        assert!(!text.contains('\t'), "{name}");
        let runs = text.lines().filter_map(|line| line.trim().strip_prefix("- run: "));
        for run in runs {
            match run.split_whitespace().collect::<Vec<_>>()[..] {
                ["make", target, ..] => {
                    assert!(makefile.contains(&format!("\n{target}: ")), "{run}")
                }
                [script, ..] if script.starts_with("scripts/") => {
                    assert!(root().join(script).is_file(), "{run}");
                }
                _ => {}
            }
        }
    }
}
