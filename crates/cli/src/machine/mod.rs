//! What the machine says: limits, headroom, who holds a port. Looks, and changes nothing but our own limits.

pub(crate) mod headroom;
pub(crate) mod port;
