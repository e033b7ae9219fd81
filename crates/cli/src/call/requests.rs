//! The requests of a call, from the command line or stdin.

use std::{io::BufRead, path::Path, pin::Pin};

use futures::{Stream, future, stream};
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use tokio::sync::oneshot;

use super::json;
use crate::{
    errors::CliError,
    terminal::read::{self, behind},
};
use utterd_domain::limits::DEFAULT_MAX_MESSAGE_BYTES;

/// What stands for stdin.
const STDIN: &str = "-";
/// The most bytes of a request: a message that a server accepts can be twice as long in JSON.
const LIMIT: usize = 2 * DEFAULT_MAX_MESSAGE_BYTES;

/// The requests of a call.
pub struct Requests {
    /// The messages. Never ends after a failure, so that the server does not take what came before for the whole.
    pub messages: Pin<Box<dyn Stream<Item = DynamicMessage> + Send>>,
    /// Why stdin cannot be read further.
    pub failed: oneshot::Receiver<CliError>,
}

/// The requests of a call of `method`: `json`, or what is on stdin.
pub async fn requests(method: &MethodDescriptor, json: Option<String>) -> Result<Requests, CliError> {
    let (failure, failed) = oneshot::channel();
    let json = match json.filter(|json| json != STDIN || !method.is_client_streaming()) {
        None if method.is_client_streaming() => {
            let lines = Lines { reader: read::open(Path::new(STDIN))?, input: method.input(), number: 0 };
            return Ok(Requests { messages: Box::pin(lines.stream(failure)), failed });
        }
        None => "{}".to_owned(),
        Some(json) if json == STDIN => read::said(LIMIT).await?,
        Some(json) => json,
    };
    let message = message(method.input(), json.as_bytes(), "JSON")?;
    Ok(Requests { messages: Box::pin(stream::once(future::ready(message))), failed })
}

fn message(input: MessageDescriptor, json: &[u8], place: &str) -> Result<DynamicMessage, CliError> {
    json::read(input, json).map_err(|error| CliError::Usage(format!("{place}: {error}")))
}

/// Messages on stdin, one a line.
struct Lines {
    reader: Box<dyn BufRead + Send>,
    input: MessageDescriptor,
    number: usize,
}

impl Lines {
    fn stream(self, failure: oneshot::Sender<CliError>) -> impl Stream<Item = DynamicMessage> {
        stream::unfold((self, failure), async |(mut lines, failure)| {
            let read = behind(move || {
                let next = lines.next();
                Ok((lines, next))
            });
            match read.await.and_then(|(lines, next)| Ok((lines, next?))) {
                Ok((lines, next)) => next.map(|message| (message, (lines, failure))),
                Err(error) => {
                    // if nobody receives it, the call has ended
                    let _ = failure.send(error);
                    future::pending().await
                }
            }
        })
    }

    /// The next message; `None` at the end. Empty lines are skipped.
    fn next(&mut self) -> Result<Option<DynamicMessage>, CliError> {
        loop {
            let line = read::line(&mut self.reader, Path::new(STDIN), LIMIT)?;
            self.number += 1;
            match line.trim_ascii() {
                [] if line.is_empty() => return Ok(None),
                [] => {}
                json => {
                    let place = format!("line {} of stdin", self.number);
                    return message(self.input.clone(), json, &place).map(Some);
                }
            }
        }
    }
}
