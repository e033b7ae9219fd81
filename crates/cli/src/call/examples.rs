//! A request for each method, as an example in its help.

/// The names of the methods and their requests, a line each.
const EXAMPLES: &str = include_str!("examples.tsv");

/// A request for the method called `name`.
pub fn of(name: &str) -> &'static str {
    find(name).unwrap_or("{}")
}

fn find(name: &str) -> Option<&'static str> {
    EXAMPLES.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{json::read, methods::services};

    #[test]
    fn every_method_has_an_example_that_is_one_of_its_requests() {
        let methods: Vec<_> = services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect();
        assert_eq!(methods.len(), EXAMPLES.lines().count());
        for method in methods {
            let example = find(method.name()).unwrap();
            assert_eq!(read(method.input(), example.as_bytes()).err(), None, "{example}");
            assert!(!example.contains('\''), "it stands in quotes");
        }
    }
}
