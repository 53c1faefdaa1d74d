//! The certificate of the listener that other machines reach: made at the first use and renewed, or
//! the user's own and read again when it changes. Its key is in a file that only the user can read.

mod certificate;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use paned_keeper::time;
use paned_model::{Refusal, Time};
use paned_server::TlsConfigSource;
use rustix::system::uname;

use super::remote::lan_address;
use crate::settings::{Settings, TlsFiles};
use crate::state_folder::StateFolder;
use certificate::Certificate;

/// The certificate that a server uses now.
pub(super) struct TlsIdentity {
    source: IdentitySource,
    loaded: Mutex<CertificateState>,
}

/// Where the certificate comes from.
enum IdentitySource {
    /// We make it, for these names.
    Made { file: PathBuf, names: Vec<String> },
    /// The user's own.
    Given(TlsFiles),
}

struct CertificateState {
    certificate: Certificate,
    /// When the file was changed last.
    changed_at: Option<SystemTime>,
    /// When our own certificate is checked again, which need not be at each connection.
    check_at: Time,
}

/// How often a certificate that we made is checked for its age.
const CHECK_MS: u64 = 3_600_000;

impl TlsIdentity {
    /// Reads the certificate, or makes one.
    ///
    /// # Errors
    /// When that is not possible, or other users can read the user's own key.
    pub(super) fn open(state: &StateFolder, settings: &Settings) -> Result<Arc<Self>, Refusal> {
        let source = match &settings.tls_files {
            Some(files) => IdentitySource::Given(files.clone()),
            None => IdentitySource::Made { file: state.tls(), names: all_names(settings) },
        };
        let loaded = source.load(time::now())?;
        Ok(Arc::new(Self { source, loaded: Mutex::new(loaded) }))
    }

    /// Its SHA-256 hash.
    pub(super) fn fingerprint(&self) -> String {
        self.lock().certificate.fingerprint.clone()
    }

    /// The certificate for each connection.
    pub(super) fn config_source(self: Arc<Self>) -> TlsConfigSource {
        TlsConfigSource(Arc::new(move || self.current().config))
    }

    /// The certificate as it is now: renewed if it is old, read again if the user's has changed.
    fn current(&self) -> Certificate {
        let now = time::now();
        let mut loaded = self.lock();
        if self.source.is_outdated(&loaded, now) {
            match self.source.load(now) {
                Ok(fresh) => {
                    let fingerprint = &fresh.certificate.fingerprint;
                    if *fingerprint != loaded.certificate.fingerprint {
                        tracing::warn!(fingerprint, "the TLS certificate has changed");
                    }
                    *loaded = fresh;
                }
                Err(error) => {
                    tracing::error!(%error, "the TLS certificate stays as it was");
                    loaded.changed_at = self.source.changed_at();
                    loaded.check_at = Time(now.0 + CHECK_MS);
                }
            }
        }
        loaded.certificate.clone()
    }

    fn lock(&self) -> MutexGuard<'_, CertificateState> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IdentitySource {
    fn load(&self, now: Time) -> Result<CertificateState, Refusal> {
        let certificate = match self {
            Self::Made { file, names } => made(file, names, now)?,
            Self::Given(files) => given(files)?,
        };
        let check_at = Time(now.0 + CHECK_MS);
        Ok(CertificateState { certificate, changed_at: self.changed_at(), check_at })
    }

    fn is_outdated(&self, loaded: &CertificateState, now: Time) -> bool {
        match self {
            Self::Made { .. } => loaded.check_at <= now,
            Self::Given(_) => self.changed_at() != loaded.changed_at,
        }
    }

    fn changed_at(&self) -> Option<SystemTime> {
        let file = match self {
            Self::Made { file, .. } => file,
            Self::Given(files) => &files.cert,
        };
        fs::metadata(file).and_then(|file| file.modified()).ok()
    }
}

/// The user's own certificate.
fn given(TlsFiles { cert, key }: &TlsFiles) -> Result<Certificate, Refusal> {
    let read = |path: &Path| {
        fs::read(path)
            .map_err(|error| Refusal::invalid(format!("cannot read {}: {error}", path.display())))
    };
    let mode = fs::metadata(key).map_or(0, |file| file.mode());
    if mode & 0o007 != 0 {
        let shown = key.display();
        let sentence =
            format!("every user of this machine can use the key {shown}; run `chmod 600 {shown}`");
        return Err(Refusal::invalid(sentence));
    }
    Certificate::read(&read(cert)?, &read(key)?)
        .map_err(|why| Refusal::invalid(format!("{}: {why}", cert.display())))
}

