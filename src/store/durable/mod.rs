//! Durable stores: conversations in files, over an engine of ordered keys.

pub mod key_value;
