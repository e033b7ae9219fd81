//! Writes a conversation to a file.

use std::{fs, io, path::PathBuf};

use super::server::Server;
use crate::{
    args::Target,
    conversations::export::{self, Export},
    errors::CliError,
    terminal::{bytes, print, read::about},
};

/// Writes the conversation as OpenAI messages: summary and window, or with `full` everything that is stored. A file
/// that exists is left alone, and refused.
pub async fn export(
    server: &Server,
    target: Target,
    full: bool,
    file: Option<PathBuf>,
) -> Result<(), CliError> {
    let path = file.unwrap_or_else(|| file_name(&target.conversation()));
    if path.try_exists()? {
        let name = path.display();
        return Err(CliError::Usage(format!("{name} exists: name another file behind the command")));
    }
    match full {
        true => export::export(Export { target, output: Some(path), ..Export::default() }).await,
        false => window(server, &target.conversation(), path).await,
    }
}

async fn window(server: &Server, conversation_id: &str, path: PathBuf) -> Result<(), CliError> {
    let messages = server.messages(conversation_id, true).await?;
    let messages: serde_json::Value = serde_json::from_str(&messages).map_err(io::Error::from)?;
    let json = format!("{messages:#}\n");
    fs::write(&path, &json).map_err(about(&path))?;
    let size = bytes(json.len() as u64);
    Ok(print(&format!("wrote the summary and the messages to {}: {size}", path.display()))?)
}

/// `CONVERSATION.json` in the working directory, whatever characters the id has.
fn file_name(conversation_id: &str) -> PathBuf {
    let name = conversation_id.replace(['/', '\\'], "-");
    PathBuf::from(format!("{}.json", name.trim_start_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_a_file_here() {
        assert_eq!(file_name("shop/order-7"), PathBuf::from("shop-order-7.json"));
        assert_eq!(file_name("../../etc"), PathBuf::from("-..-etc.json"));
    }
}
