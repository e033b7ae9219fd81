//! The server that a command talks to, and the conversation.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use crate::cli::{access::Access, errors::CliError, help::CONNECTION};

/// The default address of a server.
const DEFAULT_SERVER: &str = "http://127.0.0.1:50051";
/// Where the options that commands share stand in the help: after a command's own, before `--help`.
const SHARED: usize = 900;

/// The server to talk to.
#[derive(Debug, Args)]
pub struct Remote {
    /// The server's address: HOST, HOST:PORT, http://…, https://… or unix:PATH
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "UTTERD_SERVER",
        hide_env_values = true,
        default_value = DEFAULT_SERVER,
        help_heading = CONNECTION
    )]
    pub server: String,
    /// The credentials to send.
    #[command(flatten)]
    pub access: Access,
}

/// Whether a command prints JSON.
#[derive(Debug, Args)]
pub struct Json {
    /// Print JSON instead of text, for errors too
    #[arg(long, display_order = SHARED + 1)]
    pub json: bool,
}

/// The server to talk to, the conversation, and the form of the output.
///
/// The conversation comes first among a command's words and can be left out. A command that has words of its own calls
/// [`Target::split`] to tell them apart.
#[derive(Debug)]
pub struct Target {
    /// The server to talk to.
    pub remote: Remote,
    /// The conversation; empty for the recipient's active one.
    pub conversation: String,
    /// The recipient; empty for the default one.
    pub recipient: String,
    /// Whether to print JSON.
    pub json: bool,
    word: Option<String>,
    flag: Option<String>,
}

/// An argument that fills a field of the request has the field's name as its id; that is how a server's errors find
/// the argument.
#[derive(Debug, Args)]
struct Parsed {
    #[command(flatten)]
    remote: Remote,
    /// The conversation [default: the recipient's active one]
    #[arg(id = "conversation_id", value_name = "CONVERSATION")]
    word: Option<String>,
    #[arg(long = "conversation", short = 'c', value_name = "ID", hide = true)]
    flag: Option<String>,
    /// The recipient whose active conversation is meant [default: default]
    #[arg(
        id = "recipient_id",
        long = "recipient",
        short = 'r',
        value_name = "ID",
        default_value = "",
        hide_default_value = true,
        display_order = SHARED
    )]
    recipient: String,
    #[command(flatten)]
    json: Json,
}

impl Args for Target {
    fn augment_args(command: Command) -> Command {
        Parsed::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Parsed::augment_args_for_update(command)
    }
}

impl FromArgMatches for Target {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let Parsed { remote, word, flag, recipient, json: Json { json } } =
            Parsed::from_arg_matches(matches)?;
        let conversation = flag.clone().or_else(|| word.clone()).unwrap_or_default();
        Ok(Self { remote, conversation, recipient, json, word, flag })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Target {
    /// Tells the conversation from a command's `own` words: it is the first of all, if there is one more than the
    /// command has. Returns the command's own.
    pub fn split<const N: usize>(&mut self, own: [Option<String>; N]) -> [Option<String>; N] {
        let mut words: Vec<_> = self.word.take().into_iter().chain(own.into_iter().flatten()).collect();
        if words.len() > N {
            self.word = Some(words.remove(0));
        }
        self.conversation = self.flag.clone().or_else(|| self.word.clone()).unwrap_or_default();
        let mut words = words.into_iter();
        std::array::from_fn(|_| words.next())
    }

    /// Refuses a conversation that is named by its place and by its flag.
    pub fn named_once(&self) -> Result<(), CliError> {
        match (&self.word, &self.flag) {
            (Some(word), Some(_)) => Err(CliError::Usage(format!("there is one argument too many: {word:?}"))),
            _ => Ok(()),
        }
    }
}

/// A word that must be there, called `name` in the help.
pub fn required(word: Option<String>, name: &str) -> Result<String, CliError> {
    word.ok_or_else(|| CliError::Usage(format!("{name} is missing; --help shows the usage")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        target: Target,
        one: Option<String>,
        two: Option<String>,
    }

    fn split(words: &[&str]) -> (String, [Option<String>; 2], bool) {
        let Command { mut target, one, two } = Command::parse_from([&["command"], words].concat());
        let own = target.split([one, two]);
        let is_named_once = target.named_once().is_ok();
        (target.conversation, own, is_named_once)
    }

    #[test]
    fn the_conversation_is_the_word_beyond_the_commands_own() {
        let own = |words: [&str; 2]| words.map(|word| Some(word.to_owned()).filter(|word| !word.is_empty()));
        for (words, conversation, expected) in [
            (&["3", "text"][..], "", ["3", "text"]),
            (&["trip", "3", "text"], "trip", ["3", "text"]),
            (&["3"], "", ["3", ""]),
            (&[], "", ["", ""]),
            (&["-c", "trip", "3", "text"], "trip", ["3", "text"]),
        ] {
            assert_eq!(split(words), (conversation.to_owned(), own(expected), true), "{words:?}");
        }
        assert!(!split(&["-c", "trip", "trip", "3", "text"]).2);
    }
}
