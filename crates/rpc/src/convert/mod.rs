//! Converts between messages and the types of the engine.

mod bounded;
pub(super) mod decode;
pub(super) mod encode;
pub(super) mod messages;
pub(super) mod page_token;
pub(super) mod status;
