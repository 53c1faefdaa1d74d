//! An authenticated request, as its handler gets it.

use std::error::Error;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use paned_kernel::Caller;
use paned_model::{Code, PaneId, Refusal};
use tokio::time::timeout;

use crate::ServerLimits;
use crate::http::reply::Rejection;
use crate::http::request::RequestContext;
use crate::state::ServerState;

/// An authenticated request.
pub struct Call {
    /// The server's state.
    pub shared: Arc<ServerState>,
    /// The authenticated caller.
    pub caller: Caller,
    /// The head of the request.
    pub parts: Parts,
    /// The pane to use when the request names none.
    pub default_pane: Option<PaneId>,
    body: Body,
    name: Result<String, Refusal>,
}

impl Call {
    /// # Errors
    /// If the request is not authenticated.
    pub(crate) async fn new(
        shared: Arc<ServerState>,
        context: RequestContext,
        request: Request,
    ) -> Result<Self, Refusal> {
        let default_pane = context.default_pane.clone();
        let caller = context.caller()?;
        let (mut parts, body) = request.into_parts();
        let params = RawPathParams::from_request_parts(&mut parts, &()).await;
        let name = match params {
            Ok(params) => Ok(params.iter().next().map_or("", |(_, name)| name).to_owned()),
            Err(_) => Err(Refusal::invalid("the name in the path is not UTF-8")),
        };
        Ok(Self { shared, caller, parts, default_pane, body, name })
    }

    /// The variable part of the path, percent-decoded; empty if the path has none.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn name(&self) -> Result<String, Refusal> {
        self.name.clone()
    }

    /// The whole body.
    ///
    /// # Errors
    /// If it is too long, takes too long or breaks off.
    pub async fn body(&mut self) -> Result<Bytes, Rejection> {
        read_body(std::mem::take(&mut self.body), &self.shared.limits).await
    }
}

/// The whole body of a request.
///
/// # Errors
/// If it is too long, takes too long or breaks off.
pub(crate) async fn read_body(body: Body, limits: &ServerLimits) -> Result<Bytes, Rejection> {
    // Refused before it is read, so that a client that sent `Expect: 100-continue` need not send
    // the body.
    if body.size_hint().lower() > limits.body_bytes as u64 {
        return Err(too_long(limits));
    }
    let read = timeout(limits.body_timeout, Limited::new(body, limits.body_bytes).collect()).await;
    let read = read.map_err(|_| too_slow(limits))?;
    Ok(read.map_err(|error| broken(error.as_ref(), limits))?.to_bytes())
}

fn too_long(limits: &ServerLimits) -> Rejection {
    let sentence =
        format!("the request body is larger than the limit of {} bytes", limits.body_bytes);
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, Code::Limit, sentence)
}

fn too_slow(limits: &ServerLimits) -> Rejection {
    let sentence =
        format!("the request body did not arrive within {} ms", limits.body_timeout.as_millis());
    Rejection::new(StatusCode::REQUEST_TIMEOUT, Code::Timeout, sentence)
}

fn broken(error: &(dyn Error + Send + Sync + 'static), limits: &ServerLimits) -> Rejection {
    if error.is::<LengthLimitError>() {
        return too_long(limits);
    }
    Refusal::invalid(format!("the connection closed before the end of the request body: {error}"))
        .into()
}
