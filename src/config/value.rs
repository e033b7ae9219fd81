//! The kinds of values: each parses text, where the error says what is accepted, and shows a
//! value as TOML that it would parse to the same value.

use std::ops::RangeInclusive;

use toml::Value;

/// The largest number that fits the protocol's 32-bit counters.
const MAX_COUNT: u32 = i32::MAX as u32;

/// A number of utterances, tokens or turns.
pub mod limit {
    use super::*;

    pub fn parse(text: &str) -> Result<u32, String> {
        let accepted = || format!("a number from 0 to {MAX_COUNT}");
        text.trim().parse().ok().filter(|count| *count <= MAX_COUNT).ok_or_else(accepted)
    }

    pub fn show(value: &u32) -> Value {
        Value::Integer((*value).into())
    }
}

/// A number of at least 1.
pub mod positive {
    use super::*;

    pub fn parse(text: &str) -> Result<usize, String> {
        match limit::parse(text) {
            Ok(count) if count > 0 => Ok(count as usize),
            _ => Err(format!("a number from 1 to {MAX_COUNT}")),
        }
    }

    pub fn show(value: &usize) -> Value {
        integer(*value as u64)
    }
}

/// A number of threads.
pub mod threads {
    use super::*;

    const MAX: usize = 1024;

    pub fn parse(text: &str) -> Result<usize, String> {
        let accepted = || format!("a number from 0 (one for each core) to {MAX}");
        text.trim().parse().ok().filter(|count| *count <= MAX).ok_or_else(accepted)
    }

    pub fn show(value: &usize) -> Value {
        integer(*value as u64)
    }
}

/// Yes or no.
pub mod switch {
    use super::*;

    pub fn parse(text: &str) -> Result<bool, String> {
        text.trim().parse().map_err(|_| "true or false".into())
    }

    pub fn show(value: &bool) -> Value {
        Value::Boolean(*value)
    }
}

/// A number of bytes.
pub mod size {
    use super::*;

    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

    pub fn parse<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
        let bytes = text.parse().ok().map(|size: bytesize::ByteSize| size.as_u64());
        // A TOML integer has 63 bits.
        let bytes = bytes.filter(|bytes| (1..=i64::MAX as u64).contains(bytes));
        let accepted = || "bytes, 1 or more, such as 1048576, 512MiB or 4GiB".into();
        bytes.and_then(|bytes| N::try_from(bytes).ok()).ok_or_else(accepted)
    }

    pub fn show<N: Copy + TryInto<u64>>(value: &N) -> Value {
        let bytes = (*value).try_into().unwrap_or(u64::MAX);
        let unit = UNITS.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
        match unit {
            Some((name, unit)) => Value::String(format!("{}{name}", bytes / unit)),
            None => integer(bytes),
        }
    }
}

/// A length of time.
pub mod duration {
    use super::*;
    use std::time::Duration;

    pub const MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

    pub fn parse(text: &str) -> Result<Duration, String> {
        let accepted = || "a time above 0 and up to 100 years, such as 90s, 30m or 1h 30m".into();
        within(Duration::from_nanos(1)..=MAX, text).ok_or_else(accepted)
    }

    pub fn show(value: &Duration) -> Value {
        Value::String(humantime::format_duration(*value).to_string())
    }

    /// The time that `text` says, when it is in `range`.
    pub fn within(range: RangeInclusive<Duration>, text: &str) -> Option<Duration> {
        humantime::parse_duration(text).ok().filter(|duration| range.contains(duration))
    }
}

/// A length of time after which work is done again.
pub mod period {
    use super::*;
    use std::time::Duration;

    pub use duration::show;

    pub fn parse(text: &str) -> Result<Duration, String> {
        let accepted = || "a time from 1s to 100 years, such as 90s, 30m or 1h 30m".into();
        duration::within(Duration::from_secs(1)..=duration::MAX, text).ok_or_else(accepted)
    }
}

/// What a reply waits for.
pub mod flush {
    use super::*;
    use crate::config::Flush;
    use std::time::Duration;

