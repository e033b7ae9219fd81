//! MemoryService's operations, as commands.

use std::fmt::Write;

use tonic::{Request, Response, Status};
use utterd::proto::{self, memory_service_server::MemoryService};

use crate::golden::{
    batch,
    command::Command,
    errors, names, print,
    runner::{Here, Printed},
};

/// The error of a function that receives another's command.
pub const OTHER: &str = "this is another command";

/// The response of a call, or its error as a script shows it.
pub fn answer<T>(result: Result<Response<T>, Status>) -> Result<T, String> {
    result.map(Response::into_inner).map_err(|status| errors::describe(&status))
}

/// `memorize`
pub async fn memorize(here: &Here<'_>, pairs: &[(String, String)]) -> Printed {
    let request = batch::request(pairs, here.conversation_id.clone())?;
    let response = answer(here.server.services().memorize(Request::new(request)).await)?;
    Ok(memorized(&response))
}

fn memorized(response: &proto::MemorizeResponse) -> String {
    let mut text = format!("memorized {}", print::sequences(&response.memorized));
    if response.started_conversation {
        let _ = write!(text, ", starting {}", response.conversation_id);
    }
    if !response.ended_conversation_id.is_empty() {
        let _ = write!(text, ", ending {}", response.ended_conversation_id);
    }
    let _ = write!(text, " (revision {})", response.revision);
    text += if response.replayed { ", replayed\n" } else { "\n" };
    for late in response.memorized.iter().filter(|reference| reference.late) {
        let _ = writeln!(text, "late {}", late.sequence);
    }
    for irregularity in &response.irregularities {
        let _ = writeln!(text, "let pass {}: {}", irregularity.sequence, irregularity.description);
    }
    text += &evicted(&response.evicted);
    text += &response.summary.as_ref().map(print::summary_update).unwrap_or_default();
    text += &response.capacity.as_ref().map(print::advice).unwrap_or_default();
    text
}

/// A line if something left the window.
pub fn evicted(refs: &[proto::UtteranceRef]) -> String {
    match refs.is_empty() {
        true => String::new(),
        false => format!("evicted {}\n", print::sequences(refs)),
    }
}

const GOODS: [&str; 5] = ["lamps", "kettles", "chairs", "bicycles", "radios"];
const CITIES: [&str; 7] = ["Lyon", "Oslo", "Porto", "Gdansk", "Turin", "Bergen", "Ghent"];

/// `chat`: the number of an order is that of its turn plus 1,000.
pub async fn chat(here: &Here<'_>, turns: usize) -> Printed {
    let said = names::state(here).await.map_or(0, |state| state.head.turn as usize);
    for turn in said..said + turns {
        let (goods, city) = (GOODS[turn % GOODS.len()], CITIES[turn % CITIES.len()]);
        let (order, pieces) = (1_001 + turn, 3 + turn * 7 % 40);
        let asked = format!("Please ship order {order} with {pieces} {goods} to {city}. Thanks a lot!");
        let told = format!("Sure! Order {order} leaves the warehouse on day {}. Anything else?", turn + 1);
        for (role, content) in [("user", asked), ("assistant", told)] {
            memorize(here, &[(role.to_owned(), content)]).await?;
        }
    }
    Ok(String::new())
}

async fn capacity_now(here: &Here<'_>, session: &str) -> Result<proto::Capacity, String> {
    let request = proto::GetCapacityInfoRequest {
        conversation_id: here.conversation_id.clone(),
        session_id: session.to_owned(),
        ..Default::default()
    };
    let response = answer(here.server.services().get_capacity_info(Request::new(request)).await)?;
    Ok(response.capacity.unwrap_or_default())
}

/// `capacity`
pub async fn capacity(here: &Here<'_>, session: &str) -> Printed {
    Ok(print::capacity(&capacity_now(here, session).await?))
}

/// The last line of a window.
pub async fn fullness(here: &Here<'_>) -> Printed {
    Ok(print::fullness(&capacity_now(here, "").await?))
}

/// `forget`
pub async fn forget(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Forget { instructions, mode, dry_run, request, expect } = command else {
        return Err(OTHER.into());
    };
    let request = proto::ForgetRequest {
        conversation_id: here.conversation_id.clone(),
        instructions: instructions.clone(),
        mode: names::number("FORGET_MODE", mode.as_deref(), proto::ForgetMode::from_str_name)?,
        dry_run: *dry_run,
        request_id: request.clone().unwrap_or_default(),
        expected_revision: *expect,
        ..Default::default()
    };
    let response = answer(here.server.services().forget(Request::new(request)).await)?;
    let verb = if *dry_run { "would forget" } else { "forgot" };
    let mut text = format!("{} means {}: {verb} ", shown(instructions), response.understood_as);
    text += &or_nothing(&print::sequences(&response.forgotten));
    let _ = write!(text, " (revision {})", response.revision);
    text += if response.replayed { ", replayed\n" } else { "\n" };
    if response.rebuilt_segments() > 0 {
        let _ = writeln!(text, "rebuilt {}", print::plural(response.rebuilt_segments(), "segment"));
    }
    if !response.still_summarised.is_empty() {
        let _ = writeln!(text, "still summarised: {}", print::ranges(&response.still_summarised));
    }
    for warning in &response.warnings {
        let _ = writeln!(text, "warning: {}", warning.text);
    }
    Ok(text)
}

