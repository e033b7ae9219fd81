//! What each line of a chat does. One thing is done at a time, so that a chat is a loop: read a line, do what it asks
//! for, tell what came of it.
//!
//! Ctrl-C and a failure can end the work on a line at each `await`. [`Doing`] says what was going on then, and thereby
//! what is stored, and what the user can do.

use std::{io::Write, mem};

use super::{
    command::{self, Command},
    export::export,
    lines::Lines,
    reply::Model,
    server::{Opening, Server},
    shown,
};
use crate::{
    args::{Remote, Target},
    errors::CliError,
    messages::{
        capacity::{self, AskCapacity},
        compact::{self, Compact},
        forget::{self, Forget},
        remember::{self, Remember},
        restore::{self, Restore},
    },
    terminal::{counted, note, print, unless_interrupted},
};
use utterd_rpc::proto::{Capacity, CompactionAnswer, NewUtterance, Role};
use utterd_telemetry::terminal::stdout;

/// Utterances that are shown when a conversation is opened.
const SHOWN: usize = 20;
/// Matches that `/remember` shows.
const MATCHES: i32 = 8;
/// The prompt for a message or a command, and for an answer to the question whether to compact.
const PROMPTS: [&str; 2] = ["> ", "Y, N or V> "];

/// What the work on a line is at.
#[derive(Default)]
enum Doing {
    /// What leaves nothing behind.
    #[default]
    Anything,
    /// This is being stored.
    Storing(Box<NewUtterance>),
    /// The model was asked; what it has said is in `said`.
    Asking,
}

/// A chat.
pub struct Session {
    remote: Remote,
    server: Server,
    model: Option<Model>,
    lines: Lines,
    conversation_id: String,
    capacity: Capacity,
    /// The status that was shown last.
    status: String,
    /// The question whether to compact is open; the model is asked once it is answered.
    asked: bool,
    doing: Doing,
    /// What the model has said of its reply.
    said: String,
    /// A reply of the model that was broken off, or could not be stored; nothing has been stored since.
    unkept: Option<NewUtterance>,
    /// The user has left.
    left: bool,
}

impl Session {
    /// Opens a conversation.
    pub async fn open(
        conversation_id: &str,
        remote: Remote,
        server: Server,
        model: Option<Model>,
        lines: Lines,
    ) -> Result<Self, CliError> {
        let opening = server.open(conversation_id).await?;
        let mut session = Self {
            remote,
            server,
            model,
            lines,
            conversation_id: String::new(),
            capacity: Capacity::default(),
            status: String::new(),
            asked: false,
            doing: Doing::Anything,
            said: String::new(),
            unkept: None,
            left: false,
        };
        session.opened(opening)?;
        Ok(session)
    }

    /// Does what the lines ask for, to their end.
    pub async fn run(mut self) -> Result<(), CliError> {
        loop {
            self.tell_status();
            let prompt = PROMPTS[usize::from(self.asked)];
            let line = match unless_interrupted(self.lines.next(prompt)).await {
                Some(line) => line?,
                None => return Err(CliError::Interrupted("all messages are stored".into())),
            };
            let Some(line) = line else { return self.ended().await };
            let done = unless_interrupted(self.act(&line)).await;
            self.settled(done.unwrap_or_else(|| Err(CliError::Interrupted("stopped".into()))))?;
            if self.left {
                return Ok(());
            }
        }
    }

    /// At the end of a pipe, the question is not answered, but the model is asked.
    async fn ended(mut self) -> Result<(), CliError> {
        if self.asked && !self.lines.are_typed() {
            self.ask().await?;
            self.tell_status();
        }
        Ok(())
    }

    async fn act(&mut self, line: &str) -> Result<(), CliError> {
        match line.trim() {
            "" => Ok(()),
            _ if command::is_command(line) => self.command(command::parse(line)?).await,
            _ => self.message(line).await,
        }
    }

    /// Tells what went wrong, and what is left of it. A pipe has nobody to decide how to go on: it ends.
    fn settled(&mut self, done: Result<(), CliError>) -> Result<(), CliError> {
        let Err(error) = done else { return Ok(()) };
        let left = self.left_behind();
        if !self.lines.are_typed() {
            left.iter().for_each(|left| note(left));
            return Err(error);
        }
        match &error {
            CliError::Interrupted(_) => note("· stopped"),
            error => note(&format!("! {error}")),
        }
        left.iter().for_each(|left| note(&format!("  {left}")));
        Ok(())
    }

