//! The session in docs/api.md: grpcurl calls and their responses.

use serde_json::{Deserializer, Value};

const PAGE: &str = include_str!("../../../docs/api.md");
const START: &str = "$ grpcurl -plaintext -d '";
const ADDRESS: &str = "127.0.0.1:50051";
/// The fields that differ in each run, and the score, which only compares the matches of one response.
const OWN: [&str; 4] = ["conversationId", "utteranceId", "createTime", "score"];

/// A call: its request, its method, and its response.
pub struct Call {
    /// The request as JSON.
    pub request: &'static str,
    /// `package.Service/Method`
    pub method: &'static str,
    response: Value,
}

/// The calls in the order shown.
pub fn calls() -> Vec<Call> {
    let calls: Vec<Call> = PAGE.split(START).skip(1).map(Call::read).collect();
    assert!(!calls.is_empty(), "docs/api.md shows a session");
    calls
}

impl Call {
    fn read(text: &'static str) -> Self {
        let (command, output) = text.split_once('\n').expect("a command has an output");
        let (request, rest) = command.split_once("' ").expect("the request is quoted");
        let (address, method) = rest.split_once(' ').expect("an address and a method");
        assert_eq!(address, ADDRESS, "docs/api.md calls the default address");
        let mut values = Deserializer::from_str(output).into_iter();
        let response = values.next().expect("a response").expect("the response is JSON");
        Self { request, method, response }
    }

    /// Fails if docs/api.md shows another response than `output`, apart from ids and times.
    pub fn assert_shown(&self, output: &[u8]) {
        let actual: Value = serde_json::from_slice(output).expect("a response is JSON");
        let (shown, actual) = (masked(self.response.clone()), masked(actual));
        assert_eq!(shown, actual, "docs/api.md shows another response of {}", self.method);
    }
}

fn masked(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, field) in fields {
                let inner = field.take();
                *field = if OWN.contains(&name.as_str()) { "…".into() } else { masked(inner) };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = masked(item.take())),
        _ => {}
    }
    value
}
