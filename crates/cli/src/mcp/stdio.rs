//! The protocol over stdin and stdout.

use rmcp::{serve_server, service::ServerInitializeError, transport::stdio_pipes};
use tokio::time::timeout;

use super::{handler::Handler, lines::Lines, signal::asked_to_end};
use crate::errors::CliError;
use utterd_domain::limits::DEFAULT_DRAIN_TIMEOUT;

/// Serves the client at the other end until it closes stdin, or the process is asked to end. Requests in flight are
/// still answered.
pub async fn serve(handler: Handler) -> Result<(), CliError> {
    let (stdin, stdout) = stdio_pipes();
    let handler = handler.of_window();
    let running = match serve_server(handler.clone(), Lines::new(stdin, stdout, asked_to_end())).await {
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
