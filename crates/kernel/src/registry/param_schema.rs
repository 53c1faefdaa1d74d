//! Checks parameters against a JSON Schema that is known only at run time.
//!
//! As much of JSON Schema 2020-12 as libraries generate for plain types. A schema with any other
//! keyword is refused when its action is registered: no rule that was declared is ever ignored.
//! `$ref` is refused too: a schema is copied into documents where the reference would lead
//! elsewhere.

use std::collections::BTreeMap;

use paned_model::{Refusal, parse_error};
use regex_automata::meta::{self, Regex};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Keywords that describe and forbid nothing.
const ANNOTATIONS: [&str; 10] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
];

/// The largest schema, as JSON. It is shown with the action wherever actions are listed.
const LARGEST: usize = 128 << 10;
/// How large all patterns of a schema may be together, compiled: some 35 times `\w`.
const LARGEST_PATTERNS: usize = 2 << 20;
/// What the engine may keep for a pattern beside its program.
const REGEX_CACHE: usize = 256 << 10;
/// The longest text that is compared with a pattern. The time grows with the text and the pattern,
/// and calls are checked before they are admitted.
const LONGEST_MATCHED: usize = 64 << 10;

/// A schema that values are checked against: they follow all its rules.
#[derive(Default)]
pub(super) struct ParamSchema(Vec<SchemaRule>);

enum SchemaRule {
    /// The schema `false`.
    Never,
    Types(Vec<JsonType>),
    Values(Vec<Value>),
    AnyOf(Vec<ParamSchema>),
    OneOf(Vec<ParamSchema>),
    AllOf(Vec<ParamSchema>),
    Fields {
        known: BTreeMap<String, ParamSchema>,
        others: ParamSchema,
    },
    FieldNames(ParamSchema),
    Required(Vec<String>),
    Items(ParamSchema),
    Pattern(Box<Regex>),
    Bound(SchemaBound),
}

