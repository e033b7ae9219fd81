//! The types of OpenAI's and Anthropic's own Python packages: `providers.py` next to this file.

use crate::clients::{Client, python::run};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/providers.py");

/// The packages and the checks, each a function of the script.
pub const CLIENT: Client = Client {
    name: "providers",
    probe: &[
        "python3",
        "-c",
        "import openai, anthropic, pydantic, grpc, grpc_reflection, grpc_status, grpc_health",
    ],
    install: "pip install openai anthropic grpcio grpcio-reflection grpcio-health-checking grpcio-status",
    optional: false,
    checks: &[
        ("types_tell_good_from_bad", |server| run(SCRIPT, server, "types_tell_good_from_bad")),
        ("prepare_history", |server| run(SCRIPT, server, "prepare_history")),
        ("build_context", |server| run(SCRIPT, server, "build_context")),
    ],
};
