//! Building the house: the journal first, then who may come in, then the panes that are there.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paned_model::{Grant, GrantId, PaneSet, Scope, Time};
use paned_substrate::Ground;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::watch;

use crate::agents::{self, Agents, LETTER, Letter};
use crate::budgets::Budgets;
use crate::dispatch::draft;
use crate::errands::Errands;
use crate::folder::Folder;
use crate::grants::{Grants, Stored, random_name};
use crate::hooks::Hooks;
use crate::journal::{self, Change, Journal, Opened, Record, Recovery, Ticket};
use crate::panes::{self, Patterns, Table, adopt};
use crate::stage::{self, Stages};
use crate::{Inner, Kernel, Setup, actions};

/// The kind of a grant's record in the journal.
pub(crate) const GRANT: &str = "grant";

/// Why the house could not be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The panes cannot be looked for.
    #[error(transparent)]
    Ground(#[from] paned_substrate::Error),
    /// The owner's token cannot be kept.
    #[error("cannot keep the token in {}: {source}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What was found when the house was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Panes that live.
    pub living: usize,
    /// Panes in all.
    pub panes: usize,
}

impl Kernel {
    /// Builds the house over an open journal: lets in who was let in before, finds the panes again, and
    /// says `server:started`.
    ///
    /// # Errors
    /// When the panes cannot be looked for or the token cannot be kept.
    pub async fn start(
        setup: Setup,
        journal: Journal,
        opened: Opened,
        ground: Arc<dyn Ground>,
    ) -> Result<(Self, Started), Error> {
        let started_at = (setup.now)();
        let folder = setup.token_file.as_deref().and_then(Folder::of);
        let state_folder = setup.token_file.as_deref().and_then(Path::parent);
        let agents = Agents::new(setup.profiles.clone(), state_folder);
        let inner = Inner {
            setup,
            folder,
            started_at,
            owner: Arc::new(of_owner(started_at)),
            journal,
            recovered: opened.recovery.as_ref().map(sentence),
            ground,
            registry: actions::registry(),
            panes: Table::default(),
            patterns: Patterns::default(),
            grants: Grants::new(),
            hooks: Hooks::default(),
            errands: Errands::default(),
            stages: Stages::default(),
            agents,
            budgets: Budgets::default(),
            wish: watch::Sender::new(None),
        };
        let kernel = Self { inner: Arc::new(inner) };
        kernel.report(&opened);
        of_kind::<Stored>(&opened.records, GRANT).for_each(|stored| kernel.grants().insert(stored));
        kernel.keep_token()?;
        let remembered = of_kind(&opened.records, panes::record::KIND).collect();
        kernel.agents().post().restore(of_kind::<Letter>(&opened.records, LETTER));
        let found = kernel.ground().adopt().await?;
        let living = adopt::all(&kernel, found, remembered);
        // Ahead of the first pane, which need not wait for it then.
        let warm = kernel.clone();
        tokio::task::spawn_blocking(move || drop(warm.agents().profiles()));
        // What should have followed an end, and did not because the server was gone.
        kernel.panes().list().iter().for_each(|pane| agents::ended(&kernel, pane));
        kernel.agents().post().resume(&kernel);
        kernel.stages().resume(&kernel, of_kind::<stage::Kept>(&opened.records, stage::SESSION));
        // What was found out at the start is safe before the server is announced, unless the disk is full: then it
        // serves questions, and changes are refused until there is room.
        let started =
            kernel.journal().record(vec![draft("server:started", &json!({}))], Vec::new());
        match kernel.journal().committed(started).await {
            Err(error @ journal::Error::Unwritten(_)) => {
                tracing::error!(%error, "serving, but changes are refused until it can");
            }
            committed => committed?,
        }
        let started = Started { living, panes: kernel.panes().list().len() };
        Ok((kernel, started))
    }

