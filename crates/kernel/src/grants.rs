//! Grants and their tokens, which are stored as hashes.
//!
//! A token is `paned_<grant>_<secret>`. The secret has 256 bits, and only its holder has it; the
//! server keeps its SHA-256, compared in constant time.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use paned_model::{Grant, GrantId, PaneSet, Scope, Time};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

/// The kind of a grant's record in the journal.
pub(crate) const GRANT_KIND: &str = "grant";

/// A grant for everything.
pub(crate) fn owner_grant(now: Time) -> Grant {
    Grant {
        id: GrantId("owner".into()),
        label: "owner".into(),
        scopes: BTreeSet::from([Scope::Admin]),
        panes: PaneSet::All,
        pane: None,
        device: false,
        created_with: Vec::new(),
        created_at: now,
        expires_at: None,
    }
}

/// Whether this is the owner's grant, which cannot be revoked.
pub(crate) fn is_owner(grant: &Grant) -> bool {
    grant.id.0 == "owner"
}

/// A grant with the hash of its secret, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredGrant {
    pub(crate) grant: Grant,
    hash: String,
}

/// A token: shown once to the client that created it, and never logged.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// The text to send as `Authorization: Bearer …`.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The token that a caller has proven itself with.
    pub(crate) fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The grant that a text of the form of a token is for.
    pub(crate) fn grant_of(text: &str) -> Option<GrantId> {
        Self::parts(text).map(|(id, _)| id)
    }

    /// The grant it is for, and its secret.
    pub(crate) fn parts(text: &str) -> Option<(GrantId, &str)> {
        let (id, secret) = text.strip_prefix("paned_")?.split_once('_')?;
        Some((GrantId(id.to_owned()), secret))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A random name of `length` characters, which cannot be guessed and has no easily confused
/// letters.
pub(crate) fn random_name(length: usize) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = vec![0; length];
    fill_random(&mut bytes);
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

fn fill_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system gives random bytes");
}

impl StoredGrant {
    /// A new secret for a grant.
    pub(crate) fn new(grant: Grant) -> (Self, Token) {
        let mut secret = [0; 32];
        fill_random(&mut secret);
        let secret = BASE64_URL_SAFE_NO_PAD.encode(secret);
        let token = Token(format!("paned_{}_{secret}", grant.id));
        (Self::with_secret(grant, &secret), token)
    }

    fn with_secret(grant: Grant, secret: &str) -> Self {
        Self { grant, hash: BASE64_URL_SAFE_NO_PAD.encode(hash(secret)) }
    }

    /// The grant for a token that was read from a file, if the text has the form of a token.
    pub(crate) fn from_token(text: &str, grant: impl FnOnce(GrantId) -> Grant) -> Option<Self> {
        let (id, secret) = Token::parts(text)?;
        Some(Self::with_secret(grant(id), secret))
    }
}

fn hash(secret: &str) -> Vec<u8> {
    secret_hash(secret).to_vec()
}

/// What the server stores of a secret.
pub(crate) fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// A valid grant with the hash of its secret.
struct GrantEntry {
    grant: Arc<Grant>,
    hash: Vec<u8>,
}

/// Every valid grant.
pub(crate) struct Grants {
    grants: Mutex<HashMap<GrantId, GrantEntry>>,
    /// The grants of extensions, which have no tokens and end with the process.
    extensions: Mutex<HashMap<GrantId, Arc<Grant>>>,
    /// Increases with every removal, so that open streams check their grant again.
    changed: watch::Sender<u64>,
    /// The key used for grants that do not exist.
    dummy_key: [u8; 32],
}

