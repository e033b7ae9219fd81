//! Nothing acknowledged is lost: the built server is killed under load, and its disk is reset to what it
//! might hold after a loss of power; then the server starts again and must have everything that it
//! acknowledged.
//!
//! - [`kill`]: kill -9 at random moments, round after round on one directory.
//! - [`power`]: a loss of power at random moments of such a run, from a log of every write and sync.
//! - [`faults`]: writes and syncs that fail.
//! - [`syncs`]: each reply comes after a sync that follows its write.
//!
//! `UTTERD_CRASH_ROUNDS` sets how many times the server is killed, `UTTERD_CRASH_IMAGES` how many disks are
//! tried. `UTTERD_CRASH_SEED` selects another load and other disks; how far a load gets before a kill is
//! never the same twice. `UTTERD_CRASH_KEEP` names a directory in which disks are kept on which a check
//! failed.

pub mod check;
pub mod client;
mod disk;
mod faults;
mod kill;
pub mod known;
pub mod ledger;
pub mod load;
mod log;
pub mod observed;
mod power;
pub mod request;
pub mod server;
mod syncs;
pub mod tally;
pub mod texts;

use libtest_mimic::Trial;

use crate::trials_of;

pub fn trials() -> Vec<Trial> {
    let kill = named![
        kill::what_fjall_acknowledged_survives_a_kill,
        kill::what_fjall_acknowledged_survives_a_kill_while_it_begins_new_files,
        kill::what_sled_acknowledged_survives_a_kill,
        kill::what_sled_acknowledged_of_long_texts_survives_a_kill,
        kill::what_a_server_keeps_in_memory_is_missed,
        kill::what_a_server_keeps_in_memory_is_known_while_it_runs,
    ];
    let recorded = named![
        power::what_fjall_acknowledged_survives_a_loss_of_power,
        power::what_fjall_acknowledged_survives_a_loss_of_power_while_it_begins_new_files,
        power::what_was_answered_before_its_flush_is_missed,
        power::the_log_tells_everything_of_a_server,
        faults::a_disk_that_fails_is_told_and_loses_nothing,
        syncs::each_call_alone_waits_for_a_sync_of_its_own,
        syncs::calls_at_once_share_syncs_and_wait_for_them,
    ];
    trials_of("crash", &[&kill[..], &recorded].concat())
}
