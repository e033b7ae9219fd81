//! What can go wrong in a run, and how often.

use std::time::Duration;

use utterd::store::StoreError;

use crate::dice::Dice;

/// The chances, in percent, of what can happen to a call to the store.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// It takes time.
    pub delay: u64,
    /// It is refused.
    pub refuse: u64,
    /// A commit's flush fails: it has no effect.
    pub flush: u64,
    /// A commit takes effect, and the answer is lost.
    pub lose: u64,
    /// A commit that fails, or whose answer is lost, panics instead.
    pub panic: u64,
    /// Another process changes a conversation just before a commit to it.
    pub stranger: u64,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It takes effect, and says so.
    Done,
    /// It is refused immediately.
    Refused,
    /// It fails later, without effect.
    Failed,
    /// It takes effect; the answer is lost.
    Lost,
}

impl Faults {
    /// The faults of a run.
    pub fn of(dice: &mut Dice) -> Self {
        let delay = dice.pick(&[20, 60, 95]).unwrap_or(60);
        let mut rarely = |most: u64| if dice.percent(60) { 1 + dice.below(most) } else { 0 };
        let [refuse, flush, lose, stranger] = [rarely(8), rarely(8), rarely(8), rarely(6)];
        let given = |name, chance| if is_left_out(name) { 0 } else { chance };
        Self {
            delay,
            refuse: given("refuse", refuse),
            flush: given("flush", flush),
            lose: given("lose", lose),
            // read from a copy: the rest of a run is the same without panics
            panic: given("panic", 10 * dice.clone().below(4)),
            stranger: given("stranger", stranger),
        }
    }

    /// No faults, only delays.
    pub fn calm(&self) -> Self {
        Self { delay: self.delay, ..Self::default() }
    }

    /// The result of the next commit.
    pub fn fate(&self, dice: &mut Dice) -> Fate {
        let done = 100 - self.refuse - self.flush - self.lose;
        let fates = [
            (done, Fate::Done),
            (self.refuse, Fate::Refused),
            (self.flush, Fate::Failed),
            (self.lose, Fate::Lost),
        ];
        dice.weighted(&fates)
    }

    /// The duration of the next step of a call.
    pub fn pause(&self, dice: &mut Dice) -> Option<Duration> {
        let length = dice.weighted(&[(6, 1 + dice.clone().below(3)), (3, 10), (1, 60)]);
        dice.percent(self.delay).then(|| Duration::from_millis(length))
    }
}

/// Whether `UTTERD_SIM_WITHOUT` names a fault, which then does not happen.
pub fn is_left_out(name: &str) -> bool {
    let names = std::env::var("UTTERD_SIM_WITHOUT").unwrap_or_default();
    names.split(',').any(|other| other == name)
}

/// The error of a store that refuses a call.
pub fn refusal(dice: &mut Dice) -> StoreError {
    match dice.percent(50) {
        true => StoreError::Full { used: 1, limit: 1, added: 1 },
        false => StoreError::Unavailable("it was turned away".to_owned()),
    }
}