/// The certificate that we made, or a new one if there is none, it is old, or other users could
/// have read its key.
fn made(file: &Path, names: &[String], now: Time) -> Result<Certificate, Refusal> {
    let is_private = fs::metadata(file).is_ok_and(|found| found.mode() & 0o077 == 0);
    let text = fs::read_to_string(file).ok().filter(|_| is_private);
    let read = |text: &str| Certificate::read(text.as_bytes(), text.as_bytes());
    if let Some(text) = text.filter(|text| certificate::is_current(text, names, now))
        && let Ok(certificate) = read(&text)
    {
        return Ok(certificate);
    }
    let text = certificate::make(names, now)?;
    write_private(file, &text)
        .map_err(|error| Refusal::internal(format!("cannot write {}: {error}", file.display())))?;
    read(&text).map_err(Refusal::internal)
}

fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let fresh = file.with_extension("new");
    let _ = fs::remove_file(&fresh);
    let mut open = OpenOptions::new();
    let mut out = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(fresh, file)
}

/// The names of this machine in its network: its host name, alone and as multicast DNS has it.
pub(super) fn host_names() -> Vec<String> {
    let name = uname().nodename().to_string_lossy().to_ascii_lowercase();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    if name.is_empty() || name == "localhost" || !name.chars().all(fits) {
        return Vec::new();
    }
    let local = (!name.contains('.')).then(|| format!("{name}.local"));
    [name].into_iter().chain(local).collect()
}

/// What a certificate of ours is for.
fn all_names(settings: &Settings) -> Vec<String> {
    let address = settings.listen.map(|listen| match listen.is_lan {
        true => lan_address(),
        false => Some(listen.address.ip()),
    });
    let address = address.flatten().filter(|address| !address.is_unspecified());
    let mut names = settings.names.clone();
    names.extend(host_names());
    names.extend(address.map(|address| address.to_string()));
    names.push("localhost".to_owned());
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NOW: Time = Time(1_790_000_000_000);
    const YEAR: u64 = 365 * 24 * 3600 * 1000;

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().mode() & 0o777
    }

    #[test]
    fn the_certificate_stays_until_it_is_old_or_its_key_is_known_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tls.pem");
        let names = ["box".to_owned()];
        let get = |now| made(&file, &names, now).unwrap().fingerprint;
        let first = get(NOW);
        assert_eq!(mode(&file), 0o600);
        assert_eq!(get(NOW), first);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let second = get(NOW);
        assert_ne!(second, first);
        assert_eq!(mode(&file), 0o600);
        assert_ne!(get(Time(NOW.0 + YEAR)), second);
        fs::write(&file, "damaged").unwrap();
        get(NOW);
    }

    #[test]
    fn the_users_own_certificate_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let cert = folder.path().join("cert.pem");
        let make = || certificate::make(&["box".to_owned()], NOW).unwrap();
        write_private(&cert, &make()).unwrap();
        let files = TlsFiles { cert: cert.clone(), key: cert.clone() };
        let source = IdentitySource::Given(files.clone());
        let loaded = Mutex::new(source.load(NOW).unwrap());
        let identity = TlsIdentity { source, loaded };
        let first = identity.current().fingerprint;
        assert_eq!(identity.current().fingerprint, first);
        // Half of a file, as a program leaves it that does not replace files at once.
        let touch = |text: &str, later: u64| {
            write_private(&cert, text).unwrap();
            let at = SystemTime::now() + std::time::Duration::from_secs(later);
            fs::File::options().write(true).open(&cert).unwrap().set_modified(at).unwrap();
        };
        touch("-----BEGIN", 10);
        assert_eq!(identity.current().fingerprint, first);
        touch(&make(), 20);
        assert_ne!(identity.current().fingerprint, first);

        fs::set_permissions(&cert, fs::Permissions::from_mode(0o604)).unwrap();
        let refused = given(&files).err().unwrap().sentence;
        assert!(refused.contains("every user of this machine can use the key"), "{refused}");
    }
}