    fn report(&self, opened: &Opened) {
        let Some(recovery) = &opened.recovery else {
            return;
        };
        let aside: Vec<_> = recovery.aside.iter().map(|path| path.display().to_string()).collect();
        tracing::warn!(
            cause = recovery.cause,
            kept = recovery.kept,
            aside = aside.join(", "),
            "the journal was damaged; what could be read was kept"
        );
        self.emit("journal:recovered", &json!({
            "cause": recovery.cause, "kept": recovery.kept, "last": recovery.last, "aside": aside,
        }));
    }

    /// Why nothing can be kept at present, if that is so.
    pub(crate) fn trouble(&self) -> Option<String> {
        let folder = self.inner.folder.as_ref().and_then(|folder| folder.check().err());
        let journal = || self.journal().trouble().map(|error| error.to_string());
        folder.map(|refusal| refusal.sentence).or_else(journal)
    }

    /// The owner's token: read from its file, or made and written there.
    fn keep_token(&self) -> Result<(), Error> {
        let Some(path) = &self.setup().token_file else {
            return Ok(());
        };
        let owner = |id| Grant { id, ..of_owner(self.now()) };
        let kept = fs::read_to_string(path).ok();
        let kept = kept.and_then(|text| Stored::of_token(text.trim(), owner));
        match kept {
            Some(stored) if self.grants().holds(&stored.grant.id) => Ok(()),
            Some(stored) => {
                self.admit(stored);
                Ok(())
            }
            None => {
                let (stored, token) = Stored::new(owner(GrantId(random_name(10))));
                let written = write_private(path, token.reveal());
                match written {
                    Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                        // The owner comes in by the socket; the next start makes a token.
                        tracing::error!(%error, "there is no token for TCP: its file cannot be written");
                        return Ok(());
                    }
                    written => {
                        written.map_err(|source| Error::Token { path: path.clone(), source })?
                    }
                }
                self.admit(stored);
                Ok(())
            }
        }
    }

    /// Lets somebody in, durably.
    pub(crate) fn admit(&self, stored: Stored) -> Ticket {
        let key = stored.grant.id.to_string();
        let value = serde_json::to_string(&stored).expect("our own types always become JSON");
        let ticket =
            self.journal().record(Vec::new(), vec![Change::Put { kind: GRANT, key, value }]);
        self.grants().insert(stored);
        ticket
    }

    /// Takes the owner's token file away when its grant was revoked, so that the next start makes another.
    pub(crate) fn forget_token(&self, id: &GrantId) {
        let Some(path) = &self.setup().token_file else {
            return;
        };
        let kept = fs::read_to_string(path).ok();
        let owner = |id| Grant { id, ..of_owner(self.now()) };
        let kept = kept.and_then(|text| Stored::of_token(text.trim(), owner));
        if kept.is_some_and(|kept| kept.grant.id == *id) {
            let _ = fs::remove_file(path);
        }
    }
}

/// What `server:status` says of a journal that was damaged.
fn sentence(recovery: &Recovery) -> String {
    let Recovery { cause, kept, .. } = recovery;
    format!("when the server started, {cause}; {kept} events could be read and were kept")
}

/// A grant for everything.
pub(crate) fn of_owner(now: Time) -> Grant {
    Grant {
        id: GrantId("owner".into()),
        label: "owner".into(),
        scopes: BTreeSet::from([Scope::Admin]),
        panes: PaneSet::All,
        pane: None,
        created_at: now,
        expires_at: None,
    }
}

fn of_kind<'a, T: DeserializeOwned>(
    records: &'a [Record],
    kind: &'a str,
) -> impl Iterator<Item = T> + 'a {
    records.iter().filter(move |record| record.kind == kind).filter_map(|record| {
        let read = serde_json::from_str(&record.value);
        read.inspect_err(|error| {
            tracing::error!(record.kind, record.key, %error, "cannot read a record");
        })
        .ok()
    })
}

/// Writes a file that only its user can read, whole or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    let _ = fs::remove_file(&fresh);
    let mut open = OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
    writeln!(file, "{text}")?;
    fs::rename(fresh, path)
}
