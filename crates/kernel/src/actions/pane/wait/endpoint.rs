//! Waits until a TCP port accepts connections, or an HTTP server answers.
//!
//! No event says that a program listens, so it is tried at intervals. For a pane only what its own
//! program may have opened counts: see [`PaneProgram::owns`].

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use paned_backend::port_listener::{ListeningProgram, PortListener, PortUse};
use paned_model::Refusal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout};

use super::PaneWaitCondition;

/// How long after one try the next begins.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long one try may take.
const TRY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a program must run beside an open port before it counts for it, if the listener is not
/// known or is another program: one that finds its port in use exits within this time.
const PROOF: Duration = Duration::from_secs(3);
/// The longest first line of an answer.
const MAX_STATUS_LINE: usize = 4096;

const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// What to wait for beside a pane.
pub(super) struct Endpoint {
    port: Option<u16>,
    http: Option<HttpTarget>,
    /// The program of the pane that is to answer.
    program: Option<PaneProgram>,
    /// What the last try of the address came to.
    last_answer: Mutex<Option<String>>,
    /// What speaks against the port, or leaves it open whether it is the program's.
    doubt: Mutex<Option<String>>,
}

/// The program that is to open a port.
pub(super) struct PaneProgram {
    /// Its process; `None` if that is not known.
    pub(super) process: Option<ListeningProgram>,
    /// Since when it runs.
    pub(super) since: Instant,
}

/// What the tries of one port have found.
#[derive(Clone, Copy, Default)]
struct PortHistory {
    /// Whether it was closed at an earlier try.
    was_closed: bool,
    /// Since when it has been open at every try.
    open_since: Option<Instant>,
}

impl PortHistory {
    fn opened(&mut self) -> Self {
        self.open_since.get_or_insert_with(Instant::now);
        *self
    }

    fn closed(&mut self) {
        *self = Self { was_closed: true, open_since: None };
    }

    /// How long it has been open.
    fn open_for(self) -> Duration {
        self.open_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// An `http://` address, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct HttpTarget {
    url: String,
    host: String,
    port: u16,
    path: String,
}

impl Endpoint {
    pub(super) fn new(port: Option<u16>, http: Option<&str>) -> Result<Self, Refusal> {
        if port == Some(0) {
            return Err(Refusal::invalid("`port` must be from 1 to 65535"));
        }
        let http = http.map(HttpTarget::parse).transpose()?;
        let last_answer = Mutex::default();
        Ok(Self { port, http, program: None, last_answer, doubt: Mutex::default() })
    }

    /// Counts only what this program may have opened.
    pub(super) fn of_program(&mut self, program: PaneProgram) {
        self.program = Some(program);
    }

    /// Whether it is on this machine.
    pub(super) fn is_local(&self) -> bool {
        self.http.as_ref().is_none_or(HttpTarget::is_local)
    }

    /// Returns once the port or the address is reached.
    pub(super) async fn reached(&self) -> PaneWaitCondition {
        let mut port_history = PortHistory::default();
        let mut http_history = PortHistory::default();
        loop {
            if let Some(port) = self.port {
                if !is_open(port).await {
                    port_history.closed();
                    set(&self.doubt, None);
                } else if self.counts(port, port_history.opened()).await {
                    return PaneWaitCondition::Port;
                }
            }
            if let Some(http) = &self.http
                && self.is_answered(http, &mut http_history).await
            {
                return PaneWaitCondition::Http;
            }
            sleep(INTERVAL).await;
        }
    }

    /// Whether an address answers, from the program which is meant.
    async fn is_answered(&self, http: &HttpTarget, history: &mut PortHistory) -> bool {
        match http.get().await {
            Ok(()) if !http.is_local() => true,
            Ok(()) => self.counts(http.port, history.opened()).await,
            Err(why) => {
                history.closed();
                set(&self.last_answer, Some(why));
                false
            }
        }
    }

    /// Whether an open port may be that of the program which is meant.
    async fn counts(&self, port: u16, history: PortHistory) -> bool {
        let Some(program) = &self.program else { return true };
        // What was found while the program ran says more than its end.
        let Some((counts, doubt)) = program.owns(port, history).await else { return false };
        set(&self.doubt, doubt);
        counts
    }

