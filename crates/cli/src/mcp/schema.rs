//! The schemas of the tools' arguments.

use std::sync::Arc;

use rmcp::{
    model::JsonObject,
    schemars::{
        JsonSchema, Schema,
        generate::SchemaSettings,
        transform::{AddNullable, RecursiveTransform},
    },
};
use serde_json::Value;

/// The schema of a tool's arguments, without references to follow. An optional argument can also be null, but the
/// schema does not say so: every model provider understands a single type.
pub fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = settings.with_transform(AddNullable::default()).with_transform(RecursiveTransform(plain));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("description");
    Arc::new(schema.as_object().cloned().unwrap_or_default())
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

/// Removes what is null, and the names and the sizes of our types, which mean nothing to clients.
fn plain(schema: &mut Schema) {
    for name in ["title", "format", "nullable"] {
        schema.remove(name);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}
