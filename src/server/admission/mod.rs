//! Admission: a call is admitted when its turn comes, once its request is there and before anything is done for it,
//! or it is turned away at once.
//!
//! Two things are bounded. `run_queue` holds how long calls wait for their worker's thread while more come than it
//! can serve; those that change something are turned away while the store is behind, too. `in_flight` holds how many
//! calls and streams are open, of all callers and of each. Beside them a caller may make so many calls a second. What
//! is turned away is told RESOURCE_EXHAUSTED, and when to call again.

mod caller;
mod gate;
mod in_flight;
mod kind;
mod layer;
mod refusals;
mod run_queue;
mod shares;
mod turn;

pub use gate::Admission;
pub use kind::Kind;
pub use layer::AdmissionLayer;
