//! A WebSocket client that checks what holds for every frame.

use std::io;

use futures_util::{SinkExt, StreamExt};
use paned_model::Refusal;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::client::DEADLINE;
use crate::test_server::TestServer;

/// A frame from the server.
#[derive(Debug, PartialEq)]
pub(crate) enum WsReceived {
    Text(Value),
    /// A pane's output, or a snapshot of its screen.
    Bytes(WsBinaryFrame),
    /// The socket is closed, with this code.
    Closed(u16),
}

/// A binary frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WsBinaryFrame {
    pub(crate) kind: u8,
    pub(crate) channel: u32,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A socket.
pub(crate) struct WsClient<S> {
    stream: WebSocketStream<S>,
    pub(crate) response_headers: HeaderMap,
}

impl TestServer {
    /// The owner's socket over TCP, after the welcome.
    pub(crate) async fn ws(&self) -> WsClient<TcpStream> {
        self.ws_as(&self.token).await
    }

    /// A socket with this token, after the welcome.
    pub(crate) async fn ws_as(&self, token: &str) -> WsClient<TcpStream> {
        let bearer = format!("Bearer {token}");
        let mut ws = self.open(&[("authorization", &bearer)]).await.unwrap();
        assert_eq!(ws.text().await["type"], "welcome");
        ws
    }

    /// A socket over TCP, or the status of the refusal.
    pub(crate) async fn open(
        &self,
        headers: &[(&str, &str)],
    ) -> Result<WsClient<TcpStream>, StatusCode> {
        WsClient::open(self.tcp().await, &format!("ws://{}/ws", self.address), headers).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> WsClient<S> {
    pub(crate) async fn open(
        stream: S,
        url: &str,
        headers: &[(&str, &str)],
    ) -> Result<Self, StatusCode> {
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            request.headers_mut().append(name, HeaderValue::from_str(value).unwrap());
        }
        let opened = timeout(DEADLINE, client_async(request, stream)).await.expect("no answer");
        match opened {
            Ok((stream, answer)) => Ok(Self { stream, response_headers: answer.headers().clone() }),
            Err(Error::Http(answer)) => Err(answer.status()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The raw connection, to violate the protocol on it.
    pub(crate) fn into_raw(self) -> S {
        self.stream.into_inner()
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_raw(Message::text(message.to_string())).await;
    }

    pub(crate) async fn send_raw(&mut self, message: Message) {
        assert!(self.is_sent(message).await, "it is closed");
    }

    /// Whether the server still takes messages.
    pub(crate) async fn is_sent(&mut self, message: Message) -> bool {
        let sent = timeout(DEADLINE, self.stream.send(message)).await;
        sent.expect("it is not taken").is_ok()
    }

    /// The next frame.
    pub(crate) async fn next(&mut self) -> WsReceived {
        loop {
            let next = timeout(DEADLINE, self.stream.next()).await.expect("nothing came");
            match next {
                Some(Ok(Message::Text(text))) => {
                    return WsReceived::Text(serde_json::from_str(&text).unwrap());
                }
                Some(Ok(Message::Binary(frame))) => return WsReceived::Bytes(split(&frame)),
                Some(Ok(Message::Close(frame))) => {
                    return WsReceived::Closed(frame.map_or(1005, |frame| frame.code.into()));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(_)) | None => return WsReceived::Closed(1006),
            }
        }
    }

    /// The next frame, which is text.
    pub(crate) async fn text(&mut self) -> Value {
        match self.next().await {
            WsReceived::Text(value) => value,
            other => panic!("this is no text: {other:?}"),
        }
    }

    /// The next frame, which is binary.
    pub(crate) async fn bytes(&mut self) -> WsBinaryFrame {
        match self.next().await {
            WsReceived::Bytes(bytes) => bytes,
            other => panic!("these are no bytes: {other:?}"),
        }
    }

    /// The next frame, which refuses.
    pub(crate) async fn refusal(&mut self) -> Refusal {
        let text = self.text().await;
        assert_eq!(text["type"], "error", "{text}");
        serde_json::from_value(text).unwrap()
    }

    /// Sends a message and waits for the text that answers it.
    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.text().await
    }

    /// Opens a channel. Returns the server's answer.
    pub(crate) async fn subscribe(&mut self, pane: &str, from: Value) -> Value {
        let answer = self.ask(json!({ "type": "subscribe", "pane": pane, "since": from })).await;
        assert_eq!(answer["type"], "subscribed", "{answer}");
        answer
    }

    /// Everything a channel sends up to this offset, acknowledged as it comes.
    pub(crate) async fn read_to(&mut self, end: u64) -> Vec<u8> {
        let mut read = Vec::new();
        loop {
            let bytes = self.bytes().await;
            let at = bytes.offset + bytes.bytes.len() as u64;
            read.extend(bytes.bytes);
            self.send(json!({ "type": "ack", "channel": bytes.channel, "offset": at })).await;
            if at == end {
                return read;
            }
        }
    }

    /// Checks that no unread frame is left: the answer to a ping is next.
    pub(crate) async fn expect_quiet(&mut self) {
        self.send(json!({ "type": "ping", "id": "quiet?" })).await;
        assert_eq!(self.next().await, WsReceived::Text(json!({ "type": "pong", "id": "quiet?" })));
    }
}

fn split(frame: &[u8]) -> WsBinaryFrame {
    let (head, bytes) = frame.split_at(13);
    WsBinaryFrame {
        kind: head[0],
        channel: u32::from_le_bytes(head[1..5].try_into().unwrap()),
        offset: u64::from_le_bytes(head[5..].try_into().unwrap()),
        bytes: bytes.to_vec(),
    }
}

/// The header of a text frame of this length, masked with zeros.
pub(crate) fn head(bytes: u64) -> Vec<u8> {
    [&[0x81, 0xff][..], &bytes.to_be_bytes(), &[0; 4]].concat()
}

/// Sends this many bytes in one frame. Returns everything until the server closes the connection,
/// or the error of reading it.
pub(crate) async fn answered<S>(ws: WsClient<S>, bytes: usize) -> io::Result<Vec<u8>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut read, mut write) = tokio::io::split(ws.into_raw());
    let frame = [head(bytes as u64), vec![b'x'; bytes]].concat();
    let mut answer = Vec::new();
    // The server may close before all is sent; its answer is what matters.
    let (_, read) = tokio::join!(write.write_all(&frame), read.read_to_end(&mut answer));
    read.map(|_| answer)
}
