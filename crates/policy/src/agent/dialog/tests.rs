//! Questions as programs draw them, and prose that only sounds like one.
