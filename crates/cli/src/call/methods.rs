//! The methods of the server, by name.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use prost_reflect::{MethodDescriptor, ServiceDescriptor};

use super::comments::{first_sentence, of_method};
use utterd_rpc::proto::descriptors;

/// Reads the name of a method, and completes it.
pub fn parser() -> impl TypedValueParser<Value = MethodDescriptor> {
    let value = |method: &'static MethodDescriptor| {
        PossibleValue::new(method.name()).help(first_sentence(&of_method(method)))
    };
    let names = PossibleValuesParser::new(METHODS.iter().map(value));
    names.try_map(|name| named(&name).ok_or("there is no such method"))
}

/// The services of the server.
pub fn services() -> impl Iterator<Item = ServiceDescriptor> {
    descriptors().into_iter().flat_map(|pool| pool.services())
}

/// The methods of all services.
static METHODS: LazyLock<Vec<MethodDescriptor>> =
    LazyLock::new(|| services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect());

/// The method of this name, in any case.
pub fn named(name: &str) -> Option<MethodDescriptor> {
    METHODS.iter().find(|method| method.name().eq_ignore_ascii_case(name)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_named_by_its_name_alone() {
        assert!(METHODS.iter().all(|method| named(&method.name().to_lowercase()).as_ref() == Some(method)));
    }
}
