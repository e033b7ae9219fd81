//! The services as a client sees them, over an in-memory pipe.
#![allow(clippy::expect_used, clippy::unwrap_used)] // a failed test panics: that is its report

#[path = "../support/embedder.rs"]
mod embedder;
#[path = "../support/model.rs"]
mod model;
#[path = "../support/mod.rs"]
mod support;

mod gate;
mod refusal;
mod segments;
mod session;

mod admission;
mod archive;
mod as_they_came;
mod bad_input;
mod batches;
mod build_context;
mod cache;
mod calls;
mod clocks;
mod comes_back;
mod compaction;
mod concurrency;
mod connections;
mod content_parts;
mod conversations;
mod count_tokens;
mod delete_recipient;
mod edit;
mod ending;
mod exchanges;
mod families;
mod first_reads;
mod forget;
mod forget_in_english;
mod forget_in_forks;
mod forgotten;
mod fork;
mod hybrid;
mod import_export;
mod kept_index;
mod large_content;
mod late_results;
mod lifecycle;
mod list_utterances;
mod lists;
mod llm_closings;
mod llm_summaries;
mod long_work;
mod memorize;
mod memorize_stream;
mod messages;
mod numbers;
mod pages;
mod pins;
mod policies;
mod prepare_history;
mod quotas;
mod recipient_state;
mod remember;
mod request_ids;
mod restore;
mod revisions;
mod shares;
mod slow_backup;
mod slow_disk;
mod slow_fork;
mod slow_store;
mod slow_stream;
mod small_frames;
mod state;
mod stats;
mod status;
mod store_limit;
mod summarize;
mod transport;
mod watch_capacity;
mod watch_events;
