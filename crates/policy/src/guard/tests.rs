//! Tests of `guard`.

use proptest::prelude::*;

use super::*;
use RequestRefusal::{ForeignOrigin, Misdirected, UnsupportedType};

const US: &[u8] = b"localhost:7263";

fn tcp() -> RequestTransport {
    RequestTransport::Tcp(Authorities::loopback(7263))
}

/// A list written as `a|b`; an empty text is an empty list.
fn list(text: &str) -> Vec<&[u8]> {
    text.split('|').filter(|value| !value.is_empty()).map(str::as_bytes).collect()
}

#[track_caller]
fn host(transport: &RequestTransport, hosts: &str, verdict: Result<(), RequestRefusal>) {
    let head = RequestHead { hosts: list(hosts), ..RequestHead::default() };
    assert_eq!(judge(transport, &head), verdict, "{hosts:?}");
}

#[track_caller]
fn origin(transport: &RequestTransport, origins: &str, verdict: Result<(), RequestRefusal>) {
    let head = RequestHead { hosts: vec![US], origins: list(origins), ..RequestHead::default() };
    assert_eq!(judge(transport, &head), verdict, "{origins:?}");
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
        let head = RequestHead { target: Some(target), hosts: vec![US], ..RequestHead::default() };
        assert_eq!(judge(&tcp(), &head), verdict, "{target}");
    }
}

#[test]
fn port_80_may_go_without_saying() {
    let transport = RequestTransport::Tcp(Authorities::loopback(80));
    host(&transport, "localhost", Ok(()));
    host(&transport, "localhost:80", Ok(()));
    host(&transport, "localhost:7263", Err(Misdirected));
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
    let head = RequestHead { hosts: vec![US], types: list("text/plain"), ..RequestHead::default() };
    assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json), Ok(()));
}

#[test]
fn where_any_type_is_taken_a_browser_must_say_that_the_page_is_ours() {
    for ours in ["", "same-origin", "none", "Same-Origin", "none|same-origin"] {
        site(ours, Ok(()));
    }
    for other in ["cross-site", "same-site", "x", "same-origin|cross-site", "same-origin, none"] {
        site(other, Err(ForeignOrigin));
    }
}

#[test]
fn a_link_of_another_page_may_open_ours_but_not_under_another_name() {
    let visit = |host, sites, is_visit| {
        let head = RequestHead { hosts: vec![host], sites, is_visit, ..RequestHead::default() };
        judge(&tcp(), &head)
    };
    assert_eq!(visit(US, vec![b"cross-site"], true), Ok(()));
    assert_eq!(visit(US, vec![b"cross-site"], false), Err(ForeignOrigin));
    assert_eq!(visit(b"evil.example:7263", vec![b"cross-site"], true), Err(Misdirected));
}

/// Checks hosts and origins at a listener with these names.
#[track_caller]
fn named(ours: &Authorities, good: &[&str], bad: &[&str]) {
    let transport = RequestTransport::Tcp(ours.clone());
    for (origins, expect) in [(good, Ok(())), (bad, Err(ForeignOrigin))] {
        for page in origins {
            let us = ours.names[0].as_bytes();
            let origins = vec![page.as_bytes()];
            let head = RequestHead { hosts: vec![us], origins, ..RequestHead::default() };
            assert_eq!(judge(&transport, &head), expect, "{page}");
        }
    }
}

#[test]
fn with_tls_only_pages_with_tls_are_ours() {
    let ours = Authorities::tls().with("10.0.0.2", 7443).with("box", 443);
    assert_eq!(ours.to_string(), "10.0.0.2:7443, box:443, box");
    named(
        &ours,
        &["https://10.0.0.2:7443", "HTTPS://box", "https://box:443"],
        &["http://10.0.0.2:7443", "https://10.0.0.2", "http://box", "https://box:7443"],
    );
}

#[test]
fn a_given_name_may_be_that_of_a_proxy_with_tls() {
    let ours = Authorities::loopback(7263).with_given("box.example", 7263);
    let ours = ours.with_given("other:8443", 7263).with_given("[fd00::1]", 7263);
    named(
        &ours,
        &[
            "https://box.example",
            "http://box.example",
            "http://box.example:7263",
            "https://other:8443",
            "http://other:8443",
            "https://[fd00::1]",
            "http://localhost:7263",
        ],
        &[
            "https://localhost:7263",
            "https://box.example:7263",
            "https://other",
            "http://other:7263",
        ],
    );
    let ours = Authorities::tls().with_given("box.example:443", 7443);
    named(&ours, &["https://box.example"], &["http://box.example", "https://box.example:7443"]);
}

proptest! {
    #[test]
    fn a_host_passes_only_when_it_is_one_of_ours(name in "[a-zA-Z0-9.:@\\[\\]-]{0,20}", port in 1u16..) {
        let ours = [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")];
        let bare = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let transport = RequestTransport::Tcp(Authorities::loopback(port));
        for host in [name.clone(), format!("{name}:{port}"), format!("{name}localhost:{port}")] {
            let lower = host.to_ascii_lowercase();
            let expect = ours.contains(&lower) || port == 80 && bare.contains(&lower);
            let head = RequestHead { hosts: vec![host.as_bytes()], ..RequestHead::default() };
            prop_assert_eq!(judge(&transport, &head).is_ok(), expect);
        }
    }

    #[test]
    fn no_bytes_in_any_header_make_it_panic(a: Vec<u8>, b: Vec<u8>, c: Vec<u8>, has_body: bool) {
        let (hosts, origins, types, sites) = (vec![&a[..]], vec![&b[..]], vec![&c[..]], vec![&c[..]]);
        let is_visit = false;
        let head = RequestHead { target: None, hosts, origins, types, sites, has_body, is_visit };
        prop_assert!(judge(&tcp(), &head).is_err());
        let _ = judge(&RequestTransport::Unix, &head);
        prop_assert_eq!(BodyCheck::of(&head).judge(AcceptedBody::Json).is_ok(), !has_body);
    }
}
