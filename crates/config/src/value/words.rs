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

/// One of a few words.
pub mod word {
    use super::*;
    use crate::word::Word;

    pub fn parse<T: Word>(text: &str) -> Result<T, String> {
        T::named(text.trim()).ok_or_else(accepted::<T>)
    }

    pub fn show<T: Word>(value: &T) -> Value {
        Value::String(value.name().into())
    }

    fn accepted<T: Word>() -> String {
        let told = |(_, words): &(T, &[&str])| match words {
            [word, also] => format!("{word} (also written {also})"),
            words => words.concat(),
        };
        let mut words: Vec<_> = T::WORDS.iter().map(told).collect();
        let last = words.pop().unwrap_or_default();
        format!("{} or {last}", words.join(", "))
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
    use crate::Backend;

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
            let backend: Backend = word::parse(text).unwrap();
            assert_eq!(word::show(&backend), Value::String(shown.into()), "{text}");
            assert_eq!(word::parse(shown), Ok(backend));
        }
        assert_eq!(
            word::parse::<Backend>("Fjall").unwrap_err(),
            "in-memory (also written memory), fjall (also written durable), sled or postgres"
        );
    }
}
