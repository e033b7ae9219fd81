//! Migrates another program's history before the server listens (seed 000, "Migration").

use std::{io::Write, path::Path};

use tonic::Status;

use super::{Result, ServeError, Server};
use utterd_config::read_file;
use utterd_domain::limits::MAX_IMPORT_BYTES;
use utterd_engine::Caller;
use utterd_rpc::proto::{ImportConversationResponse, ImportHeader};
use utterd_telemetry::terminal::{self, counted};

impl Server {
    /// Imports the content of `file` for the default recipient, as ImportConversation does, and reports the result.
    /// The file is left alone. What an earlier start imported stays unchanged, even if some of it was forgotten
    /// since; a conversation that was deleted since is imported again.
    pub async fn migrate(&self, file: &Path) -> Result<()> {
        let failed = |reason: String| ServeError::Migrate { file: file.to_owned(), reason };
        let content = read_file(file, MAX_IMPORT_BYTES).map_err(|error| failed(error.to_string()))?;
        let caller = Caller::default();
        let imported = self.services.import_content(&caller, ImportHeader::default(), content, true).await;
        let response = imported.map_err(|status: Status| failed(status.message().to_owned()))?;
        for warning in &response.warnings {
            // the reason is not logged: it can quote the history
            tracing::warn!(
                place = warning.place,
                "an entry was not read verbatim: `utterd import --dry-run` shows why"
            );
        }
        // a closed stdout does not stop the server
        let _ = writeln!(terminal::stdout(), "{}", told(file, &response));
        Ok(())
    }
}

/// `migrated history.json: 1 conversation, 4 utterances, 2 summaries; the file is left as it is`
fn told(file: &Path, response: &ImportConversationResponse) -> String {
    let sum = |count: fn(&utterd_rpc::proto::ImportedConversation) -> i32| -> i32 {
        response.conversations.iter().map(count).sum()
    };
    let (started, stored) = (sum(|it| it.started.into()), sum(|it| it.utterance_count()));
    let summaries = sum(|it| it.summary_count());
    let file = file.display();
    match (started, stored, summaries) {
        (0, 0, 0) if response.conversations.is_empty() => format!("{file} holds nothing to migrate"),
        (0, 0, 0) => format!("{file} was migrated before: nothing new"),
        _ => {
            let [started, stored] = [counted(started, "conversation"), counted(stored, "utterance")];
            let summaries = counted(summaries, "summary");
            format!("migrated {file}: {started}, {stored}, {summaries}; the file is left as it is")
        }
    }
}
