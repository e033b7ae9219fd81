//! The model that writes summaries: slow, now and then without an answer or with none that can be used, and it
//! repeats whatever marks it was shown.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::sleep;
use utterd::{
    engine::{
        Engine,
        models::llm::{LlmError, LlmSummarizer, LlmSummary, Material, Task},
    },
    store::BoxFuture,
};

use crate::{dice::Dice, disk::Life, drafts::is_mark};

pub struct Teller(pub Mutex<Dice>);

impl LlmSummarizer for Teller {
    fn model(&self) -> &str {
        "teller"
    }

    fn summarize(&self, material: Material) -> BoxFuture<'_, Result<LlmSummary, LlmError>> {
        let (takes, fate) = {
            let mut dice = self.0.lock();
            (dice.weighted(&[(3, 5), (3, 100), (2, 900)]), dice.below(8))
        };
        Box::pin(async move {
            sleep(Duration::from_millis(takes)).await;
            let text = match fate {
                0 => return Err(LlmError::Unavailable { message: "refused".to_owned(), retry_after: None }),
                1 => "  ".to_owned(),
                _ => told(&material),
            };
            Ok(LlmSummary { text, model: "teller".to_owned(), usage: None })
        })
    }
}

/// As many of the marks that it was shown as fit.
fn told(material: &Material) -> String {
    let said = material.said.iter().map(|utterance| format!("{}\n", utterance.content));
    let shown = format!("{} {} {}", material.before, material.told, said.collect::<String>());
    let marks: BTreeSet<&str> =
        shown.split(|c: char| !c.is_alphanumeric()).filter(|word| is_mark(word)).collect();
    let most = (material.max_tokens / 2) as usize;
    let marks: Vec<&str> = marks.into_iter().take(most.max(1)).collect();
    match material.task {
        Task::Summary => format!("- {}", marks.join(" ")),
        Task::Closing => format!("Title: what was said of the plan\nSummary: {}.", marks.join(" ")),
    }
}

/// Has the model write what waits for it, until the engine's process ends.
pub fn works(engine: &Arc<Engine>, life: &Life) {
    let (engine, life) = (engine.clone(), life.clone());
    tokio::spawn(async move {
        tokio::select! { biased; () = life.end.wait() => {}, () = engine.run_llm_summaries() => {} }
    });
}
