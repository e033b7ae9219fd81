//! What a line of a session does.

/// What a line does to the answer of the model before it.
pub enum Does {
    /// It is a part of the answer with this id, if answers have ids.
    Continue(Option<String>),
    /// It ends the answer, or there is none.
    End,
    /// It leaves it open.
    Nothing,
}