    const LEAST: Duration = Duration::from_millis(1);
    const MOST: Duration = Duration::from_secs(60);

    pub fn parse(text: &str) -> Result<Flush, String> {
        if text.trim() == "each" {
            return Ok(Flush::Each);
        }
        let accepted = || "each, or a time from 1ms to 1m, such as 100ms".into();
        duration::within(LEAST..=MOST, text).map(Flush::Interval).ok_or_else(accepted)
    }

    pub fn show(value: &Flush) -> Value {
        match value {
            Flush::Each => Value::String("each".into()),
            Flush::Interval(interval) => duration::show(interval),
        }
    }
}

/// A directory, which need not exist yet.
pub mod directory {
    use super::*;
    use std::path::{Path, PathBuf};

    pub fn parse(text: &str) -> Result<PathBuf, String> {
        // A variable that is no UTF-8 arrives with replacement characters.
        match text {
            "" => Err("a directory's path, such as utterd-data or /var/lib/utterd".into()),
            _ if text.contains(['\0', '\u{fffd}']) => Err("a directory's path in UTF-8".into()),
            _ => Ok(text.into()),
        }
    }

    pub fn show(value: &Path) -> Value {
        Value::String(value.display().to_string())
    }
}

/// A file, or none.
pub mod file {
    use super::*;
    use std::path::PathBuf;

    pub fn parse(text: &str) -> Result<Option<PathBuf>, String> {
        match text {
            "" => Ok(None),
            _ if text.contains(['\0', '\u{fffd}']) => Err("a file's path in UTF-8, or nothing".into()),
            _ => Ok(Some(text.into())),
        }
    }

    pub fn show(value: &Option<PathBuf>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, |path| path.display().to_string()))
    }
}

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
    use crate::domain::limits::MAX_MODEL_BYTES;

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

/// An address to listen on.
pub mod address {
    use super::*;
    use crate::config::Listen;

    pub fn parse(text: &str) -> Result<Listen, String> {
        let accepted = "an IP address and a port, such as 127.0.0.1:50051, 0.0.0.0:50051 or [::]:50051, or a Unix \
                        socket by its whole path, such as unix:/run/utterd.sock";
        Listen::parse(text.trim()).ok_or_else(|| accepted.into())
    }

    pub fn show(value: &Listen) -> Value {
        Value::String(value.to_string())
    }
}

/// Where models are asked, or nothing.
pub mod address_of_models {
    use super::*;
    use url::Url;

    pub fn parse(text: &str) -> Result<Option<Url>, String> {
        let accepted = "an address that begins with http:// or https://, without a user, a password, a query \
                        or a fragment, such as http://127.0.0.1:11434/v1; or nothing";
        match text.trim() {
            "" => Ok(None),
            text => Url::parse(text).ok().filter(is_plain).map(Some).ok_or_else(|| accepted.into()),
        }
    }

    pub fn show(value: &Option<Url>) -> Value {
        Value::String(value.as_ref().map_or_else(String::new, |url| url.as_str().into()))
    }

    /// What is shown holds no secret, and a path can be added to it.
    fn is_plain(url: &Url) -> bool {
        let secret = !url.username().is_empty() || url.password().is_some();
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && !secret
            && url.query().is_none()
            && url.fragment().is_none()
    }
}

/// The protocol of a model.
pub mod llm {
    use super::*;
    use crate::config::Llm;

    pub fn parse(text: &str) -> Result<Llm, String> {
        let llm = Llm::ALL.into_iter().find(|llm| llm.name() == text.trim());
        llm.ok_or_else(|| "none, openai or anthropic".into())
    }

    pub fn show(value: &Llm) -> Value {
        Value::String(value.name().into())
    }
}

/// A place to keep conversations.
pub mod backend {
    use super::*;
    use crate::config::Backend;

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
    use crate::config::Preset;

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
    use crate::{domain::Encoding, tokenizer::encoding_for};

