//! What every tool has.

use futures::future::BoxFuture;
use rmcp::{
    model::{CallToolResult, ContentBlock, JsonObject, Tool as Described, ToolAnnotations},
    schemars::JsonSchema,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{fault::Fault, memory::Memory, schema};

/// A tool: its names, its arguments and answer, and the calls that it makes.
pub trait Tool: 'static {
    /// Its name for models.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does and when to use it, for a model.
    const DESCRIPTION: &'static str;
    /// Its effect on what is stored.
    const EFFECT: Effect;
    /// Its arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Answer: Serialize + JsonSchema;

    /// Calls it.
    fn call(
        memory: &Memory,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Told<Self::Answer>, Fault>> + Send;
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

/// A tool's answer: for a program, and as a text that says all of it.
pub struct Told<A> {
    /// For a program.
    pub answer: A,
    /// For a model or a person.
    pub text: String,
}

impl<A: Serialize> Told<A> {
    /// An answer whose text is its JSON.
    pub fn as_json(answer: A) -> Self {
        let text = serde_json::to_string(&answer).unwrap_or_default();
        Self { answer, text }
    }
}

/// Any of the tools.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its description for clients.
    pub describe: fn() -> Described,
    /// Calls it with the arguments given.
    pub call: fn(Memory, JsonObject) -> BoxFuture<'static, CallToolResult>,
}

impl Entry {
    /// The tool `T`.
    pub const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            describe: describe::<T>,
            call: |memory, given| Box::pin(call::<T>(memory, given)),
        }
    }
}

fn describe<T: Tool>() -> Described {
    let hints = ToolAnnotations::with_title(T::TITLE)
        .read_only(T::EFFECT == Effect::Reads)
        .destructive(T::EFFECT == Effect::Changes)
        .idempotent(T::EFFECT == Effect::Reads)
        .open_world(false);
    Described::new(T::NAME, T::DESCRIPTION, schema::of_arguments::<T::Arguments>())
        .with_title(T::TITLE)
        .with_raw_output_schema(schema::of_answer::<T::Answer>())
        .with_annotations(hints)
}

async fn call<T: Tool>(memory: Memory, given: JsonObject) -> CallToolResult {
    let told = match serde_path_to_error::deserialize(Value::Object(given)) {
        Ok(arguments) => T::call(&memory, arguments).await,
        Err(error) => Err(Fault::Wrong(format!("The arguments of {} are wrong: {error}.", T::NAME))),
    };
    told.and_then(answered).unwrap_or_else(Fault::into_result)
}

fn answered<A: Serialize>(told: Told<A>) -> Result<CallToolResult, Fault> {
    let answer = serde_json::to_value(told.answer)
        .map_err(|error| Fault::Wrong(format!("the answer cannot be written as JSON: {error}")))?;
    let mut result = CallToolResult::structured(answer);
    result.content = vec![ContentBlock::text(told.text)];
    Ok(result)
}
