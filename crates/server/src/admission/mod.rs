//! Admission: a call's turn comes once its request is complete, and before any work is done for it. It is then either
//! admitted or turned away immediately.
//!
//! Two things are bounded. `run_queue` bounds how long calls wait for their worker's thread when more arrive than it
//! can serve; it also turns away calls that change something while the store is behind. `in_flight` bounds the open
//! calls and streams, in total and per caller. In addition, the calls per second of a caller can be limited. A call
//! that is turned away gets RESOURCE_EXHAUSTED and a delay to retry after.

mod board;
mod caller;
mod gate;
mod in_flight;
mod kind;
mod layer;
pub(super) mod rates;
mod refusals;
mod run_queue;
mod shares;
mod turn;

pub use gate::Admission;
pub use kind::Kind;
pub use layer::Admitting;
