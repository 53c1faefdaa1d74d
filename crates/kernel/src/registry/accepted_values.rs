//! Where parsing accepts more or less than a derived schema says, the schema is changed to say it,
//! or parsing to do it.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer};
use serde_json::{Map, Number, Value, json};

/// Changes a schema of parameters and all schemas in it.
pub(super) fn describe(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            // A set takes an item twice, which changes nothing.
            keywords.remove("uniqueItems");
            let largest = keywords.get("format").and_then(Value::as_str).and_then(largest);
            if let Some(largest) = largest
                && !keywords.contains_key("maximum")
            {
                keywords.insert("maximum".into(), json!(largest));
            }
            keywords.values_mut().for_each(describe);
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(describe),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The largest number of a type, which the schemas of smaller types have already.
fn largest(format: &str) -> Option<u64> {
    match format {
        "uint32" => Some(u64::from(u32::MAX)),
        "uint" | "uint64" => Some(u64::MAX),
        _ => None,
    }
}

/// Reads a field that is an object. Serde takes a list of the values, too.
pub(crate) fn deserialize_object<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let fields = Map::deserialize(deserializer)?;
    serde_json::from_value(Value::Object(fields)).map_err(D::Error::custom)
}

/// Parses parameters that have whole numbers such as `1.0`: JSON Schema counts them as integers,
/// and clients in languages without integers write them so.
pub(super) fn with_whole_numbers<T: DeserializeOwned>(params: &[u8]) -> Option<T> {
    let mut value: Value = serde_json::from_slice(params).ok()?;
    let is_changed = make_whole(&mut value);
    if !is_changed {
        return None;
    }
    serde_json::from_value(value).ok()
}

/// Turns whole floating-point numbers into integers. Returns whether there were any.
fn make_whole(value: &mut Value) -> bool {
    /// Up to here every whole number is exact.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            let is_whole = float.fract() == 0.0 && float.abs() <= LARGEST;
            if is_whole {
                *number = Number::from(float as i64);
            }
            is_whole
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| make_whole(item) | any),
        Value::Object(fields) => {
            fields.values_mut().fold(false, |any, field| make_whole(field) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::num::NonZeroU32;

    use schemars::{JsonSchema, generate::SchemaSettings};
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Sample {
        set: BTreeSet<u32>,
        count: Option<NonZeroU32>,
        #[schemars(range(max = 9))]
        small: u64,
    }

    #[test]
    fn a_whole_number_may_have_a_fraction_of_zero() {
        let read = |small: &str| {
            let params = format!(r#"{{"set":[],"small":{small}}}"#);
            with_whole_numbers::<Sample>(params.as_bytes()).map(|sample| sample.small)
        };
        assert_eq!(read("7.0"), Some(7));
        assert_eq!(read("7e2"), Some(700));
        for other in ["7.5", "-1.0", "1e300", "\"7.0\""] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn sets_take_an_item_twice_and_numbers_end_where_their_type_does() {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<Sample>().to_value();
        describe(&mut schema);
        let fields = &schema["properties"];
        assert_eq!(fields["set"].get("uniqueItems"), None);
        assert_eq!(fields["set"]["items"]["maximum"], u32::MAX);
        assert_eq!(fields["count"]["maximum"], u32::MAX);
        assert_eq!(fields["small"]["maximum"], 9);
        let read = |count: u64| {
            let sample = json!({ "set": [1, 1], "count": count, "small": 1 });
            serde_json::from_value::<Sample>(sample)
        };
        let sample = read(u64::from(u32::MAX)).unwrap();
        assert_eq!((sample.set.len(), sample.small), (1, 1));
        assert_eq!(sample.count.map(NonZeroU32::get), Some(u32::MAX));
        assert!(read(u64::from(u32::MAX) + 1).is_err());
    }
}
