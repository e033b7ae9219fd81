//! Where things stand: the goal, steps, checks, and what is open.

pub(super) mod checks;
pub(super) mod ending;
pub(super) mod fitting;
pub(super) mod goal;
pub(super) mod matter;
pub(super) mod open;
pub(super) mod rules;
pub(super) mod state;
pub(super) mod steps;
