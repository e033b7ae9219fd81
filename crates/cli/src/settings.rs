//! One flag for each key of the configuration.

use std::fmt;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};

use super::help::SETTINGS;
use utterd_config::{KEYS, Key};

/// The flags that were given: each key's name and text. They are not checked yet, so that wrong
/// values from all sources are reported together.
#[derive(Clone, Default)]
pub struct SettingFlags(pub Vec<(&'static str, String)>);

/// Without the texts, which can hold secrets.
impl fmt::Debug for SettingFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading(SETTINGS).args(KEYS.iter().map(flag)).next_help_heading(None::<&str>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |key: &Key| matches.get_one::<String>(key.name).map(|text| (key.name, text.clone()));
        Ok(Self(KEYS.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn flag(key: &Key) -> Arg {
    let help = match key.default_text() {
        none if none.is_empty() => key.help.to_owned(),
        default => format!("{} [default: {default}]", key.help),
    };
    let flag = Arg::new(key.name).long(key.flag).value_name(key.value_name).help(help).hide_short_help(true);
    match key.usual {
        Some(usual) => flag.num_args(0..=1).default_missing_value(usual),
        None => flag.allow_hyphen_values(true),
    }
}
