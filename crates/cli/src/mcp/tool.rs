//! What every tool has.

use futures::{FutureExt, future::BoxFuture};
use prost::{Message, Name};
use rmcp::{
    model::{CallToolResult, ContentBlock, JsonObject, Tool as Described, ToolAnnotations},
    schemars::JsonSchema,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use super::{fault::Fault, fit::Aliases, memory::Memory};
use super::{
    fault::persist,
    fit::{fit, is_address},
    schema,
};
use crate::terminal::reflect;

/// A tool: its arguments, its names, and the calls that it makes.
pub trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name for models.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does and when to use it, for a model.
    const DESCRIPTION: &'static str;
    /// Its effect on what is stored.
    const EFFECT: Effect;
    /// Whether clients usually need it. The other tools answer even if they are not shown.
    const IS_USUAL: bool = true;
    /// Arguments that only a complete list shows, wherever they occur.
    const RARE: &'static [&'static str];
    /// Other names of its arguments, as models write them.
    const ALIASES: Aliases = &[];
    /// Brings arguments into form, if models also write them in another one.
    fn reshape(_: &mut JsonObject) {}

    /// Calls it.
    fn call(self, memory: &Memory) -> impl Future<Output = Result<Answer, Fault>> + Send;
}

/// A tool's effect on what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds something.
    Adds,
    /// It changes something, and may remove it.
    Changes,
}

/// A tool's answer.
pub struct Answer {
    /// All of it, for a model.
    pub text: String,
    /// The same for a program.
    pub json: Value,
}

impl Answer {
    /// What the server responded, told in `text`; a program gets the response in the JSON of the API.
    pub fn new<M: Message + Name>(response: &M, text: String) -> Result<Self, Fault> {
        let json = reflect(response).map_err(|error| Fault::Wrong(error.to_string()))?;
        let json = serde_json::to_value(&json).map_err(|error| Fault::Wrong(error.to_string()))?;
        Ok(Self { text, json })
    }
}

/// Any of the tools.
pub struct Entry {
    /// Its whole description, for clients.
    pub described: Described,
    /// Whether clients are usually shown it.
    pub is_usual: bool,
    rare: &'static [&'static str],
    call: fn(Memory, &'static JsonObject, JsonObject) -> BoxFuture<'static, CallToolResult>,
}

impl Entry {
    /// The tool `T`.
    pub fn of<T: Tool>() -> Self {
        let hints = ToolAnnotations::new()
            .read_only(T::EFFECT == Effect::Reads)
            .destructive(T::EFFECT == Effect::Changes)
            .open_world(false);
        let described = Described::new(T::NAME, T::DESCRIPTION, schema::of_arguments::<T>())
            .with_title(T::TITLE)
            .with_annotations(hints);
        let call = |memory, schema, given| call::<T>(memory, schema, given).boxed();
        Self { described, is_usual: T::IS_USUAL, rare: T::RARE, call }
    }

    /// Its description with the usual arguments.
    pub fn briefly(&self) -> Described {
        let mut described = self.described.clone();
        described.input_schema = schema::without(described.input_schema, self.rare);
        described
    }

    /// Calls it with the arguments given, which the schema of all its arguments tells how to read.
    pub fn call(&'static self, memory: Memory, given: JsonObject) -> BoxFuture<'static, CallToolResult> {
        (self.call)(memory, &self.described.input_schema, given)
    }
}

async fn call<T: Tool>(memory: Memory, schema: &JsonObject, mut given: JsonObject) -> CallToolResult {
    T::reshape(&mut given);
    let unknown = fit(&mut given, schema, T::ALIASES);
    if let Some(fault) = refused::<T>(&unknown, schema) {
        return fault.into_result();
    }
    let memory = memory.anew();
    let answered = persist(|| attempt::<T>(&memory, given.clone())).await;
    let mut result = answered.map_or_else(Fault::into_result, |Answer { text, json }| {
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(json);
        result
    });
    if !unknown.is_empty() {
        let text = format!("Ignored, as {} has no such argument: {}.", T::NAME, unknown.join(", "));
        result.content.push(ContentBlock::text(text));
    }
    result
}

/// Why the call is refused, if leaving out one of the arguments that are unknown could do something else than the caller
/// asked for: forget more, or work on another conversation.
fn refused<T: Tool>(unknown: &[String], schema: &JsonObject) -> Option<Fault> {
    let wrong = unknown.iter().find(|path| T::EFFECT == Effect::Changes || is_address(path))?;
    let known = schema::names(schema).join(", ");
    Some(Fault::Wrong(format!("{wrong}: {} has no such argument; accepted: {known}.", T::NAME)))
}

async fn attempt<T: Tool>(memory: &Memory, given: JsonObject) -> Result<Answer, Fault> {
    let tool: T = serde_path_to_error::deserialize(Value::Object(given))
        .map_err(|error| Fault::Wrong(format!("The arguments of {} are wrong: {error}.", T::NAME)))?;
    tool.call(memory).await
}
