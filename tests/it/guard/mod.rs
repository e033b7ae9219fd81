//! Who can call what: credentials, roles and namespaces, as a client sees them.

mod guarded;
mod issuer;

mod certificates;
mod jwts;
mod reload;
mod roles;
mod shares;
mod strangers;
mod tokens;
