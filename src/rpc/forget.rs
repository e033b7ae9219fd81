//! Forget.

use tonic::Request;

use crate::{
    domain::{
        Reason, Refusal,
        forget::{Forget, Warning},
        forgetting::{self, Asked},
    },
    engine::{Caller, ForgetCall, ForgetReply},
    proto,
    rpc::{Services, decode, encode},
};

/// What a response tells of its request.
pub(super) struct Told {
    instruction: Asked,
    mode: proto::ForgetMode,
}

impl Told {
    pub(super) fn of(call: &ForgetCall) -> Self {
        let mode = if call.forget.hard { proto::ForgetMode::Hard } else { proto::ForgetMode::Soft };
        Self { instruction: call.forget.instruction.clone(), mode }
    }
}

impl Services {
    /// Who calls, and what for.
    pub(super) fn forget_request(
        &self,
        request: Request<proto::ForgetRequest>,
    ) -> Result<(Caller, ForgetCall), Refusal> {
        let caller = self.caller(&request);
        Ok((caller, forget_call(request.into_inner())?))
    }

    /// The response. What was told from now was told from when the call took effect.
    pub(super) fn forgotten(&self, told: &Told, reply: &ForgetReply) -> proto::ForgetResponse {
        let outcome = &reply.outcome;
        let understood_as = told.instruction.at(outcome.time).to_string();
        let nothing = outcome.forgotten.is_empty() && outcome.rebuilt_segments == 0;
        let nothing = nothing.then(|| Warning::NothingForgotten(understood_as.clone()));
        let excess = reply.value.as_ref().and_then(|selected| selected.excess.clone());
        let warnings = nothing.into_iter().chain(excess.map(Warning::WouldBeRefused));
        proto::ForgetResponse {
            conversation_id: outcome.conversation.to_string(),
            revision: encode::long(outcome.revision.get()),
            forgotten: encode::refs(&outcome.forgotten, reply),
            rebuilt_segments: Some(encode::int(outcome.rebuilt_segments)),
            capacity: Some(self.capacity(reply, None)),
            understood_as,
            replayed: reply.replayed(),
            mode: told.mode.into(),
            warnings: warnings.map(|warning| encoded(&warning)).collect(),
            still_summarised: encode::ranges(&outcome.still_told),
        }
    }
}

fn forget_call(request: proto::ForgetRequest) -> Result<ForgetCall, Refusal> {
    let instruction = forgetting::parse(&request.instructions).map_err(|error| {
        Refusal::field(Reason::InstructionNotUnderstood, "instructions", error.to_string())
    })?;
    let hard = match proto::ForgetMode::try_from(request.mode) {
        Ok(proto::ForgetMode::Unspecified | proto::ForgetMode::Soft) => false,
        Ok(proto::ForgetMode::Hard) => true,
        Err(_) => {
            let text = format!("is {}; accepted are SOFT (1) and HARD (2)", request.mode);
            return Err(Refusal::invalid("mode", text));
        }
    };
    let expected = decode::revision(request.expected_revision)?;
    Ok(ForgetCall {
        address: decode::address(&request.conversation_id, &request.recipient_id)?,
        forget: Forget { instruction, hard, expected },
        dry_run: request.dry_run,
        attempt: decode::attempt("Forget", &request.request_id, || proto::ForgetRequest {
            request_id: String::new(),
            ..request.clone()
        })?,
    })
}

fn encoded(warning: &Warning) -> proto::ForgetWarning {
    let kind = match warning {
        Warning::WouldBeRefused(_) => proto::ForgetWarningKind::WouldBeRefused,
        Warning::NothingForgotten(_) => proto::ForgetWarningKind::NothingForgotten,
    };
    proto::ForgetWarning { kind: kind.into(), text: warning.to_string() }
}
