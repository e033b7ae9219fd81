//! What becomes of a summary when a model tells a segment, or is not to any more.

use std::sync::Arc;

use crate::domain::{
    Ranges,
    segment::{llm_text::Retold, means::Means, rebuild::Rebuild, record::Segment, summary::Summary},
};

impl Summary {
    /// Puts a model's text in the place of a segment's sentences; folds as the limit demands.
    pub fn retell(&self, number: u32, retold: &Retold, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            (segment.number == number).then(|| {
                let mut own = segment.clone();
                own.awaits = None;
                own.retold = Some(Arc::new(retold.clone()));
                own.sum()
            })
        });
        rebuild.fold(means);
        rebuild.done()
    }

    /// Waits no more for a model to tell the segment.
    pub fn settle(&self, number: u32) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            (segment.number == number).then(|| Segment { awaits: None, ..segment.clone() })
        });
        rebuild.done()
    }

    /// Waits no more for a model to tell any segment.
    pub fn settle_all(&self) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild
            .replace(|segment| segment.awaits.is_some().then(|| Segment { awaits: None, ..segment.clone() }));
        rebuild.done()
    }

    /// Takes away the models' texts for which `doubted` holds, and what was to be told anew from them.
    pub(in crate::domain) fn doubt(&self, doubted: impl Fn(&str) -> bool, means: &Means<'_>) -> Self {
        let mut rebuild = Rebuild::of(self);
        rebuild.replace(|segment| {
            let told = segment.awaits.as_ref().is_some_and(|awaits| doubted(&awaits.told));
            let retold = segment.retold.is_some() && doubted(&segment.text());
            (told || retold).then(|| segment.without(&Ranges::new()).awaiting(segment, means))
        });
        rebuild.fold(means);
        rebuild.done()
    }
}
