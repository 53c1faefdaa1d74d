//! Starts the kernel: the journal first, then the grants, then the panes that still run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use paned_backend::Backend;
use paned_model::{EventId, Grant, GrantId};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::watch;

use crate::agents::{self, AgentPaneObserver, Agents, MESSAGE, Message};
use crate::approvals::{self, ApprovalPaneObserver, Approvals};
use crate::background::BackgroundTasks;
use crate::budgets::Budgets;
use crate::extensions::ExtensionHostSlot;
use crate::grants::{GRANT_KIND, Grants, StoredGrant, owner_grant, random_name};
use crate::hooks::ActionHooks;
use crate::journal::{
    self, CommitTicket, EventDraft, Journal, JournalRecord, JournalRecovery, OpenedJournal,
    RecordChange, draft,
};
use crate::notifications::NotifierSlot;
use crate::panes::restart::{self, RestartObserver};
use crate::panes::{self, PaneTable, PatternCache, recover};
use crate::seek::SeekCache;
use crate::sign_in::SignInCodes;
use crate::state_folder::{StateFolderIdentity, write_private};
use crate::tmux_view::{self, TmuxViewObserver, TmuxViews};
use crate::{Kernel, KernelInner, KernelSetup, actions};

/// Why the kernel could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The panes cannot be recovered.
    #[error(transparent)]
    Backend(#[from] paned_backend::Error),
    /// The owner's token cannot be stored.
    #[error("cannot save the token in {}: {source}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// What the kernel found at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartSummary {
    /// Panes whose program runs.
    pub live: usize,
    /// Panes in all.
    pub panes: usize,
    /// The event `server:started` of this start.
    pub started: EventId,
}

impl Kernel {
    /// Starts the kernel on an open journal: restores the grants, recovers the panes, and records
    /// `server:started`.
    ///
    /// # Errors
    /// When the panes cannot be recovered or the token cannot be stored.
    pub async fn start(
        setup: KernelSetup,
        journal: Journal,
        opened: OpenedJournal,
        backend: Arc<dyn Backend>,
    ) -> Result<(Self, StartSummary), Error> {
        let started_at = (setup.now)();
        let folder = setup.token_file.as_deref().and_then(StateFolderIdentity::of);
        let state_folder = setup.token_file.as_deref().and_then(Path::parent);
        let agents = Agents::new(setup.profiles.clone(), state_folder, actions::restart_failed);
        let inner = KernelInner {
            setup,
            state_folder: folder,
            started_at,
            owner: Arc::new(owner_grant(started_at)),
            journal,
            journal_damage: opened.recovery.as_ref().map(sentence),
            backend,
            registry: RwLock::new(Arc::new(actions::registry())),
            panes: PaneTable::new(vec![
                Box::new(AgentPaneObserver),
                Box::new(TmuxViewObserver),
                Box::new(RestartObserver),
                Box::new(ApprovalPaneObserver),
            ]),
            restart_pane: actions::restart_pane,
            patterns: PatternCache::default(),
            grants: Grants::new(),
            sign_in_codes: SignInCodes::default(),
            seek_cache: SeekCache::default(),
            hooks: ActionHooks::default(),
            background: BackgroundTasks::default(),
            tmux_views: TmuxViews::default(),
            agents,
            approvals: Approvals::default(),
            budgets: Budgets::default(),
            extension_host: ExtensionHostSlot::default(),
            notifier: NotifierSlot::default(),
            command: watch::Sender::new(None),
        };
        let kernel = Self { inner: Arc::new(inner) };
        kernel.report_recovery(&opened);
        records_of_kind::<StoredGrant>(&opened.records, GRANT_KIND)
            .for_each(|stored| kernel.grants().insert(stored));
        kernel.ensure_owner_token()?;
        let remembered = records_of_kind(&opened.records, panes::record::KIND).collect();
        kernel.agents().outbox().restore(records_of_kind::<Message>(&opened.records, MESSAGE));
        let found = kernel.backend().recover().await?;
        let living = recover::recover_all(&kernel, found, remembered);
        kernel.restore_approvals(
            records_of_kind(&opened.records, approvals::OPEN),
            records_of_kind(&opened.records, approvals::REMEMBERED),
        );
        // Loads the profiles early, so that the first pane need not wait for them.
        let warm = kernel.clone();
        tokio::task::spawn_blocking(move || drop(warm.agents().profiles()));
        // Follow-ups of exits that happened while the server was down.
        kernel.panes().list().iter().for_each(|pane| agents::ended(&kernel, pane));
        kernel.agents().outbox().resume(&kernel);
        restart::resume_all(&kernel);
        kernel.tmux_views().resume(
            &kernel,
            records_of_kind::<tmux_view::ViewSessionRecord>(&opened.records, tmux_view::SESSION),
        );
        // What was recovered is durable before the server is announced, unless the disk is full:
        // then it serves questions, and refuses changes until there is space.
        let started =
            kernel.journal().record(vec![draft("server:started", &json!({}))], Vec::new());
        match kernel.journal().committed(started).await {
            Err(error @ journal::Error::Unwritten(_)) => {
                tracing::error!(%error, "the journal cannot be written; changes are refused \
                                        until it can");
            }
            committed => committed?,
        }
        let panes = kernel.panes().list().len();
        Ok((kernel, StartSummary { live: living, panes, started: started.last }))
    }

