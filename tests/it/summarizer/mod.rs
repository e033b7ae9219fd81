//! The model clients, against servers of both protocols and their faults.

/// Makes a test of each case for each protocol, `PROTOCOL::CASE`.
macro_rules! on_each_protocol {
    ($($case:ident)*) => {
        mod open_ai {
            $(#[tokio::test] async fn $case() { super::$case(utterd::summarizer::Protocol::OpenAi).await; })*
        }
        mod anthropic {
            $(#[tokio::test] async fn $case() { super::$case(utterd::summarizer::Protocol::Anthropic).await; })*
        }
    };
}

mod answers;
mod embeddings;
mod faults;
mod keys;
mod material;
mod raw;
mod requests;
mod server;
