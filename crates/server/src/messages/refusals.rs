//! The errors for messages that are not received, and for answers that are not read.

use tonic::{Code, Status};

use utterd_domain::limits::{
    IMPORT_PATIENCE, LEAST_MESSAGE_RATE, MAX_METADATA_BYTES, MESSAGE_PATIENCE, ROOM_RETRY,
};
use utterd_rpc::{too_large, transport_error, turned_away};

/// A message did not arrive in time.
pub fn late() -> Status {
    let text = format!(
        "the message did not arrive in time: once begun, or if the call takes only one, a message has to arrive \
         within {} seconds, or at {} KiB per second",
        MESSAGE_PATIENCE.as_secs(),
        LEAST_MESSAGE_RATE >> 10,
    );
    transport_error(Code::DeadlineExceeded, "MESSAGE_LATE", text)
}

/// An import paused for too long.
pub fn paused() -> Status {
    let text = format!(
        "no message arrived for {} seconds, and the server does not keep a pending import longer; nothing was imported",
        IMPORT_PATIENCE.as_secs()
    );
    transport_error(Code::DeadlineExceeded, "MESSAGE_LATE", text)
}

/// The body ended in the middle of a message.
pub fn cut_off() -> Status {
    transport_error(Code::InvalidArgument, "INVALID_MESSAGE", "the request ends in the middle of a message")
}

/// A call that takes one message got another.
pub fn second_message() -> Status {
    let text = "the call takes one message, but a second one arrived";
    transport_error(Code::InvalidArgument, "INVALID_MESSAGE", text)
}

/// There is no room for a message.
pub fn no_room() -> Status {
    let text = "the caller's unanswered messages leave no room for this one: wait for answers, \
                or send less at a time";
    turned_away("MESSAGES_IN_FLIGHT", text, ROOM_RETRY, Some(("received messages", text)))
}

/// There is no room for another call.
pub fn too_many_open() -> Status {
    let text = "the open calls and streams leave no memory for another: retry after the given delay";
    turned_away("TOO_MANY_CALLS", text, ROOM_RETRY, Some(("open calls", text)))
}

/// The caller leaves answers unread.
pub fn unread() -> Status {
    let text = "the caller's unread answers leave no room for another: read them first";
    turned_away("ANSWERS_UNREAD", text, ROOM_RETRY, Some(("unread answers", text)))
}

/// A call has too much metadata.
pub fn metadata_too_large() -> Status {
    let text =
        format!("the metadata is too large; accepted: {MAX_METADATA_BYTES} bytes, including 32 per entry");
    transport_error(Code::ResourceExhausted, "METADATA_TOO_LARGE", text)
}

/// A compressed message cannot be unpacked.
pub fn not_unpacked(error: &std::io::Error) -> Status {
    let text = format!("the compressed message cannot be unpacked: {error}");
    transport_error(Code::InvalidArgument, "INVALID_MESSAGE", text)
}

/// A message of many small parts takes too much memory once it is decoded.
pub fn too_many_parts(most: usize) -> Status {
    let text = format!(
        "the message has too many parts: decoded, it takes more than {most} bytes; send fewer at a time"
    );
    too_large(most, text)
}
