//! Remember: by words, by filters, over all pages.

use std::collections::BTreeSet;

use tonic::Request;
use utterd::proto::{
    Match, Operation, RememberFilter, RememberOrder, RememberRequest, RememberScope, Role, Utterance,
    memory_service_server::MemoryService,
};

use super::{Run, messages::unmarked, reads::MANY_PAGES, refusal, trace};
use crate::{
    checks::same,
    commands::{Place, Prompt, Search},
    ensure,
    naive::{Conversation, holds_word, time},
    text::{NAMES, TOPICS, marker},
};

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

impl Run {
    pub(super) async fn remember(&mut self, at: Place, search: &Search) -> Result<(), String> {
        let (id, recipient) = at.ids();
        let found = self.world.find(id, recipient).cloned();
        let request = self.search_request(at, search, found.as_ref());
        let of_recipient = is_of_recipient(&request);
        let (models, owner) = match &found {
            Some(one) if !of_recipient => (vec![one.clone()], one.recipient.clone()),
            None if !of_recipient || !id.is_empty() => return self.missing(id, recipient).await,
            _ => {
                let owner = found.map_or("default".to_owned(), |one| one.recipient);
                let own = self.world.conversations.iter().filter(|one| one.recipient == owner);
                (own.cloned().collect(), owner)
            }
        };
        let matches = self.all_pages(request.clone(), &models, &owner).await?;
        compare_order(&matches, &request, models.len())?;
        compare_matches(&matches, &request, &models)
    }

    fn search_request(&self, at: Place, search: &Search, found: Option<&Conversation>) -> RememberRequest {
        let (id, recipient) = at.ids();
        let prompt = match search.prompt {
            Prompt::None => String::new(),
            Prompt::Marker(pick) => marker(found.and_then(|one| one.any_marker(pick)).unwrap_or(0)),
            Prompt::Words => TOPICS.join(" "),
        };
        let order = match (search.recency, prompt.is_empty()) {
            (true, _) => RememberOrder::Recency,
            (false, true) => RememberOrder::Unspecified,
            (false, false) => RememberOrder::Relevance,
        };
        let range = |(low, more): (u8, u8)| (i64::from(low), i64::from(low) + i64::from(more));
        let (turns, sequences) = (search.turns.map(range), search.sequences.map(range));
        let filter = RememberFilter {
            roles: search.role.iter().map(|role| ROLES[usize::from(*role) % 4].into()).collect(),
            names: search.name.iter().map(|name| NAMES[usize::from(*name) % 3].to_owned()).collect(),
            min_turn: turns.map(|(low, _)| low as i32),
            max_turn: turns.map(|(_, high)| high as i32),
            min_sequence: sequences.map(|(low, _)| low + 1),
            max_sequence: sequences.map(|(_, high)| high + 1),
            start_time: search.since.map(|minutes| time(self.now() - i64::from(minutes) * 60_000_000)),
            pinned: search.pinned,
            metadata: search.noted.then(|| ("team".to_owned(), "red".to_owned())).into_iter().collect(),
            ..RememberFilter::default()
        };
        RememberRequest {
            conversation_id: id.to_owned(),
            recipient_id: recipient.to_owned(),
            prompt,
            filter: Some(filter),
            scope: search.scope,
            order: order.into(),
            neighbors: i32::from(search.neighbors % 4),
            page_size: i32::from(search.page % 5) + 1,
            min_relevance: Some(0.0),
            ..Default::default()
        }
    }

    async fn all_pages(
        &mut self,
        mut request: RememberRequest,
        models: &[Conversation],
        owner: &str,
    ) -> Result<Vec<Match>, String> {
        let mut matches = Vec::new();
        let searched = if let [one] = models { one.id.as_str() } else { "" };
        for _ in 0..MANY_PAGES {
            let response = self.services().remember(Request::new(request.clone())).await;
            let page = response.map_err(refusal)?.into_inner();
            let event = trace::read(Operation::Remember, searched, owner, page.matches.len());
            self.expect_event(Some(event))?;
            ensure!(page.matches.len() <= request.page_size as usize, "a page of {}", page.matches.len());
            matches.extend(page.matches);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(matches);
            }
        }
        Err("the pages do not end".to_owned())
    }
}

fn compare_order(matches: &[Match], request: &RememberRequest, conversations: usize) -> Result<(), String> {
    let by_relevance = request.order() == RememberOrder::Relevance;
    let sequence = |one: &Match| one.utterance.as_ref().map(|said| said.sequence);
    let ordered = match by_relevance {
        true => matches.is_sorted_by(|one, next| one.score() >= next.score()),
        false if conversations == 1 => matches.is_sorted_by(|one, next| sequence(one) > sequence(next)),
        false => matches.is_sorted_by(|one, next| one.recency() >= next.recency()),
    };
    ensure!(ordered, "the matches are out of order: {matches:?}");
    ensure!(matches.iter().all(|one| one.recency() > 0.0 && one.recency() <= 1.0), "recency: {matches:?}");
    Ok(())
}

