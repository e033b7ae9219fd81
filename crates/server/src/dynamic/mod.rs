//! Calls whose messages are known by their descriptors only: the inspector makes them, and `utterd call`.

mod codec;

use http::uri::{InvalidUri, PathAndQuery};
use prost_reflect::MethodDescriptor;

pub use codec::Dynamic;

/// The path of a method in a request.
pub fn path(method: &MethodDescriptor) -> Result<PathAndQuery, InvalidUri> {
    format!("/{}/{}", method.parent_service().full_name(), method.name()).parse()
}
