//! ContextService.

use crate::convert::status::OrStatus;
use tonic::{Request, Response, Status};

use crate::{
    Services,
    conversation::encoding,
    convert::{decode, encode},
    proto::{self, context_service_server::ContextService},
};
use utterd_domain::{Draft, Reason, Refusal};
use utterd_engine::{LONG_TEXT_BYTES, offload};

#[tonic::async_trait]
impl ContextService for Services {
    async fn build_context(
        &self,
        request: Request<proto::BuildContextRequest>,
    ) -> Result<Response<proto::BuildContextResponse>, Status> {
        let caller = self.caller(&request);
        Ok(Response::new(self.built_context(&caller, request.into_inner()).await?))
    }

    async fn count_tokens(
        &self,
        request: Request<proto::CountTokensRequest>,
    ) -> Result<Response<proto::CountTokensResponse>, Status> {
        let caller = self.caller(&request);
        let request = request.into_inner();
        let encoding = match request.model.as_str() {
            "" => self.engine.defaults().encoding,
            name => encoding("model", name).or_status()?,
        };
        let counted = self.counted(request).or_status()?;
        let exact = counted.iter().all(Counted::is_exact);
        let counter = self.engine.counter(encoding);
        let bytes: usize = counted.iter().map(Counted::bytes).sum();
        let tokens = move |counted: &Counted| encode::int(counted.tokens(counter));
        let count = move || counted.iter().map(tokens).collect::<Vec<_>>();
        let token_counts = offload(bytes > LONG_TEXT_BYTES, count).await;
        let all = token_counts.iter().map(|count| u64::from(count.unsigned_abs())).sum();
        self.engine.counted(&caller, token_counts.len(), all);
        let encoding = encoding.name().to_owned();
        Ok(Response::new(proto::CountTokensResponse { token_counts, exact: Some(exact), encoding }))
    }

    async fn prepare_history(
        &self,
        request: Request<proto::PrepareHistoryRequest>,
    ) -> Result<Response<proto::PrepareHistoryResponse>, Status> {
        let caller = self.caller(&request);
        self.prepared_history(&caller, request.into_inner()).await.map(Response::new)
    }
}

/// An item whose tokens are counted.
enum Counted {
    Text(String),
    Utterance(Box<Draft>),
}

impl Counted {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Utterance(draft) => draft.content_bytes(),
        }
    }

    fn is_exact(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Utterance(draft) => draft.counts_exactly(),
        }
    }

    fn tokens(&self, counter: &dyn utterd_domain::TokenCounter) -> u32 {
        match self {
            Self::Text(text) => counter.count(text),
            Self::Utterance(draft) => draft.tokens(counter),
        }
    }
}

impl Services {
    fn counted(&self, request: proto::CountTokensRequest) -> Result<Vec<Counted>, Refusal> {
        match (request.texts.is_empty(), request.utterances.is_empty()) {
            (false, true) => self.texts(request.texts),
            (true, false) => {
                let drafts = decode::drafts(request.utterances, self.limits, true)?;
                Ok(drafts.into_iter().map(|draft| Counted::Utterance(Box::new(draft))).collect())
            }
            (true, true) => {
                Err(Refusal::field(Reason::EmptyBatch, "texts", "is empty; accepted: texts or utterances"))
            }
            (false, false) => {
                Err(Refusal::invalid("utterances", "is given with texts; accepted: one of the two"))
            }
        }
    }

    fn texts(&self, texts: Vec<String>) -> Result<Vec<Counted>, Refusal> {
        decode::batch("texts", texts.len(), self.limits)?;
        let most = self.limits.max_content_bytes;
        match texts.iter().position(|text| text.len() > most) {
            Some(index) => Err(Refusal::too_large(format!("texts[{index}]"), texts[index].len(), most)),
            None => Ok(texts.into_iter().map(Counted::Text).collect()),
        }
    }
}
