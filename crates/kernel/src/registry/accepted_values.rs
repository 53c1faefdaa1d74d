//! Where parsing accepts more or less than a derived schema says, the schema is changed to say it.

use serde_json::{Value, json};

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
