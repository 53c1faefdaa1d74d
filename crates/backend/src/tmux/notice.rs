//! The notifications of control mode, one line each. Parsing one never fails; what is not
//! understood is [`Notice::Unknown`].

use super::ids::{SessionId, TmuxPane, WindowId, number};

/// A notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A pane printed.
    Output {
        /// The pane.
        pane: TmuxPane,
        /// The output, unescaped.
        data: Vec<u8>,
        /// How long tmux held it back, in milliseconds, where it says so.
        age: Option<u64>,
    },
    /// The layout of a window of the attached session has changed.
    LayoutChanged {
        /// The window.
        window: WindowId,
        /// The layout, as tmux writes it.
        layout: String,
        /// The visible layout, which differs while a pane is zoomed. Not every tmux sends it.
        visible: String,
        /// The window's flags, as in a status line.
        flags: String,
    },
    /// A window was made or linked.
    WindowAdded(WindowId, WindowScope),
    /// A window is gone.
    WindowClosed(WindowId, WindowScope),
    /// A window has another name.
    WindowRenamed(WindowId, WindowScope, String),
    /// Another pane of a window is the active one.
    PaneChanged(WindowId, TmuxPane),
    /// A pane entered or left a mode, such as scrolling.
    ModeChanged(TmuxPane),
    /// We are attached to this session now.
    SessionChanged(SessionId, String),
    /// A session was renamed. Some versions of tmux do not say which.
    SessionRenamed(Option<SessionId>, String),
    /// Another window of a session is the active one.
    SessionWindowChanged(SessionId, WindowId),
    /// A session was made or is gone.
    SessionsChanged,
    /// A client is attached to this session now.
    ClientSessionChanged(String, SessionId, String),
    /// A client has detached.
    ClientDetached(String),
    /// Output of a pane is paused, because we did not read it in time.
    Paused(TmuxPane),
    /// Output of that pane continues.
    Continued(TmuxPane),
    /// A subscribed value has changed.
    Subscription {
        /// The subscription.
        name: String,
        /// Its window, where it has one.
        window: Option<WindowId>,
        /// Its pane, where it has one.
        pane: Option<TmuxPane>,
        /// The new value.
        value: Vec<u8>,
    },
    /// The client exits, with the reason where there is one.
    Exit(Option<String>),
    /// An unknown notification, unchanged.
    Unknown(Vec<u8>),
}

/// Whether a window belongs to the session that we are attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowScope {
    /// It does.
    Attached,
    /// It does not.
    Other,
}

impl Notice {
    /// Parses a line outside of every reply.
    #[must_use]
    pub fn parse(line: &[u8]) -> Self {
        let (name, rest) = word(line);
        read(name, rest).unwrap_or_else(|| Self::Unknown(line.to_vec()))
    }
}

fn read(name: &[u8], rest: &[u8]) -> Option<Notice> {
    Some(match name {
        b"%output" => output(rest)?,
        b"%extended-output" => extended_output(rest)?,
        b"%layout-change" => layout_change(rest)?,
        b"%window-add" => Notice::WindowAdded(WindowId::parse(rest)?, WindowScope::Attached),
        b"%unlinked-window-add" => Notice::WindowAdded(WindowId::parse(rest)?, WindowScope::Other),
        b"%window-close" => Notice::WindowClosed(WindowId::parse(rest)?, WindowScope::Attached),
        b"%unlinked-window-close" => {
            Notice::WindowClosed(WindowId::parse(rest)?, WindowScope::Other)
        }
        b"%window-renamed" => window_renamed(rest, WindowScope::Attached)?,
        b"%unlinked-window-renamed" => window_renamed(rest, WindowScope::Other)?,
        b"%window-pane-changed" => {
            let (window, pane) = word(rest);
            Notice::PaneChanged(WindowId::parse(window)?, TmuxPane::parse(pane)?)
        }
        b"%pane-mode-changed" => Notice::ModeChanged(TmuxPane::parse(rest)?),
        b"%session-changed" => {
            let (session, name) = word(rest);
            Notice::SessionChanged(SessionId::parse(session)?, text(name))
        }
        b"%session-renamed" => session_renamed(rest),
        b"%session-window-changed" => {
            let (session, window) = word(rest);
            Notice::SessionWindowChanged(SessionId::parse(session)?, WindowId::parse(window)?)
        }
        b"%sessions-changed" => Notice::SessionsChanged,
        b"%client-session-changed" => client_session_changed(rest)?,
        b"%client-detached" => Notice::ClientDetached(text(rest)),
        b"%pause" => Notice::Paused(TmuxPane::parse(rest)?),
        b"%continue" => Notice::Continued(TmuxPane::parse(rest)?),
        b"%subscription-changed" => subscription(rest)?,
        b"%exit" => Notice::Exit(Some(text(rest)).filter(|reason| !reason.is_empty())),
        _ => return None,
    })
}

fn output(rest: &[u8]) -> Option<Notice> {
    let (pane, data) = word(rest);
    Some(Notice::Output { pane: TmuxPane::parse(pane)?, data: unescape(data), age: None })
}

/// `%1 12 … : data`. Later versions may add fields before the colon.
fn extended_output(rest: &[u8]) -> Option<Notice> {
    let (pane, rest) = word(rest);
    let (age, _) = word(rest);
    let data = unescape(after_colon(rest)?);
    Some(Notice::Output { pane: TmuxPane::parse(pane)?, data, age: Some(number(age)?) })
}

