//! Summaries of conversations between people: meetings, group chats, talks of two.
//!
//! People repeat themselves, answer in one word and praise each other, so what counts is what the talk is
//! about. Each stem that is not a stop word is weighted by how often it recurs, a sentence is worth the stems
//! it adds to the summary, and the next sentence is always the one that adds most for its length.
//!
//! | Step | File |
//! |---|---|
//! | whether people are talking | `detect` |
//! | dropping fillers | `fillers` |
//! | utterances to sentences, with their words and speakers | `talk` |
//! | words for plans, times, oneself, the other person | `cues` |
//! | the weights of words and sentences | `weights` |
//! | which sentences to choose | `cover` |
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

use crate::{
    TokenCounter, Utterance,
    extractive::{
        Focus, Sentence,
        day::Day,
        people::{cover::Cover, talk::Talk},
    },
};

/// The most informative sentences of a talk between people that fit in `budget` tokens, in the order said;
/// `None` if `source` is not such a talk.
///
/// - Fillers, stutters and the tags of transcribers are dropped; every other word stays verbatim.
/// - Consecutive sentences of an utterance share a line.
/// - What was said on several days stands below a line with the day: "On 8 May 2023:".
/// - Of two people, each gets at least a third of the lines; among more, shares depend on turns and
///   decisions.
/// - Sentences that add next to nothing are left out.
/// - Soft-forgotten utterances, results without a call, and instructions contribute nothing.
pub(super) fn summarise(
    source: &[Arc<Utterance>],
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Option<Vec<Sentence>> {
    detect::is_peoples(source).then(|| {
        let talk = Talk::of(source, focus);
        // a talk of one day needs no date, unless other days follow
        let tells_days = talk.days.len() > 1 || focus.goes_on() && talk.days.iter().all(Day::is_known);
        Cover::of(&talk).told(budget, tells_days, counter)
    })
}