fn shown(instructions: &str) -> String {
    format!("{instructions:?}")
}

fn or_nothing(sequences: &str) -> String {
    if sequences.is_empty() { "nothing".to_owned() } else { sequences.to_owned() }
}

/// `restore`
pub async fn restore(here: &Here<'_>, names: &[String]) -> Printed {
    let mut utterance_ids = Vec::new();
    for name in names {
        utterance_ids.push(names::utterance_id(here, name).await);
    }
    let conversation_id = here.conversation_id.clone();
    let request = proto::RestoreRequest { conversation_id, utterance_ids, ..Default::default() };
    let response = answer(here.server.services().restore(Request::new(request)).await)?;
    let restored = or_nothing(&print::sequences(&response.restored));
    Ok(format!("restored {restored} (revision {})\n{}", response.revision, evicted(&response.evicted)))
}

/// `remember`
pub async fn remember(here: &Here<'_>, command: &Command, next_page: &mut String) -> Printed {
    let request = Request::new(remember_request(here, command, next_page)?);
    let response = answer(here.server.services().remember(request).await)?;
    let mut text: String = response.matches.iter().map(|found| print::matched(found) + "\n").collect();
    if response.matches.is_empty() {
        text += "found nothing\n";
    }
    if !response.next_page_token.is_empty() {
        text += "and more\n";
    }
    *next_page = response.next_page_token;
    Ok(text)
}

fn remember_request(
    here: &Here<'_>,
    command: &Command,
    next_page: &str,
) -> Result<proto::RememberRequest, String> {
    let Command::Remember {
        prompt,
        role,
        name,
        min_turn,
        max_turn,
        min_sequence,
        max_sequence,
        pinned,
        metadata,
        scope,
        order,
        neighbors,
        page_size,
        page,
    } = command
    else {
        return Err(OTHER.into());
    };
    let role = names::number("ROLE", role.as_deref(), proto::Role::from_str_name)?;
    let metadata = metadata.iter().filter_map(|entry| entry.split_once(':'));
    let filter = proto::RememberFilter {
        roles: (role > 0).then_some(role).into_iter().collect(),
        names: name.clone().into_iter().collect(),
        min_turn: *min_turn,
        max_turn: *max_turn,
        min_sequence: *min_sequence,
        max_sequence: *max_sequence,
        pinned: *pinned,
        metadata: metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        ..Default::default()
    };
    Ok(proto::RememberRequest {
        conversation_id: here.conversation_id.clone(),
        prompt: prompt.clone(),
        filter: Some(filter),
        scope: names::number("REMEMBER_SCOPE", scope.as_deref(), proto::RememberScope::from_str_name)?,
        order: names::number("REMEMBER_ORDER", order.as_deref(), proto::RememberOrder::from_str_name)?,
        neighbors: *neighbors,
        page_size: *page_size,
        page_token: match page.as_deref() {
            Some("next") => next_page.to_owned(),
            other => other.unwrap_or_default().to_owned(),
        },
        ..Default::default()
    })
}

/// `summarize`
pub async fn summarize(here: &Here<'_>, command: &Command) -> Printed {
    let Command::Summarize { scope, recent, first_turn, last_turn, limit, focus } = command else {
        return Err(OTHER.into());
    };
    let request = proto::SummarizeRequest {
        conversation_id: here.conversation_id.clone(),
        scope: names::number("SUMMARIZE_SCOPE", scope.as_deref(), proto::SummarizeScope::from_str_name)?,
        recent_count: *recent,
        first_turn: *first_turn,
        last_turn: *last_turn,
        token_limit: *limit,
        focus_areas: focus.clone().into_iter().collect(),
        ..Default::default()
    };
    let response = answer(here.server.services().summarize(Request::new(request)).await)?;
    let (tokens, source_tokens) = (response.token_count(), response.source_token_count());
    let sources = or_nothing(&print::ranges(&response.sources));
    let warnings: String = response.warnings.iter().map(|one| format!("warning: {}\n", one.text)).collect();
    Ok(format!("{}{warnings}({tokens} tokens, from {sources} with {source_tokens})", response.text))
}
