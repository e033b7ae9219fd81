//! GetState and UpdateState.

use crate::convert::status::OrStatus;
use serde::de::IgnoredAny;
use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto::{self, state_value::Value},
};
use utterd_domain::{
    Refusal, Revision,
    limits::MAX_STATE_NAMES,
    quoted,
    state::{StateChange, StateContent, StateValue, UpdateState},
};
use utterd_engine::{Address, Call, Caller};

impl Services {
    pub(super) async fn state(
        &self,
        caller: &Caller,
        request: proto::GetStateRequest,
    ) -> Result<proto::GetStateResponse, Status> {
        let address = address(&request.conversation_id, &request.recipient_id, request.scope).or_status()?;
        decode::at_most("names", request.names.len(), MAX_STATE_NAMES).or_status()?;
        let names: Vec<Box<str>> = request.names.into_iter().map(Into::into).collect();
        let reply = self.engine.state(caller, &address, &names).await.or_status()?;
        Ok(proto::GetStateResponse {
            conversation_id: encode::id(&reply.state),
            values: reply.values.iter().map(|value| told(value)).collect(),
            revision: encode::long(reply.state.head.revision.get()),
        })
    }

    pub(super) async fn change_state(
        &self,
        caller: &Caller,
        request: proto::UpdateStateRequest,
    ) -> Result<proto::UpdateStateResponse, Status> {
        let reply = self.engine.apply(caller, call(request).or_status()?).await.or_status()?;
        Ok(proto::UpdateStateResponse {
            conversation_id: encode::listed(&reply.outcome.conversation),
            revision: encode::long(reply.outcome.revision.get()),
            replayed: reply.replayed(),
        })
    }
}

fn told(value: &StateValue) -> proto::StateValue {
    proto::StateValue {
        name: value.name.to_string(),
        value: Some(match &value.content {
            StateContent::Bytes(bytes) => Value::Data(bytes.to_vec()),
            StateContent::Json(text) => Value::Json(text.to_string()),
        }),
        version: encode::long(value.version.get()),
    }
}

fn call(request: proto::UpdateStateRequest) -> Result<Call<UpdateState>, Refusal> {
    let attempt = decode::attempt_of!("UpdateState", request)?;
    let change = change(request.change.unwrap_or_default()).map_err(|refusal| refusal.within("change."))?;
    Ok(Call {
        address: address(&request.conversation_id, &request.recipient_id, request.scope)?,
        command: UpdateState { change, expected: decode::revision(request.expected_revision)? },
        attempt,
    })
}

/// Returns the address of the conversation, or of the recipient's own state.
fn address(conversation: &str, recipient: &str, scope: i32) -> Result<Address, Refusal> {
    let address = decode::address(conversation, recipient)?;
    match decode::choice("scope", scope, "CONVERSATION (1) and RECIPIENT (2)")? {
        proto::StateScope::Unspecified | proto::StateScope::Conversation => Ok(address),
        proto::StateScope::Recipient if address.conversation.is_some() => {
            let text = "is given, but the scope is RECIPIENT; accepted: one of the two";
            Err(Refusal::invalid("conversation_id", text))
        }
        proto::StateScope::Recipient => Ok(Address::of_state(address.recipient_or_default())),
    }
}

/// Converts the state changes of a request.
pub(super) fn change(change: proto::StateChange) -> Result<StateChange, Refusal> {
    decode::at_most("set", change.set.len(), MAX_STATE_NAMES)?;
    decode::at_most("delete", change.delete.len(), MAX_STATE_NAMES)?;
    decode::at_most("expected_versions", change.expected_versions.len(), MAX_STATE_NAMES)?;
    let set = change.set.into_iter().enumerate().map(|(index, value)| given(index, value));
    let versions = change.expected_versions.into_iter().map(|(name, version)| expected(name, version));
    Ok(StateChange {
        set: set.collect::<Result<_, _>>()?,
        delete: change.delete.into_iter().map(Into::into).collect(),
        versions: versions.collect::<Result<_, _>>()?,
    })
}

fn given(index: usize, value: proto::StateValue) -> Result<(Box<str>, StateContent), Refusal> {
    let content = match value.value {
        Some(Value::Data(bytes)) => StateContent::Bytes(bytes.into()),
        Some(Value::Json(text)) => {
            serde_json::from_str::<IgnoredAny>(&text).map_err(|error| {
                Refusal::invalid(format!("set[{index}].json"), format!("is not JSON: {error}"))
            })?;
            StateContent::Json(text.into())
        }
        None => {
            let text = "is missing; accepted: data or json";
            return Err(Refusal::invalid(format!("set[{index}].value"), text));
        }
    };
    Ok((value.name.into(), content))
}

fn expected(name: String, version: i64) -> Result<(Box<str>, Revision), Refusal> {
    match u64::try_from(version) {
        Ok(version) => Ok((name.into(), Revision(version))),
        Err(_) => {
            let text = format!("is {version}; accepted: 0 (for a name without a value) or more");
            Err(Refusal::invalid(format!("expected_versions[{}]", quoted(&name)), text))
        }
    }
}