/// Everything that the filter accepts and that contains one of the words is found in its current form.
/// Otherwise only answers to such utterances are found.
fn compare_matches(
    matches: &[Match],
    request: &RememberRequest,
    models: &[Conversation],
) -> Result<(), String> {
    let filter = request.filter.clone().unwrap_or_default();
    let window_only = request.scope() == RememberScope::Window;
    let mut expected = BTreeSet::new();
    for model in models {
        let words: Vec<&str> = request.prompt.split(' ').collect();
        let mut findable = model.findable(&filter, window_only);
        findable.retain(|one| {
            let content = &model.get(*one).what.content;
            let is_heard = !is_silenced(*one, model, request, models);
            is_heard && (request.prompt.is_empty() || words.iter().any(|word| holds_word(content, word)))
        });
        expected.extend(findable.into_iter().map(|one| (model.id.clone(), one)));
    }
    let mut found = BTreeSet::new();
    for one in matches {
        let said = one.utterance.clone().unwrap_or_default();
        let model = models.iter().find(|model| model.id == one.conversation_id);
        let Some(model) = model.filter(|model| said.sequence as usize <= model.said.len()) else {
            return Err(format!("found where nothing was searched: {one:?}"));
        };
        let said = unmarked(vec![said], model).remove(0);
        same("the utterance found", &said, &model.shown(said.sequence))?;
        compare_neighbors(one, said.sequence, request, model, models)?;
        let told = request.prompt.split_whitespace().filter(|word| holds_word(&said.content, word));
        same("the words that it holds", &one.matched_terms, &told.map(str::to_owned).collect())?;
        ensure!(found.insert((one.conversation_id.clone(), said.sequence)), "found twice: {one:?}");
    }
    // what conversations share is found once
    let origin = |(id, sequence): &(String, i64)| {
        models.iter().find(|model| model.id == *id).map(|model| model.get(*sequence).origin)
    };
    let origins: BTreeSet<_> = found.iter().map(origin).collect();
    let missed: Vec<_> = expected.iter().filter(|one| !origins.contains(&origin(one))).collect();
    ensure!(missed.is_empty(), "not found: {missed:?}");
    let answers: BTreeSet<_> = matches.iter().filter(|one| one.matched_terms.is_empty()).map(place).collect();
    let more: Vec<_> = found.difference(&expected).filter(|one| !answers.contains(one)).collect();
    ensure!(more.is_empty(), "found without a word: {more:?}");
    Ok(())
}

/// By recipient, what another conversation shares and has forgotten is not found, but in the one that the
/// request names.
fn is_silenced(
    sequence: i64,
    model: &Conversation,
    request: &RememberRequest,
    models: &[Conversation],
) -> bool {
    let origin = model.get(sequence).origin;
    let is_forgotten = |other: &Conversation| {
        let forgotten = other.sequences(|said| said.is_stored() && said.forgotten && said.origin == origin);
        other.id != model.id && !forgotten.is_empty()
    };
    let is_wide = is_of_recipient(request) && request.conversation_id != model.id;
    is_wide && models.iter().any(is_forgotten)
}

/// Whether all conversations of the recipient are searched: on request, or because only the recipient is addressed.
fn is_of_recipient(request: &RememberRequest) -> bool {
    match request.scope() {
        RememberScope::Unspecified => request.conversation_id.is_empty(),
        scope => scope == RememberScope::Recipient,
    }
}

fn place(one: &Match) -> (String, i64) {
    (one.conversation_id.clone(), one.utterance.as_ref().map_or(0, |said| said.sequence))
}

/// The neighbors of a match, and for each the rest of its exchange.
fn compare_neighbors(
    one: &Match,
    sequence: i64,
    request: &RememberRequest,
    model: &Conversation,
    models: &[Conversation],
) -> Result<(), String> {
    let count = i64::from(request.neighbors);
    let is_near = |other: &&Utterance| (other.sequence - sequence).abs() <= count;
    let near: Vec<Utterance> = one.neighbors.iter().filter(is_near).cloned().collect();
    let near = unmarked(near, model);
    let mut heard = model.neighbors(sequence, count);
    heard.retain(|other| !is_silenced(*other, model, request, models));
    same("its neighbours", &near, &model.show(&heard))?;
    let far: Vec<Utterance> = one.neighbors.iter().filter(|other| !is_near(other)).cloned().collect();
    let far = unmarked(far, model);
    ensure!(count > 0 || far.is_empty(), "neighbours that were not asked for: {far:?}");
    let places: Vec<i64> = far.iter().map(|other| other.sequence).collect();
    same("the rest of its exchange", &far, &model.show(&places))?;
    Ok(())
}
