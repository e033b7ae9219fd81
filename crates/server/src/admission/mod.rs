//! Admission: which calls are served, and how much memory their messages and answers take.
//!
//! | file | contents |
//! |---|---|
//! | `layer` | the layer around the services |
//! | `limits` | the limits, which all workers share |
//! | `in_flight` | the open calls and streams, in total and by caller |
//! | `rates` | the calls per second of a caller |
//! | `overload` | how long calls wait for their worker's thread |
//! | `request` | the body of a request: room for its messages, and the time that they may take |
//! | `offloaded` | a call that decodes a long message on another thread |
//! | `pace` | how fast a message has to arrive |
//! | `answer` | the body of an answer: what is not read yet |
//! | `refusals` | the answers to calls that are refused |

mod answer;
mod caller;
mod in_flight;
mod layer;
mod limits;
mod offloaded;
mod overload;
mod pace;
mod rates;
mod refusals;
mod request;
#[cfg(test)]
mod tests;

pub use caller::caller;
pub use layer::Admitting;
pub use limits::Admission;
pub use pace::Pace;
pub use refusals::late;
