//! Writes conversations to files.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    event::Done,
    server::{Outcome, Server},
};
use crate::{
    cli::{errors::refusal, terminal::text::bytes},
    proto::{ConversationFormat, ExportConversationRequest, export_conversation_response::Message},
};

/// Writes the conversation as OpenAI messages: summary and window, or with `full` everything that is
/// stored. An existing file is left alone: the new one is called `NAME-2`, `NAME-3` and so on.
pub async fn export(
    server: &Server,
    conversation_id: &str,
    full: bool,
    file: Option<PathBuf>,
) -> Outcome<Done> {
    let json = match full {
        true => everything(server, conversation_id).await?,
        false => window(server, conversation_id).await?,
    };
    let wanted = file.unwrap_or_else(|| file_name(conversation_id));
    let path = write_new(&wanted, &json).map_err(|error| format!("{}: {error}", wanted.display()))?;
    let what = if full { "all messages" } else { "the summary and the messages" };
    let note = format!("wrote {what} to {}: {}", path.display(), bytes(json.len() as u64));
    Ok(Done { note: Some(note), ..Done::default() })
}

async fn window(server: &Server, conversation_id: &str) -> Outcome<Vec<u8>> {
    let messages = server.messages(conversation_id, true).await?;
    let messages: serde_json::Value = serde_json::from_str(&messages).map_err(|error| error.to_string())?;
    let mut json = serde_json::to_vec_pretty(&messages).map_err(|error| error.to_string())?;
    json.push(b'\n');
    Ok(json)
}

async fn everything(server: &Server, conversation_id: &str) -> Outcome<Vec<u8>> {
    let request = ExportConversationRequest {
        conversation_id: conversation_id.to_owned(),
        format: ConversationFormat::OpenaiChat.into(),
        ..Default::default()
    };
    let mut conversations = server.connection.conversations();
    let call = conversations.export_conversation(request).await;
    let mut stream = call.map_err(|status| refusal(&status))?.into_inner();
    let mut json = Vec::new();
    while let Some(response) = stream.message().await.map_err(|status| refusal(&status))? {
        match response.message {
            Some(Message::Chunk(chunk)) => json.extend_from_slice(&chunk),
            Some(Message::End(_)) => return Ok(json),
            None => {}
        }
    }
    Err("the server ended the export early".into())
}

/// `CONVERSATION.json` in the working directory, whatever characters the id has.
fn file_name(conversation_id: &str) -> PathBuf {
    let name = conversation_id.replace(['/', '\\'], "-");
    PathBuf::from(format!("{}.json", name.trim_start_matches('.')))
}

/// Writes a new file, and returns its path.
fn write_new(wanted: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1.. {
        let path = numbered(wanted, number);
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(mut file) => {
                let written = file.write_all(bytes);
                if written.is_err() {
                    // The remains of a file that could not be written are of no use.
                    let _ = fs::remove_file(&path);
                }
                return written.map(|()| path);
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_exists_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let wanted = directory.path().join("chat.json");
        let names: Vec<_> = ["one", "two", "three"]
            .map(|text| write_new(&wanted, text.as_bytes()).unwrap())
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["chat.json", "chat-2.json", "chat-3.json"]);
        assert_eq!(fs::read_to_string(&wanted).unwrap(), "one");
    }

    #[test]
    fn an_id_names_a_file_here() {
        assert_eq!(file_name("shop/order-7"), PathBuf::from("shop-order-7.json"));
        assert_eq!(file_name("../../etc"), PathBuf::from("-..-etc.json"));
    }
}
