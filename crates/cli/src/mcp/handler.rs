//! Answers each request of the protocol.

use std::sync::Arc;

use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    fault::Fault,
    memory::{Memory, Window},
    tools,
};
use utterd_telemetry::panics::{Panicked, Within};

const INSTRUCTIONS: &str = "A memory of conversations. Call `memorize` with what the user and you say, as it is said: \
    what is not memorized cannot be remembered. Call `remember` to find what was said earlier, in this conversation or past \
    ones, and `get_conversation` to list and read past ones. A conversation ends with `end_conversation`, or by itself after \
    it was idle, and then has a title and a summary. Calls refer to the current conversation unless they name one by \
    conversation_id.";

/// What a client is told after a panic.
const FAULT: &str = "a fault of utterd stopped the call";

const BRIEFLY: &str = " Nothing is kept on disk here: everything is lost when this server ends.";

/// Answers the requests of one client, or of many.
#[derive(Clone)]
pub struct Handler {
    memory: Memory,
    /// The window of the only client, if it is the only one.
    window: Option<Arc<Window>>,
    all_tools: bool,
    config: Arc<ServerConfig>,
}

impl Handler {
    /// A handler over `memory`, which ends with this process if it `is_brief`. Lists `all_tools`, and answers programs;
    /// or lists the usual ones, and answers models.
    pub fn new(memory: Memory, is_brief: bool, all_tools: bool) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new("utterd", env!("CARGO_PKG_VERSION"))
            .with_title("utterd: conversation memory");
        let kept = if is_brief { BRIEFLY } else { "" };
        let config = ServerConfig::new(capabilities)
            .with_server_info(own)
            .with_instructions(format!("{INSTRUCTIONS}{kept}"));
        Self { memory, window: None, all_tools, config: Arc::new(config) }
    }

    /// The handler of one client: the calls that name no conversation concern one of its own.
    pub fn of_window(self) -> Self {
        Self { window: Some(Arc::default()), ..self }
    }

    /// Ends what the only client began, once it has disconnected.
    pub async fn close(&self) {
        if let Some(window) = &self.window {
            self.memory.within(window, String::new()).close().await;
        }
    }

    /// The server as this process sees it.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The server as the caller of a request sees it: over HTTP, each caller sends its own credentials.
    fn memory_of(&self, context: &RequestContext<RoleServer>) -> Memory {
        let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Memory>());
        let memory = caller.unwrap_or(&self.memory);
        match &self.window {
            Some(window) => {
                let client = context.client_info().map(|client| client.name).unwrap_or_default();
                memory.within(window, client)
            }
            None => memory.clone(),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        (*self.config).clone()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::described(self.all_tools)))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::named(name).map(|tool| tool.described.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = tools::named(&request.name).ok_or_else(|| {
            let text = format!("there is no tool {}; there are {}", request.name, tools::names());
            ErrorData::invalid_params(text, None)
        })?;
        let called = tool.call(self.memory_of(&context), request.arguments.unwrap_or_default());
        let called = Within::Call.catching(called).await;
        let mut result = called.unwrap_or_else(|Panicked| Fault::Wrong(FAULT.to_owned()).into_result());
        if !self.all_tools {
            // clients that get it show it to their model in place of the text
            result.structured_content = None;
        }
        Ok(result.into())
    }
}
