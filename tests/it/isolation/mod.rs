//! One namespace cannot see, count, watch or change what belongs to another.
//!
//! The strongest of these tests compares two servers: in one, Anna has filled her namespace; in the other she
//! was never there. Whatever others call with the names of her things, both respond the same, byte by byte.
//! What no response shows might still show in its timing, so a store reports which namespaces it was asked
//! about while others called.

mod anna;
mod cases;
mod watched;
mod world;

mod every_call;
mod models;
mod shares;
mod side_by_side;
