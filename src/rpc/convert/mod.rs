//! Converts between messages and what the engine takes and gives.

pub(super) mod bounded;
pub(super) mod decode;
pub(super) mod encode;
pub(super) mod messages;
pub(super) mod page_token;
pub(super) mod status;
