//! How a server proves that it knows a token before a client sends the token.
//!
//! Any program can bind the port while the server is down, and the next client would send it the
//! token. So a client first sends a challenge: the name of its grant and a nonce. The server
//! answers HMAC-SHA256 over its own address and the nonce, with the hash of the token's secret as
//! the key. The address is the one that it listens at, so that an answer cannot be relayed from
//! another port.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use paned_model::GrantId;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Kernel;
use crate::grants::{Token, random_name, secret_hash};

/// The header of `GET /health` with a challenge: a grant's id, a dot, a nonce.
pub const CHALLENGE: &str = "x-paned-challenge";
/// The header of its answer with the proof.
pub const PROOF: &str = "x-paned-proof";
/// Domain separation: the code is valid for this purpose only.
const PURPOSE: &str = "paned server proof 1";
/// How long a nonce may be.
const NONCE: std::ops::RangeInclusive<usize> = 16..=128;

/// A challenge for a server, before the client sends its token.
#[derive(Debug)]
pub struct Challenge {
    key: [u8; 32],
    grant: GrantId,
    nonce: String,
}

impl Challenge {
    /// A new challenge; none if the text is not a token of paned.
    #[must_use]
    pub fn new(token: &str) -> Option<Self> {
        let (grant, secret) = Token::parts(token)?;
        Some(Self { key: secret_hash(secret), grant, nonce: random_name(32) })
    }

    /// What to send in the header [`CHALLENGE`].
    #[must_use]
    pub fn header(&self) -> String {
        format!("{}.{}", self.grant, self.nonce)
    }

    /// Whether this is the answer of a server that knows the token and listens at this address.
    #[must_use]
    pub fn verify(&self, proof: &str, address: &str) -> bool {
        let expected = encode(&self.key, address, &self.nonce);
        bool::from(expected.as_bytes().ct_eq(proof.as_bytes()))
    }
}

impl Kernel {
    /// The answer to a challenge that was received at this address; none if it is malformed. An
    /// unknown grant gets an answer, too, so that the answer does not reveal which grants exist.
    #[must_use]
    pub fn prove(&self, challenge: &str, address: &str) -> Option<String> {
        let (grant, nonce) = challenge.split_once('.')?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !NONCE.contains(&nonce.len()) || !is_plain(nonce) {
            return None;
        }
        let key = self.grants().key(&GrantId(grant.to_owned()));
        Some(encode(&key, address, nonce))
    }
}

fn encode(key: &[u8; 32], address: &str, nonce: &str) -> String {
    let message = format!("{PURPOSE}\n{address}\n{nonce}");
    BASE64_URL_SAFE_NO_PAD.encode(hmac_sha256(key, message.as_bytes()))
}

/// HMAC-SHA256 (RFC 2104) with a key that is no longer than a block.
fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5C)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_that_of_the_standard() {
        // RFC 4231, test case 1, whose key of 20 bytes is the same with zeros behind it.
        let mut key = [0; 32];
        key[..20].fill(0x0B);
        let hex: String =
            hmac_sha256(&key, b"Hi There").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }

    #[test]
    fn a_challenge_is_met_by_the_right_key_at_the_right_address_only() {
        let challenge = Challenge::new("paned_g1_secret").unwrap();
        let (grant, nonce) = challenge.header().split_once('.').map(own).unwrap();
        assert_eq!(grant, "g1");
        let proof = encode(&secret_hash("secret"), "127.0.0.1:1", &nonce);
        assert!(challenge.verify(&proof, "127.0.0.1:1"));
        assert!(!challenge.verify(&proof, "127.0.0.1:2"));
        assert!(!challenge.verify(&encode(&[0; 32], "127.0.0.1:1", &nonce), "127.0.0.1:1"));
        assert!(!challenge.verify("", "127.0.0.1:1"));
        assert!(!Challenge::new("paned_g1_secret").unwrap().verify(&proof, "127.0.0.1:1"));
        assert!(Challenge::new("something else").is_none());
    }

    fn own((grant, nonce): (&str, &str)) -> (String, String) {
        (grant.to_owned(), nonce.to_owned())
    }
}
