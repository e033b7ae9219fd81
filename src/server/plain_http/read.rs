//! Reading the body of a request.

use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use crate::domain::limits::MAX_PASSED_OVER_BYTES;

/// Why a body cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The connection broke.
    #[error("the request cannot be read: {0}")]
    Broken(#[from] hyper::Error),
    /// It has more bytes than accepted.
    #[error("the request is too large; accepted: at most {most} bytes")]
    TooLarge {
        /// The most bytes.
        most: usize,
    },
}

/// Reads a body of at most `most` bytes. Of a longer one, the rest is read too, as a client that still sends would not
/// see the answer; but not endlessly.
pub async fn read(mut body: Incoming, most: usize) -> Result<Vec<u8>, ReadError> {
    let (mut content, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        if length <= most {
            content.extend_from_slice(&data);
        } else if length > MAX_PASSED_OVER_BYTES.max(most) {
            break;
        }
    }
    if length > most { Err(ReadError::TooLarge { most }) } else { Ok(content) }
}
