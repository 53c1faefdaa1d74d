//! `GET /metrics`: counters of the HTTP server and the server's status, in Prometheus's text
//! format.

use std::fmt::{Display, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use axum::http::StatusCode;

use crate::http::call::Call;
use crate::http::health::HealthStatus;
use crate::http::reply::{HandlerResult, text};
use crate::http::routes::Route;
use crate::http::{health, process};
use crate::state::ServerState;

/// The media type of Prometheus's text format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The counters. Atomics only, so counting never waits.
pub struct Metrics {
    routes: Vec<Arc<Route>>,
    /// By route and class of status; the last row is for requests without a route.
    answers: Vec<[AtomicU64; 5]>,
    refused: AtomicU64,
    streams: Arc<AtomicU64>,
    sockets: Arc<AtomicU64>,
}

/// Counts a stream or a socket until it is dropped.
pub struct GaugeGuard(Arc<AtomicU64>);

impl Metrics {
    pub(crate) fn new(routes: Vec<Arc<Route>>) -> Self {
        let answers = (0..=routes.len()).map(|_| Default::default()).collect();
        let refused = AtomicU64::new(0);
        Self { routes, answers, refused, streams: Arc::default(), sockets: Arc::default() }
    }

    /// A request was answered.
    pub(crate) fn count_answer(&self, route: Option<&Arc<Route>>, status: StatusCode) {
        let row = |route| self.routes.iter().position(|other| Arc::ptr_eq(route, other));
        let row = route.and_then(row).unwrap_or(self.routes.len());
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.answers[row][class].fetch_add(1, Relaxed);
    }

    /// A connection was refused or evicted.
    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Relaxed);
    }

    /// A stream was opened.
    pub fn count_stream(&self) -> GaugeGuard {
        GaugeGuard::new(&self.streams)
    }

    /// A socket was opened.
    pub fn socket(&self) -> GaugeGuard {
        GaugeGuard::new(&self.sockets)
    }

    /// How many sockets are open.
    pub fn sockets(&self) -> u64 {
        self.sockets.load(Relaxed)
    }

    fn rows(&self) -> impl Iterator<Item = (String, u64)> {
        let names = self.routes.iter().map(|route| (route.method.as_str(), route.path));
        let rows = names.chain([("any", "unknown")]).zip(&self.answers);
        rows.flat_map(|((method, path), classes)| {
            classes.iter().zip(1..).map(move |(count, class)| {
                let labels =
                    format!("{{method=\"{method}\",route=\"{path}\",status=\"{class}xx\"}}");
                (labels, count.load(Relaxed))
            })
        })
        .filter(|(_, count)| *count > 0)
    }
}

impl GaugeGuard {
    fn new(count: &Arc<AtomicU64>) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Answers with the page of metrics.
pub(crate) async fn show(call: Call) -> HandlerResult {
    let status = health::status(&call.shared, &call.caller).await?;
    Ok(text(MEDIA_TYPE, render(&call.shared, &status, call.caller.reaches_all())))
}

/// The page. Only grants over all panes see what is counted over all panes and callers.
fn render(shared: &ServerState, status: &HealthStatus, is_wide: bool) -> String {
    let mut page = MetricsPage(String::new());
    let build = [(format!("{{version=\"{}\"}}", status.version), 1)];
    page.family("paned_build_info gauge The running version.", build);
    let uptime = format!("{}.{:03}", status.uptime_ms / 1000, status.uptime_ms % 1000);
    page.one("paned_uptime_seconds gauge Time since the server was started.", Some(uptime));
    let panes = status.panes.iter().map(|(word, count)| (format!("{{status=\"{word}\"}}"), count));
    page.family("paned_panes gauge Panes by status.", panes);
    if is_wide {
        render_all(&mut page, shared, status);
    }
    page.0
}

fn render_all(page: &mut MetricsPage, shared: &ServerState, status: &HealthStatus) {
    page.one("paned_events_total counter Events recorded so far.", Some(status.last_event));
    page.one("paned_connections gauge Open connections.", Some(shared.connections()));
    let refused = shared.metrics.refused.load(Relaxed);
    page.one("paned_connections_refused_total counter Connections refused.", Some(refused));
    page.family("paned_http_requests_total counter Requests answered.", shared.metrics.rows());
    let streams = shared.metrics.streams.load(Relaxed);
    page.one("paned_sse_streams gauge Open event streams.", Some(streams));
    let sockets = shared.metrics.sockets();
    page.one("paned_ws_sockets gauge Open WebSockets.", Some(sockets));
    let resident = process::resident_bytes();
    page.one("process_resident_memory_bytes gauge Resident memory.", resident);
    page.one("process_open_fds gauge Open file descriptors.", process::open_descriptors());
}

/// A page of metrics. A family is declared as one string: name, type and help sentence.
struct MetricsPage(String);

impl MetricsPage {
    fn family<V: Display>(
        &mut self,
        declaration: &str,
        samples: impl IntoIterator<Item = (String, V)>,
    ) {
        let mut words = declaration.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let name = word();
        let kind = word();
        let help = word();
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }

    /// A family of one sample; nothing if the value is unknown.
    fn one(&mut self, declaration: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.family(declaration, [(String::new(), value)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes::routes;

    #[test]
    fn answers_are_counted_by_route_and_class() {
        let routes = routes(crate::PageBundle::default(), &[]);
        let metrics = Metrics::new(routes.clone());
        let route = &routes[0];
        for status in [200, 204, 404] {
            metrics.count_answer(Some(route), StatusCode::from_u16(status).unwrap());
        }
        metrics.count_answer(None, StatusCode::from_u16(421).unwrap());
        let rows: Vec<_> = metrics.rows().collect();
        let row = |labels: &str, count| (format!("{{{labels}}}"), count);
        assert_eq!(
            rows,
            [
                row("method=\"POST\",route=\"/action/{name}\",status=\"2xx\"", 2),
                row("method=\"POST\",route=\"/action/{name}\",status=\"4xx\"", 1),
                row("method=\"any\",route=\"unknown\",status=\"4xx\"", 1),
            ]
        );
    }

    #[test]
    fn a_stream_counts_while_it_lives() {
        let metrics = Metrics::new(Vec::new());
        let streaming = metrics.count_stream();
        assert_eq!(metrics.streams.load(Relaxed), 1);
        drop(streaming);
        assert_eq!(metrics.streams.load(Relaxed), 0);
    }

    #[test]
    fn a_family_says_what_it_is() {
        let mut page = MetricsPage(String::new());
        page.one("a_total counter All a.", Some(3));
        page.one("b gauge All b.", None::<u8>);
        assert_eq!(page.0, "# HELP a_total All a.\n# TYPE a_total counter\na_total 3\n");
    }
}
