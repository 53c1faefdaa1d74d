//! A client that can also send malformed requests, and checks what holds for every response.

use std::time::Duration;

use paned_model::Refusal;
use serde_json::Value;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::time::timeout;

/// The longest wait of any test.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A request, header for header.
#[derive(Clone, Debug)]
pub(crate) struct RawRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl RawRequest {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same without this header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn body(mut self, media: &str, body: &str) -> Self {
        self.body = body.to_owned();
        self.header("content-type", media)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", &body.to_string())
    }

    /// The request as it goes over the wire.
    pub(crate) fn text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let length = match self.body.len() {
            0 => String::new(),
            length => format!("content-length: {length}\r\n"),
        };
        let (headers, body) = (headers.collect::<String>(), &self.body);
        format!("{} {} HTTP/1.1\r\n{headers}{length}\r\n{body}", self.method, self.path)
    }
}

/// An answer's head.
#[derive(Clone, Debug)]
pub(crate) struct RawResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct RawResponse {
    pub(crate) head: RawResponseHead,
    pub(crate) body: String,
}

impl RawResponseHead {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Checks what holds for every response.
    fn check(&self, ask: &RawRequest) {
        let foreign = |name: &str| name.starts_with("access-control-") || name == "set-cookie";
        assert!(!self.headers.iter().any(|(name, _)| foreign(name)), "{ask:?}: {self:?}");
        let is_file = self.get("etag").is_some();
        assert!(is_file || self.get("cache-control") == Some("no-store"), "{ask:?}: {self:?}");
        assert_eq!(self.get("x-content-type-options"), Some("nosniff"), "{ask:?}: {self:?}");
        let asks = self.get("www-authenticate");
        assert_eq!(asks, (self.status == 401).then_some("Bearer"), "{ask:?}: {self:?}");
    }
}

impl RawResponse {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn refusal(&self) -> Refusal {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Sends one request and reads the whole answer.
pub(crate) async fn send(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    ask: &RawRequest,
) -> RawResponse {
    let ask = ask.clone().header("connection", "close");
    let answer = async {
        // The server may close the connection before all was sent.
        let _ = stream.write_all(ask.text().as_bytes()).await;
        let mut stream = BufReader::new(stream);
        let head = read_head(&mut stream).await.unwrap_or_else(|| panic!("no answer to {ask:?}"));
        head.check(&ask);
        let mut body = String::new();
        let _ = stream.read_to_string(&mut body).await;
        RawResponse { head, body }
    };
    let answer = timeout(DEADLINE, answer).await.unwrap_or_else(|_| panic!("no end to {ask:?}"));
    // Compat APIs have their own error formats.
    let is_ours = answer.head.get("content-type") == Some("application/json");
    if 400 <= answer.status() && ask.method != "HEAD" && is_ours {
        assert_eq!(
            answer.refusal().code.http() / 100,
            answer.status() / 100,
            "{ask:?}: {answer:?}"
        );
    }
    answer
}

/// Reads the head of a response; `None` if the connection ends before.
async fn read_head(stream: &mut (impl AsyncBufRead + Unpin)) -> Option<RawResponseHead> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1)?.parse().ok()?;
    let headers = lines[1..].iter().filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Some(RawResponseHead { status, headers })
}

/// A stream of events as it comes in.
pub(crate) struct SseClient<S> {
    stream: BufReader<S>,
    unread: String,
}

/// One frame of a stream, field by field; a comment is a field without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SseFrame(Vec<(String, String)>);

impl SseFrame {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn id(&self) -> Option<u64> {
        self.get("id").map(|id| id.parse().unwrap())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> SseClient<S> {
    /// Opens a stream and reads its greeting.
    pub(crate) async fn open(stream: S, ask: &RawRequest) -> Self {
        let mut follow = Self::begin(stream, ask).await;
        let head = timeout(DEADLINE, read_head(&mut follow.stream)).await.unwrap().unwrap();
        head.check(ask);
        assert_eq!((head.status, head.get("content-type")), (200, Some("text/event-stream")));
        assert_eq!(follow.frame().await.unwrap().get(""), Some("paned"));
        follow
    }

    /// Asks for a stream and reads nothing.
    pub(crate) async fn begin(mut stream: S, ask: &RawRequest) -> Self {
        stream.write_all(ask.text().as_bytes()).await.unwrap();
        Self { stream: BufReader::new(stream), unread: String::new() }
    }

    /// The next frame that is an event; `None` when the stream ends.
    pub(crate) async fn event(&mut self) -> Option<SseFrame> {
        loop {
            let frame = self.frame().await?;
            if frame.get("event").is_some() {
                return Some(frame);
            }
        }
    }

    /// The next frame; `None` when the stream ends.
    pub(crate) async fn frame(&mut self) -> Option<SseFrame> {
        timeout(DEADLINE, self.next()).await.expect("nothing came, and no end")
    }

    async fn next(&mut self) -> Option<SseFrame> {
        loop {
            if let Some((frame, rest)) = self.unread.split_once("\n\n") {
                let fields = frame.lines().filter_map(|line| line.split_once(": "));
                let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
                let frame = SseFrame(fields.collect());
                self.unread = rest.to_owned();
                return Some(frame);
            }
            let chunk = self.chunk().await?;
            self.unread.push_str(&chunk);
        }
    }

    /// One chunk of the body; `None` when it ends or breaks off.
    async fn chunk(&mut self) -> Option<String> {
        let mut size = String::new();
        self.stream.read_line(&mut size).await.ok()?;
        let size = usize::from_str_radix(size.trim_end(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        self.stream.read_exact(&mut chunk).await.ok()?;
        chunk.truncate(size);
        Some(String::from_utf8(chunk).unwrap())
    }
}
