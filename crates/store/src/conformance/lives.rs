//! Whole lives of conversations, checked after each step.

use super::support::*;

/// A conversation under the default limits, long enough to fold its summary.
pub async fn a_rolling_conversation_is_kept_at_each_step(store: Arc<dyn Store>) {
    let mut script = Script::new(&store, "rolling");
    script.say(vec![said(Role::System, "Be brief.")]).await;
    for (turn, draft) in users(40).into_iter().enumerate() {
        let id = format!("call {turn}");
        script.say(vec![draft, call(&id)]).await;
        script.say(vec![result(&id, "found"), said(Role::Assistant, "It is in room 7.")]).await;
    }
    assert!(script.state.head.archived.count() > 100);
}

/// A window without limits keeps everything.
pub async fn a_long_session_is_kept(store: Arc<dyn Store>) {
    let mut script = Script::with(&store, "session", Policy::SESSION);
    for _ in 0..10 {
        script.say(users(200)).await;
    }
    assert_eq!(script.state.window.len(), 2_000);
    assert!(script.forget("sequence:100-1900", true).await);
    assert!(script.forget("last:50", false).await);
}

/// Commands of all kinds are applied in a random order, which is the same in each run.
pub async fn a_random_life_is_kept_at_each_step(store: Arc<dyn Store>) {
    for seed in 1..=4 {
        let policy = Policy {
            utterances: Marks::with_keep(9, 5),
            summary_token_limit: Some(80),
            archive_limit: 25,
            ..Policy::ROLLING
        };
        let mut script = Script::with(&store, &format!("life {seed}"), policy);
        let mut dice = Dice(seed);
        for step in 0..120 {
            live(&mut script, &mut dice, step).await;
        }
    }
}

async fn live(script: &mut Script, dice: &mut Dice, step: usize) {
    script.now = script.now.plus(Duration::from_millis(dice.below(5_000)));
    match dice.below(12) {
        6 => drop(script.forget(&some(script, dice), true).await),
        10 => drop(script.forget("last:2", dice.below(2) == 0).await),
        kind => change(script, dice, step, kind).await,
    }
}

/// Applies a command that erases nothing; `kind` is from 0 to 11.
pub(super) async fn change(script: &mut Script, dice: &mut Dice, step: usize, kind: u64) {
    match kind {
        0..=4 => speak(script, dice, step).await,
        5 | 6 => drop(script.forget(&some(script, dice), false).await),
        7 => restore_some(script, dice).await,
        8 => mark_some(script, dice, step).await,
        9 => resize(script, dice).await,
        10 => drop(script.forget("last:2", false).await),
        _ => script.check().await,
    }
}

/// Selects up to four utterances in a row.
fn some(script: &Script, dice: &mut Dice) -> String {
    let any = 1 + dice.below(script.state.head.next.get());
    format!("sequence:{any}-{}", any + dice.below(4))
}

async fn speak(script: &mut Script, dice: &mut Dice, step: usize) {
    let mut drafts = Vec::new();
    if let Some(open) = &script.state.head.open {
        drafts.push(result(&open.calls[0], "The answer is 42."));
    }
    drafts.push(user(&format!("In step {step} the port is {}.", dice.below(65_536))));
    if dice.below(3) == 0 {
        drafts.push(named(&format!("step {step}"), "This one has a name."));
    }
    if dice.below(3) == 0 {
        drafts.extend([call("a"), call("b"), result("a", "done")]);
    }
    drafts[0].pinned = dice.below(8) == 0;
    script.say(drafts).await;
}

async fn restore_some(script: &mut Script, dice: &mut Dice) {
    let forgotten = script.stored().filter(|utterance| utterance.forgotten);
    let forgotten: Vec<_> = forgotten.map(|utterance| utterance.sequence.get()).collect();
    if !forgotten.is_empty() {
        let first = dice.below(forgotten.len() as u64) as usize;
        let some: Vec<_> = forgotten[first..].iter().copied().take(3).collect();
        script.restore(&some).await;
    }
}

async fn mark_some(script: &mut Script, dice: &mut Dice, step: usize) {
    let stored: Vec<Sequence> = script.stored().map(|utterance| utterance.sequence).collect();
    if !stored.is_empty() {
        let one = stored[dice.below(stored.len() as u64) as usize];
        script.mark(one.get(), dice.below(2) == 0, &format!("step {step}")).await;
    }
}

async fn resize(script: &mut Script, dice: &mut Dice) {
    let policy = PolicyUpdate {
        max_utterances: Some(4 + dice.below(9) as u32),
        archive_limit: Some(dice.below(40) as u32),
        summary_token_limit: Some(20 + dice.below(90) as u32),
        summarization_enabled: Some(dice.below(4) > 0),
        ..PolicyUpdate::default()
    };
    script.limit(policy).await;
}

/// Pseudorandom numbers, the same in each run (xorshift).
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// A number from 0 up to, but not including, `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }
}

/// Scrubbing leaves everything that is still stored unchanged.
pub async fn a_scrub_changes_nothing(store: Arc<dyn Store>) {
    store.scrub().await.unwrap();
    let mut script = Script::new(&store, "scrubbed");
    script.say(users(50)).await;
    assert!(script.forget("sequence:1-20", true).await);
    let mut deleted = Script::new(&store, "deleted");
    deleted.say(users(30)).await;
    deleted.delete().await;
    store.scrub().await.unwrap();
    script.check().await;
    deleted.check().await;
    script.say(users(5)).await;
    store.scrub().await.unwrap();
    script.check().await;
}
