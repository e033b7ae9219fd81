//! How much of the evidence for a question is in a context that recalls for it: `cargo bench --bench
//! recall_contexts`.
//!
//! Reads `recall/locomo.jsonl` and `recall/beam.jsonl` below `UTTERD_DATA` (default `../shared/data`). Each
//! conversation is memorized twice: in the default window, which holds its newest 20 utterances, and in one
//! without limits, which the budget cuts. For each question except adversarial ones, contexts of several
//! budgets are built with the question as the recall prompt. An utterance of the evidence counts if it is in
//! the context, whole or in passages; in brackets is the share of its text that is. Shares are averaged over
//! the questions. For comparison there are the newest utterances that fit the budget alone.
//!
//! `-- 25 50` adds contexts in which at most this many percent are recalled.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A bench can panic.

use std::{collections::HashMap, path::PathBuf, sync::Arc};

use serde_json::Value;
use utterd::{
    domain::{
        ConversationId, Draft, Encoding, More, Policy, Role, Timestamp,
        context::{Context, RecallLimits, Request},
        conversation::Timeouts,
    },
    engine::{Address, BuildContextCall, Caller, Defaults, Engine, MemorizeCall, Recall, Scope, SystemClock},
    formats::content,
    store::MemoryStore,
    tokenizer,
};

const BUDGETS: [u32; 4] = [2_000, 4_000, 8_000, 16_000];
/// Utterances memorized at a time.
const BATCH: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::var_os("UTTERD_DATA").unwrap_or_else(|| "../shared/data".into());
    let folder = PathBuf::from(folder).join("recall");
    let percents: Vec<u32> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let shares: Vec<Option<u32>> = [None].into_iter().chain(percents.into_iter().map(Some)).collect();
    for (name, file) in [("LoCoMo", "locomo.jsonl"), ("BEAM", "beam.jsonl")] {
        let Ok(lines) = std::fs::read_to_string(folder.join(file)) else {
            println!("{name}: skipped, no {file} in {}", folder.display());
            continue;
        };
        let talks: Vec<Talk> =
            lines.lines().map(|line| Talk::of(&serde_json::from_str(line).unwrap())).collect();
        print(name, &talks, &shares).await;
    }
}

async fn print(name: &str, talks: &[Talk], shares: &[Option<u32>]) {
    let questions: usize = talks.iter().map(|talk| talk.questions.len()).sum();
    println!("\n{name}, {questions} questions: evidence in the context, %, and its tokens on average");
    print!("{:<36}", "tokens:");
    BUDGETS.iter().for_each(|budget| print!("{budget:>21}"));
    println!();
    line("the newest that fit, alone", BUDGETS.map(|budget| Figures::of_newest(talks, budget)));
    for (window, policy) in [("default window", Policy::ROLLING), ("no window", Policy::SESSION)] {
        let engine = memorized(talks, &policy).await;
        for share in shares {
            let mut figures = Vec::new();
            for budget in BUDGETS {
                figures.push(Figures::of_contexts(&engine, talks, budget, *share).await);
            }
            let what = share.map_or(String::new(), |percent| format!(", at most {percent} %"));
            line(&format!("{window}{what}"), figures);
        }
    }
}

fn line(name: &str, figures: impl IntoIterator<Item = Figures>) {
    print!("{name:<36}");
    for figures in figures {
        print!("{:>21}", figures.told());
    }
    println!();
}

/// How much of the evidence the contexts contain, added up.
#[derive(Default)]
struct Figures {
    shares: f64,
    /// The shares of the text.
    texts: f64,
    tokens: u64,
    count: u32,
}

impl Figures {
    fn of_newest(talks: &[Talk], budget: u32) -> Self {
        let mut figures = Self::default();
        for talk in talks {
            let newest = talk.newest(budget);
            let tokens = talk.drafts[newest..].iter().map(|draft| draft.tokens(counter())).sum();
            for question in &talk.questions {
                let shown = |place: &usize| (*place >= newest).then_some(1.0);
                figures.add(question.evidence.iter().filter_map(shown), question, tokens);
            }
        }
        figures
    }

    async fn of_contexts(engine: &Arc<Engine>, talks: &[Talk], budget: u32, percent: Option<u32>) -> Self {
        let mut figures = Self::default();
        for talk in talks {
            for question in &talk.questions {
                let limits = RecallLimits { matches: None, percent };
                let recall = Recall {
                    prompt: question.prompt.clone(),
                    limits,
                    min_relevance: None,
                    scope: Scope::Conversation,
                };
                let request = Request { budget: Some(budget), ..Request::default() };
                let address = talk.address();
                let call =
                    BuildContextCall { address, request, recall: Some(recall), earlier: false, content };
                let context = engine.build_context(&Caller::default(), &call).await.unwrap().context;
                let shown = question.evidence.iter().filter_map(|place| talk.shown(*place, &context));
                figures.add(shown, question, context.tokens);
            }
        }
        figures
    }

