//! Summaries of what people say to each other: meetings, group chats, talks of two.
//!
//! People repeat themselves, answer with a word and praise each other. So what counts is what the talk is about: each
//! stem that is no stop word weighs by how often it recurs, a sentence is worth what it says of them that was not told
//! yet, and the next one is always the one that adds most for its length.
//!
//! | Step | File |
//! |---|---|
//! | whether it is people's talk | `detect` |
//! | what they say without saying anything is left out | `fillers` |
//! | utterances to sentences, their words and who says them | `talk` |
//! | words that tell of plans, of times, of oneself, of the other | `cues` |
//! | what words and sentences are worth | `weights` |
//! | which sentences are told | `cover` |
//! | their lines | `told` |

mod cover;
mod cues;
mod detect;
mod fillers;
mod talk;
#[cfg(test)]
mod tests;
mod told;
mod weights;

use std::sync::Arc;

use crate::domain::{
    TokenCounter, Utterance,
    extractive::{
        Focus, Sentence,
        people::{cover::Cover, talk::Talk},
    },
};

/// The sentences that tell most of a talk between people in at most `budget` tokens, in the order said; `None` when
/// `source` is none.
///
/// - Fillers, stutters and the tags of transcribers are left out; every other word stands as it was said.
/// - Sentences of an utterance that follow one another are one line.
/// - Of two persons both are quoted, each in a third of the lines at least; among more, each has a share by turns
///   and by what he or she decides.
/// - What adds next to nothing to what is told is not told.
/// - Forgotten utterances, those kept aside, and instructions give nothing.
pub(super) fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Option<Vec<Sentence>> {
    detect::is_peoples(source).then(|| {
        let talk = Talk::of(source, focus);
        Cover::of(&talk).told(budget, counter)
    })
}
