//! Which requests may come in at all, by where they claim to go to and come from.
//!
//! A web page can make a browser send requests to us, even under a name of its own that leads to our address.
//! It cannot choose the `Host` and `Origin` that the browser writes, nor send JSON unasked: those are judged
//! here. Where it goes and comes from is judged before any route is looked up; what it brings, by what the
//! route takes. The guard never asks who somebody is; grants do.

use std::fmt;

/// The way by which a request came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestTransport {
    /// Over TCP, at a port where we answer to these names.
    Tcp(Authorities),
    /// Over the unix socket, which no browser can reach.
    Unix,
}

/// Our own names, each with its port, as `Host` must say them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities(Vec<String>);

/// What is judged of a request. Values are bytes, because that is all HTTP promises.
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
    /// Every `Sec-Fetch-Site`, by which a browser says how near the page is that sends it.
    pub sites: Vec<&'a [u8]>,
    /// Whether a body follows.
    pub has_body: bool,
}

/// What a route takes as a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedBody {
    /// JSON that says so, which no form of a page can send.
    Json,
    /// Whatever it says it is, for clients that always said something else. A browser must say then that
    /// the page is ours; nothing but that keeps a form of another page out.
    Anything,
}

/// What is known of what a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyCheck {
    /// Whether it brings nothing, or JSON that says so.
    is_json: bool,
    /// Whether no browser sent it, or one that says that the page is ours.
    is_own: bool,
}

/// Why a request may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestRefusal {
    /// It is meant for somebody else, or does not say for whom.
    Misdirected,
    /// A page that is not ours sent it.
    ForeignOrigin,
    /// Its body is not JSON.
    UnsupportedType,
}

impl Authorities {
    /// The names of this machine to itself, at a port.
    #[must_use]
    pub fn loopback(port: u16) -> Self {
        Self(Vec::new()).with("localhost", port).with("127.0.0.1", port).with("[::1]", port)
    }

    /// These and another one. Port 80 goes without saying, as browsers leave it out.
    #[must_use]
    pub fn with(mut self, host: &str, port: u16) -> Self {
        let bare = (port == 80).then(|| host.to_owned());
        for name in [format!("{host}:{port}")].into_iter().chain(bare) {
            if !self.contains(name.as_bytes()) {
                self.0.push(name);
            }
        }
        self
    }

    fn contains(&self, name: &[u8]) -> bool {
        self.0.iter().any(|ours| ours.as_bytes().eq_ignore_ascii_case(name))
    }

    fn contains_origin(&self, origin: &[u8]) -> bool {
        let scheme = b"http://";
        let split = origin.split_at_checked(scheme.len());
        split.is_some_and(|(start, name)| start.eq_ignore_ascii_case(scheme) && self.contains(name))
    }
}

impl BodyCheck {
    /// What a request brings.
    #[must_use]
    pub fn of(head: &RequestHead<'_>) -> Self {
        Self {
            is_json: !head.has_body || is_json(&head.types),
            is_own: head.sites.iter().all(|site| is_own(site)),
        }
    }

    /// Whether a route takes it.
    ///
    /// # Errors
    /// With the reason why not.
    pub fn judge(self, takes: AcceptedBody) -> Result<(), RequestRefusal> {
        match takes {
            AcceptedBody::Json => check(self.is_json, RequestRefusal::UnsupportedType),
            AcceptedBody::Anything => check(self.is_own, RequestRefusal::ForeignOrigin),
        }
    }
}

/// Whether a request may come in by this way. The method does not matter: every one is held to the same.
///
/// # Errors
/// With the first reason why not.
pub fn judge(way: &RequestTransport, head: &RequestHead<'_>) -> Result<(), RequestRefusal> {
    check(head.sites.iter().all(|site| is_own(site)), RequestRefusal::ForeignOrigin)?;
    match way {
        RequestTransport::Tcp(ours) => {
            check(is_for(ours, head), RequestRefusal::Misdirected)?;
            check(is_from(ours, head), RequestRefusal::ForeignOrigin)
        }
        // A program of the user may call us as it likes there; only a browser says `Origin`.
        RequestTransport::Unix => check(head.origins.is_empty(), RequestRefusal::ForeignOrigin),
    }
}

