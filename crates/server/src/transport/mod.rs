//! Listeners and connections: accept, limits, time-outs, one HTTP connection.

pub(crate) mod conn_limit;
pub(crate) mod connection;
pub(crate) mod delegate_io;
pub(crate) mod limits;
pub(crate) mod listener;
pub(crate) mod login_limit;
pub(crate) mod peer_user;
pub(crate) mod read_limit;
pub(crate) mod reclaim;
pub(crate) mod serve;
pub(crate) mod tls;
pub(crate) mod write_timeout;
