//! The utterances that a person names.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::{args::required, errors::CliError};
use utterd_rpc::proto::Utterance;

/// Utterances by a range of sequences, or one by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// `7`, or `3-5`.
    Sequences(RangeInclusive<i64>),
    /// Anything that is not a number.
    Id(String),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once(['-', '–']).unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if 1 <= first && first <= last => Ok(Self::Sequences(first..=last)),
            (Ok(_), Ok(_)) => Err("must be a number from 1, such as 7, or a range, such as 3-5".into()),
            _ => Ok(Self::Id(text.to_owned())),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequences(range) if range.start() == range.end() => write!(f, "{}", range.start()),
            Self::Sequences(range) => write!(f, "{}-{}", range.start(), range.end()),
            Self::Id(id) => f.write_str(id),
        }
    }
}

impl Which {
    fn holds(&self, utterance: &Utterance) -> bool {
        match self {
            Self::Sequences(range) => range.contains(&utterance.sequence),
            Self::Id(id) => utterance.utterance_id == *id,
        }
    }
}

/// The utterances that `word` names: `7`, `2,5-7`, or an id. `name` is the argument's.
pub fn named(word: Option<String>, name: &str) -> Result<Vec<Which>, CliError> {
    let word = required(word, name)?;
    let parts: Result<Vec<Which>, _> = word.split(',').map(|part| part.trim().parse()).collect();
    let is_id = |which: &Which| matches!(which, Which::Id(_));
    match parts.map_err(|wrong| CliError::Usage(format!("{name} {wrong}")))? {
        parts if parts.iter().any(is_id) => Ok(vec![Which::Id(word)]),
        parts => Ok(parts),
    }
}

/// Selects the named utterances from `stored`; each name must match at least one.
pub fn select(stored: Vec<Utterance>, named: &[Which]) -> Result<Vec<Utterance>, CliError> {
    let missing = named.iter().find(|which| !stored.iter().any(|utterance| which.holds(utterance)));
    if let Some(which) = missing {
        let text = format!("there is no utterance {which}: `utterd show` lists them with their numbers");
        return Err(CliError::Missing(text));
    }
    let is_named = |utterance: &Utterance| named.iter().any(|which| which.holds(utterance));
    Ok(stored.into_iter().filter(is_named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ranges_and_ids_are_told_apart() {
        assert_eq!("7".parse(), Ok(Which::Sequences(7..=7)));
        assert_eq!("3-5".parse(), Ok(Which::Sequences(3..=5)));
        assert_eq!("01K-x".parse(), Ok(Which::Id("01K-x".into())));
        let numbers = Some("7, 3-5".to_owned());
        assert_eq!(named(numbers, "X").unwrap(), [Which::Sequences(7..=7), Which::Sequences(3..=5)]);
        assert_eq!(named(Some("a,3".into()), "X").unwrap(), [Which::Id("a,3".into())]);
        assert!(named(None, "X").is_err() && named(Some("7,0".into()), "X").is_err());
        assert!("5-3".parse::<Which>().is_err() && "0".parse::<Which>().is_err());
    }

    #[test]
    fn what_is_named_must_be_there() {
        let stored = |sequence| Utterance { sequence, ..Default::default() };
        let all = || (1..=4).map(stored).collect::<Vec<_>>();
        let found = select(all(), &[Which::Sequences(2..=9)]).unwrap();
        assert_eq!(found.iter().map(|it| it.sequence).collect::<Vec<_>>(), [2, 3, 4]);
        assert!(
            select(all(), &[Which::Sequences(5..=5)]).unwrap_err().to_string().contains("no utterance 5")
        );
    }
}
