//! Remember's ranking, in the pure core.

mod bytes;
mod golden;
mod holding;
mod long_prompts;
mod ranking;
mod scripts;
mod support;
mod times;
