//! Pairing tool results with their calls.
//!
//! - A result answers the nearest earlier call with its id that is still open; a user utterance abandons what
//!   is open. Ids may recur in a conversation (seed 003, "Tool Call/Result Pairing"; real transcripts reuse
//!   ids). Within one utterance, the first open call with the id is the nearest: providers that give parallel
//!   calls one id, or none, list their results in the order of the calls.
//! - A result for which no call is open is a late answer to the nearest earlier call with its id that was
//!   abandoned and has no answer yet: from a tool that works in the background, or a person who is asked to
//!   approve. It stays where it arrived, and names its call. Providers accept a result only directly after
//!   its call, so there it is sent to a model as a [`note`] on the user's side, and the call stays
//!   unanswered.
//!
//! | file | contents |
//! |---|---|
//! | `open` | [`OpenExchange`], which is kept with a conversation: the calls waiting at its end |
//! | `late` | [`AbandonedCall`], which is also kept with a conversation, and [`LateResult`] |
//! | `pairing` | [`OpenCalls`], for reading a conversation in order, and [`Pairing`], for a whole run of utterances |

pub(super) mod abandoned;
pub mod call_ids;
mod late;
mod open;
mod pairing;
pub(super) mod parting;

pub use late::{AbandonedCall, LateResult, note};
pub(crate) use open::unanswered;
pub use open::{NoSuchCall, OpenExchange};
pub use pairing::{Answers, OpenCalls, Pairing, Said};
