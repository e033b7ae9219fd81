//! Whatever happens while a model works: nothing is lost, and nothing comes back.

use std::collections::BTreeSet;

use utterd::proto::{
    CompactConversationRequest, ConversationFormat, EditMode, ExportConversationRequest, ForgetMode,
    ForgetRequest, Policy, PolicyPreset, RestoreRequest, UndoCompactionRequest, UpdateUtteranceRequest,
};

use crate::{
    rpc::segments::until_final,
    support::{
        model::{Call, Model},
        session::{Reply, Session, assistant, mask, user},
    },
};

/// Pseudorandom numbers from a seed (a linear congruential generator; the high bits are used).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides.max(1)
    }
}

fn mark(sequence: i64) -> String {
    format!("mark_{sequence}_x")
}

/// A conversation that many things happen to at the same time.
struct Run {
    session: Session,
    model: std::sync::Arc<Model>,
    dice: Dice,
    said: i64,
    erased: BTreeSet<i64>,
    silent: BTreeSet<i64>,
    /// Utterances that were edited.
    edited: BTreeSet<i64>,
}

impl Run {
    async fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let model = Model::new();
        let session = Session::with_model(model.clone()).await;
        let limit = [120, 400, 1_000][dice.roll(3) as usize];
        let policy = match dice.roll(2) {
            0 => Policy { preset: PolicyPreset::Session.into(), ..Default::default() },
            _ => Policy { max_utterances: Some(14), ..Default::default() },
        };
        session.create_with(Policy { summary_token_limit: Some(limit), ..policy }).await;
        let (erased, silent, edited) = Default::default();
        Self { session, model, dice, said: 0, erased, silent, edited }
    }

    async fn step(&mut self) {
        match self.dice.roll(16) {
            0..=4 => self.say().await,
            5 => self.forget(ForgetMode::Hard).await,
            6 => self.forget(ForgetMode::Soft).await,
            7 => self.restore().await,
            8 => self.edit().await,
            9..=10 => self.compact().await,
            11 => self.undo().await,
            _ => self.answer(),
        }
        for _ in 0..self.dice.roll(40) {
            tokio::task::yield_now().await;
        }
    }

    async fn say(&mut self) {
        for _ in 0..=self.dice.roll(12) {
            self.said += 1;
            let text = format!(
                "The decision about {} is made at last, after two long days. The error in the plan was found \
                 by the night shift, which checked every page of it, and the plan is good now.",
                mark(self.said)
            );
            let said = if self.said % 2 == 1 { user(&text) } else { assistant(&text) };
            self.session.say(vec![said]).await;
        }
    }

    async fn forget(&mut self, mode: ForgetMode) {
        let first = 1 + self.dice.roll(self.said as u64 + 1);
        let instructions = format!("sequence:{first}-{}", first + self.dice.roll(3));
        let request = ForgetRequest { instructions, mode: mode.into(), ..Default::default() };
        let forgotten = self.session.memory().forget(request).await.reply().forgotten;
        let sequences = forgotten.iter().map(|utterance| utterance.sequence);
        match mode {
            ForgetMode::Hard => self.erased.extend(sequences),
            _ => self.silent.extend(sequences),
        }
    }

    async fn restore(&mut self) {
        let Some(sequence) = self.silent.iter().find(|sequence| !self.erased.contains(sequence)) else {
            return;
        };
        let utterance_ids = vec![self.session.id_of(*sequence).await];
        let request = RestoreRequest { utterance_ids, ..Default::default() };
        let restored = self.session.memory().restore(request).await.reply().restored;
        self.silent.retain(|silent| restored.iter().all(|utterance| utterance.sequence != *silent));
    }

    async fn edit(&mut self) {
        let sequence = 1 + self.dice.roll(self.said as u64 + 1) as i64;
        if sequence > self.said || self.erased.contains(&sequence) {
            return;
        }
        let request = UpdateUtteranceRequest {
            utterance_id: self.session.id_of(sequence).await,
            content: "Nothing was decided, and the plan is the error of the night shift.".to_owned(),
            edit_mode: EditMode::InPlace.into(),
            update_mask: mask(&["content"]),
            ..Default::default()
        };
        self.session.conversations().update_utterance(request).await.reply();
        self.edited.insert(sequence);
    }

    async fn compact(&mut self) {
        let keep_recent = Some(1 + self.dice.roll(20) as i32);
        let request = CompactConversationRequest { keep_recent, ..Default::default() };
        // refused if too short, for example
        let _ = self.session.compactions().compact_conversation(request).await;
    }

    async fn undo(&mut self) {
        let _ = self.session.compactions().undo_compaction(UndoCompactionRequest::default()).await;
    }

    /// Answers one of the waiting calls, if there is one.
    fn answer(&mut self) {
        let which = self.dice.roll(4) as usize;
        let Some(call) = self.model.take(which) else { return };
        match self.dice.roll(8) {
            0 => call.break_off(),
            1 => call.tell("  "),
            _ => self.echo(call),
        }
    }

    /// Answers with the marks of as many of the shown utterances as fit.
    fn echo(&mut self, call: Call) {
        let shown = call.shown();
        let all = (1..=self.said).map(mark).filter(|mark| shown.contains(mark.as_str()));
        let mut all: Vec<String> = all.collect();
        all.sort_by_cached_key(|_| self.dice.roll(1_000));
        all.truncate(call.material.max_tokens as usize / 8);
        call.tell(&format!("- {}", all.join(" ")));
    }

    /// Checks that nothing forbidden appears.
    async fn check(&self, seed: u64) {
        let summary = self.session.summary().await;
        for gone in self.erased.iter().chain(&self.silent).chain(&self.edited) {
            assert!(!summary.text.contains(&mark(*gone)), "seed {seed}: {gone} is told: {}", summary.text);
        }
    }

    /// Checks that everything required is there, once everything has settled.
    async fn settle(mut self, seed: u64) {
        while self
            .session
            .capacity()
            .await
            .summary
            .is_some_and(|summary| summary.provisional_segment_count() > 0)
        {
            let call = self.model.called().await;
            self.echo(call);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
        }
        until_final(&self.session).await;
        self.check(seed).await;
        let stored: BTreeSet<i64> =
            self.session.stored().await.iter().map(|utterance| utterance.sequence).collect();
        let expected: BTreeSet<i64> =
            (1..=self.said).filter(|sequence| !self.erased.contains(sequence)).collect();
        assert_eq!(stored, expected, "seed {seed}");
        let capacity = self.session.capacity().await;
        let mut covered: Vec<i64> = Vec::new();
        for segment in self.session.summary().await.segments {
            covered.extend(segment.covers.iter().flat_map(|range| range.first..=range.last));
        }
        covered.sort_unstable();
        let archived = expected.len() - capacity.utterance_count() as usize;
        assert_eq!(covered.len(), archived, "seed {seed}: each that left is covered once: {covered:?}");
        assert!(covered.windows(2).all(|pair| pair[0] < pair[1]), "seed {seed}: {covered:?}");
        let exported = self.export().await;
        for gone in &self.erased {
            assert!(!exported.contains(&mark(*gone)), "seed {seed}: {gone} is exported");
        }
    }

    async fn export(&self) -> String {
        let request = ExportConversationRequest {
            format: ConversationFormat::PersistedConversations.into(),
            ..Default::default()
        };
        let mut parts = self.session.conversations().export_conversation(request).await.reply();
        let mut text = String::new();
        while let Ok(Some(part)) = parts.message().await {
            text += &format!("{part:?}");
        }
        text
    }
}

/// Conversations, unless the environment sets another number.
const CONVERSATIONS: u64 = 25;

#[tokio::test(start_paused = true)]
async fn conversations_go_on_while_a_model_thinks() {
    let asked = std::env::var("UTTERD_INTERLEAVINGS").ok();
    let count = asked.map_or(CONVERSATIONS, |text| text.parse().expect("UTTERD_INTERLEAVINGS is a number"));
    for seed in 1..=count {
        let mut run = Run::new(seed).await;
        for _ in 0..24 {
            run.step().await;
            run.check(seed).await;
        }
        run.settle(seed).await;
    }
}
