//! The speakers, by the names that models use.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use utterd_rpc::proto;

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Role {
    #[serde(alias = "developer")]
    System,
    #[serde(alias = "human")]
    User,
    #[serde(alias = "ai", alias = "model")]
    Assistant,
    #[serde(alias = "function")]
    Tool,
}

impl From<Role> for i32 {
    fn from(role: Role) -> Self {
        match role {
            Role::System => proto::Role::System,
            Role::User => proto::Role::User,
            Role::Assistant => proto::Role::Assistant,
            Role::Tool => proto::Role::Tool,
        }
        .into()
    }
}
