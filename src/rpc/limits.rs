//! Limits of requests.

/// How large a request may be.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Bytes of one utterance's content, calls and extras.
    pub max_content_bytes: usize,
    /// Utterances of one request.
    pub max_batch: usize,
    /// Bytes of one gRPC message.
    pub max_message_bytes: usize,
}
