//! The model that settings name.

use std::sync::Arc;

use crate::{
    config::{Llm, Settings},
    engine::llm::LlmSummarizer,
    summarizer::{self, LlmSettings, Protocol, SetupError},
};

/// The client of the model that makes summaries; `None` when settings name none.
pub(super) fn summarizer(settings: &Settings) -> Result<Option<Arc<dyn LlmSummarizer>>, SetupError> {
    let protocol = match settings.llm {
        Llm::None => return Ok(None),
        Llm::OpenAi => Protocol::OpenAi,
        Llm::Anthropic => Protocol::Anthropic,
    };
    let settings = LlmSettings {
        protocol,
        base_url: settings.llm_base_url.clone(),
        model: settings.llm_model.clone(),
        others: settings.llm_models.clone(),
        api_key_file: settings.llm_api_key_file.clone(),
        timeout: settings.llm_timeout,
    };
    summarizer::build(&settings, |name| std::env::var(name).ok()).map(Some)
}
