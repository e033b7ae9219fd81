//! The methods of the server, by name.

use std::{ffi::OsStr, sync::LazyLock};

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, TypedValueParser},
    error::ErrorKind,
};
use prost_reflect::{MethodDescriptor, ServiceDescriptor};

use super::{
    comments::{first_sentence, of_method},
    json::nearest,
};
use utterd_rpc::proto::descriptors;

/// Reads the name of a method, and completes it.
#[derive(Clone)]
pub struct Methods;

impl TypedValueParser for Methods {
    type Value = MethodDescriptor;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, word: &OsStr) -> Result<Self::Value, Error> {
        let word = word.to_string_lossy();
        let unknown = || Error::raw(ErrorKind::ValueValidation, unknown(&word)).with_cmd(command);
        named(&word).ok_or_else(unknown)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |method: &'static MethodDescriptor| {
            PossibleValue::new(method.name()).help(first_sentence(&of_method(method)))
        };
        Some(Box::new(METHODS.iter().map(value)))
    }
}

/// The services of the server.
pub fn services() -> impl Iterator<Item = ServiceDescriptor> {
    descriptors().into_iter().flat_map(|pool| pool.services())
}

/// The methods of all services.
static METHODS: LazyLock<Vec<MethodDescriptor>> =
    LazyLock::new(|| services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect());

/// The method called `word`, in any case, alone or after its service: `ConversationService/GetStats`. The name alone
/// must be unique.
pub fn named(word: &str) -> Option<MethodDescriptor> {
    let (service, name) = word.rsplit_once('/').map_or((None, word), |(service, name)| (Some(service), name));
    let is_of = |method: &&MethodDescriptor| {
        let of = method.parent_service();
        let is_in =
            |service: &str| [of.name(), of.full_name()].iter().any(|it| it.eq_ignore_ascii_case(service));
        service.is_none_or(is_in) && method.name().eq_ignore_ascii_case(name)
    };
    let mut found = METHODS.iter().filter(is_of);
    found.next().filter(|_| found.next().is_none()).cloned()
}

fn unknown(word: &str) -> String {
    let name = word.rsplit('/').next().unwrap_or(word);
    let nearest = nearest(name, METHODS.iter().map(MethodDescriptor::name));
    format!("there is no method {word:?}; the nearest is {nearest}; `utterd call --list` lists them\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_named_alone_or_after_its_service_in_any_case() {
        for word in [
            "UpdateUtterance",
            "updateutterance",
            "ConversationService/UpdateUtterance",
            "conversationservice/updateUtterance",
            "utterd.v1.ConversationService/UpdateUtterance",
        ] {
            assert_eq!(named(word).unwrap().full_name(), "utterd.v1.ConversationService.UpdateUtterance");
        }
        for word in ["", "UpdateUtteranc", "MemoryService/UpdateUtterance", "/UpdateUtterance"] {
            assert!(named(word).is_none(), "{word}");
        }
    }

    #[test]
    fn every_method_is_named_by_its_name_alone() {
        assert!(METHODS.iter().all(|method| named(method.name()).as_ref() == Some(method)));
    }

    #[test]
    fn a_wrong_name_is_refused_with_the_nearest() {
        let told = unknown("MemoryService/updateuterance");
        assert!(told.contains("the nearest is UpdateUtterance;"), "{told}");
    }
}
