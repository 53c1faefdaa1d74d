//! The keys of the keypad: the character that each types, and its code in application mode and in
//! the kitty protocol.

use super::KeyCode;

/// A key of the keypad, with num lock on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeypadKey {
    /// 0 to 9.
    Digit(u8),
    Decimal,
    Divide,
    Multiply,
    Subtract,
    Add,
    Enter,
    Equal,
    Separator,
}

/// The number of `kp_0` in the kitty keyboard protocol.
const KP_0: u32 = 57399;

impl KeypadKey {
    /// The character that it types.
    pub(super) fn typed(self) -> char {
        match self {
            Self::Digit(digit) => char::from(b'0' + digit),
            Self::Decimal => '.',
            Self::Divide => '/',
            Self::Multiply => '*',
            Self::Subtract => '-',
            Self::Add => '+',
            Self::Enter => '\r',
            Self::Equal => '=',
            Self::Separator => ',',
        }
    }

    /// The letter after `ESC O` in application mode.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Digit(digit) => char::from(b'p' + digit),
            Self::Decimal => 'n',
            Self::Divide => 'o',
            Self::Multiply => 'j',
            Self::Subtract => 'm',
            Self::Add => 'k',
            Self::Enter => 'M',
            Self::Equal => 'X',
            Self::Separator => 'l',
        }
    }

    /// Its number in the kitty keyboard protocol.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Digit(digit) => KP_0 + u32::from(digit),
            Self::Decimal => KP_0 + 10,
            Self::Divide => KP_0 + 11,
            Self::Multiply => KP_0 + 12,
            Self::Subtract => KP_0 + 13,
            Self::Add => KP_0 + 14,
            Self::Enter => KP_0 + 15,
            Self::Equal => KP_0 + 16,
            Self::Separator => KP_0 + 17,
        }
    }
}

/// The keys of the keypad by name: first the name we write, then the aliases we read.
pub(super) const NAMED: &[(KeyCode, &[&str])] = &[
    (KeyCode::Keypad(KeypadKey::Digit(0)), &["kp_0"]),
    (KeyCode::Keypad(KeypadKey::Digit(1)), &["kp_1"]),
    (KeyCode::Keypad(KeypadKey::Digit(2)), &["kp_2"]),
    (KeyCode::Keypad(KeypadKey::Digit(3)), &["kp_3"]),
    (KeyCode::Keypad(KeypadKey::Digit(4)), &["kp_4"]),
    (KeyCode::Keypad(KeypadKey::Digit(5)), &["kp_5"]),
    (KeyCode::Keypad(KeypadKey::Digit(6)), &["kp_6"]),
    (KeyCode::Keypad(KeypadKey::Digit(7)), &["kp_7"]),
    (KeyCode::Keypad(KeypadKey::Digit(8)), &["kp_8"]),
    (KeyCode::Keypad(KeypadKey::Digit(9)), &["kp_9"]),
    (KeyCode::Keypad(KeypadKey::Decimal), &["kp_decimal", "kp_period", "kp_point", "kp."]),
    (KeyCode::Keypad(KeypadKey::Divide), &["kp_divide", "kp/"]),
    (KeyCode::Keypad(KeypadKey::Multiply), &["kp_multiply", "kp*"]),
    (KeyCode::Keypad(KeypadKey::Subtract), &["kp_minus", "kp_subtract", "kp-"]),
    (KeyCode::Keypad(KeypadKey::Add), &["kp_plus", "kp_add", "kp+"]),
    (KeyCode::Keypad(KeypadKey::Enter), &["kp_enter"]),
    (KeyCode::Keypad(KeypadKey::Equal), &["kp_equal", "kp="]),
    (KeyCode::Keypad(KeypadKey::Separator), &["kp_separator", "kp_comma", "kp,"]),
];