    /// What leaves it open whether the port is the program's.
    pub(super) fn doubt(&self) -> Option<String> {
        self.doubt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why it was not reached. That no program listens goes without saying if the pane's has
    /// exited; then another one that has the port may be the reason.
    pub(super) async fn explain(&self, has_exited: bool) -> Vec<String> {
        if let Some(doubt) = self.doubt() {
            return vec![doubt];
        }
        let port = match self.port {
            Some(port) if has_exited => user_of(port).await,
            Some(port) => {
                Some(format!("no program accepts connections on port {port} of 127.0.0.1 or ::1"))
            }
            None => None,
        };
        let http = self.http.as_ref().map(|http| {
            let answer = self.last_answer.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = answer.as_deref().unwrap_or("no answer");
            format!("{}: {answer}", http.url)
        });
        port.into_iter().chain(http).collect()
    }
}

/// Which program has a port, if that is known.
async fn user_of(port: u16) -> Option<String> {
    let search = tokio::task::spawn_blocking(move || PortUse::of(port));
    match timeout(TRY_TIMEOUT, search).await {
        Ok(Ok(PortUse::By(owner))) => Some(format!("port {port} is in use by {owner}")),
        _ => None,
    }
}

fn set(place: &Mutex<Option<String>>, text: Option<String>) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

impl PaneProgram {
    /// Whether it may have opened a port that accepts connections, and what is uncertain about it;
    /// None if it has exited.
    /// A port of an older process is not its own. That of a younger one, such as a container's
    /// proxy, counts once the program has kept running beside it for a while. If the listener is
    /// not known, so does a port that was open from the first try on.
    async fn owns(&self, port: u16, history: PortHistory) -> Option<(bool, Option<String>)> {
        let listener = match self.process {
            Some(process) => process.listener_on(port).await,
            None => PortListener::Unknown,
        };
        Some(match listener {
            PortListener::NoProgram => return None,
            PortListener::Program => (true, None),
            PortListener::Older(owner) => {
                let doubt = format!(
                    "port {port} is in use by {owner}, which ran before the program was started"
                );
                (false, Some(doubt))
            }
            PortListener::Younger(owner) => {
                let doubt = format!("port {port} was opened by {owner}, not by the program");
                (PROOF <= history.open_for(), Some(doubt))
            }
            PortListener::Unknown => {
                let counts = history.was_closed || PROOF <= self.since.elapsed();
                let doubt = format!(
                    "port {port} is open, but it is not known whether the program has opened it"
                );
                (counts, Some(doubt))
            }
        })
    }
}

/// Whether a program accepts connections on a port of this machine.
async fn is_open(port: u16) -> bool {
    for host in LOOPBACK {
        let connecting = TcpStream::connect(SocketAddr::new(host, port));
        if matches!(timeout(TRY_TIMEOUT, connecting).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}

impl HttpTarget {
    fn parse(url: &str) -> Result<Self, Refusal> {
        // The address is not repeated: it may hold a token, and refusals are recorded as events.
        let invalid = |why: &str| Refusal::invalid(format!("invalid `http` address: {why}"));
        if url.starts_with("https://") {
            return Err(invalid("https is not supported; use http, or wait for the port"));
        }
        let rest = url.strip_prefix("http://");
        let rest = rest.ok_or_else(|| invalid("write it as http://localhost:3000/path"))?;
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid("it has characters that must be percent-encoded"));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.contains('@') {
            return Err(invalid("a user name is not supported"));
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| invalid("its port is from 1 to 65535"))?)
            }
            Some(_) | None => (authority, 80),
        };
        if host.is_empty() {
            return Err(invalid("the host is missing"));
        }
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { url: url.to_owned(), host: host.to_owned(), port, path })
    }

    /// Its host as an address, if it is one.
    fn ip(&self) -> Option<IpAddr> {
        self.host.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn is_local(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost") || self.ip().is_some_and(|ip| ip.is_loopback())
    }

    /// The addresses to try. The name of this machine is not looked up: it must not be another.
    async fn addresses(&self) -> Vec<SocketAddr> {
        let at = |ip| SocketAddr::new(ip, self.port);
        if let Some(ip) = self.ip() {
            return vec![at(ip)];
        }
        if self.is_local() {
            return LOOPBACK.map(at).to_vec();
        }
        lookup_host((self.host.as_str(), self.port))
            .await
            .map(Iterator::collect)
            .unwrap_or_default()
    }

    /// One GET. Answers why it failed, as a clause.
    async fn get(&self) -> Result<(), String> {
        timeout(TRY_TIMEOUT, self.try_get())
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", TRY_TIMEOUT.as_secs())))
    }

    async fn try_get(&self) -> Result<(), String> {
        let mut failure = "the host is not known".to_owned();
        for address in self.addresses().await {
            match TcpStream::connect(address).await {
                Ok(stream) => return self.request(stream).await,
                Err(error) => failure = error.kind().to_string(),
            }
        }
        Err(failure)
    }

    async fn request(&self, mut stream: TcpStream) -> Result<(), String> {
        let Self { host, port, path, .. } = self;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: paned\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
        let failed = |error: std::io::Error| error.kind().to_string();
        stream.write_all(request.as_bytes()).await.map_err(failed)?;
        let mut answer = Vec::new();
        let mut piece = [0; 512];
        while !answer.contains(&b'\n') && answer.len() < MAX_STATUS_LINE {
            match stream.read(&mut piece).await.map_err(failed)? {
                0 => break,
                read => answer.extend_from_slice(&piece[..read]),
            }
        }
        match status(&answer) {
            Some(200..400) => Ok(()),
            Some(status) => Err(format!("it answered with status {status}")),
            None => Err("it did not answer as an HTTP server".to_owned()),
        }
    }
}

/// The status in the first line of an answer.
fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expect: Option<(&str, u16, &str, bool)>) {
        let target = HttpTarget::parse(url).ok();
        let parts = target.as_ref().map(|target| {
            (target.host.as_str(), target.port, target.path.as_str(), target.is_local())
        });
        assert_eq!(parts, expect, "{url}");
    }

    #[test]
    fn an_address_is_taken_apart() {
        check("http://localhost:3000", Some(("localhost", 3000, "/", true)));
        check("http://127.0.0.1/a?b=c#d", Some(("127.0.0.1", 80, "/a?b=c", true)));
        check("http://[::1]:8080/", Some(("[::1]", 8080, "/", true)));
        check("http://[::1]", Some(("[::1]", 80, "/", true)));
        check("http://example.org?x", Some(("example.org", 80, "/?x", false)));
        check("http://localhost.example.org", Some(("localhost.example.org", 80, "/", false)));
        for wrong in
            ["localhost:3000", "https://localhost", "http://", "http://:80", "http://a:99999"]
        {
            check(wrong, None);
        }
        for wrong in ["http://a@b", "http://localhost/a b", "http://localhost/\r\nX: y"] {
            check(wrong, None);
        }
    }

    #[test]
    fn the_status_is_in_the_first_line() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\nA: b\r\n"), Some(204));
        assert_eq!(status(b"HTTP/1.0 500"), Some(500));
        assert_eq!(status(b"SSH-2.0-OpenSSH_9.2\r\n"), None);
        assert_eq!(status(b""), None);
    }
}
