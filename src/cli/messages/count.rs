//! `utterd count`: counts the tokens of texts.

use clap::Args;

use crate::cli::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::read::said,
};
use crate::{domain::limits::MOST_CONTENT_BYTES, proto::CountTokensRequest};

/// Count the tokens of texts
///
/// Prints one number for each text.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd count 'The train leaves at nine.'
  utterd count --model gpt-4 < prompt.txt")]
pub struct Count {
    #[command(flatten)]
    remote: Remote,
    /// Count with this encoding, such as o200k_base, or as this OpenAI model [default: the server's encoding]
    #[arg(long, value_name = "NAME", default_value = "")]
    model: String,
    #[command(flatten)]
    json: Json,
    /// The texts, each in quotes; `-`, or no text, reads stdin
    #[arg(id = "texts", value_name = "TEXT")]
    texts: Vec<String>,
}

/// Counts, and prints only the numbers.
pub async fn count(args: Count) -> Result<(), CliError> {
    let texts = match args.texts.as_slice() {
        [] => vec![said(MOST_CONTENT_BYTES).await?],
        [dash] if dash == "-" => vec![said(MOST_CONTENT_BYTES).await?],
        _ => args.texts,
    };
    let connection = Connection::to(&args.remote).await?;
    let request = CountTokensRequest { texts, model: args.model, ..Default::default() };
    let response = connection.contexts().count_tokens(request).await?.into_inner();
    args.json.answer("CountTokensResponse", response, |output, response| {
        response.token_counts.iter().try_for_each(|count| output.line(&count.to_string()))
    })
}
