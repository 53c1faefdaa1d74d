//! One-use sign-in codes. A code stands for a grant that does not exist yet; the client that sends
//! it back in time gets that grant's token. Codes are kept in memory only, as hashes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Grant, GrantId, PaneSet, Refusal, Scope, Time};
use paned_policy::permit;
use serde_json::json;

use crate::Kernel;
use crate::grants::{GRANT_KIND, StoredGrant, random_name, secret_hash};
use crate::journal::{RecordChange, draft};

/// The length of a code in characters of 5 bits each.
const CODE_LENGTH: usize = 32;
/// How many codes may be open at once.
const MAX_CODES: usize = 64;
/// How many devices may be signed in at once.
const MAX_DEVICES: usize = 256;
/// The longest label, in characters.
pub(crate) const MAX_LABEL: usize = 100;

/// What a code is good for.
#[derive(Clone)]
pub(crate) struct SignInOffer {
    /// The grant of the caller that made the code: when it ends, so does the code.
    pub(crate) offered_by: Arc<Grant>,
    /// See [`Grant::created_with`].
    pub(crate) created_with: Vec<GrantId>,
    /// The scopes of the grant.
    pub(crate) scopes: BTreeSet<Scope>,
    /// The panes that it covers.
    pub(crate) panes: PaneSet,
    /// Its label; the client may choose one if this is empty.
    pub(crate) label: String,
    /// For how many milliseconds the grant is valid.
    pub(crate) grant_ms: u64,
    /// Until when the code is good.
    pub(crate) code_expires_at: Time,
}

/// The open codes, by the hash of each.
#[derive(Default)]
pub(crate) struct SignInCodes {
    offers: Mutex<HashMap<[u8; 32], SignInOffer>>,
}

/// What a client gets for a code.
#[derive(Debug)]
pub struct SignedIn {
    /// The token, which is shown only once.
    pub token: String,
    /// Its grant.
    pub grant: Grant,
}

impl SignInCodes {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], SignInOffer>> {
        self.offers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new code.
    ///
    /// # Errors
    /// When too many are open.
    pub(crate) fn create(&self, offer: SignInOffer, now: Time) -> Result<String, Refusal> {
        let mut offers = self.lock();
        offers.retain(|_, offer| now < offer.code_expires_at);
        if MAX_CODES <= offers.len() {
            let sentence = format!("{MAX_CODES} sign-in codes are open; wait until one expires");
            return Err(Refusal::new(Code::Limit, sentence));
        }
        let code = random_name(CODE_LENGTH);
        offers.insert(secret_hash(&code), offer);
        Ok(code)
    }

    fn is_open(&self, code: &str, now: Time) -> bool {
        self.lock().get(&secret_hash(code)).is_some_and(|offer| now < offer.code_expires_at)
    }

    /// Uses a code up.
    fn take(&self, code: &str, now: Time) -> Option<SignInOffer> {
        let offer = self.lock().remove(&secret_hash(code))?;
        (now < offer.code_expires_at).then_some(offer)
    }

    /// Makes a code valid again that could not be exchanged.
    fn restore(&self, code: &str, offer: SignInOffer) {
        self.lock().insert(secret_hash(code), offer);
    }
}

/// Checks a label that a client chose.
///
/// # Errors
/// When it is too long or has control characters.
pub(crate) fn check_label(label: &str) -> Result<(), Refusal> {
    let is_plain = !label.chars().any(char::is_control);
    if is_plain && label.chars().count() <= MAX_LABEL {
        return Ok(());
    }
    let sentence =
        format!("`label` must have at most {MAX_LABEL} characters, none of them a control");
    Err(Refusal::invalid(sentence))
}

impl Kernel {
    /// Exchanges a code for the token of a new grant. The code is used up. The label is that of
    /// the code, or else the client's.
    ///
    /// # Errors
    /// When the code is wrong, used or expired, or the grant cannot be stored.
    pub async fn sign_in(&self, code: &str, label: Option<&str>) -> Result<SignedIn, Refusal> {
        check_label(label.unwrap_or_default())?;
        if let Some(folder) = &self.inner.state_folder {
            folder.check()?;
        }
        let now = self.now();
        let offer = self.sign_in_codes().take(code, now).ok_or_else(invalid_code)?;
        if !self.is_valid_grant(&offer.offered_by) {
            return Err(invalid_code());
        }
        self.remove_expired_devices(now);
        if MAX_DEVICES <= self.grants().list().iter().filter(|grant| grant.device).count() {
            self.sign_in_codes().restore(code, offer);
            let sentence = format!("{MAX_DEVICES} devices are signed in; revoke one first");
            return Err(Refusal::new(Code::Limit, sentence));
        }
        let SignInOffer { created_with, scopes, panes, grant_ms, .. } = offer.clone();
        let label = Some(&*offer.label).filter(|label| !label.is_empty()).or(label);
        let (stored, token) = StoredGrant::new(Grant {
            id: GrantId(random_name(10)),
            label: label.unwrap_or_default().to_owned(),
            scopes,
            panes,
            pane: None,
            device: true,
            created_with,
            created_at: now,
            expires_at: Some(Time(now.0 + grant_ms)),
        });
        let grant = stored.grant.clone();
        let event = json!({ "id": grant.id, "label": grant.label });
        let ticket = self.store_grant_with(stored, vec![draft("grant:signed-in", &event)]);
        if let Err(error) = self.journal().committed(ticket).await
            && self.journal().withdraw(&[ticket]).await
        {
            self.grants().remove(&grant.id);
            self.sign_in_codes().restore(code, offer);
            return Err(Refusal::new(Code::Unavailable, error.to_string()));
        }
        Ok(SignedIn { token: token.reveal().to_owned(), grant })
    }

    /// Whether a code can be exchanged. It is not used up.
    #[must_use]
    pub fn is_sign_in_code(&self, code: &str) -> bool {
        self.sign_in_codes().is_open(code, self.now())
    }

    /// Removes devices whose grants have expired, so that they do not add up.
    fn remove_expired_devices(&self, now: Time) {
        let grants = self.grants().list();
        let expired = grants.iter().filter(|grant| grant.device && permit::is_expired(grant, now));
        let changes: Vec<_> = expired
            .filter_map(|grant| self.grants().remove(&grant.id))
            .map(|grant| RecordChange::Delete { kind: GRANT_KIND, key: grant.id.to_string() })
            .collect();
        if !changes.is_empty() {
            self.journal().record(Vec::new(), changes);
        }
    }
}

fn invalid_code() -> Refusal {
    let sentence = "this sign-in code is wrong, was used, or has expired; \
                    `grant:create-code` makes a new one";
    Refusal::new(Code::Unauthorized, sentence)
}
