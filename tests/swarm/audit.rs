//! Whether what is counted is what is listed.

use utterd::proto::{
    Capacity, GetCapacityInfoRequest, ListUtterancesRequest, Utterance, UtteranceState,
    conversation_service_client::ConversationServiceClient, memory_service_client::MemoryServiceClient,
};

use crate::swarm::Swarm;

impl Swarm {
    /// Compares each conversation's capacity with its utterances.
    pub async fn audit(&mut self) {
        for conversation in self.maker.seen.strings("conversation") {
            let Some(capacity) = self.capacity(&conversation).await else { continue };
            let listed = self.listed(&conversation).await;
            let told = [
                capacity.utterance_count(),
                capacity.live_utterance_count(),
                capacity.soft_deleted_count(),
                capacity.token_count(),
                capacity.archived_utterance_count(),
            ];
            if told != counted(&listed) {
                self.found(format!("{conversation}: counted {told:?}, listed {:?}", counted(&listed)));
            }
        }
    }

    /// `None` if the conversation was deleted.
    async fn capacity(&self, conversation: &str) -> Option<Capacity> {
        let conversation_id = conversation.to_owned();
        let request = GetCapacityInfoRequest { conversation_id, ..Default::default() };
        let response = MemoryServiceClient::new(self.channel.clone()).get_capacity_info(request).await;
        response.ok()?.into_inner().capacity
    }

    /// All that is stored.
    async fn listed(&self, conversation: &str) -> Vec<Utterance> {
        let mut request = ListUtterancesRequest {
            conversation_id: conversation.to_owned(),
            include_archive: true,
            include_forgotten: true,
            ..Default::default()
        };
        let mut client = ConversationServiceClient::new(self.channel.clone());
        let mut listed = Vec::new();
        loop {
            let page = client.list_utterances(request.clone()).await.expect("it is listed").into_inner();
            listed.extend(page.utterances);
            if page.next_page_token.is_empty() {
                return listed;
            }
            request.page_token = page.next_page_token;
        }
    }
}

/// What a capacity counts: the window, its live utterances, its forgotten ones, the tokens of the live ones that are not
/// kept aside, and the archive.
fn counted(listed: &[Utterance]) -> [i32; 5] {
    let (window, archive): (Vec<_>, Vec<_>) =
        listed.iter().partition(|utterance| utterance.position.is_some());
    let (live, forgotten): (Vec<_>, Vec<_>) =
        window.iter().partition(|utterance| utterance.state() == UtteranceState::Live);
    // what is kept aside goes to no model, and counts no tokens
    let counting = live.iter().filter(|utterance: &&&&Utterance| !utterance.aside);
    let tokens = counting.map(|utterance| i64::from(utterance.token_count())).sum::<i64>();
    // a count above what an int32 holds is told as its maximum
    let tokens = i32::try_from(tokens).unwrap_or(i32::MAX);
    [window.len() as i32, live.len() as i32, forgotten.len() as i32, tokens, archive.len() as i32]
}
