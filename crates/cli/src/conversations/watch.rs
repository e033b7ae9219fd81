//! `utterd watch`: prints events as they happen.

use std::io;

use clap::Args;

use crate::{
    args::{Json, Remote},
    client::Connection,
    errors::CliError,
    terminal::{Output, counted, note, ranges, word},
};
use utterd_rpc::proto::{
    Event, WatchEventsRequest, WatchEventsResponse, WatchStarted, watch_events_response::Message,
};

/// Print events as they happen
///
/// Prints one event per line, of a conversation, a recipient, or the whole namespace.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  utterd watch
  utterd watch trip")]
pub struct Watch {
    #[command(flatten)]
    remote: Remote,
    /// The conversation [default: all]
    #[arg(value_name = "CONVERSATION", default_value = "")]
    conversation: String,
    /// Print only the events of this recipient
    #[arg(long, short, value_name = "ID", default_value = "")]
    recipient: String,
    #[command(flatten)]
    json: Json,
    /// Start after this event [default: start with the next one]
    #[arg(long, value_name = "CURSOR", default_value = "")]
    pub after: String,
}

/// Prints events until the server or the reader ends.
pub async fn watch(args: Watch) -> Result<(), CliError> {
    let connection = Connection::to(&args.remote).await?;
    let request = WatchEventsRequest {
        after_event: args.after,
        conversation_id: args.conversation,
        recipient_id: args.recipient,
        ..Default::default()
    };
    let mut events = connection.trace().watch_events(request).await?.into_inner();
    let mut output = Output::new();
    while let Some(response) = events.message().await? {
        if args.json.json {
            output.json_line(&response)?;
        } else {
            tell(&mut output, response)?;
        }
        output.flush()?;
    }
    note("the server ended the stream");
    Ok(())
}

fn tell(output: &mut Output, response: WatchEventsResponse) -> io::Result<()> {
    match response.message {
        Some(Message::Event(event)) => output.line(&line(&event)),
        Some(Message::Missed(missed)) => {
            note(&format!("missed {}: reading was too slow", counted(missed.count(), "event")));
            Ok(())
        }
        Some(Message::Started(WatchStarted { event_id })) => {
            note(&format!("watching events after {event_id}"));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Time, operation, place, what it did, and the cursor for `--after`.
fn line(event: &Event) -> String {
    let time = event.time.map(|time| time.to_string()).unwrap_or_default();
    let operation = word(event.operation().as_str_name(), "OPERATION_");
    let place = [&event.recipient_id, &event.conversation_id];
    let place: Vec<_> = place.into_iter().filter(|id| !id.is_empty()).map(String::as_str).collect();
    let mut parts = vec![time, operation, place.join("/")];
    parts.extend(event.revision.map(|revision| format!("revision {revision}")));
    parts.extend(effects(event));
    parts.push(event.event_id.clone());
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// What the operation did: `memorized 21`, `evicted 1–5`, `3 results`.
fn effects(event: &Event) -> Vec<String> {
    let sequences = [
        ("memorized", &event.memorized),
        ("evicted", &event.evicted),
        ("dropped", &event.dropped),
        ("forgot", &event.forgotten),
        ("erased", &event.erased),
        ("restored", &event.restored),
        ("updated", &event.updated),
    ];
    let changed = sequences.into_iter().filter(|(_, sequences)| !sequences.is_empty());
    let mut effects: Vec<_> =
        changed.map(|(verb, sequences)| format!("{verb} {}", ranges(sequences))).collect();
    let segments = [("wrote", &event.written_segment_numbers), ("removed", &event.removed_segment_numbers)];
    let segments = segments.into_iter().filter(|(_, numbers)| !numbers.is_empty());
    effects.extend(segments.map(|(verb, numbers)| format!("{verb} {}", counted(numbers.len(), "segment"))));
    effects.extend(event.result_count.map(|results| counted(results, "result")));
    if event.started_conversation {
        effects.push("started the conversation".into());
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use utterd_rpc::proto::{Operation, SequenceRange};

    #[test]
    fn an_event_is_one_readable_line() {
        let event = Event {
            event_id: "run:5".into(),
            time: Some(prost_types::Timestamp { seconds: 0, nanos: 0 }),
            operation: Operation::Memorize.into(),
            conversation_id: "demo".into(),
            recipient_id: "default".into(),
            revision: Some(21),
            memorized: vec![SequenceRange { first: 21, last: 21 }],
            evicted: vec![SequenceRange { first: 1, last: 5 }],
            written_segment_numbers: vec![1],
            ..Default::default()
        };
        let expected = "1970-01-01T00:00:00Z  memorize  default/demo  revision 21  memorized 21  \
                        evicted 1–5  wrote 1 segment  run:5";
        assert_eq!(console::strip_ansi_codes(&line(&event)), expected);
    }
}