    fn report_recovery(&self, opened: &OpenedJournal) {
        let Some(recovery) = &opened.recovery else {
            return;
        };
        let aside: Vec<_> =
            recovery.damaged_files.iter().map(|path| path.display().to_string()).collect();
        tracing::warn!(
            cause = recovery.cause,
            kept = recovery.kept,
            aside = aside.join(", "),
            "the journal was damaged; its readable events were recovered"
        );
        self.emit("journal:recovered", &json!({
            "cause": recovery.cause, "kept": recovery.kept, "last": recovery.last, "aside": aside,
        }));
    }

    /// Why changes cannot be saved now, if they cannot.
    pub(crate) fn storage_problem(&self) -> Option<String> {
        let folder = self.inner.state_folder.as_ref().and_then(|folder| folder.check().err());
        let journal = || self.journal().write_error().map(|error| error.to_string());
        folder.map(|refusal| refusal.sentence).or_else(journal)
    }

    /// Reads the owner's token from its file, or creates it there.
    fn ensure_owner_token(&self) -> Result<(), Error> {
        let Some(path) = &self.setup().token_file else {
            return Ok(());
        };
        let owner = |id| Grant { id, ..owner_grant(self.now()) };
        let kept = fs::read_to_string(path).ok();
        let kept = kept.and_then(|text| StoredGrant::from_token(text.trim(), owner));
        match kept {
            Some(stored) if self.grants().contains(&stored.grant.id) => Ok(()),
            Some(stored) => {
                self.store_grant(stored);
                Ok(())
            }
            None => {
                let (stored, token) = StoredGrant::new(owner(GrantId(random_name(10))));
                let written = write_private(path, token.reveal());
                match written {
                    Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                        // The owner can use the unix socket; the next start creates a token.
                        tracing::error!(%error, "TCP clients cannot authenticate: the token file \
                            cannot be written");
                        return Ok(());
                    }
                    written => {
                        written.map_err(|source| Error::Token { path: path.clone(), source })?
                    }
                }
                self.store_grant(stored);
                Ok(())
            }
        }
    }

    /// Adds a grant, and records it in the journal.
    pub(crate) fn store_grant(&self, stored: StoredGrant) -> CommitTicket {
        self.store_grant_with(stored, Vec::new())
    }

    /// The same with events that are recorded together with it.
    pub(crate) fn store_grant_with(
        &self,
        stored: StoredGrant,
        events: Vec<EventDraft>,
    ) -> CommitTicket {
        let key = stored.grant.id.to_string();
        let value = serde_json::to_string(&stored).expect("our own types always become JSON");
        let ticket =
            self.journal().record(events, vec![RecordChange::Put { kind: GRANT_KIND, key, value }]);
        self.grants().insert(stored);
        ticket
    }

    /// Removes the owner's token file when its grant was revoked, so that the next start creates
    /// another.
    pub(crate) fn remove_token_file(&self, id: &GrantId) {
        let Some(path) = &self.setup().token_file else {
            return;
        };
        let kept = fs::read_to_string(path).ok();
        let owner = |id| Grant { id, ..owner_grant(self.now()) };
        let kept = kept.and_then(|text| StoredGrant::from_token(text.trim(), owner));
        if kept.is_some_and(|kept| kept.grant.id == *id) {
            let _ = fs::remove_file(path);
        }
    }
}

/// What `server:status` reports of a journal that was damaged.
fn sentence(recovery: &JournalRecovery) -> String {
    let JournalRecovery { cause, kept, .. } = recovery;
    format!("when the server started, {cause}; {kept} readable events were recovered")
}

fn records_of_kind<'a, T: DeserializeOwned>(
    records: &'a [JournalRecord],
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
