//! The manifests for Kubernetes: its own schemas accept them, and the server starts with what they set.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::utterd,
};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "kubernetes-validate",
    probe: &["python3", "-c", "import kubernetes_validate, yaml"],
    install: "pip install kubernetes-validate",
    optional: false,
    checks: &[
        ("manifests_are_accepted", manifests_are_accepted),
        ("containers_start_with_their_settings", containers_start_with_their_settings),
    ],
};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/kubernetes");
const MANIFESTS: [&str; 3] = ["memory.yaml", "fjall.yaml", "postgres.yaml"];
const AS_JSON: &str =
    "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";

fn worked(output: &Output) -> Result<String, String> {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
    if output.status.success() { Ok(stdout) } else { Err(stdout + &stderr) }
}

fn python(arguments: &[&str]) -> Result<String, String> {
    worked(&Command::new("python3").args(arguments).current_dir(DIRECTORY).output().expect("Python runs"))
}

fn manifests_are_accepted(_: &Server) -> Checked {
    for manifest in MANIFESTS {
        python(&["-m", "kubernetes_validate", "--strict", manifest])?;
    }
    Ok(())
}

/// All containers of a manifest: those that are started first, then the server.
fn containers(manifest: &str) -> Result<Vec<Value>, String> {
    let documents: Vec<Value> = serde_json::from_str(&python(&["-c", AS_JSON, manifest])?).expect("JSON");
    let pods = documents.iter().map(|it| &it["spec"]["template"]["spec"]);
    let lists = pods.flat_map(|pod| [&pod["initContainers"], &pod["containers"]]);
    Ok(lists.filter_map(Value::as_array).flatten().cloned().collect())
}

fn text<'a>(value: &'a Value, what: &str) -> &'a str {
    value.as_str().unwrap_or_else(|| panic!("no {what}: {value}"))
}

/// Whether the command line accepts a container's arguments and variables. Paths are those of `directory`; nobody
/// answers at the address of the database.
fn starts(container: &Value, directory: &Path) -> Result<(), String> {
    let mut command = utterd(directory);
    let arguments: Vec<&str> =
        container["args"].as_array().expect("arguments").iter().map(|it| text(it, "argument")).collect();
    command.args(&arguments).arg("--check");
    let mut has_database = false;
    for variable in container["env"].as_array().expect("variables") {
        let name = text(&variable["name"], "name");
        let place = format!("{}/", directory.display());
        match variable["valueFrom"]["secretKeyRef"].is_object() {
            true => command.env(name, "postgres://u@127.0.0.1:1/none"),
            false => command.env(name, text(&variable["value"], name).replacen('/', &place, 1)),
        };
        has_database |= name == "UTTERD_DATABASE_URL";
    }
    match worked(&command.output().expect("it runs")) {
        Err(error) if has_database && error.contains("error connecting to server") => Ok(()),
        Ok(_) if !has_database => Ok(()),
        other => Err(format!("{arguments:?}: {other:?}")),
    }
}

fn containers_start_with_their_settings(_: &Server) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    let mut token = utterd(directory.path());
    std::fs::create_dir_all(directory.path().join("etc/utterd")).expect("a directory");
    let file = "etc/utterd/credentials.toml";
    let token = token
        .args([
            "token",
            "new",
            "--name",
            "shop",
            "--namespace",
            "shop",
            "--role",
            "read-write",
            "--append",
            file,
        ])
        .output();
    worked(&token.expect("it runs"))?;
    let mut started = Vec::new();
    for manifest in MANIFESTS {
        for container in containers(manifest)? {
            starts(&container, directory.path()).map_err(|error| format!("{manifest}: {error}"))?;
            started.push(text(&container["name"], "name").to_owned());
        }
    }
    assert_eq!(started, ["utterd", "utterd", "migrate", "utterd"]);
    Ok(())
}
