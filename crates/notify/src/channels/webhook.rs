//! A signed HTTP request. The signature covers the time and the body, so that a request can neither
//! be changed nor sent again later.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use paned_policy::notify::NotifyRule;
use rustls::pki_types::ServerName;
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{ChannelSetup, DeliveryError};
use crate::notice::Notice;

/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest secret in bytes.
const MAX_SECRET: u64 = 4096;

pub(super) struct WebhookChannel<'a> {
    pub(super) setup: &'a ChannelSetup,
    pub(super) rule: &'a NotifyRule,
}

/// A URL, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct WebhookTarget {
    is_tls: bool,
    host: String,
    port: u16,
    /// As it stands in the `Host` header.
    authority: String,
    path: String,
}

impl WebhookChannel<'_> {
    pub(super) fn problem(&self) -> Option<String> {
        let target = self.target().err();
        target.or_else(|| self.secret().err()).map(|error| error.sentence)
    }

    /// Sends one request. The caller repeats it when the failure is temporary.
    pub(super) async fn deliver(&self, notice: &Notice) -> Result<(), DeliveryError> {
        let target = self.target()?;
        let secret = self.secret()?;
        let body = Bytes::from(notice.to_json().to_string());
        let seconds = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&target.path)
            .header(HOST, &target.authority)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("paned/", env!("CARGO_PKG_VERSION")))
            .header("paned-delivery", &notice.delivery)
            .header("paned-timestamp", seconds);
        if let Some(secret) = secret {
            request = request.header("paned-signature", sign(&secret, seconds, &body));
        }
        let request = request
            .body(Full::new(body))
            .map_err(|error| DeliveryError::lasting(error.to_string()))?;
        let status =
            timeout(REQUEST_TIMEOUT, send(&target, request)).await.unwrap_or_else(|_| {
                let seconds = REQUEST_TIMEOUT.as_secs();
                let sentence =
                    format!("{} did not answer within {seconds} seconds", target.authority);
                Err(DeliveryError::temporary(sentence))
            })?;
        check_status(&target, status)
    }

    fn target(&self) -> Result<WebhookTarget, DeliveryError> {
        let url = self.rule.webhook.as_deref().unwrap_or_default();
        parse_target(url).ok_or_else(|| {
            DeliveryError::lasting(
                "invalid `webhook`: write an address such as https://example.com/hook, without a \
                 name and a password",
            )
        })
    }

    /// The secret that signs the request, if there is one. It is read each time, so that it can be
    /// replaced while the server runs.
    fn secret(&self) -> Result<Option<Vec<u8>>, DeliveryError> {
        let Some(path) = &self.rule.secret_file else { return Ok(None) };
        let path = match (path.strip_prefix("~/"), &self.setup.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        };
        let shown = path.display();
        let unreadable = |error| DeliveryError::lasting(format!("cannot read {shown}: {error}"));
        let metadata = path.metadata().map_err(unreadable)?;
        if metadata.mode() & 0o077 != 0 {
            let sentence = format!("{shown} can be read by other users: run `chmod 600 {shown}`");
            return Err(DeliveryError::lasting(sentence));
        }
        if MAX_SECRET < metadata.len() {
            return Err(DeliveryError::lasting(format!("{shown} is too long for a secret")));
        }
        let mut secret = std::fs::read(&path).map_err(unreadable)?;
        while secret.last().is_some_and(u8::is_ascii_whitespace) {
            secret.pop();
        }
        if secret.is_empty() {
            return Err(DeliveryError::lasting(format!("{shown} is empty")));
        }
        Ok(Some(secret))
    }
}

fn check_status(target: &WebhookTarget, status: StatusCode) -> Result<(), DeliveryError> {
    if status.is_success() {
        return Ok(());
    }
    let sentence = format!("{} answered with {status}", target.authority);
    let is_temporary = status.is_server_error()
        || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
    Err(DeliveryError { sentence, is_temporary })
}

fn parse_target(url: &str) -> Option<WebhookTarget> {
    let uri: Uri = url.parse().ok()?;
    let is_tls = match uri.scheme_str()? {
        "https" => true,
        "http" => false,
        _ => return None,
    };
    let authority = uri.authority()?;
    if authority.as_str().contains('@') {
        return None;
    }
    Some(WebhookTarget {
        is_tls,
        host: authority.host().trim_start_matches('[').trim_end_matches(']').to_owned(),
        port: authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 }),
        authority: authority.to_string(),
        path: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
    })
}

/// `v1=` and the HMAC-SHA-256 of `TIMESTAMP.BODY` in hexadecimal digits.
fn sign(secret: &[u8], seconds: u64, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(format!("{seconds}.").as_bytes());
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("v1={hex}")
}

async fn send(
    target: &WebhookTarget,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, DeliveryError> {
    let cannot = |error: std::io::Error| {
        DeliveryError::temporary(format!("cannot reach {}: {error}", target.authority))
    };
    let stream = TcpStream::connect((target.host.as_str(), target.port)).await.map_err(cannot)?;
    if !target.is_tls {
        return exchange(target, stream, request).await;
    }
    let name = ServerName::try_from(target.host.clone())
        .map_err(|_| DeliveryError::lasting("the host of `webhook` is not valid"))?;
    let stream = connector()?.connect(name, stream).await.map_err(cannot)?;
    exchange(target, stream, request).await
}

/// TLS with the certificates that the system trusts.
fn connector() -> Result<TlsConnector, DeliveryError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let sentence = "no certificates are installed (Debian: `apt install ca-certificates`)";
        return Err(DeliveryError::lasting(sentence));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DeliveryError::lasting(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn exchange(
    target: &WebhookTarget,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, DeliveryError> {
    let broken = |error: hyper::Error| {
        DeliveryError::temporary(format!("{} closed the connection: {error}", target.authority))
    };
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends when the answer is dropped.
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(broken);
    connection.abort();
    Ok(answer?.status())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let target = parse_target("https://example.com/a?b=c").unwrap();
        assert_eq!((target.is_tls, target.port, target.path.as_str()), (true, 443, "/a?b=c"));
        let target = parse_target("http://[::1]:8080").unwrap();
        assert_eq!((target.host.as_str(), target.port, target.path.as_str()), ("::1", 8080, "/"));
        assert_eq!(target.authority, "[::1]:8080");
        for bad in
            ["", "example.com", "ftp://example.com", "https://me:pass@example.com", "https://"]
        {
            assert_eq!(parse_target(bad), None, "{bad}");
        }
    }

    /// Computed with `openssl dgst -sha256 -hmac`.
    #[test]
    fn the_signature_covers_time_and_body() {
        assert_eq!(
            sign(b"secret", 1000, b"{}"),
            "v1=026360fb6284f077f1148b1ae7c62679730497810a6a0321574de01e8b009e7a"
        );
    }

    #[test]
    fn only_what_may_pass_is_repeated() {
        let target = parse_target("http://x").unwrap();
        let is_temporary = |status| check_status(&target, status).unwrap_err().is_temporary;
        assert!(
            is_temporary(StatusCode::BAD_GATEWAY) && is_temporary(StatusCode::TOO_MANY_REQUESTS)
        );
        assert!(!is_temporary(StatusCode::NOT_FOUND) && !is_temporary(StatusCode::FOUND));
        assert!(check_status(&target, StatusCode::NO_CONTENT).is_ok());
    }
}
