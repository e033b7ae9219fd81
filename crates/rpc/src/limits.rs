//! Limits of requests.

/// How large a request may be.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// The maximum bytes of an utterance's content, calls and extras.
    pub max_content_bytes: usize,
    /// The maximum number of utterances in a request.
    pub max_batch: usize,
    /// The maximum bytes of a gRPC message.
    pub max_message_bytes: usize,
}
