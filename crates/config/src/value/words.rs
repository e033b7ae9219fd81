//! Names and other words.

use toml::Value;

/// One line of text, or nothing.
pub mod text {
    use super::*;

    pub fn parse(text: &str) -> Result<String, String> {
        let text = text.trim();
        match text.contains(char::is_control) {
            false => Ok(text.into()),
            true => Err("one line of text".into()),
        }
    }

    pub fn show(value: &str) -> Value {
        Value::String(value.into())
    }
}

/// Names of models, separated by commas.
pub mod models {
    use super::*;
    use utterd_domain::limits::MAX_MODEL_BYTES;

    pub fn parse(text: &str) -> Result<Vec<String>, String> {
        let named: Vec<_> = text.split(',').map(str::trim).filter(|model| !model.is_empty()).collect();
        let fits = |model: &&str| model.len() <= MAX_MODEL_BYTES && !model.contains(char::is_control);
        match named.iter().all(fits) {
            true => Ok(named.into_iter().map(Into::into).collect()),
            false => Err(format!("names of models of at most {MAX_MODEL_BYTES} bytes, separated by commas")),
        }
    }

    pub fn show(models: &[String]) -> Value {
        Value::String(models.join(","))
    }
}

/// The form of the log.
pub mod log_format {
    use super::*;
    use crate::LogFormat;

    pub fn parse(text: &str) -> Result<LogFormat, String> {
        match text.trim() {
            "text" => Ok(LogFormat::Text),
            "json" => Ok(LogFormat::Json),
            _ => Err("text or json".into()),
        }
    }

    pub fn show(value: &LogFormat) -> Value {
        Value::String(match value {
            LogFormat::Text => "text".into(),
            LogFormat::Json => "json".into(),
        })
    }
}

/// The protocol of a model.
pub mod llm {
    use super::*;
    use crate::Llm;

    pub fn parse(text: &str) -> Result<Llm, String> {
        let llm = Llm::ALL.into_iter().find(|llm| llm.name() == text.trim());
        llm.ok_or_else(|| "none, openai or anthropic".into())
    }

    pub fn show(value: &Llm) -> Value {
        Value::String(value.name().into())
    }
}

/// The backend that stores conversations.
pub mod backend {
    use super::*;
    use crate::Backend;

    pub fn parse(text: &str) -> Result<Backend, String> {
        Backend::named(text).ok_or_else(|| Backend::WORDS.into())
    }

    pub fn show(value: &Backend) -> Value {
        Value::String(value.name().into())
    }
}

/// A set of limits.
pub mod preset {
    use super::*;
    use crate::Preset;

    pub fn parse(text: &str) -> Result<Preset, String> {
        let preset = Preset::ALL.into_iter().find(|preset| preset.name() == text);
        preset.ok_or_else(|| "rolling, turns or session".into())
    }

    pub fn show(value: &Preset) -> Value {
        Value::String(value.name().into())
    }
}

/// An encoding of tokens.
pub mod encoding {
    use super::*;
    use utterd_domain::Encoding;
    use utterd_tokenizer::encoding_for;

    pub fn parse(text: &str) -> Result<Encoding, String> {
        let accepted = "o200k_base, cl100k_base, p50k_base, r50k_base, or the name of an OpenAI model";
        encoding_for(text).ok_or_else(|| accepted.into())
    }

    pub fn show(value: &Encoding) -> Value {
        Value::String(value.name().into())
    }
}

/// The filter of the log.
pub mod directive {
    use super::*;
    use tracing_subscriber::EnvFilter;

    pub fn parse(text: &str) -> Result<String, String> {
        let accepted =
            "a level (error, warn, info, debug, trace, off) or directives such as info,utterd=debug";
        EnvFilter::builder().parse(text).map(|_| text.into()).map_err(|_| accepted.into())
    }

    pub fn show(value: &str) -> Value {
        Value::String(value.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_is_shown_by_one_word() {
        for (text, shown) in [
            ("in-memory", "in-memory"),
            ("memory", "in-memory"),
            ("fjall", "fjall"),
            ("durable", "fjall"),
            ("sled", "sled"),
            ("postgres", "postgres"),
        ] {
            let backend = backend::parse(text).unwrap();
            assert_eq!(backend::show(&backend), Value::String(shown.into()), "{text}");
            assert_eq!(backend::parse(shown), Ok(backend));
        }
        assert!(backend::parse("Fjall").unwrap_err().contains("sled"));
    }
}
