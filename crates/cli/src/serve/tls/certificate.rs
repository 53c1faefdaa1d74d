//! A certificate and its key as PEM: one that paned makes, or the user's own.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use paned_model::{Refusal, Time};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};

/// How long a certificate of ours is valid: browsers refuse much longer ones.
const VALID_FOR: Duration = Duration::from_hours(365 * 24);
/// How long before its end it is renewed.
const RENEW_BEFORE: Duration = Duration::from_hours(30 * 24);
/// How far clocks of clients may be behind.
const CLOCK_SKEW: Duration = Duration::from_hours(24);
/// Before the time at which a certificate was made, in the head of its file.
const MADE_AT: &str = "made at: ";
/// Before the names that it is for.
const NAMES: &str = "names: ";

/// A certificate, ready to serve with.
#[derive(Clone)]
pub(super) struct Certificate {
    pub(super) config: Arc<ServerConfig>,
    /// Its SHA-256 hash, as browsers show it.
    pub(super) fingerprint: String,
}

impl Certificate {
    /// Reads PEM, the chain and the key in any order.
    ///
    /// # Errors
    /// When a part is missing, or the key is another one's.
    pub(super) fn read(chain: &[u8], key: &[u8]) -> Result<Self, String> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("the certificate is not PEM: {error}"))?;
        let first = chain.first().ok_or("there is no certificate in it")?;
        let fingerprint = fingerprint(first);
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| format!("the key is not PEM: {error}"))?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, key);
        let mut config =
            config.map_err(|error| format!("the certificate cannot be used: {error}"))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), fingerprint })
    }
}

/// The content of a file with a new certificate for these names and addresses, and its key.
///
/// # Errors
/// When the system has no randomness, or a name is none.
pub(super) fn make(names: &[String], now: Time) -> Result<String, Refusal> {
    let key = KeyPair::generate().map_err(Refusal::internal)?;
    let names: Vec<String> = names.iter().map(|name| bare(name).to_owned()).collect();
    let mut params = CertificateParams::new(names.clone()).map_err(Refusal::internal)?;
    let now_since_1970 = Duration::from_millis(now.0);
    params.not_before = date_time_ymd(1970, 1, 1) + now_since_1970.saturating_sub(CLOCK_SKEW);
    params.not_after = date_time_ymd(1970, 1, 1) + now_since_1970 + VALID_FOR;
    params.distinguished_name = DistinguishedName::new();
    let title = names.first().map_or("paned".to_owned(), |name| format!("paned on {name}"));
    params.distinguished_name.push(DnType::CommonName, title);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.self_signed(&key).map_err(Refusal::internal)?;
    let mut text = format!("{MADE_AT}{}\n{NAMES}{}\n\n", now.0, names.join(" "));
    text += &pem("CERTIFICATE", certificate.der());
    text += &pem("PRIVATE KEY", &key.serialize_der());
    Ok(text)
}

/// RFC 7468: base64 in lines of 64 characters.
fn pem(label: &str, bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    let lines = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line));
    let lines: Vec<_> = lines.collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// Whether a certificate that [`make`] made still serves for these names.
pub(super) fn is_current(text: &str, names: &[String], now: Time) -> bool {
    let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
    let made_at = line(MADE_AT).and_then(|made_at| made_at.parse().ok().map(Time));
    let age = made_at.map(|made_at| Duration::from_millis(now.since(made_at)));
    let is_fresh = age.is_some_and(|age| age < VALID_FOR.saturating_sub(RENEW_BEFORE));
    let covered: Vec<&str> = line(NAMES).unwrap_or_default().split(' ').collect();
    // Addresses come and go; a browser warns about a certificate that it does not know anyway.
    let is_address = |name: &str| name.parse::<IpAddr>().is_ok();
    let is_covered = |name: &String| is_address(bare(name)) || covered.contains(&bare(name));
    is_fresh && names.iter().all(is_covered)
}

/// A name without its port, and an address without brackets, as certificates have them.
fn bare(name: &str) -> &str {
    let host = match name.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') && !host.contains(':') => host,
        Some((host, _)) if host.ends_with(']') => host,
        Some(_) | None => name,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let hash = Sha256::digest(certificate);
    hash.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    const DAY: u64 = 24 * 3600 * 1000;
    const NOW: Time = Time(1_790_000_000_000);

    #[test]
    fn a_certificate_serves_for_its_names_until_a_month_before_its_end() {
        let ours = names(&["box", "box.example:8443", "[fd00::1]:1", "10.0.0.2"]);
        let text = make(&ours, NOW).unwrap();
        let read = Certificate::read(text.as_bytes(), text.as_bytes()).unwrap();
        assert_eq!(read.fingerprint.len(), 95);
        assert!(is_current(&text, &ours, NOW));
        assert!(is_current(&text, &names(&["box", "10.9.9.9"]), Time(NOW.0 + 334 * DAY)));
        assert!(!is_current(&text, &ours, Time(NOW.0 + 335 * DAY)));
        assert!(!is_current(&text, &names(&["other"]), NOW));
        assert!(!is_current("", &ours, NOW));
        let other = make(&ours, NOW).unwrap();
        assert!(Certificate::read(text.as_bytes(), other.as_bytes()).is_err(), "not its key");
    }

    #[test]
    fn what_is_missing_is_named() {
        let text = make(&names(&["box"]), NOW).unwrap();
        let said = |chain: &str, key: &str| {
            Certificate::read(chain.as_bytes(), key.as_bytes()).err().unwrap_or_default()
        };
        assert_eq!(said("", &text), "there is no certificate in it");
        assert!(said(&text, "").starts_with("the key is not PEM"));
    }

    #[test]
    fn a_name_loses_its_port() {
        for (name, expect) in [
            ("box", "box"),
            ("box:1", "box"),
            ("[fd00::1]:1", "fd00::1"),
            ("[fd00::1]", "fd00::1"),
            ("fd00::1", "fd00::1"),
        ] {
            assert_eq!(bare(name), expect);
        }
    }
}
