//! Answers cached as JSON: what is requested often and changes seldom is serialized once and
//! copied.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use paned_model::Refusal;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// A `T` as JSON.
pub(crate) struct CachedJson<T> {
    json: Arc<RawValue>,
    value_type: PhantomData<fn() -> T>,
}

impl<T: Serialize> CachedJson<T> {
    pub(crate) fn new(value: &T) -> Result<Self, Refusal> {
        let json = to_raw_value(value).map_err(Refusal::internal)?;
        Ok(Self { json: json.into(), value_type: PhantomData })
    }
}

#[cfg(test)]
impl<T> CachedJson<T> {
    /// Whether both share one cached value.
    pub(crate) fn is_same(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.json, &other.json)
    }
}

impl<T> Clone for CachedJson<T> {
    fn clone(&self) -> Self {
        Self { json: self.json.clone(), value_type: PhantomData }
    }
}

impl<T> fmt::Debug for CachedJson<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json.get())
    }
}

impl<T> Serialize for CachedJson<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(to)
    }
}

impl<T: JsonSchema> JsonSchema for CachedJson<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
