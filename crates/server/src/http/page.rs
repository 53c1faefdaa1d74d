//! `GET /` and `GET /assets/{file}`: the web page. It needs no token and holds no secret; what it
//! shows comes over the other routes, with the token that the page was signed in with.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HOST, IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::IntoResponse;
use paned_model::Refusal;

use crate::http::own_schemas;
use crate::http::reply::HandlerResult;
use crate::http::route_shape::RouteShape;
use crate::http::routes::{ParamLocation, Route, RouteHandler, RouteParam};
use crate::page::{ASSETS, Encoding, PageBundle, PageFile};
use crate::state::ServerState;
use paned_policy::guard::AcceptedBody;

/// The media type of the page.
const HTML: &str = "text/html; charset=utf-8";
/// For a file whose name changes with its content.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// For a file whose name stays: the client asks each time whether it has changed.
const ASK: &str = "no-cache";
/// What the page may load and run: its own files, and nothing that is written into it. Terminals
/// set style attributes, and draw into images of their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data:; font-src 'self'; manifest-src 'self'; \
                      worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
                      form-action 'none'; connect-src 'self'";
/// What is served at `/` where the build has no page.
const NO_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>paned</title>
<h1>This build of paned has no web page</h1>
<p>The server is running. Its page is written in TypeScript, and this binary was built without Node.
<p>Install Node 20 or newer, then run in the source folder:
<pre>make install
paned server upgrade</pre>
<p>Panes keep running. The command line, <code>paned --help</code>, and the HTTP API work without the page.
</html>
";

/// The routes of the page: itself, its assets, and each file beside it.
pub(crate) fn routes(page: PageBundle) -> Vec<Route> {
    let beside = page.root_files().map(|file| Route {
        answers: file.media(),
        // Some are JSON, and some are bytes.
        shape: RouteShape::NOTHING.with_answer(own_schemas::anything),
        ..route(file.path, "Load a file of the web page.", |page, request| {
            file_at(page, request.uri().path(), request.headers())
        })
    });
    let assets = Route {
        params: &[RouteParam {
            location: ParamLocation::Path,
            name: "file",
            doc: "The name of the file.",
            schema: own_schemas::any_text,
        }],
        answers: "*/*",
        shape: RouteShape::NOTHING.with_answer(own_schemas::any_text).with_statuses(&[404]),
        ..route("/assets/{file}", "Load an asset of the web page.", |page, request| {
            file_at(page, request.uri().path(), request.headers())
        })
    };
    let index = route("/", "Open the web page.", index);
    [index, assets].into_iter().chain(beside).collect()
}

/// Answers a request for the page or one of its files.
pub(crate) type PageHandler = fn(PageBundle, &Request) -> HandlerResult;

fn route(path: &'static str, doc: &'static str, handler: PageHandler) -> Route {
    Route {
        method: Method::GET,
        path,
        doc,
        params: &[],
        takes: AcceptedBody::Json,
        answers: HTML,
        shape: RouteShape::NOTHING.with_answer(own_schemas::any_text),
        handler: RouteHandler::Page(handler),
    }
}

/// Answers a request with the handler of its route, and adds what holds for all of the page.
pub(crate) async fn answer(
    handler: PageHandler,
    shared: Arc<ServerState>,
    request: Request,
) -> HandlerResult {
    let mut response = handler(shared.page, &request)?;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy(request.headers()));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Not every browser takes a WebSocket to the same host for `'self'`, so that is named. The guard
/// has checked the host.
fn policy(headers: &HeaderMap) -> HeaderValue {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    let named = host.filter(|host| host.chars().all(fits));
    let policy = named.map(|host| format!("{POLICY} ws://{host} wss://{host}"));
    policy
        .and_then(|policy| HeaderValue::try_from(policy).ok())
        .unwrap_or(HeaderValue::from_static(POLICY))
}

fn index(page: PageBundle, request: &Request) -> HandlerResult {
    let Some(file) = page.index() else {
        return Ok(([(CONTENT_TYPE, HTML)], NO_PAGE).into_response());
    };
    // Never cached, so that the page is always that of the server.
    send(file, request.headers(), None)
}

fn file_at(page: PageBundle, path: &str, headers: &HeaderMap) -> HandlerResult {
    let Some(file) = page.find(path) else {
        let name = path.strip_prefix(ASSETS).unwrap_or(path).escape_debug();
        return Err(Refusal::not_found(format!("the web page has no file `{name}`")).into());
    };
    send(file, headers, Some(if file.is_hashed() { FOREVER } else { ASK }))
}

/// The file in the best encoding, or that the client has it already.
fn send(file: &PageFile, headers: &HeaderMap, cache: Option<&'static str>) -> HandlerResult {
    let (encoding, body) =
        file.encoded(|encoding| accepts(headers, encoding)).map_err(Refusal::internal)?;
    let tag = format!("\"{}-{}\"", file.hash, encoding.name());
    let is_cached = cache.is_some() && has(headers, &tag);
    let mut response = match is_cached {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, file.media())], body).into_response(),
    };
    set_caching(response.headers_mut(), cache, &tag).map_err(Refusal::internal)?;
    if encoding != Encoding::Identity && !is_cached {
        let name = HeaderValue::from_static(encoding.name());
        response.headers_mut().insert(CONTENT_ENCODING, name);
    }
    Ok(response)
}

fn set_caching(
    headers: &mut HeaderMap,
    cache: Option<&'static str>,
    tag: &str,
) -> Result<(), axum::http::header::InvalidHeaderValue> {
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(cache) = cache {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(ETAG, HeaderValue::try_from(tag)?);
    }
    Ok(())
}

/// The values of a header that is a list.
fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Whether the client has the file in this form.
fn has(headers: &HeaderMap, tag: &str) -> bool {
    // A proxy that compresses makes the tag a weak one.
    list(headers, &IF_NONE_MATCH).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}

/// Whether the client takes this encoding. Without the header only the plain form is sure to fit.
fn accepts(headers: &HeaderMap, encoding: Encoding) -> bool {
    let quality = |wanted: &str| {
        list(headers, &ACCEPT_ENCODING).find_map(|choice| {
            let mut parts = choice.split(';').map(str::trim);
            let is_wanted = parts.next()?.eq_ignore_ascii_case(wanted);
            let quality = parts.find_map(|part| part.strip_prefix("q="));
            is_wanted.then(|| quality.is_none_or(|quality| quality.parse() != Ok(0.0_f32)))
        })
    };
    quality(encoding.name()).or_else(|| quality("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &'static str, brotli: bool, gzip: bool) {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        let accepted = [Encoding::Brotli, Encoding::Gzip].map(|it| accepts(&headers, it));
        assert_eq!(accepted, [brotli, gzip], "{value}");
    }

    #[test]
    fn a_client_gets_what_it_takes() {
        check("gzip, deflate, br, zstd", true, true);
        check("gzip", false, true);
        check("GZIP;q=0.5, br;q=0", false, true);
        check("br;q=0.0, *", false, true);
        check("", false, false);
        check("identity", false, false);
        assert!(!accepts(&HeaderMap::new(), Encoding::Gzip));
    }

    #[test]
    fn a_host_that_is_no_name_is_not_in_the_policy() {
        let policy = |host| {
            let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
            super::policy(&headers).to_str().unwrap().to_owned()
        };
        assert!(
            policy("[::1]:7263").ends_with("connect-src 'self' ws://[::1]:7263 wss://[::1]:7263")
        );
        assert_eq!(policy("a; script-src *"), POLICY);
    }
}
