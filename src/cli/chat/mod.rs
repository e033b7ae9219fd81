//! `utterd chat`: a conversation in the terminal that the server keeps.
//!
//! Whatever happens is an [`Event`]; [`Chat::update`] handles it and returns [`Effect`]s. [`Effects`]
//! carries these out at the server and the model, and reports their outcomes as events. The chat
//! itself is pure, and so is the [view] that draws it.

mod advice;
pub mod args;
mod command;
mod effects;
mod event;
mod files;
mod input;
mod model;
mod reply;
mod screen;
mod server;
mod status;
mod transcript;
mod view;
#[cfg(test)]
mod view_tests;

use std::io::{self, IsTerminal};

use crossterm::event::{Event as Terminal, EventStream};
use futures::StreamExt;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc::{self, UnboundedReceiver},
};

use self::{
    effects::Effects,
    event::{Effect, Event},
    model::Chat,
    reply::Model,
    screen::Screen,
    server::Server,
};
use super::{client::Connection, errors::CliError, terminal::wrap};

/// Chats until the user leaves. Takes over the screen only once the server has answered.
pub async fn chat(args: args::Chat) -> Result<(), CliError> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(CliError::Usage("chat needs a terminal".into()));
    }
    let model = Model::of(&args)?;
    let (sender, events) = mpsc::unbounded_channel();
    let connection = Connection::to(&args.remote).await?;
    let server = Server::new(connection, &args, sender.clone()).map_err(io::Error::other)?;
    let opening = server.open(&args.conversation).await?;
    let name = model.as_ref().map(|model| model.name().to_owned());
    let mut effects = Effects::new(server, model, sender);
    let screen = Screen::enter()?;
    let chat = Chat::new(opening, name, screen.size()?);
    let ended = run(screen, chat, &mut effects, events).await;
    effects.settle().await;
    ended
}

async fn run(
    mut screen: Screen,
    mut chat: Chat,
    effects: &mut Effects,
    mut events: UnboundedReceiver<Event>,
) -> Result<(), CliError> {
    let mut terminal = EventStream::new();
    let mut ended = signal(SignalKind::terminate())?;
    loop {
        screen.draw(&chat)?;
        let first = tokio::select! {
            event = terminal.next() => match event {
                Some(event) => translate(event?),
                None => return Ok(()),
            },
            event = events.recv() => event,
            broken = effects.broken() => return Err(broken.into()),
            _ = ended.recv() => return Ok(()),
        };
        // Events that came meanwhile are drawn together with it.
        let waiting = std::iter::from_fn(|| events.try_recv().ok());
        for event in first.into_iter().chain(waiting) {
            for effect in chat.update(event) {
                match effect {
                    Effect::Quit => return Ok(()),
                    Effect::Redraw => screen.clear()?,
                    effect => effects.start(effect, chat.conversation_id()),
                }
            }
        }
    }
}

fn translate(event: Terminal) -> Option<Event> {
    match event {
        Terminal::Key(key) => Some(Event::Key(key)),
        Terminal::Paste(text) => Some(Event::Pasted(text)),
        Terminal::Resize(columns, rows) => Some(Event::Resized(columns, rows)),
        _ => None,
    }
}
