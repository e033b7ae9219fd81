//! What each key does.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Chat, Doing};
use crate::{
    cli::chat::{
        command::{self, Command, HELP},
        event::{Effect, Task},
    },
    proto::{CompactionAnswer, Role},
};

impl Chat {
    /// Takes a key that was pressed.
    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.held = false;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => vec![Effect::Quit],
            _ if self.dialog.is_some() && control => Vec::new(),
            _ if self.dialog.is_some() => self.answer(key.code),
            KeyCode::Char('d') if control && self.input.text().is_empty() => vec![Effect::Quit],
            KeyCode::Esc if self.is_asking() => self.stop(),
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

    fn edit(&mut self, key: KeyEvent, control: bool) {
        let page = self.transcript_rows().saturating_sub(1).max(1).cast_signed();
        let scrolling = key.modifiers.intersects(KeyModifiers::SHIFT | KeyModifiers::CONTROL);
        match key.code {
            KeyCode::PageUp => self.scroll_by(page),
            KeyCode::PageDown => self.scroll_by(-page),
            KeyCode::Up if scrolling => self.scroll_by(1),
            KeyCode::Down if scrolling => self.scroll_by(-1),
            KeyCode::Up => self.input.earlier(),
            KeyCode::Down => self.input.later(),
            KeyCode::Left => self.input.move_left(),
            KeyCode::Right => self.input.move_right(),
            KeyCode::Home => self.input.home(),
            KeyCode::End => self.input.end(),
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
            'u' => self.input.delete_to_home(),
            'w' => self.input.delete_word(),
            _ => {}
        }
    }

    /// The keys of the dialog; every other one waits for an answer.
    fn answer(&mut self, key: KeyCode) -> Vec<Effect> {
        let answer = match key {
            KeyCode::Char('y' | 'Y') => CompactionAnswer::CompactNow,
            KeyCode::Char('n' | 'N') | KeyCode::Esc => CompactionAnswer::NotNow,
            KeyCode::Char('v' | 'V') => CompactionAnswer::NeverThisSession,
            _ => return Vec::new(),
        };
        self.dialog = None;
        self.doing = Some(Doing::Answering);
        vec![Effect::Do(Task::Answer(answer))]
    }

    /// Says what is typed, or does it; while something is under way, as soon as that has ended well.
    pub(super) fn enter(&mut self) -> Vec<Effect> {
        let typed = self.input.text();
        let is_command = typed.starts_with('/');
        if typed.trim().is_empty() {
            return Vec::new();
        }
        if self.doing.is_some() && !(is_command && may_interrupt(typed)) {
            self.held = true;
            return Vec::new();
        }
        let typed = self.input.take();
        self.scroll = 0;
        if is_command {
            return self.command(&typed);
        }
        self.store(Role::User, typed.trim().to_owned())
    }

    fn command(&mut self, typed: &str) -> Vec<Effect> {
        match command::parse(typed) {
            Ok(Command::Quit) => vec![Effect::Quit],
            Ok(Command::Do(task)) => {
                self.doing = Some(Doing::Command);
                vec![Effect::Do(task)]
            }
            Ok(Command::Retry) => self.retry(),
            Ok(Command::Help) => {
                self.note(HELP);
                Vec::new()
            }
            Err(reason) => {
                self.wrong(reason);
                Vec::new()
            }
        }
    }
}

/// Whether a command needs nothing of what is under way.
fn may_interrupt(typed: &str) -> bool {
    matches!(command::parse(typed), Ok(Command::Help | Command::Quit) | Err(_))
}
