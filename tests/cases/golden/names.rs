//! The names in scripts and their equivalents in the API.

use std::sync::Arc;

use utterd::{
    domain::{AssignedId, Conversation, ConversationId, Head, Sequence},
    engine::{Address, Caller},
};

use crate::golden::runner::Here;

/// The number of an enum value: `hard` with `FORGET_MODE` is `FORGET_MODE_HARD`. A number stands for itself;
/// an empty name is 0.
pub fn number<E: Into<i32>>(
    prefix: &str,
    name: Option<&str>,
    value: impl Fn(&str) -> Option<E>,
) -> Result<i32, String> {
    let Some(name) = name else { return Ok(0) };
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let full = format!("{prefix}_{}", name.to_uppercase());
    value(&full).map(Into::into).ok_or_else(|| format!("there is no {full}"))
}

/// The id of the utterance with a sequence; anything that is not a number is already an id.
pub async fn utterance_id(here: &Here<'_>, name: &str) -> String {
    let Ok(sequence) = name.parse() else { return name.to_owned() };
    match state(here).await {
        Some(state) => assigned(&state.head, Sequence(sequence)).to_string(),
        None => name.to_owned(),
    }
}

/// The server-made id: from the oldest lineage that has the sequence.
fn assigned(head: &Head, sequence: Sequence) -> AssignedId {
    let written = head.trunks.iter().find(|trunk| sequence <= trunk.through);
    AssignedId(written.map_or(head.branch, |trunk| trunk.lineage), sequence)
}

/// The conversation, read without creating an event.
pub async fn state(here: &Here<'_>) -> Option<Arc<Conversation>> {
    let address =
        Address { conversation: ConversationId::new(&here.conversation_id).ok(), ..Address::default() };
    here.server.engine().read(&Caller::default(), &address).await.ok()
}
