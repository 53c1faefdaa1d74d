//! The ids of tmux: `$1`, `@2`, `%3`. One server never gives an id twice, and nothing but an id is
//! ever a target: tmux matches names by prefix.

use std::fmt;

/// Defines one kind of id.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $sign:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Parses an id with its sign; `None` for anything else.
            #[must_use]
            pub fn parse(text: &[u8]) -> Option<Self> {
                number(text.strip_prefix(&[$sign])?).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", char::from($sign), self.0)
            }
        }
    };
}

id!(
    /// A session, `$1`.
    SessionId,
    b'$'
);
id!(
    /// A window, `@2`.
    WindowId,
    b'@'
);
id!(
    /// A pane of tmux, `%3`.
    TmuxPane,
    b'%'
);

/// Parses a number of digits only: no sign, no space, nothing that does not fit.
pub(super) fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_sign_and_digits() {
        assert_eq!(SessionId::parse(b"$12"), Some(SessionId(12)));
        assert_eq!(WindowId::parse(b"@0").map(|id| id.to_string()).as_deref(), Some("@0"));
        for wrong in ["", "%", "12", "%+1", "% 1", "%1 ", "$1", "%99999999999", "%1\n"] {
            assert_eq!(TmuxPane::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
