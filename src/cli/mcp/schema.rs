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

/// The schema of a tool's answer.
pub fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    object::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Each schema is self-contained: no client has to follow references.
fn object<T: JsonSchema>(mut settings: SchemaSettings) -> Arc<JsonObject> {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(untitled).transform(&mut schema);
    match schema.to_value() {
        Value::Object(mut object) => {
            object.shift_remove("description");
            Arc::new(object)
        }
        _ => Arc::default(),
    }
}

/// Removes the names of our types, which mean nothing to clients.
fn untitled(schema: &mut Schema) {
    schema.remove("title");
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
