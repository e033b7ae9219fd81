//! Exact token counts for the four OpenAI encodings: fast for usual text, in bounded time for any.
//!
//! | module | contents |
//! |---|---|
//! | `adaptive` | o200k and cl100k: each block of text goes to the counter that suits it |
//! | `blocks` | where text can be cut, and which blocks suit the fast counter |
//! | `bounded` | the counter without a bad case; p50k and r50k use nothing else |
//! | `split` | the rules by which it cuts text into pieces |
//! | `merge` | byte-pair encoding of a piece, in linear time |
//! | `runs` | the same for runs of one character, in less time |
//! | `ranks` | a vocabulary in little memory |
//!
//! Three crates take part. [`tiktoken_rs`] has OpenAI's table of models: it decides which encoding a model's name
//! means. In tests, it is the reference that every count must equal. It does not count here, because its time is not
//! bounded: usual text takes some six times as long, a long piece more than linear time, and a megabyte of spaces makes
//! it panic. [`tiktoken`] counts usual text, and has the vocabularies. Everything else is counted here, by a finite
//! automaton of [`regex_automata`] and byte-pair encoding in linear time.
//!
//! The vocabularies are compressed in the binary. A vocabulary is unpacked by the first count that needs it, or by
//! [`warm_up`]; getting a counter costs nothing.

mod adaptive;
mod blocks;
mod bounded;
mod merge;
mod ranks;
mod runs;
mod split;

use tiktoken_rs::tokenizer::{Tokenizer as Model, get_tokenizer};

use adaptive::Adaptive;
use bounded::{Bounded, Lazy};
use utterd_domain::{Encoding, TokenCounter};

/// Returns the counter of an encoding. There is one per process, shared by all threads; its first count loads it.
pub fn counter(encoding: Encoding) -> &'static dyn TokenCounter {
    static O200K: Adaptive = Adaptive::o200k_base();
    static CL100K: Adaptive = Adaptive::cl100k_base();
    static P50K: Lazy = Lazy::new(Bounded::p50k_base);
    static R50K: Lazy = Lazy::new(Bounded::r50k_base);
    match encoding {
        Encoding::O200kBase => &O200K,
        Encoding::Cl100kBase => &CL100K,
        Encoding::P50kBase => &P50K,
        Encoding::R50kBase => &R50K,
    }
}

/// Loads the data for counting usual text in `encoding`, so that no later call pays for it; a call in the
/// meantime waits. The data for rare characters and long runs is loaded by the first text with one of these.
///
/// In a release build, o200k takes about 0.1 s and 12 MiB, twice that while it loads, and rare characters another 0.03
/// s and 6 MiB. The other encodings take less.
pub fn warm_up(encoding: Encoding) {
    counter(encoding).count("It's 2 o'clock.");
}

/// Returns the encoding with that name, or the encoding of the model with that name; `None` if
/// neither is known.
///
/// Models follow the table of tiktoken-rs, which is OpenAI's: dated versions and fine-tuned
/// models (`ft:…`) are found by their prefix. Encodings that differ only in special tokens
/// count ordinary text alike and are treated as one: `o200k_harmony` is o200k, `p50k_edit` is
/// p50k, `gpt2` is r50k.
pub fn encoding_for(name_or_model: &str) -> Option<Encoding> {
    match name_or_model {
        "o200k_harmony" => Some(Encoding::O200kBase),
        "p50k_edit" => Some(Encoding::P50kBase),
        name => Encoding::from_name(name).or_else(|| get_tokenizer(name).map(encoding_of)),
    }
}

fn encoding_of(model: Model) -> Encoding {
    match model {
        Model::O200kBase | Model::O200kHarmony => Encoding::O200kBase,
        Model::Cl100kBase => Encoding::Cl100kBase,
        Model::P50kBase | Model::P50kEdit => Encoding::P50kBase,
        Model::R50kBase | Model::Gpt2 => Encoding::R50kBase,
    }
}
