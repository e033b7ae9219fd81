//! The state: what a command changes in it, and what is read of it.

use tonic::Request;
use utterd::proto::{
    GetStateRequest, Operation, StateChange, StateValue, conversation_service_server::ConversationService,
    state_value::Value,
};

use super::{Run, refusal};
use crate::{checks::same, commands::Values, naive::Conversation, text::marker};

/// Names of values: few, so that they recur.
const NAMES: [&str; 4] = ["blob", "plan", "step", "état"];

impl Run {
    /// The change, each value with its own marker: no response but GetState's contains it.
    pub(super) fn values(&mut self, values: &Values, found: Option<&Conversation>) -> StateChange {
        let expected = |(name, off): &(u8, i8)| {
            let name = named(*name);
            let version = found.map_or(0, |one| one.version(&name));
            (name, (version + i64::from(*off)).max(0))
        };
        StateChange {
            set: values.set.iter().map(|(name, kind)| self.value(*name, *kind)).collect(),
            delete: values.delete.iter().map(|name| named(*name)).collect(),
            expected_versions: values.expects.iter().map(expected).collect(),
        }
    }

    fn value(&mut self, name: u8, kind: u8) -> StateValue {
        self.markers += 1;
        let marker = marker(self.markers);
        let value = match kind % 2 {
            0 => Value::Json(format!("{{ \"of\": \"{marker}\" }}")),
            _ => Value::Data([&[0, 255], marker.as_bytes()].concat()),
        };
        StateValue { name: named(name), value: Some(value), version: 0 }
    }

    /// Values of some names.
    pub(super) async fn kept(&mut self, names: &[u8], model: &Conversation) -> Result<(), String> {
        self.state_is(names.iter().map(|name| named(*name)).collect(), model).await
    }

    /// Checks that the values with these names, or all if none is given, match the model.
    pub(super) async fn state_is(&mut self, names: Vec<String>, model: &Conversation) -> Result<(), String> {
        let expected = model.values(&names);
        let request = GetStateRequest { conversation_id: model.id.clone(), names, ..Default::default() };
        let response = self.services().get_state(Request::new(request)).await.map_err(refusal)?.into_inner();
        self.expect_read(Operation::GetState, model, response.values.len())?;
        same("the conversation of the state", &response.conversation_id, &model.id)?;
        same("the revision of the state", &response.revision, &model.revision)?;
        same("the state", &response.values, &expected)
    }
}

fn named(name: u8) -> String {
    NAMES[usize::from(name) % NAMES.len()].to_owned()
}
