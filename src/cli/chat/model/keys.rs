//! What each key does.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Chat, Doing};
use crate::{
    cli::chat::{
        advice,
        command::{self, Command},
        event::{Effect, Task},
        transcript::Look,
    },
    proto::CompactionAnswer,
};

impl Chat {
    /// Handles a key that was pressed.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        (self.held, self.set_aside) = (false, false);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => self.interrupt(),
            KeyCode::Char('d') if control && self.input.text().is_empty() => vec![Effect::Quit],
            KeyCode::Char('l') if control => vec![Effect::Redraw],
            KeyCode::Esc if self.is_asking() => self.stop(),
            KeyCode::Esc if self.advice.is_some() => self.answer(CompactionAnswer::NotNow),
            KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
                self.input.insert("\n");
                Vec::new()
            }
            KeyCode::Enter => self.enter(),
            _ => {
                self.edit(key, control);
                Vec::new()
            }
        }
    }

    /// Ctrl-C stops a reply, or else clears the input, or else ends the chat.
    fn interrupt(&mut self) -> Vec<Effect> {
        if self.is_asking() {
            return self.stop();
        }
        if self.input.text().trim().is_empty() {
            return vec![Effect::Quit];
        }
        self.input.take();
        self.set_aside = true;
        Vec::new()
    }

    fn edit(&mut self, key: KeyEvent, control: bool) {
        let page = self.transcript_rows().saturating_sub(1).max(1).cast_signed();
        let scrolling = key.modifiers.intersects(KeyModifiers::SHIFT | KeyModifiers::CONTROL);
        match key.code {
            KeyCode::PageUp => self.scroll_by(page),
            KeyCode::PageDown => self.scroll_by(-page),
            KeyCode::Up if scrolling => self.scroll_by(1),
            KeyCode::Down if scrolling => self.scroll_by(-1),
            KeyCode::Up => self.input.up(),
            KeyCode::Down => self.input.down(),
            KeyCode::Left if by_words(key) => self.input.word_left(),
            KeyCode::Right if by_words(key) => self.input.word_right(),
            KeyCode::Left => self.input.move_left(),
            KeyCode::Right => self.input.move_right(),
            KeyCode::Home => self.input.home(),
            KeyCode::End => self.input.end(),
            KeyCode::Tab => self.complete(),
            KeyCode::Backspace if by_words(key) => self.input.delete_word(),
            KeyCode::Backspace => self.input.backspace(),
            KeyCode::Delete => self.input.delete(),
            KeyCode::Char(letter) if control => self.edit_by_letter(letter),
            KeyCode::Char(character) if !key.modifiers.contains(KeyModifiers::ALT) => {
                self.input.insert(character.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
    }

    fn edit_by_letter(&mut self, letter: char) {
        match letter {
            'a' => self.input.home(),
            'e' => self.input.end(),
            'd' => self.input.delete(),
            'h' => self.input.backspace(),
            'j' => self.input.insert("\n"),
            'k' => self.input.delete_to_end(),
            'u' => self.input.delete_to_home(),
            'w' => self.input.delete_word(),
            _ => {}
        }
    }

    fn complete(&mut self) {
        if let Some(longer) = command::completed(self.input.text()) {
            self.input.complete(longer);
        }
    }

    fn answer(&mut self, answer: CompactionAnswer) -> Vec<Effect> {
        self.advice = None;
        self.doing = Some(Doing::Answering);
        vec![Effect::Do(Task::Answer(answer))]
    }

    /// Sends the input, or runs it as a command; while something is in progress, as soon as that has ended well.
    pub(super) fn enter(&mut self) -> Vec<Effect> {
        let typed = self.input.text();
        let is_command = command::is_command(typed);
        if typed.trim().is_empty() {
            return Vec::new();
        }
        if self.doing.is_some() && !(is_command && may_interrupt(typed)) {
            self.held = true;
            return Vec::new();
        }
        self.scroll = 0;
        if is_command { self.command() } else { self.message() }
    }

    fn message(&mut self) -> Vec<Effect> {
        if self.advice.is_some() {
            return self.answer_by_line();
        }
        let typed = self.input.take();
        self.say(command::message(&typed).to_owned())
    }

    /// A user who types something other than an answer wants to go on: the text is sent after the reply.
    fn answer_by_line(&mut self) -> Vec<Effect> {
        match advice::answer(self.input.text()) {
            Some(answer) => {
                self.input.set(String::new());
                self.answer(answer)
            }
            None => {
                self.held = true;
                self.answer(CompactionAnswer::NotNow)
            }
        }
    }

    fn command(&mut self) -> Vec<Effect> {
        let command = match command::parse(self.input.text()) {
            Ok(command) => command,
            // The input stays, so that it can be fixed.
            Err(reason) => {
                self.wrong(reason);
                return Vec::new();
            }
        };
        self.input.take();
        match command {
            Command::Quit => vec![Effect::Quit],
            Command::Do(Task::Restore(numbers)) if numbers.is_empty() => self.restore_last(),
            Command::Do(task) => self.begin(task),
            Command::Retry => self.retry(),
            Command::Keep => self.keep(),
            Command::Help => {
                self.answered(command::help(), Look::Help);
                Vec::new()
            }
        }
    }

    fn restore_last(&mut self) -> Vec<Effect> {
        if self.forgotten.is_empty() {
            self.wrong("nothing was forgotten in this chat; /restore 12 brings back the message 12");
            return Vec::new();
        }
        let last = self.forgotten.iter().map(|sequence| *sequence..=*sequence).collect();
        self.begin(Task::Restore(last))
    }

    fn begin(&mut self, task: Task) -> Vec<Effect> {
        self.doing = Some(Doing::Command);
        vec![Effect::Do(task)]
    }
}

/// Whether a key moves by words.
fn by_words(key: KeyEvent) -> bool {
    key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

/// Whether a command does not depend on what is in progress.
fn may_interrupt(typed: &str) -> bool {
    matches!(command::parse(typed), Ok(Command::Help | Command::Quit) | Err(_))
}
