//! Numbers, sizes and switches.

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

/// The dimensions of an embedding.
pub mod dimensions {
    use utterd_domain::limits::MAX_EMBEDDING_DIMENSIONS;

    pub fn parse(text: &str) -> Result<usize, String> {
        let accepted = || format!("a number from 0 (the model's default) to {MAX_EMBEDDING_DIMENSIONS}");
        text.trim().parse().ok().filter(|count| *count <= MAX_EMBEDDING_DIMENSIONS).ok_or_else(accepted)
    }

    pub use super::positive::show;
}

/// A share of a whole, kept in millionths.
pub mod share {
    use super::*;
    use crate::Share;

    pub fn parse(text: &str) -> Result<Share, String> {
        let share = text.trim().parse().ok().and_then(Share::new);
        share.ok_or_else(|| "a number from 0 to 1, such as 0.1".into())
    }

    pub fn show(value: &Share) -> Value {
        Value::Float(value.get())
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

/// A number of bytes, 0 for no limit.
pub mod bound {
    use super::*;

    pub fn parse(text: &str) -> Result<u64, String> {
        match text.trim() {
            "0" => Ok(0),
            text => size::parse(text).map_err(|accepted: String| format!("0 (unlimited), or {accepted}")),
        }
    }

    pub fn show(value: &u64) -> Value {
        match value {
            0 => integer(0),
            bytes => size::show(bytes),
        }
    }
}

fn integer(number: u64) -> Value {
    Value::Integer(number.try_into().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!((bound::parse("0"), bound::parse("1KiB")), (Ok(0), Ok(1_024)));
        assert!(bound::parse("-1").unwrap_err().starts_with("0 (unlimited), or bytes"));
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
}