fn layout_change(rest: &[u8]) -> Option<Notice> {
    let (window, rest) = word(rest);
    let (layout, rest) = word(rest);
    let (visible, flags) = word(rest);
    Some(Notice::LayoutChanged {
        window: WindowId::parse(window)?,
        layout: text(layout),
        visible: text(visible),
        flags: text(flags),
    })
}

fn window_renamed(rest: &[u8], scope: WindowScope) -> Option<Notice> {
    let (window, name) = word(rest);
    Some(Notice::WindowRenamed(WindowId::parse(window)?, scope, text(name)))
}

fn session_renamed(rest: &[u8]) -> Notice {
    let (session, name) = word(rest);
    match SessionId::parse(session) {
        Some(session) => Notice::SessionRenamed(Some(session), text(name)),
        None => Notice::SessionRenamed(None, text(rest)),
    }
}

fn client_session_changed(rest: &[u8]) -> Option<Notice> {
    let (client, rest) = word(rest);
    let (session, name) = word(rest);
    Some(Notice::ClientSessionChanged(text(client), SessionId::parse(session)?, text(name)))
}

/// `name $1 @2 3 %4 … : value`, with `-` for what does not apply.
fn subscription(rest: &[u8]) -> Option<Notice> {
    let value = after_colon(rest)?.to_vec();
    let (name, rest) = word(rest);
    let (_session, rest) = word(rest);
    let (window, rest) = word(rest);
    let (_index, rest) = word(rest);
    let (pane, _) = word(rest);
    Some(Notice::Subscription {
        name: text(name),
        window: WindowId::parse(window),
        pane: TmuxPane::parse(pane),
        value,
    })
}

/// The first word, and the rest after the space.
pub(super) fn word(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b' ') {
        Some(at) => (&line[..at], &line[at + 1..]),
        None => (line, &[]),
    }
}

/// The rest after the first ` : `.
fn after_colon(line: &[u8]) -> Option<&[u8]> {
    let at = line.windows(3).position(|three| three == b" : ")?;
    Some(&line[at + 3..])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Undoes tmux's escaping of output: `\ooo` is a byte. Anything else stays as it is.
#[must_use]
pub fn unescape(data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len());
    let mut rest = data;
    while let Some((first, after)) = rest.split_first() {
        match octal(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

/// The byte of an octal escape at the start of `rest`.
pub(super) fn octal(rest: &[u8]) -> Option<u8> {
    let [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] = rest else {
        return None;
    };
    Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Notice) {
        assert_eq!(Notice::parse(line.as_bytes()), expect, "{line}");
    }

    #[test]
    fn windows_are_told_apart_by_where_they_are() {
        check("%window-add @1", Notice::WindowAdded(WindowId(1), WindowScope::Attached));
        check("%unlinked-window-add @1", Notice::WindowAdded(WindowId(1), WindowScope::Other));
        check("%window-close @7", Notice::WindowClosed(WindowId(7), WindowScope::Attached));
        check("%unlinked-window-close @7", Notice::WindowClosed(WindowId(7), WindowScope::Other));
        let name = "a b  c ".to_owned();
        let renamed = Notice::WindowRenamed(WindowId(2), WindowScope::Other, name);
        check("%unlinked-window-renamed @2 a b  c ", renamed);
    }

    #[test]
    fn a_layout_keeps_its_three_parts() {
        let line = "%layout-change @0 c08b,100x30,0,0[1,2] d18c,100x30,0,0,0 *Z";
        let (layout, visible) = ("c08b,100x30,0,0[1,2]".to_owned(), "d18c,100x30,0,0,0".to_owned());
        let flags = "*Z".to_owned();
        check(line, Notice::LayoutChanged { window: WindowId(0), layout, visible, flags });
    }

    #[test]
    fn output_is_unescaped() {
        let pane = TmuxPane(3);
        let data = b"a\x1b[0m\\ b\r\n".to_vec();
        let line = "%output %3 a\\033[0m\\134 b\\015\\012";
        check(line, Notice::Output { pane, data: data.clone(), age: None });
        let line = "%extended-output %3 12 later words : a\\033[0m\\134 b\\015\\012";
        check(line, Notice::Output { pane, data, age: Some(12) });
        // Not what tmux writes; kept, not guessed.
        assert_eq!(unescape(b"\\400 \\08 \\1 \\"), b"\\400 \\08 \\1 \\");
    }

    #[test]
    fn people_come_and_go() {
        let client = "/dev/pts/3".to_owned();
        let changed = Notice::ClientSessionChanged(client.clone(), SessionId(1), "a b".to_owned());
        check("%client-session-changed /dev/pts/3 $1 a b", changed);
        check("%client-detached /dev/pts/3", Notice::ClientDetached(client));
        check("%session-renamed $1 new", Notice::SessionRenamed(Some(SessionId(1)), "new".into()));
        check("%session-renamed new name", Notice::SessionRenamed(None, "new name".into()));
    }

    #[test]
    fn a_subscription_may_have_no_pane() {
        let value = b"x : y".to_vec();
        let (name, window) = ("size".to_owned(), Some(WindowId(2)));
        let line = "%subscription-changed size $1 @2 0 - : x : y";
        check(line, Notice::Subscription { name, window, pane: None, value });
    }

    #[test]
    fn an_ending_may_have_a_reason() {
        check("%exit", Notice::Exit(None));
        check("%exit server exited", Notice::Exit(Some("server exited".to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_kept() {
        for line in ["%new-thing 1", "%window-add", "%window-add 1", "%output x", "%pause @1", "%"]
        {
            check(line, Notice::Unknown(line.as_bytes().to_vec()));
        }
    }
}
