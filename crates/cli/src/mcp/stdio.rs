//! The protocol over stdin and stdout.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use rmcp::{serve_server, service::ServerInitializeError, transport::stdio_pipes};
use tokio::{
    io::{AsyncRead, ReadBuf},
    time::timeout,
};

use super::{handler::Handler, lines::Lines, signal::asked_to_end};
use crate::errors::CliError;
use utterd_domain::limits::DEFAULT_DRAIN_TIMEOUT;

/// Serves the client at the other end until it closes stdin, or the process is asked to end. Requests in flight are
/// still answered.
pub async fn serve(handler: Handler) -> Result<(), CliError> {
    let (stdin, stdout) = stdio_pipes();
    let handler = handler.of_window();
    let stdin = Until { reader: stdin, end: Some(Box::pin(asked_to_end())) };
    let running = match serve_server(handler.clone(), Lines::new(stdin, stdout)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        // without the client's message, which might contain parts of a conversation
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(CliError::Mcp("the client did not begin with the request `initialize`".into()));
        }
        Err(error) => return Err(CliError::Mcp(format!("the client could not be served: {error}"))),
    };
    let served = running.waiting().await;
    if timeout(DEFAULT_DRAIN_TIMEOUT, handler.close()).await.is_err() {
        tracing::warn!("the client's conversation had not ended when the process did");
    }
    served.map_err(|error| CliError::Mcp(format!("the client could not be served: {error}")))?;
    Ok(())
}

/// A reader that reports the end of the stream once `end` is ready.
struct Until<R> {
    reader: R,
    /// `None` once it was ready.
    end: Option<BoxFuture<'static, ()>>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Until<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let is_pending = |end: &mut BoxFuture<'static, ()>| end.as_mut().poll(context).is_pending();
        if self.end.as_mut().is_some_and(is_pending) {
            return Pin::new(&mut self.reader).poll_read(context, buffer);
        }
        self.end = None;
        Poll::Ready(Ok(()))
    }
}
