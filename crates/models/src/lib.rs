//! The clients of models that write summaries and embed. Without the feature `llm`, there are none.
#![cfg(feature = "llm")]

pub mod embedder;
pub mod model_server;
pub mod summarizer;
