//! The JSON Schemas of what clients exchange with this server beside actions and events: types of
//! other languages are written from them.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::http::sign_in::{SignInRequest, SignInResponse};
use crate::ws::{WsMessage, WsRequest};

/// A named schema.
pub struct ClientSchema {
    /// The name of the type.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Its JSON Schema.
    pub schema: Value,
}

/// All of them. What clients send goes into the first generator, which must be for
/// deserialization; what they receive into the second, which must be for serialization.
#[must_use]
pub fn client_schemas(
    sent: &mut SchemaGenerator,
    received: &mut SchemaGenerator,
) -> Vec<ClientSchema> {
    vec![
        ClientSchema {
            name: "WsRequest",
            doc: "A message of the client on the WebSocket, without its `id`.",
            schema: schema::<WsRequest<'_>>(sent),
        },
        ClientSchema {
            name: "WsMessage",
            doc: "A message of the server on the WebSocket, except events.",
            schema: schema::<WsMessage<'_>>(received),
        },
        ClientSchema {
            name: "SignInRequest",
            doc: "The body of `POST /sign-in`.",
            schema: schema::<SignInRequest>(sent),
        },
        ClientSchema {
            name: "SignInResponse",
            doc: "The answer of `POST /sign-in`.",
            schema: schema::<SignInResponse>(received),
        },
    ]
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}
