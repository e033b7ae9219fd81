//! The frames of a stream: a byte of flags, four bytes with the length, and that many bytes of JSON.

use bytes::{BufMut as _, Bytes, BytesMut};
use prost_reflect::DynamicMessage;
use tonic::{Code, Status};

use super::failure::failure;

/// The bytes before the content of a frame.
const HEAD: usize = 5;
/// The flags of a frame with a message.
const MESSAGE: u8 = 0;
/// The flags of the last frame of an answer.
const END: u8 = 2;

/// Splits the body of a request into the contents of its frames.
pub fn split(mut body: &[u8]) -> Result<Vec<&[u8]>, Status> {
    let broken = |told: &str| Err(Status::invalid_argument(format!("the stream is not in frames: {told}")));
    let mut contents = Vec::new();
    while !body.is_empty() {
        let Some((&[flags, a, b, c, d], rest)) = body.split_first_chunk::<HEAD>() else {
            return broken("it ends within the head of a frame");
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if flags != MESSAGE {
            return broken("a frame has flags; accepted: frames that are not compressed");
        }
        let Some((content, rest)) = rest.split_at_checked(length) else {
            return broken("it ends within a frame");
        };
        contents.push(content);
        body = rest;
    }
    Ok(contents)
}

/// The frame of a message.
pub fn message(message: &DynamicMessage) -> Result<Bytes, Status> {
    let json = serde_json::to_vec(message).map_err(|error| Status::internal(error.to_string()))?;
    Ok(frame(MESSAGE, &json))
}

/// The last frame: how the call ended.
pub fn end(result: Result<(), Status>) -> Bytes {
    let json = match result {
        Ok(()) => serde_json::json!({}),
        Err(status) => serde_json::json!({ "error": failure(&status) }),
    };
    frame(END, json.to_string().as_bytes())
}

fn frame(flags: u8, content: &[u8]) -> Bytes {
    let Ok(length) = u32::try_from(content.len()) else {
        return end(Err(Status::new(Code::Internal, "a message is too large for a frame")));
    };
    let mut frame = BytesMut::with_capacity(HEAD + content.len());
    frame.put_u8(flags);
    frame.put_u32(length);
    frame.put_slice(content);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split_as_they_were_written() {
        let body = [frame(MESSAGE, b"{}"), frame(MESSAGE, b""), frame(MESSAGE, b"[1]")].concat();
        assert_eq!(split(&body).unwrap(), [&b"{}"[..], b"", b"[1]"]);
        assert!(split(b"").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_in_frames_is_refused() {
        let whole = frame(MESSAGE, b"{\"a\":1}");
        for length in 1..whole.len() {
            assert!(split(&whole[..length]).is_err(), "{length}");
        }
        for flags in [1, END, 255] {
            assert!(split(&frame(flags, b"{}")).is_err());
        }
        assert!(split(&[0, 255, 255, 255, 255]).is_err());
    }
}
