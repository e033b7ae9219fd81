//! JSON-RPC messages, one a line.
//!
//! rmcp's own transport says nothing about a line that is not JSON, so its sender would wait for an answer for ever.

use std::{io, mem::take};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientRequest, GetExtensions, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use serde_json::{Value, error::Category};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty, empty};

use super::wire;

/// The most bytes in a line, the same as in a request over HTTP.
const MOST_BYTES: usize = 16 << 20;

type Message = RxJsonRpcMessage<RoleServer>;

/// Reads messages from `R` and writes them to `W`. Answers what is no message with an error.
pub struct Lines<R, W: AsyncWrite> {
    reader: BufReader<R>,
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    line: Line,
    /// The answer to what was no message, while it is written.
    answer: Option<BoxFuture<'static, io::Result<()>>>,
    /// Whether the client has said which protocol it speaks.
    has_begun: bool,
    /// Ready when no more lines are to be read.
    end: Shared<BoxFuture<'static, ()>>,
}

/// The line that is read.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Whether it is too long, so that the rest of it is skipped.
    is_too_long: bool,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    /// The messages of a client, until `end` is ready.
    pub fn new(reader: R, writer: W, end: impl Future<Output = ()> + Send + 'static) -> Self {
        let (reader, writer) = (BufReader::new(reader), AsyncRwTransport::new(empty(), writer));
        let end = end.boxed().shared();
        Self { reader, writer, line: Line::default(), answer: None, has_begun: false, end }
    }

    /// Reads the next line; `None` at the end. Nothing is lost if the future is dropped: the part that was read stays.
    async fn next(&mut self) -> Option<Line> {
        loop {
            let read = tokio::select! {
                biased;
                () = self.end.clone() => return None,
                read = self.reader.fill_buf() => read,
            };
            let read = read.inspect_err(|error| tracing::warn!(%error, "could not read stdin")).ok()?;
            if read.is_empty() {
                return (!self.line.bytes.is_empty()).then(|| take(&mut self.line));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            self.line.add(&read[..end.unwrap_or(read.len())]);
            let consumed = end.map_or(read.len(), |end| end + 1);
            self.reader.consume(consumed);
            if end.is_some() {
                return Some(take(&mut self.line));
            }
        }
    }

    /// The message, if it is one for the service. Before the client has said which protocol it speaks, the service
    /// expects requests only.
    fn for_service(&mut self, message: Message) -> Option<Message> {
        if let JsonRpcMessage::Request(request) = &message {
            self.has_begun |= begins(&request.request);
            return Some(message);
        }
        self.has_begun.then_some(message)
    }

    fn refuse(&mut self, Refused { id, error }: Refused) {
        self.answer = Some(Box::pin(self.writer.send(TxJsonRpcMessage::<RoleServer>::error(error, id))));
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.writer.send(message)
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(answer) = &mut self.answer {
                let written = answer.await;
                self.answer = None;
                written.ok()?;
            }
            match self.next().await?.read() {
                Ok(Some(message)) => {
                    if let Some(message) = self.for_service(message) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err(refused) => self.refuse(*refused),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.close().await
    }
}

/// Whether a request says which protocol the client speaks.
fn begins(request: &ClientRequest) -> bool {
    let is_whole = || request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) => false,
        _ => is_whole(),
    }
}

/// What is no message, as its sender is told (JSON-RPC 2.0, 5.1).
struct Refused {
    /// The id of the request, if it can be read.
    id: Option<RequestId>,
    error: ErrorData,
}

impl Line {
    fn add(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.bytes.len() + bytes.len() > MOST_BYTES;
        match self.is_too_long {
            // one byte says that there was a line
            true => self.bytes.truncate(1),
            false => self.bytes.extend_from_slice(bytes),
        }
    }

    /// The message in the line; `None` if nothing is to be answered.
    fn read(self) -> Result<Option<Message>, Box<Refused>> {
        if self.is_too_long {
            let error = ErrorData::invalid_request("a message must have at most 16 MiB", None);
            return Err(Refused { id: None, error }.into());
        }
        let json = self.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.bytes).trim_ascii();
        if json.is_empty() {
            return Ok(None);
        }
        let (json, replaced) = wire::text(json);
        match serde_json::from_str::<Message>(&json) {
            Ok(mut message) => {
                if let (JsonRpcMessage::Request(request), Some(replaced)) = (&mut message, replaced) {
                    request.request.extensions_mut().insert(replaced);
                }
                Ok(Some(message))
            }
            Err(error) if matches!(error.classify(), Category::Syntax | Category::Eof) => {
                let error = ErrorData::parse_error(format!("the line is not JSON: {error}"), None);
                Err(Refused { id: None, error }.into())
            }
            Err(_) => no_message(&serde_json::from_str(&json).unwrap_or_default()),
        }
    }
}

/// Refuses JSON that is no message, unless it is a notification: those are never answered.
fn no_message(json: &Value) -> Result<Option<Message>, Box<Refused>> {
    if json["method"].is_string() && json["id"].is_null() {
        return Ok(None);
    }
    let error = ErrorData::invalid_request("the line is no message of JSON-RPC 2.0", None);
    Err(Refused { id: wire::id(json), error }.into())
}