    /// Adds a context; `shown` are the shares of the text of the evidence in it.
    fn add(&mut self, shown: impl Iterator<Item = f64>, question: &Question, tokens: u32) {
        for text in shown {
            self.shares += 1.0 / question.evidence.len() as f64;
            self.texts += text / question.evidence.len() as f64;
        }
        self.tokens += u64::from(tokens);
        self.count += 1;
    }

    fn told(&self) -> String {
        let of = |sum: f64| sum / f64::from(self.count.max(1));
        let (shares, texts) = (100.0 * of(self.shares), 100.0 * of(self.texts));
        format!("{shares:.1} ({texts:.1}) {:>6.0}", of(self.tokens as f64))
    }
}

/// A conversation, and the questions about it.
struct Talk {
    id: String,
    drafts: Vec<Draft>,
    questions: Vec<Question>,
}

struct Question {
    prompt: String,
    /// Places in the conversation.
    evidence: Vec<usize>,
}

impl Talk {
    fn of(line: &Value) -> Self {
        let list = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
        let utterances = list(line, "utterances");
        let ids = utterances.iter().map(|utterance| text(utterance, "utterance_id"));
        let places: HashMap<String, usize> = ids.zip(0..).collect();
        let asked = list(line, "questions");
        let asked = asked.iter().filter(|question| question["category"] != "adversarial");
        let question = |question: &Value| Question {
            prompt: text(question, "prompt"),
            evidence: list(question, "evidence").iter().map(|id| places[id.as_str().unwrap()]).collect(),
        };
        Self {
            id: text(line, "conversation_id"),
            drafts: utterances.iter().map(draft).collect(),
            questions: asked.map(question).filter(|question| !question.evidence.is_empty()).collect(),
        }
    }

    fn address(&self) -> Address {
        Address { conversation: Some(ConversationId::new(&self.id).unwrap()), ..Address::default() }
    }

    /// The place from which the newest utterances have at most `budget` tokens.
    fn newest(&self, budget: u32) -> usize {
        let mut left = budget;
        let fits = |draft: &&Draft| {
            let rest = left.checked_sub(draft.tokens(counter()));
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        self.drafts.len() - self.drafts.iter().rev().take_while(fits).count()
    }

    /// The share of an utterance's text that is in the context; `None` if it is not there.
    fn shown(&self, place: usize, context: &Context) -> Option<f64> {
        let sequence = place as u64 + 1;
        let mut said = context.messages.iter().filter_map(|message| message.utterance.as_ref());
        if said.any(|said| said.sequence.get() == sequence) {
            return Some(1.0);
        }
        let found = context.recalled.iter().find(|found| found.utterance.sequence.get() == sequence)?;
        let quoted: usize = found.quoted.iter().map(|range| range.len()).sum();
        Some(if quoted == 0 { 1.0 } else { quoted as f64 / found.utterance.content.len() as f64 })
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap().to_owned()
}

fn draft(utterance: &Value) -> Draft {
    let name = text(utterance, "name");
    let more = More { name: Some(name.as_str().into()), ..More::default() };
    Draft {
        id: None,
        role: if utterance["role"] == "user" { Role::User } else { Role::Assistant },
        content: text(utterance, "content").into(),
        turn: None,
        create_time: time(&text(utterance, "time")),
        pinned: false,
        more: (!name.is_empty()).then(|| Box::new(more)),
    }
}

/// `1:56 pm on 8 May, 2023` or `March-15-2024`.
fn time(text: &str) -> Option<Timestamp> {
    let moment = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", text);
    let day = || jiff::civil::Date::strptime("%B-%d-%Y", text).map(|day| day.at(12, 0, 0, 0));
    let time = moment.or_else(|_| day()).ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp(time.timestamp().as_microsecond()))
}

fn counter() -> &'static dyn utterd::domain::TokenCounter {
    tokenizer::counter(Encoding::O200kBase)
}

/// An engine with all conversations.
async fn memorized(talks: &[Talk], policy: &Policy) -> Arc<Engine> {
    let defaults = Defaults {
        policy: policy.clone(),
        encoding: Encoding::O200kBase,
        timeouts: Timeouts::default(),
        max_conversations_retained: 0,
        event_capacity: 16,
        cache_bytes: 1 << 30,
        index_bytes: 1 << 30,
    };
    let store = Arc::new(MemoryStore::new(0));
    let engine = Arc::new(Engine::new(store, Arc::new(SystemClock), tokenizer::counter, defaults));
    for talk in talks {
        for drafts in talk.drafts.chunks(BATCH) {
            let call =
                MemorizeCall { address: talk.address(), drafts: drafts.to_vec(), ..MemorizeCall::default() };
            engine.memorize(&Caller::default(), call).await.unwrap();
        }
    }
    engine
}
