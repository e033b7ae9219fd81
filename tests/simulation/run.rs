//! One run: everything that is derived from a seed.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    checks,
    checks::Wrong,
    client::Client,
    crowd,
    dice::Dice,
    faults::is_left_out,
    habits::IDLE_TIMEOUT,
    house::House,
    place::{Expected, Place},
    rest,
    world::World,
};

/// Clients of a run.
const CLIENTS: usize = 4;
/// By the clock of the run: whoever still waits then waits forever.
const FOR_EVER: Duration = Duration::from_secs(20_000);

/// The result of a run.
pub struct Ended {
    pub story: String,
    pub wrongs: Vec<Wrong>,
}

/// Runs a seed with `hosts` processes over one store.
pub fn run(seed: u64, hosts: usize) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let (mut dice, place) =
        (Dice::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ hosts as u64), Place::of(seed));
    let (story, mut wrongs, expected) = runtime.block_on(async {
        // separate dice, so that what happens behind open doors is the same whatever doors there are
        let mut keeper = Dice::new(seed.wrapping_mul(0x9e6c_63d0_876a_3f6b) ^ hosts as u64);
        let world = World::new(hosts, House::of(&mut keeper), place.open(), &mut dice);
        let living = AssertUnwindSafe(timeout(FOR_EVER, live(&world, &mut dice, &mut keeper))).catch_unwind();
        let mut wrongs = match living.await {
            Ok(Ok(wrongs)) => wrongs,
            Ok(Err(_)) => vec![Wrong::new("waits for ever", "not every call was answered")],
            Err(_) => vec![Wrong::new("panics", "see above")],
        };
        wrongs.splice(0..0, checks::all(&world));
        let expected = Expected::of(&world.disk.ledger.lock());
        (world.story.text(), wrongs, expected)
    });
    // whatever uses the store ends
    drop(runtime);
    wrongs.extend(place.look(&expected));
    Ended { story, wrongs }
}

/// The clients do their work in bad weather; then everything settles and is checked.
async fn live(world: &Arc<World>, dice: &mut Dice, keeper: &mut Dice) -> Vec<Wrong> {
    let client = |name| Client { world: world.clone(), name, dice: dice.split(), manners: keeper.split() };
    let clients: Vec<_> = (0..CLIENTS).map(client).map(|client| tokio::spawn(client.work())).collect();
    crowd::come(world, keeper);
    weather(world, dice, &clients).await;
    world.disk.calm();
    world.story.tell("weather", "nothing fails any more");
    for client in clients {
        client.await.expect("a client that does not panic");
    }
    // whatever was given up is over by then
    sleep(IDLE_TIMEOUT / 2).await;
    let mut wrongs = Vec::new();
    for patience in (0..=100).rev() {
        if !world.waits_for_the_model() {
            break;
        }
        sleep(IDLE_TIMEOUT / 2).await;
        wrongs.extend((patience == 0).then(|| Wrong::new("waits for ever", "a summary waits for the model")));
    }
    world.see_events();
    world.story.tell("all", "has come to rest");
    wrongs.extend(rest::look(world).await);
    wrongs.extend(doors(world).await);
    wrongs
}

/// Checks the doors once nobody calls any more.
async fn doors(world: &World) -> Vec<Wrong> {
    world.end();
    sleep(IDLE_TIMEOUT).await;
    let doors = world.doors.lock().clone();
    let mut wrongs = Vec::new();
    for (door, caller) in doors.iter().zip((0..CLIENTS as u64).cycle()) {
        wrongs.extend(crowd::has_gone(door, caller).await);
        wrongs.extend(door.wrongs());
    }
    wrongs
}

/// Moves the clock and ends processes while clients work, but not forever.
async fn weather(world: &Arc<World>, dice: &mut Dice, clients: &[JoinHandle<()>]) {
    let calm = dice.percent(50) || is_left_out("kill");
    for _ in 0..40 {
        sleep(Duration::from_millis(10 + dice.below(120))).await;
        if clients.iter().all(JoinHandle::is_finished) {
            return;
        }
        if !calm && dice.percent(15) {
            let host = dice.below(world.hosts() as u64) as usize;
            world.restart(host);
        }
        if dice.percent(10) {
            world.sweep(dice.below(world.hosts() as u64) as usize);
        }
        if dice.percent(world.habits.silences) {
            world.story.tell("weather", "the clock moves past the idle timeout");
            world.clock.skip(IDLE_TIMEOUT + Duration::from_secs(1));
        }
    }
}
