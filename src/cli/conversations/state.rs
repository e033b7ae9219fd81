//! `utterd state`: the values stored with a conversation, or with a recipient.

use clap::{Args, Subcommand};

use crate::cli::{
    args::{Target, required},
    client::Connection,
    errors::CliError,
    terminal::{
        output::note,
        read::said,
        text::{bytes, visible},
    },
};
use crate::{
    domain::limits::MOST_CONTENT_BYTES,
    proto::{
        GetStateRequest, StateChange, StateScope, StateValue, UpdateStateRequest, UpdateStateResponse,
        state_value::Value,
    },
};

/// Show or change the values stored with a conversation
///
/// Values are JSON, each with a name. No prompt, summary or search contains them.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  utterd state show trip
  utterd state set trip plan '{\"nights\": 4}'
  utterd state delete trip plan
  utterd state set --of-recipient --recipient anna diet '\"vegetarian\"'")]
pub enum State {
    /// Show the values, a line each: name, version, JSON
    #[command(after_help = "Examples:
  utterd state show trip
  utterd state show --of-recipient --recipient anna")]
    Show(Show),
    /// Set a value
    #[command(
        after_help = "Examples:
  utterd state set trip plan '{\"nights\": 4}'
  utterd state set trip plan - < plan.json",
        override_usage = "utterd state set [OPTIONS] [CONVERSATION] <NAME> [JSON]"
    )]
    Set(Set),
    /// Delete a value
    #[command(
        after_help = "Example: utterd state delete trip plan",
        override_usage = "utterd state delete [OPTIONS] [CONVERSATION] <NAME>"
    )]
    Delete(Delete),
}

/// Whose state is meant.
#[derive(Debug, Args)]
pub struct Whose {
    #[command(flatten)]
    target: Target,
    /// Use the state of the recipient, which all its conversations share
    #[arg(long)]
    of_recipient: bool,
}

/// Arguments of `state show`.
#[derive(Debug, Args)]
pub struct Show {
    #[command(flatten)]
    whose: Whose,
}

/// Arguments of `state set`.
#[derive(Debug, Args)]
pub struct Set {
    #[command(flatten)]
    whose: Whose,
    /// The name of the value
    name: Option<String>,
    /// The value, as JSON; `-`, or no value, reads stdin
    #[arg(value_name = "JSON")]
    json_value: Option<String>,
}

/// Arguments of `state delete`.
#[derive(Debug, Args)]
pub struct Delete {
    #[command(flatten)]
    whose: Whose,
    /// The name of the value
    name: Option<String>,
}

/// Shows or changes a state.
pub async fn state(command: State) -> Result<(), CliError> {
    match command {
        State::Show(args) => show(args.whose).await,
        State::Set(args) => set(args).await,
        State::Delete(args) => delete(args).await,
    }
}

impl Whose {
    fn scope(&self) -> i32 {
        match self.of_recipient {
            true => StateScope::Recipient.into(),
            false => StateScope::Conversation.into(),
        }
    }
}

async fn show(whose: Whose) -> Result<(), CliError> {
    let connection = Connection::open(&whose.target).await?;
    let request = GetStateRequest {
        scope: whose.scope(),
        conversation_id: whose.target.conversation(),
        recipient_id: whose.target.recipient,
        ..Default::default()
    };
    let response = connection.conversations().get_state(request).await?.into_inner();
    whose.target.json.answer("GetStateResponse", response, |output, response| {
        if response.values.is_empty() {
            note("no values are stored");
        }
        response.values.iter().try_for_each(|value| output.line(&line(value)))
    })
}

fn line(value: &StateValue) -> String {
    let content = match &value.value {
        Some(Value::Json(json)) => visible(json),
        Some(Value::Data(data)) => format!("{} that are not JSON", bytes(data.len() as u64)),
        None => String::new(),
    };
    format!("{}  version {}  {content}", visible(&value.name), value.version)
}

async fn set(Set { mut whose, name, json_value }: Set) -> Result<(), CliError> {
    let [name, json] = whose.target.split([name, json_value]);
    let name = required(name, "NAME")?;
    let json = match json.filter(|json| json != "-") {
        Some(json) => json,
        None => said(MOST_CONTENT_BYTES).await?,
    };
    let value = StateValue { name: name.clone(), value: Some(Value::Json(json)), ..Default::default() };
    let change = StateChange { set: vec![value], ..Default::default() };
    update(whose, change, &format!("set {name}")).await
}

async fn delete(Delete { mut whose, name }: Delete) -> Result<(), CliError> {
    let [name] = whose.target.split([name]);
    let name = required(name, "NAME")?;
    let change = StateChange { delete: vec![name.clone()], ..Default::default() };
    update(whose, change, &format!("deleted {name}")).await
}

async fn update(whose: Whose, change: StateChange, done: &str) -> Result<(), CliError> {
    let connection = Connection::open(&whose.target).await?;
    let request = UpdateStateRequest {
        scope: whose.scope(),
        conversation_id: whose.target.conversation(),
        recipient_id: whose.target.recipient.clone(),
        change: Some(change),
        ..Default::default()
    };
    let response = connection.conversations().update_state(request).await?.into_inner();
    whose.target.json.answer("UpdateStateResponse", response, |output, response| {
        output.line(&told(done, &whose.target.recipient, &response))
    })
}

/// `set plan of trip: version 7`; `set diet of the recipient anna: version 2`.
fn told(done: &str, recipient: &str, response: &UpdateStateResponse) -> String {
    let of = match (response.conversation_id.as_str(), recipient) {
        ("", "") => "the recipient default".to_owned(),
        ("", recipient) => format!("the recipient {recipient}"),
        (conversation, _) => conversation.to_owned(),
    };
    format!("{} of {of}: version {}", visible(done), response.revision)
}