impl Grants {
    pub(crate) fn new() -> Self {
        let mut dummy_key = [0; 32];
        fill_random(&mut dummy_key);
        Self {
            grants: Mutex::default(),
            extensions: Mutex::default(),
            changed: watch::Sender::new(0),
            dummy_key,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GrantId, GrantEntry>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, stored: StoredGrant) {
        let StoredGrant { grant, hash } = stored;
        // A damaged hash becomes empty and matches no token.
        let hash = BASE64_URL_SAFE_NO_PAD.decode(hash).unwrap_or_default();
        self.lock().insert(grant.id.clone(), GrantEntry { grant: Arc::new(grant), hash });
    }

    /// Removes a grant; open streams that use it are woken.
    pub(crate) fn remove(&self, id: &GrantId) -> Option<Arc<Grant>> {
        let removed = self.lock().remove(id).map(|entry| entry.grant);
        self.changed.send_modify(|count| *count += 1);
        removed
    }

    pub(crate) fn contains(&self, id: &GrantId) -> bool {
        self.lock().contains_key(id) || self.lock_extensions().contains_key(id)
    }

    fn lock_extensions(&self) -> MutexGuard<'_, HashMap<GrantId, Arc<Grant>>> {
        self.extensions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the grant of an extension, in place of an earlier one.
    pub(crate) fn insert_extension(&self, grant: Arc<Grant>) {
        self.lock_extensions().insert(grant.id.clone(), grant);
    }

    /// Removes the grant of an extension, unless another has taken its place.
    pub(crate) fn remove_extension(&self, grant: &Arc<Grant>) {
        let mut extensions = self.lock_extensions();
        if extensions.get(&grant.id).is_some_and(|held| Arc::ptr_eq(held, grant)) {
            extensions.remove(&grant.id);
        }
        drop(extensions);
        self.changed.send_modify(|count| *count += 1);
    }

    pub(crate) fn list(&self) -> Vec<Arc<Grant>> {
        let mut grants: Vec<_> = self.lock().values().map(|entry| entry.grant.clone()).collect();
        grants.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        grants
    }

    /// The grant a token is for.
    pub(crate) fn find(&self, token: &str) -> Option<Arc<Grant>> {
        let (id, secret) = Token::parts(token)?;
        let offered = hash(secret);
        let grants = self.lock();
        let entry = grants.get(&id)?;
        bool::from(entry.hash.ct_eq(&offered)).then(|| entry.grant.clone())
    }

    /// The key with which the server proves that it knows a grant's token; for an unknown grant, a
    /// key that no client has.
    pub(crate) fn key(&self, id: &GrantId) -> [u8; 32] {
        let grants = self.lock();
        let hash = grants.get(id).and_then(|entry| entry.hash.as_slice().try_into().ok());
        hash.unwrap_or(self.dummy_key)
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use paned_model::{PaneSet, Time};

    use super::*;

    fn grant(id: &str) -> Grant {
        Grant {
            id: GrantId(id.into()),
            label: String::new(),
            scopes: std::collections::BTreeSet::new(),
            panes: PaneSet::All,
            pane: None,
            device: false,
            created_with: Vec::new(),
            created_at: Time(0),
            expires_at: None,
        }
    }

    #[test]
    fn only_the_whole_token_opens() {
        let grants = Grants::new();
        let (stored, token) = StoredGrant::new(grant("abc"));
        grants.insert(stored);
        let text = token.reveal();
        assert!(grants.find(text).is_some());
        for wrong in
            ["", "paned_", "paned_abc_", &text[..text.len() - 1], &text[1..], &format!("{text}x")]
        {
            assert!(grants.find(wrong).is_none(), "{wrong}");
        }
        grants.remove(&GrantId("abc".into()));
        assert!(grants.find(text).is_none());
    }

    #[test]
    fn the_secret_is_in_no_stored_or_printed_form() {
        let (stored, token) = StoredGrant::new(grant("abc"));
        // It may hold a `_` itself.
        let secret = token.reveal().splitn(3, '_').nth(2).unwrap().to_owned();
        assert!(!format!("{stored:?} {token:?}").contains(&secret));
        assert!(!serde_json::to_string(&stored).unwrap().contains(&secret));
    }

    #[test]
    fn a_token_from_a_file_makes_the_same_grant_again() {
        let (stored, token) = StoredGrant::new(grant("abc"));
        let again = StoredGrant::from_token(token.reveal(), |id| Grant { id, ..grant("x") });
        assert_eq!(again, Some(stored));
    }
}
