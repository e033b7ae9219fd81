//! The schemas of the tools' arguments and answers.

use std::sync::Arc;

use rmcp::{
    model::JsonObject,
    schemars::{
        JsonSchema, Schema,
        generate::SchemaSettings,
        transform::{RecursiveTransform, Transform},
    },
};
use serde_json::Value;

/// The schema of a tool's arguments. An optional argument can also be null, but the schema does not say so: every
/// model provider understands a single type.
pub fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    object::<T>(SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null)))
}

/// The same without the arguments `rare`, wherever they occur.
pub fn without(schema: Arc<JsonObject>, rare: &[&str]) -> Arc<JsonObject> {
    let mut schema = Value::Object(Arc::unwrap_or_clone(schema));
    remove(&mut schema, rare);
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn remove(schema: &mut Value, rare: &[&str]) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| !rare.contains(&name.as_str()));
    }
    let nested = schema.as_object_mut().into_iter().flatten().map(|(_, value)| value);
    nested.filter(|value| value.is_object()).for_each(|value| remove(value, rare));
}

/// The names of the arguments in a schema.
pub fn names(schema: &JsonObject) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// The schema of a tool's answer.
pub fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    object::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Each schema is self-contained: no client has to follow references.
fn object<T: JsonSchema>(mut settings: SchemaSettings) -> Arc<JsonObject> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(plain).transform(&mut schema);
    match schema.to_value() {
        Value::Object(mut object) => {
            object.shift_remove("description");
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

/// Removes the names and the sizes of our types, which mean nothing to clients.
fn plain(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
}

fn without_null(schema: &mut Schema) {
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    if let Some(Value::Array(any)) = schema.get_mut("anyOf") {
        any.retain(|one| !is_null(one));
        if let [Value::Object(only)] = any.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            only.into_iter().for_each(|(key, value)| {
                schema.insert(key, value);
            });
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}
