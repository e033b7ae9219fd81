//! Runs the commands of a script against its own server.

use std::{error::Error, pin::Pin};

use futures::{FutureExt, Stream, StreamExt, stream};
use goldenscript::Context;
use utterd::{
    proto::{trace_service_server::TraceService, watch_events_response::Message},
    server::Server,
};

use crate::{
    golden::{
        calls, command::Command, compactions, contexts, conversations, forks, histories, ids::Ids,
        operations, print,
    },
    support::{self, prelude::*, restarted, server_in_memory},
};

/// The output of a command, or the error.
pub type Printed = Result<String, Box<dyn Error>>;

type Events = Pin<Box<dyn Stream<Item = Result<WatchEventsResponse, Status>> + Send>>;

/// A server, and what a script remembers of it.
pub struct Runner {
    runtime: tokio::runtime::Runtime,
    server: Server,
    clock: Arc<ManualClock>,
    events: Events,
    next_page: String,
    ids: Ids,
}

/// The target of a command: one conversation of a server.
pub struct Here<'a> {
    pub server: &'a Server,
    pub conversation_id: String,
}

impl Runner {
    /// A fresh server with the default settings.
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (server, clock, events) = runtime.block_on(async {
            let (server, clock) = support::server();
            let events = events(&server).await;
            (server, clock, events)
        });
        Self { runtime, server, clock, events, next_page: String::new(), ids: Ids::default() }
    }

    /// Another server over the same store, which only one can use at a time.
    fn restart(&mut self) {
        let entered = self.runtime.enter();
        self.events = Box::pin(stream::empty());
        self.server = server_in_memory(&Settings::default(), &self.clock);
        self.server = restarted(&Settings::default(), &self.clock);
        drop(entered);
        self.events = self.runtime.block_on(events(&self.server));
    }

    /// Discards the events that already exist.
    fn events(&mut self) -> String {
        let mut text = String::new();
        while let Some(Some(Ok(response))) = self.events.next().now_or_never() {
            match response.message {
                Some(Message::Event(event)) => text += &(print::event(&event) + "\n"),
                Some(Message::Missed(missed)) => text += &format!("missed {}\n", missed.count()),
                Some(Message::Started(_)) | None => {}
            }
        }
        text
    }

    /// Moves the clock, then removes what is due.
    fn advance(&self, duration: &str) -> Printed {
        self.clock.advance(humantime::parse_duration(duration)?);
        let removed = self.runtime.block_on(self.server.engine().sweep())?;
        Ok(match removed {
            0 => String::new(),
            _ => format!("removed {}", print::plural(i32::try_from(removed)?, "conversation")),
        })
    }

    fn answer(&mut self, command: &Command, context: &Context) -> Printed {
        let here = Here { server: &self.server, conversation_id: context.prefix.clone().unwrap_or_default() };
        let ready = &self.runtime;
        match command {
            Command::Memorize(pairs) => ready.block_on(operations::memorize(&here, pairs)),
            Command::Chat { turns } => ready.block_on(operations::chat(&here, *turns)),
            Command::Forget { .. } => ready.block_on(operations::forget(&here, command)),
            Command::Restore(names) => ready.block_on(operations::restore(&here, names)),
            Command::Remember { .. } => {
                ready.block_on(operations::remember(&here, command, &mut self.next_page))
            }
            Command::Summarize { .. } => ready.block_on(operations::summarize(&here, command)),
            Command::Context { .. } => ready.block_on(contexts::context(&here, command)),
            Command::Capacity { session } => ready.block_on(operations::capacity(&here, session)),
            Command::Compact { .. } => ready.block_on(compactions::compact(&here, command)),
            Command::Undo { request, expect } => ready.block_on(compactions::undo(&here, request, *expect)),
            Command::Compactions => ready.block_on(compactions::compactions(&here)),
            Command::Answer { .. } => ready.block_on(compactions::answer_prompt(&here, command)),
            Command::Pin(name) => ready.block_on(conversations::pin(&here, name, true)),
            Command::Unpin(name) => ready.block_on(conversations::pin(&here, name, false)),
            Command::Note(name, notes) => ready.block_on(conversations::note(&here, name, notes)),
            Command::Edit { .. } => ready.block_on(forks::edit(&here, command)),
            Command::Fork { .. } => ready.block_on(forks::fork(&here, command)),
            Command::Prepare { .. } => ready.block_on(histories::prepare(&here, command)),
            Command::Forks => ready.block_on(forks::forks(&here)),
            Command::Summary { text } => ready.block_on(conversations::summary(&here, text.unwrap_or(true))),
            Command::Window => ready.block_on(conversations::window(&here)),
            Command::List { .. } => ready.block_on(conversations::list(&here, command)),
            Command::Policy(limits) => ready.block_on(conversations::policy(&here, limits)),
            Command::Create(pairs) => ready.block_on(conversations::create(&here, pairs)),
            Command::Conversations { recipient } => {
                ready.block_on(conversations::conversations(&here, recipient))
            }
            Command::End(pairs) => ready.block_on(conversations::end(&here, pairs)),
            Command::Delete(id) => ready.block_on(conversations::delete(&here, self.ids.id(id))),
            Command::Advance(duration) => self.advance(duration),
            Command::Restart => {
                self.restart();
                Ok(String::new())
            }
            Command::Events => Ok(self.events()),
            Command::Call(call) => {
                ready.block_on(calls::call(&here, &call.name, &self.ids, &mut self.next_page))
            }
        }
    }
}

/// The events of a server from now on.
async fn events(server: &Server) -> Events {
    let request = Request::new(WatchEventsRequest::default());
    server.services().watch_events(request).await.expect("a watch starts").into_inner()
}

impl goldenscript::Runner for Runner {
    type Command = Command;

    fn run(&mut self, command: &Command, context: &Context) -> Printed {
        match self.answer(command, context) {
            Ok(printed) => Ok(self.ids.shortened(&printed)),
            Err(error) => Err(self.ids.shortened(&error.to_string()).into()),
        }
    }
}
