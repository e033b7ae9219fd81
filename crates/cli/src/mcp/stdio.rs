//! The protocol over stdin and stdout.

use rmcp::{serve_server, service::ServerInitializeError, transport::stdio_pipes};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    time::timeout,
};

use super::{handler::Handler, signal::asked_to_end, wire};
use crate::errors::CliError;
use utterd_domain::limits::DEFAULT_DRAIN_TIMEOUT;

/// The most bytes of a line: rmcp skips a longer one.
const MOST_BYTES: u64 = 16 << 20;
/// Bytes that are read before they are parsed.
const AHEAD: usize = 64 << 10;

/// Serves the client at the other end until it closes stdin, or the process is asked to end. Requests in flight are
/// still answered.
pub async fn serve(handler: Handler) -> Result<(), CliError> {
    let (stdin, stdout) = stdio_pipes();
    let handler = handler.of_window();
    let running = match serve_server(handler.clone(), (as_text(stdin), stdout)).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        // without the client's message, which might contain parts of a conversation
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            return Err(CliError::Failed("the client did not begin with the request `initialize`".into()));
        }
        Err(error) => return Err(CliError::Failed(format!("the client could not be served: {error}"))),
    };
    let served = running.waiting().await;
    if timeout(DEFAULT_DRAIN_TIMEOUT, handler.close()).await.is_err() {
        tracing::warn!("the client's conversation had not ended when the process did");
    }
    served.map_err(|error| CliError::Failed(format!("the client could not be served: {error}")))?;
    Ok(())
}

/// The lines of `stdin` as JSON text, each with an end, until the process is asked to end.
fn as_text(stdin: impl AsyncRead + Unpin + Send + 'static) -> DuplexStream {
    let (mut text, read) = duplex(AHEAD);
    tokio::spawn(async move {
        let (mut lines, mut line) = (BufReader::new(stdin), Vec::new());
        loop {
            let mut next = (&mut lines).take(MOST_BYTES);
            let read = tokio::select! {
                () = asked_to_end() => break,
                read = next.read_until(b'\n', &mut line) => read,
            };
            let is_last = !matches!(read, Ok(1..));
            if is_last {
                line.push(b'\n');
            }
            if text.write_all(&wire::text(&line)).await.is_err() || is_last {
                break;
            }
            line.clear();
        }
    });
    read
}
