//! `utterd call`: calls any method of the server, with JSON in and JSON out.

mod comments;
mod examples;
mod json;
mod methods;
mod request;
mod requests;

use std::io;

use clap::Args;
use console::Alignment;
use futures::stream;
use prost_reflect::{DynamicMessage, MethodDescriptor};
use tonic::{Status, Streaming};

use super::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::{Output, aligned},
};
use comments::first_sentence;
use methods::{named, parser, services};
use request::described;
use requests::requests;
use utterd_server::dynamic::{self, Dynamic};

/// Call any method of the server
///
/// The request and the response are the JSON of protobuf: enums by name, times as in 2026-03-01T12:00:00Z, names of
/// fields as in the protos or in camel case. A stream of responses is printed one a line, until it ends or you press
/// Ctrl-C. A method that takes a stream of requests reads them from stdin, one a line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd call --list
  utterd call --list UpdateConversation
  utterd call GetStats
  utterd call UpdateConversation '{\"conversationId\": \"trip\", \"title\": \"Lisbon\", \"updateMask\": \"title\"}'
  utterd call BuildContext - < request.json")]
pub struct Call {
    #[command(flatten)]
    remote: Remote,
    /// The method, such as GetStats
    #[arg(value_parser = parser(), ignore_case = true, hide_possible_values = true, required_unless_present = "list")]
    method: Option<MethodDescriptor>,
    /// The request; `-` reads stdin [default: {}]
    #[arg(value_name = "JSON")]
    request: Option<String>,
    /// List the methods, a line each; or show what a request of the method has
    #[arg(long, conflicts_with = "request")]
    list: bool,
    #[command(flatten)]
    json: Json,
}

/// Calls a method and prints its responses, or lists the methods.
pub async fn call(args: Call) -> Result<(), CliError> {
    let method = match args.method {
        None => return list(),
        Some(method) if args.list => {
            let mut output = Output::new();
            output.text(&described(&method))?;
            return Ok(output.flush()?);
        }
        Some(method) => method,
    };
    let messages = requests(&method, args.request).await?;
    let responses = send(&Connection::to(&args.remote).await?, &method, messages).await?;
    print(&method, responses).await
}

/// Makes the call of the method called `name` with the request `json`.
pub async fn make(connection: &Connection, name: &str, json: String) -> Result<(), CliError> {
    let method = named(name).ok_or_else(|| CliError::Usage(format!("there is no method {name}")))?;
    let messages = requests(&method, Some(json)).await?;
    send(connection, &method, messages).await?.message().await?;
    Ok(())
}

async fn send(
    connection: &Connection,
    method: &MethodDescriptor,
    messages: Vec<DynamicMessage>,
) -> Result<Streaming<DynamicMessage>, CliError> {
    let path = dynamic::path(method).map_err(|error| Status::internal(error.to_string()))?;
    let mut grpc = connection.calls();
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let request = tonic::Request::new(stream::iter(messages));
    Ok(grpc.streaming(request, path, Dynamic(method.output())).await?.into_inner())
}

/// Prints the responses of a stream on a line each; a single one indented.
async fn print(method: &MethodDescriptor, mut responses: Streaming<DynamicMessage>) -> Result<(), CliError> {
    let mut output = Output::new();
    while let Some(response) = responses.message().await? {
        match method.is_server_streaming() {
            true => output.line(&serde_json::to_string(&response).map_err(io::Error::from)?)?,
            false => output.json_value(&response)?,
        }
        output.flush()?;
    }
    Ok(())
}

/// Prints the services and their methods.
fn list() -> Result<(), CliError> {
    let mut output = Output::new();
    for service in services() {
        let about = |method: &MethodDescriptor| first_sentence(&comments::of_method(method));
        let methods = service.methods().map(|method| [format!("  {}", method.name()), about(&method)]);
        let methods: Vec<_> = methods.collect();
        output.line(service.name())?;
        for row in aligned(&methods, [Alignment::Left; 2]) {
            output.row(&row)?;
        }
    }
    Ok(output.flush()?)
}
