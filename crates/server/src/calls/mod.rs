//! Every call, from its arrival to its end: it gets an id, is counted, and is logged if asked for or slow.
//!
//! | file | contents |
//! |---|---|
//! | `layer` | the layer, which is the outermost one |
//! | `body` | the body of an answer, which ends with the status |
//! | `record` | one call: its id, and what happens at its end |
//! | `span` | the span of a call, if it is traced |
//! | `meters` | the metrics, which have the names that other gRPC servers use |

mod body;
mod layer;
mod meters;
mod record;
mod span;

pub use record::{Calls, REQUEST_ID, given};
