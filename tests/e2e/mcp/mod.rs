//! `utterd mcp` as its clients see it: over pipes and over HTTP.

mod client;
mod conversations;
mod described;
mod documented;
mod ending;
mod forgetting;
mod http;
mod lines;
mod sources;
mod tools;
mod windows;
mod written;