    /// Keeps what the work that failed was at, and says what can be done with it.
    fn left_behind(&mut self) -> Option<&'static str> {
        match mem::take(&mut self.doing) {
            Doing::Anything => None,
            Doing::Storing(draft) if draft.role() == Role::User => {
                Some("your message is not stored: send it again, which stores it once")
            }
            Doing::Storing(draft) => {
                self.unkept = Some(*draft);
                Some("the reply is not stored: /keep stores it")
            }
            Doing::Asking if self.said.trim().is_empty() => {
                Some("your message is stored, and has no reply: /retry asks again")
            }
            Doing::Asking => {
                let mut draft = draft(Role::Assistant, self.said.trim().to_owned());
                draft.metadata.insert(shown::BROKEN_OFF.to_owned(), "true".to_owned());
                self.unkept = Some(draft);
                // Nothing better can be done if stdout is closed.
                let _ = print(&format!("\n{}", shown::BROKEN_OFF_MARK));
                Some("/keep stores this much of the reply, /retry asks again")
            }
        }
    }

    async fn message(&mut self, line: &str) -> Result<(), CliError> {
        if self.asked {
            let answer = shown::answer(line);
            self.answer(answer.unwrap_or(CompactionAnswer::NotNow)).await?;
            if answer.is_some() {
                return Ok(());
            }
        }
        self.say(command::message(line).to_owned()).await
    }

    /// Answers the question; then asks the model, also if the answer is refused.
    async fn answer(&mut self, answer: CompactionAnswer) -> Result<(), CliError> {
        self.asked = false;
        match self.server.answer(&self.conversation_id, answer).await {
            Ok((text, capacity)) => {
                self.capacity = capacity;
                if !text.is_empty() {
                    print(&text)?;
                }
            }
            Err(error) => self.settled(Err(error))?,
        }
        self.ask().await
    }

    /// Stores what the user says, and asks the model, or first whether to compact.
    async fn say(&mut self, text: String) -> Result<(), CliError> {
        self.store(draft(Role::User, text)).await?;
        match self.capacity.compaction_advice {
            Some(advice) => {
                self.asked = true;
                note(&shown::question(advice));
                Ok(())
            }
            None => self.ask().await,
        }
    }

    async fn store(&mut self, draft: NewUtterance) -> Result<(), CliError> {
        self.doing = Doing::Storing(Box::new(draft.clone()));
        let stored = self.server.memorize(&self.conversation_id, draft).await?;
        self.doing = Doing::Anything;
        self.unkept = None;
        self.capacity = stored.capacity.unwrap_or_default();
        if stored.started_conversation {
            note(
                "! the server no longer has the earlier messages: the conversation starts again with this one",
            );
        }
        Ok(())
    }

    /// Asks the model, if there is one; shows its reply as it comes, and stores it.
    async fn ask(&mut self) -> Result<(), CliError> {
        let Some(model) = &self.model else { return Ok(()) };
        self.doing = Doing::Asking;
        self.said.clear();
        let messages = self.server.messages(&self.conversation_id, false).await?;
        let said = &mut self.said;
        let reply = model.reply(&messages, |piece| say_piece(said, piece)).await?;
        print("")?;
        self.store(draft(Role::Assistant, reply)).await
    }

    /// Asks again; but if a complete reply could not be stored, stores that.
    async fn retry(&mut self) -> Result<(), CliError> {
        let is_whole = |draft: &NewUtterance| !draft.metadata.contains_key(shown::BROKEN_OFF);
        if let Some(draft) = self.unkept.clone().filter(is_whole) {
            return self.store(draft).await;
        }
        if self.model.is_none() {
            return Err(CliError::Usage("no model is named: start the chat with --model".into()));
        }
        let recent = self.server.recent(&self.conversation_id).await?;
        match recent.last().is_none_or(|last| last.role() == Role::Assistant) {
            true => Err(CliError::Usage("nothing waits for a reply".into())),
            false => self.ask().await,
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), CliError> {
        let target = Target::of(self.remote.clone(), self.conversation_id.clone());
        match command {
            Command::Compact { keep_recent: keep, dry_run, undo } => {
                compact::compact(Compact { target, keep, dry_run, undo, ..Compact::default() }).await?;
            }
            Command::Summary => print(&self.server.summary(&self.conversation_id).await?)?,
            Command::Capacity => capacity::capacity(AskCapacity { target }).await?,
            Command::Remember { words } => {
                let prompt = Some(words.join(" "));
                remember::remember(Remember { target, limit: MATCHES, prompt, ..Remember::default() })
                    .await?;
            }
            Command::Forget { hard, instruction } => {
                let instructions = Some(instruction.join(" "));
                forget::forget(Forget { target, hard, instructions, ..Forget::default() }).await?;
            }
            Command::Restore { numbers } => {
                let which = Some(numbers.join(" ")).filter(|which| !which.is_empty());
                restore::forgotten(Restore { target, all: which.is_none(), which, ..Restore::default() })
                    .await?;
            }
            Command::Export { include_full_history, file } => {
                let file = Some(file.join(" ")).filter(|file| !file.is_empty());
                export(&self.server, target, include_full_history, file.map(Into::into)).await?;
            }
            Command::Retry => return self.retry().await,
            Command::Keep => match self.unkept.clone() {
                Some(draft) => return self.store(draft).await,
                None => return Err(CliError::Usage("there is no reply that is not stored".into())),
            },
            Command::New => return self.opened(self.server.start_another(&self.conversation_id).await?),
            Command::Help => return Ok(print(command::HELP)?),
            Command::Quit => {
                self.left = true;
                return Ok(());
            }
        }
        self.weighed().await
    }

    /// Reads how full the window is. A command may have answered the question whether to compact.
    async fn weighed(&mut self) -> Result<(), CliError> {
        (self.capacity, _) = self.server.capacity(&self.conversation_id).await?;
        if self.asked && self.capacity.compaction_advice.is_none() {
            self.asked = false;
            return self.ask().await;
        }
        Ok(())
    }

    /// Goes on with a conversation, and shows its last messages to a person.
    fn opened(&mut self, opening: Opening) -> Result<(), CliError> {
        let Opening { conversation_id, recent, capacity, notes } = opening;
        if self.lines.are_typed() {
            let recent = recent.get(recent.len().saturating_sub(SHOWN)..).unwrap_or_default();
            tell_earlier(&capacity, recent.len());
            recent.iter().try_for_each(|one| print(&shown::utterance(one)))?;
        }
        notes.iter().for_each(|text| note(&format!("· {text}")));
        note(&match &self.model {
            Some(model) => format!("· model {} · {conversation_id}", model.name()),
            None => format!("· no model replies: your messages are stored · {conversation_id}"),
        });
        (self.conversation_id, self.capacity) = (conversation_id, capacity);
        (self.asked, self.unkept) = (false, None);
        self.status.clear();
        Ok(())
    }

    fn tell_status(&mut self) {
        let status = shown::status(&self.capacity);
        if self.status != status {
            note(&status);
            self.status = status;
        }
    }
}

fn draft(role: Role, content: String) -> NewUtterance {
    NewUtterance { role: role.into(), content, ..Default::default() }
}

/// Says how many messages stand before those that are shown.
fn tell_earlier(capacity: &Capacity, shown: usize) {
    let covered = capacity.summary.unwrap_or_default().covered_utterance_count();
    let window = usize::try_from(capacity.utterance_count() + covered).unwrap_or(0);
    if window > shown {
        let earlier = counted(window - shown, "earlier message");
        note(&format!("─── {earlier}: `utterd show` shows the window, /summary what left it"));
    }
}

/// Shows a piece of a reply, and adds it to what was `said`.
fn say_piece(said: &mut String, piece: &str) {
    let begins = said.trim().is_empty();
    said.push_str(piece);
    let piece = if begins { said.trim_start() } else { piece };
    if piece.is_empty() {
        return;
    }
    let speaker = if begins { "assistant: " } else { "" };
    let mut stdout = stdout();
    // If stdout is closed, the reply is stored all the same.
    let _ = write!(stdout, "{speaker}{piece}").and_then(|()| stdout.flush());
}