/// A limit of a number, of a string's characters or of an array's items.
struct SchemaBound {
    keyword: String,
    limit: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JsonType {
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl ParamSchema {
    /// Reads a schema; the error names what cannot be used.
    pub(super) fn read(schema: &Value) -> Result<Self, String> {
        let length = serde_json::to_string(schema).map_or(usize::MAX, |json| json.len());
        if LARGEST < length {
            return Err(format!("the schema is larger than {} KiB", LARGEST >> 10));
        }
        SchemaReader { pattern_bytes: LARGEST_PATTERNS }.schema(schema)
    }

    /// Refuses a value that does not match, with the place of the first mistake.
    pub(super) fn check(&self, value: &Value) -> Result<(), Refusal> {
        self.check_at(value, "")
    }

    fn check_at(&self, value: &Value, path: &str) -> Result<(), Refusal> {
        self.0.iter().try_for_each(|rule| rule.check(value, path))
    }

    fn accepts(&self, value: &Value) -> bool {
        self.check_at(value, "").is_ok()
    }
}

/// Reads one schema with all that are inside of it.
struct SchemaReader {
    /// How large its patterns may still be, compiled.
    pattern_bytes: usize,
}

impl SchemaReader {
    fn schema(&mut self, schema: &Value) -> Result<ParamSchema, String> {
        match schema {
            Value::Bool(true) => Ok(ParamSchema::default()),
            Value::Bool(false) => Ok(ParamSchema(vec![SchemaRule::Never])),
            Value::Object(keywords) => {
                let rules = keywords.iter().map(|(keyword, value)| {
                    let rule = self.rule(keywords, keyword, value);
                    rule.map_err(|error| format!("`{keyword}`: {error}"))
                });
                let rules: Result<Vec<Option<SchemaRule>>, String> = rules.collect();
                Ok(ParamSchema(rules?.into_iter().flatten().collect()))
            }
            _ => Err("a schema must be an object or a boolean".to_owned()),
        }
    }

    fn schemas(&mut self, list: &Value) -> Result<Vec<ParamSchema>, String> {
        let list = list.as_array().ok_or("it must be an array")?;
        list.iter().map(|schema| self.schema(schema)).collect()
    }

    /// The rule of one keyword; none for an annotation. `additionalProperties` is read with
    /// `properties`, which it depends on.
    fn rule(
        &mut self,
        all: &Map<String, Value>,
        keyword: &str,
        value: &Value,
    ) -> Result<Option<SchemaRule>, String> {
        Ok(Some(match keyword {
            "type" if value.is_string() => SchemaRule::Types(vec![read(value)?]),
            "type" => SchemaRule::Types(read(value)?),
            "enum" => SchemaRule::Values(read(value)?),
            "const" => SchemaRule::Values(vec![value.clone()]),
            "anyOf" => SchemaRule::AnyOf(self.schemas(value)?),
            "oneOf" => SchemaRule::OneOf(self.schemas(value)?),
            "allOf" => SchemaRule::AllOf(self.schemas(value)?),
            "additionalProperties" if all.contains_key("properties") => return Ok(None),
            "properties" | "additionalProperties" => self.fields(all)?,
            "propertyNames" => SchemaRule::FieldNames(self.schema(value)?),
            "required" => SchemaRule::Required(read(value)?),
            "items" => SchemaRule::Items(self.schema(value)?),
            "pattern" => SchemaRule::Pattern(Box::new(self.pattern(&read::<String>(value)?)?)),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "minLength"
            | "maxLength" | "minItems" | "maxItems" => {
                SchemaRule::Bound(SchemaBound { keyword: keyword.to_owned(), limit: read(value)? })
            }
            annotation if ANNOTATIONS.contains(&annotation) => return Ok(None),
            _ => return Err("this keyword of JSON Schema is not supported".to_owned()),
        }))
    }

    fn fields(&mut self, keywords: &Map<String, Value>) -> Result<SchemaRule, String> {
        let schemas: BTreeMap<String, Value> =
            keywords.get("properties").map(read).transpose()?.unwrap_or_default();
        let mut known = BTreeMap::new();
        for (name, schema) in schemas {
            let schema = self.schema(&schema).map_err(|error| format!("`{name}`: {error}"))?;
            known.insert(name, schema);
        }
        let others = keywords.get("additionalProperties");
        let others = others.map(|schema| self.schema(schema)).transpose()?.unwrap_or_default();
        Ok(SchemaRule::Fields { known, others })
    }

    /// Compiles a pattern. All of a schema share one limit, because each is kept.
    fn pattern(&mut self, text: &str) -> Result<Regex, String> {
        const TOO_LARGE: &str = "the compiled patterns of the schema are too large; reduce \
                                 repetitions, or use `[a-z]` instead of `\\w`, which includes \
                                 all Unicode letters";
        let limits = meta::Config::new()
            .nfa_size_limit(Some(self.pattern_bytes))
            .onepass_size_limit(Some(REGEX_CACHE))
            .hybrid_cache_capacity(REGEX_CACHE);
        let regex = meta::Builder::new().configure(limits).build(text);
        let regex = regex.map_err(|error| match error.size_limit() {
            Some(_) => TOO_LARGE.to_owned(),
            None => error.to_string(),
        })?;
        let left = self.pattern_bytes.checked_sub(regex.memory_usage());
        self.pattern_bytes = left.ok_or(TOO_LARGE)?;
        Ok(regex)
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}

impl SchemaRule {
    fn check(&self, value: &Value, path: &str) -> Result<(), Refusal> {
        let is_followed = match self {
            Self::Never => false,
            Self::Types(types) => types.iter().any(|one| one.is_type_of(value)),
            Self::Values(values) => values.contains(value),
            Self::AnyOf(schemas) => schemas.iter().any(|schema| schema.accepts(value)),
            Self::OneOf(schemas) => {
                schemas.iter().filter(|schema| schema.accepts(value)).count() == 1
            }
            Self::AllOf(schemas) => {
                return schemas.iter().try_for_each(|schema| schema.check_at(value, path));
            }
            Self::Fields { known, others } => return check_fields(value, path, known, others),
            Self::FieldNames(names) => {
                let mut fields = value.as_object().into_iter().flatten();
                fields.all(|(name, _)| names.accepts(&Value::String(name.clone())))
            }
            Self::Required(names) => return check_required(value, path, names),
            Self::Items(items) => {
                let all = value.as_array().into_iter().flatten().enumerate();
                for (at, item) in all {
                    items.check_at(item, &format!("{path}[{at}]"))?;
                }
                true
            }
            Self::Pattern(_) if value.as_str().is_some_and(|it| LONGEST_MATCHED < it.len()) => {
                let most = LONGEST_MATCHED >> 10;
                let sentence = format!("it has a pattern, so it may have at most {most} KiB");
                return Err(mistake(path, sentence));
            }
            Self::Pattern(regex) => value.as_str().is_none_or(|text| regex.is_match(text)),
            Self::Bound(bound) => bound.is_kept(value),
        };
        if is_followed { Ok(()) } else { Err(mistake(path, self.sentence(value))) }
    }

    fn sentence(&self, value: &Value) -> String {
        match self {
            Self::Types(types) => {
                let names: Vec<_> =
                    types.iter().map(|one| format!("{one:?}").to_ascii_lowercase()).collect();
                format!("must be of type {}, not {value}", names.join(" or "))
            }
            Self::Values(values) => {
                let values: Vec<_> = values.iter().map(Value::to_string).collect();
                format!("invalid value {value}: expected one of {}", values.join(", "))
            }
            Self::Pattern(_) => format!("{value} does not match the pattern"),
            Self::Bound(SchemaBound { keyword, limit }) => {
                format!("{value} violates `{keyword}`: {limit}")
            }
            _ => "invalid value; `GET /actions` describes what is accepted".to_owned(),
        }
    }
}

impl SchemaBound {
    fn is_kept(&self, value: &Value) -> bool {
        let measure = match self.keyword.as_str() {
            "minLength" | "maxLength" => value.as_str().map(|text| text.chars().count() as f64),
            "minItems" | "maxItems" => value.as_array().map(|items| items.len() as f64),
            _ => value.as_f64(),
        };
        // A rule about another type says nothing about this value.
        measure.is_none_or(|measure| match self.keyword.as_str() {
            "exclusiveMinimum" => self.limit < measure,
            "exclusiveMaximum" => measure < self.limit,
            keyword if keyword.starts_with("min") => self.limit <= measure,
            _ => measure <= self.limit,
        })
    }
}

impl JsonType {
    fn is_type_of(self, value: &Value) -> bool {
        match self {
            Self::Array => value.is_array(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Null => value.is_null(),
            Self::Number => value.is_number(),
            Self::Object => value.is_object(),
            Self::String => value.is_string(),
        }
    }
}

fn check_fields(
    value: &Value,
    path: &str,
    known: &BTreeMap<String, ParamSchema>,
    others: &ParamSchema,
) -> Result<(), Refusal> {
    for (name, field) in value.as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let is_refused = matches!(others.0.as_slice(), [SchemaRule::Never]);
        match known.get(name) {
            Some(schema) => schema.check_at(field, &path)?,
            None if is_refused => {
                let known: Vec<_> = known.keys().map(|it| format!("`{it}`")).collect();
                let known = match known.as_slice() {
                    [] => "there are no fields".to_owned(),
                    known => format!("expected one of {}", known.join(", ")),
                };
                return Err(mistake(&path, format!("unknown field `{name}`, {known}")));
            }
            None => others.check_at(field, &path)?,
        }
    }
    Ok(())
}

fn check_required(value: &Value, path: &str, names: &[String]) -> Result<(), Refusal> {
    let missing = |fields: &Map<String, Value>| names.iter().find(|it| !fields.contains_key(*it));
    match value.as_object().and_then(missing) {
        Some(name) => Err(mistake(path, format!("missing field `{name}`"))),
        None => Ok(()),
    }
}

/// The refusal, worded as those of typed parameters are.
fn mistake(path: &str, sentence: String) -> Refusal {
    let place = if path.is_empty() { "." } else { path };
    let refusal = match sentence.strip_prefix("must ") {
        Some(rest) if path.is_empty() => Refusal::invalid(format!("the parameters must {rest}")),
        _ => Refusal::invalid(parse_error::explain(path, &sentence)),
    };
    refusal.with_details(json!({ "path": place }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mistake in a value, or nothing.
    #[track_caller]
    fn check(schema: &Value, value: Value, expect: &str) {
        let outcome = ParamSchema::read(schema).unwrap().check(&value);
        assert_eq!(outcome.map_or_else(|refusal| refusal.sentence, |()| String::new()), expect);
    }

    #[test]
    fn the_first_mistake_is_named_with_its_place() {
        let schema = json!({
            "type": "object",
            "title": "no rule",
            "required": ["n"],
            "properties": {
                "n": { "type": "integer", "minimum": 1, "exclusiveMaximum": 10 },
                "of": { "type": "array", "maxItems": 2, "items": { "enum": ["a", "b"] } },
                "word": { "type": ["string", "null"], "minLength": 2, "pattern": "^[a-z]+$" },
            },
            "additionalProperties": false,
        });
        check(&schema, json!({ "n": 1, "of": ["a"], "word": null }), "");
        check(&schema, json!({ "n": 9.0, "word": "ab" }), "");
        check(&schema, json!([]), "the parameters must be of type object, not []");
        check(&schema, json!({}), "missing parameter `n`");
        check(&schema, json!({ "n": "1" }), "`n` must be of type integer, not \"1\"");
        check(&schema, json!({ "n": 1.5 }), "`n` must be of type integer, not 1.5");
        check(&schema, json!({ "n": 10 }), "`n`: 10 violates `exclusiveMaximum`: 10");
        check(
            &schema,
            json!({ "n": 1, "of": ["a", "c"] }),
            "`of[1]`: invalid value \"c\": expected one of \"a\", \"b\"",
        );
        check(&schema, json!({ "n": 1, "word": "ä" }), "`word`: \"ä\" violates `minLength`: 2");
        check(
            &schema,
            json!({ "n": 1, "word": "A1" }),
            "`word`: \"A1\" does not match the pattern",
        );
        check(
            &schema,
            json!({ "n": 1, "x": 1 }),
            "unknown parameter `x`; expected `n`, `of` or \
            `word`",
        );
    }

    #[test]
    fn alternatives_and_maps_are_followed() {
        const NONE: &str = "invalid value; `GET /actions` describes what is accepted";
        let either = json!({ "oneOf": [{ "const": 1 }, { "type": "number" }, { "const": null }] });
        check(&either, json!(2), "");
        check(&either, json!(null), "");
        check(&either, json!(1), NONE);
        check(&json!({ "anyOf": [{ "const": 1 }, { "type": "number" }] }), json!(1), "");
        check(&json!({ "anyOf": [false] }), json!(1), NONE);
        check(
            &json!({ "allOf": [true, { "const": 2 }] }),
            json!(1),
            "invalid value 1: expected \
            one of 2",
        );
        let map = json!({ "propertyNames": { "maxLength": 1 }, "additionalProperties": { "type": "string" } });
        check(&map, json!({ "a": "x" }), "");
        check(&map, json!({ "a": 1 }), "`a` must be of type string, not 1");
        check(&map, json!({ "ab": "x" }), NONE);
    }

    #[test]
    fn a_rule_that_cannot_be_checked_is_refused() {
        let refused = |schema: Value| ParamSchema::read(&schema).err().unwrap();
        let unsupported = "this keyword of JSON Schema is not supported";
        assert_eq!(refused(json!({ "$ref": "#/x" })), format!("`$ref`: {unsupported}"));
        let nested = json!({ "properties": { "a": { "multipleOf": 2 } } });
        assert_eq!(refused(nested), format!("`properties`: `a`: `multipleOf`: {unsupported}"));
        assert!(refused(json!({ "type": "text" })).starts_with("`type`: unknown variant `text`"));
        assert!(refused(json!({ "pattern": "(" })).starts_with("`pattern`: "));
        assert!(refused(json!(7)).contains("an object or a boolean"));
    }

    #[test]
    fn a_schema_has_a_bounded_size_and_so_have_its_patterns_together() {
        let refused = |schema: Value| ParamSchema::read(&schema).err().unwrap();
        let large = json!({ "description": "x".repeat(LARGEST) });
        assert_eq!(refused(large), "the schema is larger than 128 KiB");
        for pattern in [r"\w{200}", "((a{100}){100}){100}"] {
            let error = refused(json!({ "pattern": pattern }));
            assert!(error.contains("too large"), "{error}");
        }
        let fields = |count: usize, pattern: &str| -> Value {
            let field = |at| (format!("f{at}"), json!({ "pattern": pattern }));
            json!({ "properties": (0..count).map(field).collect::<Map<String, Value>>() })
        };
        assert!(refused(fields(300, r"\w{10}")).contains("too large"));
        assert!(ParamSchema::read(&fields(10, r"^[\w.+-]+@[\w-]+\.[\w.-]+$")).is_ok());
        assert!(ParamSchema::read(&fields(100, r"^[a-z0-9-]{1,64}$")).is_ok());
    }

    #[test]
    fn a_long_text_is_not_compared_with_a_pattern() {
        let schema = json!({ "properties": { "a": { "pattern": "x$" } } });
        check(&schema, json!({ "a": format!("{}x", "y".repeat(1000)) }), "");
        let long = "x".repeat(LONGEST_MATCHED + 1);
        check(
            &schema,
            json!({ "a": long }),
            "`a`: it has a pattern, so it may have at most 64 KiB",
        );
    }
}
