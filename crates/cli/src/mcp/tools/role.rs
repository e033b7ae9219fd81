//! The speakers, by the names that models use.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use crate::args::choice;

choice! {
    /// The speaker of a message.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[schemars(inline)]
    pub enum Role means Role {
        #[serde(alias = "developer")]
        System = System,
        #[serde(alias = "human")]
        User = User,
        #[serde(alias = "ai", alias = "model")]
        Assistant = Assistant,
        #[serde(alias = "function")]
        Tool = Tool,
    }
}