fn check(holds: bool, refused: RequestRefusal) -> Result<(), RequestRefusal> {
    if holds { Ok(()) } else { Err(refused) }
}

/// Whether it says exactly once for whom it is, and that is us.
fn is_for(ours: &Authorities, head: &RequestHead<'_>) -> bool {
    let targeted = head.target.is_none_or(|target| ours.contains(target.as_bytes()));
    targeted && matches!(head.hosts[..], [host] if ours.contains(host))
}

/// Whether it comes from no page at all, or from one of ours. `null` is any page that hides its name.
fn is_from(ours: &Authorities, head: &RequestHead<'_>) -> bool {
    match head.origins[..] {
        [] => true,
        [origin] => ours.contains_origin(origin),
        [..] => false,
    }
}

/// Whether a browser says that the page is ours, or that there is none because a person typed the address.
/// Another port of this machine is `same-site`, and somebody else.
fn is_own(site: &[u8]) -> bool {
    let site = site.trim_ascii();
    site.eq_ignore_ascii_case(b"same-origin") || site.eq_ignore_ascii_case(b"none")
}

/// Whether the one type is JSON, in the one encoding that JSON has.
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
        f.write_str(&self.0.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use RequestRefusal::{ForeignOrigin, Misdirected, UnsupportedType};

    const US: &[u8] = b"localhost:7263";

    fn tcp() -> RequestTransport {
        RequestTransport::Tcp(Authorities::loopback(7263))
    }

    /// A list written as `a|b`; nothing is no value at all.
    fn list(text: &str) -> Vec<&[u8]> {
        text.split('|').filter(|value| !value.is_empty()).map(str::as_bytes).collect()
    }

    #[track_caller]
    fn host(way: &RequestTransport, hosts: &str, verdict: Result<(), RequestRefusal>) {
        let head = RequestHead { hosts: list(hosts), ..RequestHead::default() };
        assert_eq!(judge(way, &head), verdict, "{hosts:?}");
    }

    #[track_caller]
    fn origin(way: &RequestTransport, origins: &str, verdict: Result<(), RequestRefusal>) {
        let head =
            RequestHead { hosts: vec![US], origins: list(origins), ..RequestHead::default() };
        assert_eq!(judge(way, &head), verdict, "{origins:?}");
    }

    #[track_caller]
    fn body(types: &str, verdict: Result<(), RequestRefusal>) {
        let head = RequestHead {
            hosts: vec![US],
            types: list(types),
            has_body: true,
            ..RequestHead::default()
        };
        assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json), verdict, "{types:?}");
        assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Anything), Ok(()), "{types:?}");
    }

    #[track_caller]
    fn site(sites: &str, verdict: Result<(), RequestRefusal>) {
        let head = RequestHead { hosts: vec![US], sites: list(sites), ..RequestHead::default() };
        assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Anything), verdict, "{sites:?}");
        assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json), Ok(()), "{sites:?}");
    }

    #[test]
    fn our_own_names_with_the_port_are_ours() {
        for ours in ["localhost:7263", "127.0.0.1:7263", "[::1]:7263", "LocalHost:7263"] {
            host(&tcp(), ours, Ok(()));
        }
    }

    #[test]
    fn every_other_host_is_misdirected() {
        let others = "localhost|127.0.0.1|[::1]|::1:7263|localhost:7264|localhost:07263|localhost:7263.|\
            localhost.:7263|evil.example:7263|localhost:7263@evil.example| localhost:7263|localhost:|\
            127.1:7263|2130706433:7263|[0:0:0:0:0:0:0:1]:7263|localhost:7263,evil.example:7263|\
            user@localhost:7263|http://localhost:7263";
        for other in others.split('|') {
            host(&tcp(), other, Err(Misdirected));
        }
    }

    #[test]
    fn no_host_and_two_hosts_are_misdirected_even_when_both_are_ours() {
        host(&tcp(), "", Err(Misdirected));
        host(&tcp(), "localhost:7263|localhost:7263", Err(Misdirected));
        host(&tcp(), "localhost:7263|evil.example", Err(Misdirected));
    }

    #[test]
    fn a_target_that_names_somebody_else_is_misdirected_whatever_the_host_says() {
        for (target, verdict) in [("localhost:7263", Ok(())), ("evil.example", Err(Misdirected))] {
            let head =
                RequestHead { target: Some(target), hosts: vec![US], ..RequestHead::default() };
            assert_eq!(judge(&tcp(), &head), verdict, "{target}");
        }
    }

    #[test]
    fn port_80_may_go_without_saying() {
        let way = RequestTransport::Tcp(Authorities::loopback(80));
        host(&way, "localhost", Ok(()));
        host(&way, "localhost:80", Ok(()));
        host(&way, "localhost:7263", Err(Misdirected));
    }

    #[test]
    fn only_our_own_pages_may_send() {
        origin(&tcp(), "", Ok(()));
        origin(&tcp(), "http://localhost:7263", Ok(()));
        origin(&tcp(), "HTTP://[::1]:7263", Ok(()));
        let foreign = "null|https://localhost:7263|http://localhost|http://localhost:3000|localhost:7263|\
            http://evil.example|http://localhost:7263/|http://|http:/|http://localhost:7263.evil.example";
        for foreign in foreign.split('|') {
            origin(&tcp(), foreign, Err(ForeignOrigin));
        }
        origin(&tcp(), "http://localhost:7263|http://localhost:7263", Err(ForeignOrigin));
    }

    #[test]
    fn over_the_socket_any_host_is_fine_and_no_origin_is() {
        for hosts in ["", "paned", "localhost", "a|b"] {
            host(&RequestTransport::Unix, hosts, Ok(()));
        }
        origin(&RequestTransport::Unix, "", Ok(()));
        origin(&RequestTransport::Unix, "http://localhost:7263", Err(ForeignOrigin));
        origin(&RequestTransport::Unix, "null", Err(ForeignOrigin));
    }

    #[test]
    fn a_body_is_json_and_nothing_a_form_could_send() {
        let json = "application/json|Application/JSON|application/json;charset=UTF-8|\
            application/json ; charset=\"utf-8\"|application/json;";
        for json in json.split('|') {
            body(json, Ok(()));
        }
        let others = "text/plain|application/x-www-form-urlencoded|multipart/form-data|application/jsonx|\
            application/json;charset=latin1|application/json, text/plain|text/plain;application/json";
        for other in others.split('|') {
            body(other, Err(UnsupportedType));
        }
        body("", Err(UnsupportedType));
        body("application/json|text/plain", Err(UnsupportedType));
    }

    #[test]
    fn without_a_body_the_type_does_not_matter() {
        let head =
            RequestHead { hosts: vec![US], types: list("text/plain"), ..RequestHead::default() };
        assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json), Ok(()));
    }

    #[test]
    fn where_any_type_is_taken_a_browser_must_say_that_the_page_is_ours() {
        for ours in ["", "same-origin", "none", "Same-Origin", "none|same-origin"] {
            site(ours, Ok(()));
        }
        for other in ["cross-site", "same-site", "x", "same-origin|cross-site", "same-origin, none"]
        {
            site(other, Err(ForeignOrigin));
        }
    }

    proptest! {
        #[test]
        fn a_host_passes_only_when_it_is_one_of_ours(name in "[a-zA-Z0-9.:@\\[\\]-]{0,20}", port in 1u16..) {
            let ours = [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
            let bare = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
            let way = RequestTransport::Tcp(Authorities::loopback(port));
            for host in [name.clone(), format!("{name}:{port}"), format!("{name}localhost:{port}")] {
                let lower = host.to_ascii_lowercase();
                let expect = ours.contains(&lower) || port == 80 && bare.contains(&lower);
                let head = RequestHead { hosts: vec![host.as_bytes()], ..RequestHead::default() };
                prop_assert_eq!(judge(&way, &head).is_ok(), expect);
            }
        }

        #[test]
        fn no_bytes_in_any_header_make_it_panic(a: Vec<u8>, b: Vec<u8>, c: Vec<u8>, has_body: bool) {
            let (hosts, origins, types, sites) = (vec![&a[..]], vec![&b[..]], vec![&c[..]], vec![&c[..]]);
            let head = RequestHead { target: None, hosts, origins, types, sites, has_body };
            prop_assert!(judge(&tcp(), &head).is_err());
            let _ = judge(&RequestTransport::Unix, &head);
            prop_assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json).is_ok(), !has_body);
        }
    }
}
