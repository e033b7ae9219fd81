//! Callers who temporarily want more than there is.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};

use crate::{
    checks::Wrong,
    dice::Dice,
    door::{Came, Door, Head},
    house::Crowd,
    shares::Kind,
    world::World,
};

/// The first member of a crowd; clients have lower numbers.
const FIRST: u64 = 100;
/// Callers in a rush.
const RUSHING: u64 = 2;
/// How long it stays, from the start of a run.
pub const STAYS: Duration = Duration::from_millis(1_500);
/// Concurrent calls of a hoarder.
const HOARDED: u64 = 50;

/// Starts the crowd of a run.
pub fn come(world: &Arc<World>, dice: &mut Dice) {
    match world.house.crowd {
        None => {}
        Some(Crowd::Rush) => {
            tokio::spawn(rush(world.clone(), dice.split()));
        }
        Some(Crowd::Hoard(callers)) => {
            for (caller, _) in
                (FIRST..FIRST + callers).flat_map(|caller| (0..HOARDED).map(move |one| (caller, one)))
            {
                tokio::spawn(hoard(world.clone(), caller, dice.split()));
            }
        }
    }
}

/// Calls four times as often as can be served.
async fn rush(world: Arc<World>, mut dice: Dice) {
    let turn = world.house.turn;
    for _ in 0..STAYS.as_millis() / turn.as_millis() {
        for _ in 0..4 {
            let (door, caller) = (world.door(0), FIRST + dice.below(RUSHING));
            let patience = Duration::from_millis(dice.pick(&[100, 5_000]).unwrap_or(100));
            tokio::spawn(async move {
                let _ = timeout(patience, door.call(head(caller), &Default::default(), async {})).await;
            });
        }
        sleep(turn).await;
    }
}

/// Leaves calls open, gives up some of them, and makes others when those are over.
async fn hoard(world: Arc<World>, caller: u64, mut dice: Dice) {
    for _ in 0..4 {
        let takes = Duration::from_millis(50 + dice.below(700));
        let patience = Duration::from_millis(dice.pick(&[30, 300, 5_000]).unwrap_or(300));
        let door = world.door(0);
        let open = timeout(patience, door.call(head(caller), &Default::default(), sleep(takes))).await;
        if let Ok(Came::TurnedAway(away)) = open {
            sleep(away.delay).await;
        }
    }
}

/// Once the crowd has gone, checks whether everything is available again, for all callers together and for
/// one of them.
pub async fn has_gone(door: &Arc<Door>, caller: u64) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    for (kind, most) in door.most() {
        let others: Vec<_> = (0..most).map(|other| FIRST + 1_000 + other).collect();
        wrongs.extend(all_are_admitted(door, kind, others).await);
    }
    for (kind, most) in door.most_each() {
        wrongs.extend(all_are_admitted(door, kind, vec![caller; most]).await);
    }
    wrongs
}

/// Makes a call for each caller, all at the same time.
async fn all_are_admitted(door: &Arc<Door>, kind: Kind, callers: Vec<u64>) -> Vec<Wrong> {
    let call = |caller| {
        let door = door.clone();
        async move {
            let head = Head { kind, ..head(caller) };
            // none ends before all have arrived
            match door.call(head, &Default::default(), sleep(Duration::from_millis(200))).await {
                Came::Answered(..) => None,
                Came::TurnedAway(away) => Some(format!("caller {caller} is turned away: {}", away.reason)),
                Came::TooLate => Some(format!("caller {caller} waits for too long")),
            }
        }
    };
    let calls = futures::future::join_all(callers.into_iter().map(call)).await;
    let wrong = |how| Wrong::new("places are given back", how);
    calls.into_iter().flatten().map(wrong).collect()
}

fn head(caller: u64) -> Head {
    Head { caller, kind: Kind::Unary, deadline: None }
}
