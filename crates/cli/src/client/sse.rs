//! Server-sent events, read from bytes that arrive in any pieces. Pure.

/// One message of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedSseEvent {
    pub(crate) id: Option<u64>,
    /// When it happened: a field of paned's own.
    pub(crate) time: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// The parser of one stream.
#[derive(Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    message: ParsedSseEvent,
    has_data: bool,
}

impl SseParser {
    /// Takes bytes, gives the messages that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<ParsedSseEvent> {
        let mut messages = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.line.push(byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line =
                String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned();
            messages.extend(self.line(&line));
        }
        messages
    }

    fn line(&mut self, line: &str) -> Option<ParsedSseEvent> {
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            return std::mem::take(&mut self.has_data).then_some(message);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.message.id = value.parse().ok(),
            "time" => value.clone_into(&mut self.message.time),
            "event" => value.clone_into(&mut self.message.event),
            "data" => self.data(value),
            // A comment (no name at all) or a field that we do not use.
            _ => {}
        }
        None
    }

    fn data(&mut self, value: &str) {
        if self.has_data {
            self.message.data.push('\n');
        }
        self.has_data = true;
        self.message.data += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ": hello\r\n\r\nid: 7\r\nevent: pane:created\r\ntime: now\r\ndata: {\"a\":\"ä\"}\r\n\r\n\
        event:gap\ndata: 1\ndata: 2\n\nretry: 5\n\ndata: left over";

    fn message(id: Option<u64>, time: &str, event: &str, data: &str) -> ParsedSseEvent {
        ParsedSseEvent { id, time: time.into(), event: event.into(), data: data.into() }
    }

    #[test]
    fn cutting_the_bytes_differently_changes_nothing() {
        let created = message(Some(7), "now", "pane:created", "{\"a\":\"ä\"}");
        let expect = [created, message(None, "", "gap", "1\n2")];
        for size in 1..STREAM.len() {
            let mut stream = SseParser::default();
            let chunks = STREAM.as_bytes().chunks(size);
            let got: Vec<_> = chunks.flat_map(|chunk| stream.feed(chunk)).collect();
            assert_eq!(got, expect, "pieces of {size}");
        }
    }
}
