//! A model that embeds words by their meanings in a small vocabulary, and fails when a test says so.
#![allow(dead_code)] // each test uses its part

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use tokio::sync::{Semaphore, watch};
use utterd::{engine::models::embedding::Embedder, engine::models::llm::LlmError, store::BoxFuture};

/// Groups of words with one meaning.
const MEANINGS: [&[&str]; 4] = [
    &["kitten", "cat", "feline", "pets"],
    &["salary", "wage", "pay", "earnings"],
    &["rain", "storm", "weather", "forecast"],
    &["violin", "orchestra", "music", "concert"],
];

/// How a model responds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mood {
    /// It answers, with this many values in addition to the meaningful ones.
    Well(usize),
    /// It is unavailable.
    Away,
    /// It never answers.
    Silent,
    /// It refuses texts that contain this.
    Refuses(&'static str),
    /// It returns nothing usable.
    Garbles,
}

/// The model.
pub struct Meanings {
    name: &'static str,
    mood: Mutex<Mood>,
    asked: Mutex<Vec<Vec<String>>>,
    calls: watch::Sender<usize>,
    gate: Semaphore,
}

impl Meanings {
    pub fn new() -> Arc<Self> {
        Self::named("meanings")
    }

    pub fn named(name: &'static str) -> Arc<Self> {
        let (mood, calls) = (Mutex::new(Mood::Well(0)), watch::Sender::new(0));
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        Arc::new(Self { name, mood, asked: Mutex::default(), calls, gate })
    }

    pub fn set(&self, mood: Mood) {
        *self.mood.lock().expect("nobody panicked") = mood;
    }

    /// Calls wait from now on, until they are let through.
    pub fn close(&self) {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub fn let_through(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    /// Waits until it was called this often.
    pub async fn asked_times(&self, times: usize) {
        self.calls.subscribe().wait_for(|calls| *calls >= times).await.expect("the model lives");
    }

    /// The texts of each call since the last time.
    pub fn take_asked(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.asked.lock().expect("nobody panicked"))
    }

    fn vector(text: &str, beyond: usize) -> Vec<f32> {
        let text = text.to_lowercase();
        let count = |words: &&[&str]| words.iter().filter(|word| text.contains(**word)).count() as f32;
        // a text without any meaning has a small one of its own
        let own = 0.2 + (text.len() % 7) as f32 / 100.0;
        let meanings = MEANINGS.iter().map(count).chain([own]);
        meanings.chain(std::iter::repeat_n(0.0, beyond)).collect()
    }
}

impl Embedder for Meanings {
    fn name(&self) -> &str {
        self.name
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Result<Vec<Vec<f32>>, LlmError>> {
        self.asked.lock().expect("nobody panicked").push(texts.to_vec());
        self.calls.send_modify(|calls| *calls += 1);
        let mood = *self.mood.lock().expect("nobody panicked");
        Box::pin(async move {
            self.gate.acquire().await.expect("it is open").forget();
            match mood {
                Mood::Well(beyond) => Ok(texts.iter().map(|text| Self::vector(text, beyond)).collect()),
                Mood::Away => {
                    Err(LlmError::Unavailable { message: "connection refused".into(), retry_after: None })
                }
                Mood::Silent => pending().await,
                Mood::Refuses(word) if texts.iter().any(|text| text.contains(word)) => {
                    Err(LlmError::Refused("400 Bad Request: too long".into()))
                }
                Mood::Refuses(_) => Ok(texts.iter().map(|text| Self::vector(text, 0)).collect()),
                Mood::Garbles => Err(LlmError::Unusable("it holds no embeddings".into())),
            }
        })
    }
}
