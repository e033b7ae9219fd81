//! Pairing tool results with their calls.
//!
//! - A result answers the nearest earlier call with its id that is still open; a user utterance abandons
//!   what is open. Ids may recur in a conversation (seed 003, "Tool Call/Result Pairing"; real transcripts
//!   reuse ids).
//! - A result for which no call is open answers, late, the nearest earlier call with its id that was abandoned
//!   and has no answer yet: a tool that works in the background, a person who is asked to approve. It stands
//!   where it came, and names its call. Providers accept a result directly behind its call only, so there it
//!   goes to a model as a [`note`] on the user's side, and the call stays unanswered.
//!
//! | file | what it holds |
//! |---|---|
//! | `open` | [`OpenExchange`], which is kept with a conversation: the calls that wait at its end |
//! | `late` | [`AbandonedCall`], which is kept with a conversation too, and [`LateResult`] |
//! | `pairing` | [`OpenCalls`], which goes along with whoever reads a conversation in its order, and [`Pairing`], that of a whole run of utterances |

mod late;
mod open;
mod pairing;

pub use late::{AbandonedCall, LateResult, note};
pub(in crate::domain) use open::unanswered;
pub use open::{NoSuchCall, OpenExchange};
pub use pairing::{Answers, OpenCalls, Pairing, Said};
