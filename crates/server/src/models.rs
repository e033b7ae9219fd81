//! The models that the settings name.

use std::sync::Arc;

use crate::Result;
use utterd_config::Settings;
use utterd_engine::models::{embedding::Embedder, llm::LlmSummarizer};

#[cfg(feature = "llm")]
pub use utterd_models::summarizer::PROMPT_VERSION;

/// The version of the prompts of a caller's own models: this build has none.
#[cfg(not(feature = "llm"))]
pub const PROMPT_VERSION: u32 = 0;

/// The models that a server uses.
#[derive(Clone, Default)]
pub struct Models {
    /// Makes summaries while [`Engine::run_llm_summaries`](utterd_engine::Engine::run_llm_summaries) runs.
    pub summarizer: Option<Arc<dyn LlmSummarizer>>,
    /// Embeds the texts for searches while [`Engine::run_embedding`](utterd_engine::Engine::run_embedding) runs.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl Models {
    /// The models that `settings` name.
    #[cfg(feature = "llm")]
    pub(super) fn of(settings: &Settings) -> Result<Self> {
        Ok(Self { summarizer: clients::summarizer(settings)?, embedder: clients::embedder(settings)? })
    }

    /// None: this build has no clients of models.
    #[cfg(not(feature = "llm"))]
    pub(super) fn of(_settings: &Settings) -> Result<Self> {
        Ok(Self::default())
    }
}

/// The clients of the models' servers.
#[cfg(feature = "llm")]
mod clients {
    use super::*;
    use utterd_config::Llm;
    use utterd_models::{
        embedder::{self, EmbedderSettings},
        summarizer::{self, LlmSettings, Protocol, SetupError},
    };

    pub fn summarizer(settings: &Settings) -> Result<Option<Arc<dyn LlmSummarizer>>, SetupError> {
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
        summarizer::build(&settings, variable).map(Some)
    }

    pub fn embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, SetupError> {
        let Some(base_url) = settings.embedding_base_url.clone() else { return Ok(None) };
        let settings = EmbedderSettings {
            base_url,
            model: settings.embedding_model.clone(),
            dimensions: Some(settings.embedding_dimensions).filter(|dimensions| *dimensions > 0),
            api_key_file: settings.embedding_api_key_file.clone(),
            timeout: settings.embedding_timeout,
        };
        embedder::build(&settings, variable).map(Some)
    }

    fn variable(name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}
