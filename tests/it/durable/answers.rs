//! A server's data, as seen through its responses.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use tonic::{Request, Status};
use utterd::proto::{
    ConversationView, GetConversationRequest, GetStateRequest, GetSummaryRequest, ListCompactionsRequest,
    ListConversationsRequest, ListUtterancesRequest, compaction_service_server::CompactionService,
    conversation_service_server::ConversationService,
};

use crate::durable::{call::Call, home::Home, json::json};

/// The questions: everything of some recipients and conversations, and some repeated calls.
#[derive(Clone, Debug)]
pub struct Questions {
    pub recipients: Vec<&'static str>,
    pub conversations: Vec<String>,
    /// Calls with a request id.
    pub retries: Vec<Call>,
}

/// Answers by question; a refusal with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers(BTreeMap<String, Result<String, String>>);

impl Questions {
    /// Asks the server all questions. A server that has lost data might store a retry again.
    pub async fn ask(&self, home: &Home) -> Answers {
        let mut answers = BTreeMap::new();
        let mut note = |question: String, answer: Result<String, Status>| {
            answers.insert(
                question,
                answer.map_err(|status| format!("{}: {}", status.code(), status.message())),
            );
        };
        for recipient in &self.recipients {
            note(format!("the conversations of {recipient}"), conversations(home, recipient).await);
        }
        for id in &self.conversations {
            note(format!("{id}, conversation"), conversation(home, id).await);
            note(format!("{id}, utterances"), utterances(home, id).await);
            note(format!("{id}, summary"), summary(home, id).await);
            note(format!("{id}, compactions"), compactions(home, id).await);
            note(format!("{id}, state"), state(home, id).await);
        }
        for call in &self.retries {
            note(format!("again {}", call.request_id()), call.send(home).await);
        }
        Answers(answers)
    }
}

impl Answers {
    /// The first answer that is neither the same as in `right` nor an error of the store.
    pub fn wrong<'a>(&'a self, right: &'a Self) -> Option<Difference<'a>> {
        self.differing(right).find(|difference| !difference.is_unavailable())
    }

    /// The first error of the store.
    pub fn unavailable<'a>(&'a self, right: &'a Self) -> Option<&'a str> {
        self.differing(right).find(Difference::is_unavailable)?.is.as_ref().err().map(String::as_str)
    }

    fn differing<'a>(&'a self, right: &'a Self) -> impl Iterator<Item = Difference<'a>> {
        let pairs = self.0.iter().zip(right.0.values());
        let differing = pairs.filter(|((_, is), was)| is != was);
        differing.map(|((question, is), was)| Difference { question, is, was })
    }
}

/// An answer that has changed.
#[derive(Debug)]
pub struct Difference<'a> {
    question: &'a str,
    is: &'a Result<String, String>,
    was: &'a Result<String, String>,
}

impl Difference<'_> {
    fn is_unavailable(&self) -> bool {
        self.is.as_ref().is_err_and(|error| error.starts_with(&tonic::Code::Unavailable.to_string()))
    }
}

impl Display for Difference<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:\n  was {:?}\n  is  {:?}", self.question, self.was, self.is)
    }
}

impl Display for Answers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(question, answer)| match answer {
            Ok(answer) => writeln!(f, "{question}: {answer}"),
            Err(error) => writeln!(f, "{question} is refused: {error}"),
        })
    }
}

async fn conversations(home: &Home, recipient: &str) -> Result<String, Status> {
    let request = ListConversationsRequest {
        recipient_id: recipient.to_owned(),
        page_size: 1_000,
        ..Default::default()
    };
    let response = home.server.services().list_conversations(Request::new(request)).await?;
    Ok(json("ListConversationsResponse", response.get_ref()))
}

async fn conversation(home: &Home, id: &str) -> Result<String, Status> {
    let view = ConversationView::Full.into();
    let request = GetConversationRequest { conversation_id: id.to_owned(), view, ..Default::default() };
    let response = home.server.services().get_conversation(Request::new(request)).await?;
    Ok(json("GetConversationResponse", response.get_ref()))
}

async fn utterances(home: &Home, id: &str) -> Result<String, Status> {
    let request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        include_forgotten: true,
        page_size: 1_000,
        ..Default::default()
    };
    let response = home.server.services().list_utterances(Request::new(request)).await?;
    Ok(json("ListUtterancesResponse", response.get_ref()))
}

async fn compactions(home: &Home, id: &str) -> Result<String, Status> {
    let request = ListCompactionsRequest { conversation_id: id.to_owned(), ..Default::default() };
    let response = home.server.services().list_compactions(Request::new(request)).await?;
    Ok(json("ListCompactionsResponse", response.get_ref()))
}

async fn state(home: &Home, id: &str) -> Result<String, Status> {
    let request = GetStateRequest { conversation_id: id.to_owned(), ..Default::default() };
    let response = home.server.services().get_state(Request::new(request)).await?;
    Ok(json("GetStateResponse", response.get_ref()))
}

async fn summary(home: &Home, id: &str) -> Result<String, Status> {
    let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
    let response = home.server.services().get_summary(Request::new(request)).await?;
    Ok(json("GetSummaryResponse", response.get_ref()))
}
