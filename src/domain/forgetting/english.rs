//! tmp
use crate::domain::forgetting::{Instruction, InstructionError};
pub(super) fn parse(text: &str) -> Result<Instruction, InstructionError> {
    Err(InstructionError::not_understood(text))
}