    pub fn parse(text: &str) -> Result<Encoding, String> {
        let accepted = "o200k_base, cl100k_base, p50k_base, r50k_base, or the name of an OpenAI model";
        encoding_for(text).ok_or_else(|| accepted.into())
    }

    pub fn show(value: &Encoding) -> Value {
        Value::String(value.name().into())
    }
}

/// What is logged.
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

fn integer(number: u64) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::Flush;

    #[test]
    fn sizes_are_exact_both_ways() {
        for (text, bytes, shown) in [
            ("4GiB", 1_u64 << 32, "\"4GiB\""),
            ("512 MiB", 512 << 20, "\"512MiB\""),
            ("1536", 1536, "1536"),
            ("2048", 2048, "\"2KiB\""),
            ("9007199254740993", 9_007_199_254_740_993, "9007199254740993"),
        ] {
            assert_eq!(size::parse(text), Ok(bytes), "{text}");
            assert_eq!(size::show(&bytes).to_string(), shown);
        }
        for wrong in ["0", "-1", "", "much", "1e400", "20000000000000000000"] {
            assert!(size::parse::<u64>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(limit::parse("2147483647"), Ok(2_147_483_647));
        assert_eq!(limit::parse("2147483648").unwrap_err(), "a number from 0 to 2147483647");
        assert!(limit::parse("-1").is_err() && limit::parse("1.5").is_err());
        assert!(positive::parse("0").is_err() && threads::parse("1025").is_err());
    }

    #[test]
    fn times_are_above_nothing() {
        assert_eq!(duration::parse("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(duration::parse("0s").is_err() && duration::parse("30").is_err());
        assert_eq!(period::parse("1s"), Ok(Duration::from_secs(1)));
        assert!(period::parse("999ms").is_err() && period::parse("101years").is_err());
    }

    #[test]
    fn a_flush_is_each_or_a_short_time() {
        for (text, value, shown) in [
            ("each", Flush::Each, "\"each\""),
            ("1ms", Flush::Interval(Duration::from_millis(1)), "\"1ms\""),
            ("60s", Flush::Interval(Duration::from_secs(60)), "\"1m\""),
        ] {
            assert_eq!(flush::parse(text), Ok(value), "{text}");
            assert_eq!(flush::show(&value).to_string(), shown);
        }
        for wrong in ["", "0", "0s", "999us", "61s", "never", "100"] {
            assert!(flush::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_backend_is_shown_by_one_word() {
        for (text, shown) in [
            ("in-memory", "in-memory"),
            ("memory", "in-memory"),
            ("fjall", "fjall"),
            ("durable", "fjall"),
            ("sled", "sled"),
        ] {
            let backend = backend::parse(text).unwrap();
            assert_eq!(backend::show(&backend), Value::String(shown.into()), "{text}");
            assert_eq!(backend::parse(shown), Ok(backend));
        }
        assert!(backend::parse("Fjall").unwrap_err().contains("sled"));
    }

    #[test]
    fn models_are_asked_over_http_at_an_address_that_holds_no_secret() {
        for (text, shown) in [
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            (" https://llm.example.com ", "https://llm.example.com/"),
            ("", ""),
        ] {
            let url = address_of_models::parse(text).unwrap();
            assert_eq!(address_of_models::show(&url), Value::String(shown.into()), "{text}");
            assert_eq!(address_of_models::parse(shown), Ok(url));
        }
        for wrong in [
            "127.0.0.1:11434",
            "ftp://x/",
            "unix:/x",
            "http://",
            "https://me:key@x/",
            "https://x/?key=1",
            "http://x/#1",
        ] {
            assert!(address_of_models::parse(wrong).unwrap_err().contains("http://"), "{wrong}");
        }
    }

    #[test]
    fn a_directory_is_a_path_that_can_be_written_down() {
        for text in ["utterd-data", "/var/lib/utterd", "with space", "C:\\data"] {
            let path = directory::parse(text).unwrap();
            assert_eq!(directory::show(&path), Value::String(text.into()));
        }
        for wrong in ["", "a\0b", "caf\u{fffd}"] {
            assert!(directory::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
