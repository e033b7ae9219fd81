//! What each line of a chat does. One thing is done at a time, so that a chat is a loop: read a line, do what it asks
//! for, tell what came of it.
//!
//! Ctrl-C and a failure can end the work on a line at each `await`. [`Doing`] says what was going on then, and thereby
//! what is stored, and what the user can do.

use std::{
    io::{self, Write},
    mem,
};

use super::{
    command::{self, Command},
    export::export,
    lines::Lines,
    reply::Model,
    server::{Draft, Opening, Server},
    shown,
};
use crate::{
    args::{Remote, Target},
    errors::CliError,
    messages::{
        capacity, compact,
        forget::{self, Forget},
        remember, restore,
    },
    terminal::{Output, call, counted, note, unless_interrupted},
};
use utterd_rpc::proto::{Capacity, CompactionAnswer, NewUtterance, Role, Utterance, UtteranceState};
use utterd_telemetry::terminal::stdout;

/// Utterances that are shown when a conversation is opened.
const SHOWN: usize = 20;
/// The prompt for a message or a command, and for an answer to the question whether to compact.
const PROMPTS: [&str; 2] = ["> ", "Y, N or V> "];

/// What the work on a line is at.
#[derive(Default)]
enum Doing {
    /// What leaves nothing behind.
    #[default]
    Anything,
    /// A draft is being stored.
    Storing(Box<Draft>),
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
    /// The newest sequence that was shown or said.
    seen: i64,
    /// The question whether to compact is open; the model is asked once it is answered.
    asked: bool,
    doing: Doing,
    /// What the model has said of its reply.
    said: String,
    /// What the next line starts as.
    begun: String,
    /// The user's draft that was not stored. Sent again unchanged, it counts as the same attempt.
    unsent: Option<Draft>,
    /// A reply of the model that was broken off, or could not be stored; nothing has been stored since.
    unkept: Option<Draft>,
    attempts: u64,
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
            seen: 0,
            asked: false,
            doing: Doing::Anything,
            said: String::new(),
            begun: String::new(),
            unsent: None,
            unkept: None,
            attempts: 0,
            left: false,
        };
        session.opened(opening)?;
        Ok(session)
    }

    /// Does what the lines ask for, to their end.
    pub async fn run(mut self) -> Result<(), CliError> {
        loop {
            self.tell_status();
            let (prompt, begun) = (PROMPTS[usize::from(self.asked)], mem::take(&mut self.begun));
            let line = match unless_interrupted(self.lines.next(prompt, begun)).await {
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
            _ if command::is_command(line) => match command::parse(line, self.target()) {
                Ok(command) => self.command(command).await,
                Err(error) => {
                    // it stays, so that it can be mended
                    self.begun = line.to_owned();
                    Err(error)
                }
            },
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
            Doing::Storing(draft) if draft.utterance.role() == Role::User => {
                self.begun.clone_from(&draft.utterance.content);
                self.unsent = Some(*draft);
                Some("your message is not stored: Enter sends it again")
            }
            Doing::Storing(draft) => {
                self.unkept = Some(*draft);
                Some("the reply is not stored: /keep stores it")
            }
            Doing::Asking if self.said.trim().is_empty() => {
                Some("your message is stored, and has no reply: /retry asks again")
            }
            Doing::Asking => {
                let mut draft = self.draft(Role::Assistant, self.said.trim().to_owned());
                draft.utterance.metadata.insert(shown::BROKEN_OFF.to_owned(), "true".to_owned());
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
            self.begun = if answer.is_none() { line.to_owned() } else { String::new() };
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
        let unsent = self.unsent.take().filter(|unsent| unsent.utterance.content == text);
        let draft = unsent.unwrap_or_else(|| self.draft(Role::User, text));
        self.store(draft).await?;
        self.begun.clear();
        match self.capacity.compaction_advice {
            Some(advice) => {
                self.asked = true;
                note(&shown::question(advice));
                Ok(())
            }
            None => self.ask().await,
        }
    }

    fn draft(&mut self, role: Role, text: String) -> Draft {
        self.attempts += 1;
        let utterance = NewUtterance { role: role.into(), content: text, ..Default::default() };
        Draft { utterance, attempt: self.attempts }
    }

    async fn store(&mut self, draft: Draft) -> Result<(), CliError> {
        self.doing = Doing::Storing(Box::new(draft.clone()));
        let stored = self.server.memorize(&self.conversation_id, draft).await?;
        self.doing = Doing::Anything;
        (self.unsent, self.unkept) = (None, None);
        let sequence = stored.memorized.first().map_or(0, |reference| reference.sequence);
        let seen = mem::replace(&mut self.seen, sequence);
        self.capacity = stored.capacity.unwrap_or_default();
        if stored.started_conversation {
            note(
                "! the server no longer has the earlier messages: the conversation starts again with this one",
            );
        } else if seen + 1 < sequence {
            self.tell_between(seen, sequence).await?;
        }
        Ok(())
    }

    /// Shows what others said meanwhile.
    async fn tell_between(&self, after: i64, before: i64) -> Result<(), CliError> {
        let recent = self.server.recent(&self.conversation_id).await?;
        let others: Vec<_> =
            recent.iter().filter(|one| after < one.sequence && one.sequence < before).collect();
        if !others.is_empty() {
            note("· said meanwhile:");
        }
        Ok(others.into_iter().try_for_each(|one| print(&shown::utterance(one)))?)
    }

    /// Asks the model, if there is one; shows its reply as it comes, and stores it.
    async fn ask(&mut self) -> Result<(), CliError> {
        let Some(model) = &self.model else { return Ok(()) };
        self.doing = Doing::Asking;
        self.said.clear();
        let messages = self.server.messages(&self.conversation_id, false).await?;
        let said = &mut self.said;
        let reply = model.reply(&messages, |piece| say_piece(said, piece)).await?;
        let calls: Vec<_> = reply.calls.iter().map(call).collect();
        let before = match (reply.text.is_empty(), calls.is_empty()) {
            (true, _) => "assistant: ",
            (false, true) => "",
            (false, false) => "\n",
        };
        print(&format!("{before}{}", calls.join("\n")))?;
        let mut draft = self.draft(Role::Assistant, reply.text);
        draft.utterance.tool_calls = reply.calls;
        self.keep(draft).await
    }

    /// Stores a reply.
    async fn keep(&mut self, draft: Draft) -> Result<(), CliError> {
        let calls = !draft.utterance.tool_calls.is_empty();
        self.store(draft).await?;
        if calls {
            note("· a chat does not run the tools; your next message continues without their results");
        }
        Ok(())
    }

    /// Asks again; but if a complete reply could not be stored, stores that.
    async fn retry(&mut self) -> Result<(), CliError> {
        let is_whole = |draft: &Draft| !draft.utterance.metadata.contains_key(shown::BROKEN_OFF);
        if let Some(draft) = self.unkept.clone().filter(is_whole) {
            return self.keep(draft).await;
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
        match command {
            Command::Compact(args) => compact::compact(args).await?,
            Command::Summary => print(&self.server.summary(&self.conversation_id).await?)?,
            Command::Capacity(args) => capacity::capacity(args).await?,
            Command::Remember(args) => remember::remember(args).await?,
            Command::Forget(args) => self.forget(args).await?,
            Command::Restore(args) => restore::forgotten(args).await?,
            Command::Export { full, file } => export(&self.server, self.target(), full, file).await?,
            Command::Retry => return self.retry().await,
            Command::Keep => match self.unkept.clone() {
                Some(draft) => return self.keep(draft).await,
                None => return Err(CliError::Usage("there is no reply that is not stored".into())),
            },
            Command::New => return self.opened(self.server.start_another(&self.conversation_id).await?),
            Command::Help => return Ok(print(&command::help())?),
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

    /// Forgets; then what was forgotten can no longer be brought back as a line.
    async fn forget(&mut self, args: Forget) -> Result<(), CliError> {
        forget::forget(args).await?;
        let recent = self.server.recent(&self.conversation_id).await?;
        self.recall(&recent)
    }

    fn target(&self) -> Target {
        Target::of(self.remote.clone(), self.conversation_id.clone())
    }

    fn recall(&mut self, recent: &[Utterance]) -> Result<(), CliError> {
        let is_said = |one: &&Utterance| one.role() == Role::User && one.state() != UtteranceState::Forgotten;
        self.lines.recall(recent.iter().filter(is_said).map(|one| one.content.as_str()))
    }

    /// Goes on with a conversation, and shows its last messages to a person.
    fn opened(&mut self, opening: Opening) -> Result<(), CliError> {
        let Opening { conversation_id, recent, capacity, notes } = opening;
        if self.lines.are_typed() {
            let recent = recent.get(recent.len().saturating_sub(SHOWN)..).unwrap_or_default();
            tell_earlier(&capacity, recent.len());
            recent.iter().try_for_each(|one| print(&shown::utterance(one)))?;
        }
        self.recall(&recent)?;
        notes.iter().for_each(|text| note(&format!("· {text}")));
        note(&match &self.model {
            Some(model) => format!("· model {} · {conversation_id}", model.name()),
            None => format!("· no model replies: your messages are stored · {conversation_id}"),
        });
        self.seen = recent.last().map_or(0, |last| last.sequence);
        (self.conversation_id, self.capacity) = (conversation_id, capacity);
        (self.asked, self.unsent, self.unkept) = (false, None, None);
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

/// Says how many messages stand before those that are shown.
fn tell_earlier(capacity: &Capacity, shown: usize) {
    let covered = capacity.summary.unwrap_or_default().covered_utterance_count();
    if covered > 0 {
        let earlier = counted(covered, "earlier message");
        note(&format!("─── {earlier} in the summary; /summary shows it"));
    }
    let window = usize::try_from(capacity.utterance_count()).unwrap_or(0);
    if window > shown {
        let earlier = counted(window - shown, "earlier message");
        note(&format!("─── {earlier} in the window; `utterd show` shows them"));
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

fn print(text: &str) -> io::Result<()> {
    let mut output = Output::new();
    output.prose(text)?;
    output.flush()
}
