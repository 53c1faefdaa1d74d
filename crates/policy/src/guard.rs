//! Checks of a request's headers, against DNS rebinding and cross-site requests.
//!
//! A web page can make a browser send requests to this server, even under a host name of its own
//! that resolves to our address. It cannot choose the `Host` and `Origin` that the browser writes,
//! nor send JSON without a CORS preflight. [`judge`] checks host and origin before any route is
//! looked up; [`BodyCheck`] checks the body against what the route accepts. The guard does not
//! authenticate; grants do.

use std::fmt;

/// The transport over which a request arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestTransport {
    /// TCP, on a port where these authorities are ours.
    Tcp(Authorities),
    /// The unix socket, which no browser can reach.
    Unix,
}

/// Our own host names, each with its port, as `Host` must spell them, and the scheme of the pages
/// that we serve there, as `Origin` must spell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities {
    scheme: Scheme,
    names: Vec<String>,
    /// Those of a proxy that adds TLS: their pages have `https` where we serve `http`.
    proxied: Vec<String>,
}

/// How a listener is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// The parts of a request that are checked. Values are bytes, because HTTP guarantees no encoding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// The authority within the request's target, where there is one (`GET http://name:1/path`).
    pub target: Option<&'a str>,
    /// Every `Host`.
    pub hosts: Vec<&'a [u8]>,
    /// Every `Origin`.
    pub origins: Vec<&'a [u8]>,
    /// Every `Content-Type`.
    pub types: Vec<&'a [u8]>,
    /// Every `Sec-Fetch-Site`, by which a browser states how the sending page relates to us.
    pub sites: Vec<&'a [u8]>,
    /// Whether a body follows.
    pub has_body: bool,
    /// Whether a person opens the web page itself in a browser. A link on another page may do that:
    /// the page has no secret and cannot be framed, and other pages cannot read it.
    pub is_visit: bool,
}

/// The body that a route accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedBody {
    /// Only `Content-Type: application/json`, which an HTML form cannot send.
    Json,
    /// Any content type, for clients that always send another one. If a browser sends it, its
    /// `Sec-Fetch-Site` must be our own; nothing else keeps out the form of another page.
    Anything,
}

/// The facts about a request's body that decide whether a route accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyCheck {
    /// Whether there is no body, or one with a JSON content type.
    is_json: bool,
    /// Whether every `Sec-Fetch-Site`, if there is any, says that the page is ours.
    is_own: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestRefusal {
    /// Its host is not ours, or missing, or given more than once.
    Misdirected,
    /// It was sent by a page of another origin.
    ForeignOrigin,
    /// Its body is not JSON.
    UnsupportedType,
}

impl Scheme {
    fn prefix(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }

    /// The port that browsers omit.
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Authorities {
    /// The loopback names of this machine, at a port without TLS.
    #[must_use]
    pub fn loopback(port: u16) -> Self {
        Self::new(Scheme::Http).with("localhost", port).with("127.0.0.1", port).with("[::1]", port)
    }

    /// No names yet, at a port with TLS.
    #[must_use]
    pub fn tls() -> Self {
        Self::new(Scheme::Https)
    }

    fn new(scheme: Scheme) -> Self {
        Self { scheme, names: Vec::new(), proxied: Vec::new() }
    }

    /// Adds an authority. For the scheme's own port also without the port, as browsers omit it.
    #[must_use]
    pub fn with(mut self, host: &str, port: u16) -> Self {
        let bare = (port == self.scheme.default_port()).then(|| host.to_owned());
        for name in [format!("{host}:{port}")].into_iter().chain(bare) {
            add(&mut self.names, name);
        }
        self
    }

    /// Adds a name that the user gave, `HOST` or `HOST:PORT`. A proxy may serve it, with TLS or
    /// without. `HOST` alone also stands for it at our own port.
    #[must_use]
    pub fn with_given(mut self, name: &str, port: u16) -> Self {
        let (host, given) = split_port(name);
        if given.is_none() {
            self = self.with(host, port);
        }
        let is_default = |given| given == 443 || given == self.scheme.default_port();
        if given.is_none_or(is_default) {
            add(&mut self.names, host.to_owned());
            add(&mut self.proxied, host.to_owned());
        }
        add(&mut self.names, name.to_owned());
        add(&mut self.proxied, name.to_owned());
        self
    }

    fn contains(&self, name: &[u8]) -> bool {
        has(&self.names, name)
    }

    fn contains_origin(&self, origin: &[u8]) -> bool {
        let is_at = |scheme: Scheme, names: &[String]| {
            let split = origin.split_at_checked(scheme.prefix().len());
            split.is_some_and(|(start, name)| {
                start.eq_ignore_ascii_case(scheme.prefix().as_bytes()) && has(names, name)
            })
        };
        is_at(self.scheme, &self.names) || is_at(Scheme::Https, &self.proxied)
    }
}

fn has(names: &[String], name: &[u8]) -> bool {
    names.iter().any(|ours| ours.as_bytes().eq_ignore_ascii_case(name))
}

fn add(names: &mut Vec<String>, name: String) {
    if !has(names, name.as_bytes()) {
        names.push(name);
    }
}

/// A host and the port after it, if there is one.
fn split_port(name: &str) -> (&str, Option<u16>) {
    match name.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        Some(_) | None => (name, None),
    }
}

