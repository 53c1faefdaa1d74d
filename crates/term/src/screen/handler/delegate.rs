//! Macros that write the methods of the handler that only call the emulator.
//!
//! They differ in how they find out whether something visible may have changed.

/// Delegates to the emulator. None of these has a visible effect.
macro_rules! delegate {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            #[inline]
            fn $name(&mut self, $($arg: $type),*) {
                Handler::$name(&mut self.term, $($arg),*);
            }
        )*
    };
}

/// Delegates calls that draw.
macro_rules! delegate_drawing {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            #[inline]
            fn $name(&mut self, $($arg: $type),*) {
                self.changed = true;
                Handler::$name(&mut self.term, $($arg),*);
            }
        )*
    };
}

/// Delegates calls that move the cursor; it may be there already.
macro_rules! delegate_cursor {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            #[inline]
            fn $name(&mut self, $($arg: $type),*) {
                let before = self.term.grid().cursor.point;
                Handler::$name(&mut self.term, $($arg),*);
                self.changed |= before != self.term.grid().cursor.point;
            }
        )*
    };
}

/// Delegates calls that switch something; it may be so already.
macro_rules! delegate_switch {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            fn $name(&mut self, $($arg: $type),*) {
                let before = self.visible_state();
                Handler::$name(&mut self.term, $($arg),*);
                self.changed |= before != self.visible_state();
            }
        )*
    };
}

pub(super) use {delegate, delegate_cursor, delegate_drawing, delegate_switch};