impl BodyCheck {
    /// Reads the facts from a request's head.
    #[must_use]
    pub fn of(head: &RequestHead<'_>) -> Self {
        Self {
            is_json: !head.has_body || is_json(&head.types),
            is_own: head.sites.iter().all(|site| is_own(site)),
        }
    }

    /// Whether a route that accepts such bodies may take this one.
    ///
    /// # Errors
    /// The reason why not.
    pub fn judge(self, accepted: AcceptedBody) -> Result<(), RequestRefusal> {
        match accepted {
            AcceptedBody::Json => check(self.is_json, RequestRefusal::UnsupportedType),
            AcceptedBody::Anything => check(self.is_own, RequestRefusal::ForeignOrigin),
        }
    }
}

/// Whether a request may come in over this transport. The method does not matter: the same checks
/// apply to all.
///
/// # Errors
/// The first reason why not.
pub fn judge(transport: &RequestTransport, head: &RequestHead<'_>) -> Result<(), RequestRefusal> {
    let is_own = head.is_visit || head.sites.iter().all(|site| is_own(site));
    check(is_own, RequestRefusal::ForeignOrigin)?;
    match transport {
        RequestTransport::Tcp(ours) => {
            check(is_for(ours, head), RequestRefusal::Misdirected)?;
            check(is_from(ours, head), RequestRefusal::ForeignOrigin)
        }
        // Local programs may send any `Host` there; only a browser sends `Origin`.
        RequestTransport::Unix => check(head.origins.is_empty(), RequestRefusal::ForeignOrigin),
    }
}

fn check(holds: bool, refused: RequestRefusal) -> Result<(), RequestRefusal> {
    if holds { Ok(()) } else { Err(refused) }
}

/// Whether it has exactly one `Host`, and that and the target's authority are ours.
fn is_for(ours: &Authorities, head: &RequestHead<'_>) -> bool {
    let targeted = head.target.is_none_or(|target| ours.contains(target.as_bytes()));
    targeted && matches!(head.hosts[..], [host] if ours.contains(host))
}

/// Whether it has no `Origin`, or a single one that is ours. `null` is an opaque origin, so never
/// ours.
fn is_from(ours: &Authorities, head: &RequestHead<'_>) -> bool {
    match head.origins[..] {
        [] => true,
        [origin] => ours.contains_origin(origin),
        [..] => false,
    }
}

/// Whether the browser reports our own page, or none because the user typed the address. Another
/// port of this machine is `same-site`, and not ours.
fn is_own(site: &[u8]) -> bool {
    let site = site.trim_ascii();
    site.eq_ignore_ascii_case(b"same-origin") || site.eq_ignore_ascii_case(b"none")
}

/// Whether there is exactly one type, and it is JSON in UTF-8, the only encoding JSON has.
fn is_json(types: &[&[u8]]) -> bool {
    let [one] = types else { return false };
    let mut parts = one.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
    let media = parts.next().unwrap_or_default();
    media.eq_ignore_ascii_case(b"application/json") && parts.all(is_utf8)
}

fn is_utf8(parameter: &[u8]) -> bool {
    let known: [&[u8]; 3] = [b"", b"charset=utf-8", b"charset=\"utf-8\""];
    known.iter().any(|known| parameter.eq_ignore_ascii_case(known))
}

impl fmt::Display for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.join(", "))
    }
}

#[cfg(test)]
mod tests;
