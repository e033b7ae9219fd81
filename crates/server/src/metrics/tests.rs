use std::{collections::BTreeMap, fs};

use http::header::ALLOW;
use serde_json::Value;

use super::*;
use crate::Server;
use utterd_config::{Backend, DurableEngine, Llm, Settings};
use utterd_engine::SystemClock;
use utterd_telemetry::Described;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The metrics of servers with every kind of store and model, by name.
async fn all() -> BTreeMap<String, Described> {
    let directory = tempfile::tempdir().unwrap();
    let models = Settings {
        llm: Llm::OpenAi,
        llm_base_url: Some("http://127.0.0.1:1/v1".parse().unwrap()),
        llm_model: "small".into(),
        embedding_base_url: Some("http://127.0.0.1:1/v1".parse().unwrap()),
        embedding_model: "small".into(),
        ..Settings::default()
    };
    let files = Settings {
        backend: Backend::Durable(DurableEngine::Fjall),
        data_dir: directory.path().join("data"),
        ..Settings::default()
    };
    let database = Settings {
        backend: Backend::Postgres,
        database_url: Some("postgres://nobody@127.0.0.1:1/none".parse().unwrap()),
        ..Settings::default()
    };
    let mut all = BTreeMap::new();
    for settings in [models, files, database] {
        let server = Server::new(&settings, Arc::new(SystemClock)).unwrap();
        describe_connections(server.metrics(), &Connections::new(1));
        all.extend(server.metrics().described().into_iter().map(|it| (it.name.clone(), it)));
    }
    all
}

/// `UPDATE_DOCS=1 cargo test -p utterd-server metrics` rewrites the table in docs/operations.md.
#[tokio::test]
async fn the_docs_list_every_metric() {
    const BEGIN: &str = "<!-- made from the metrics -->\n";
    let path = format!("{ROOT}/docs/operations.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once("<!-- end -->").unwrap();
    let all = all().await;
    let own = all.values().filter(|it| !it.name.starts_with("process_"));
    let rows = own.map(|it| {
        let labels: Vec<String> = it.labels.iter().map(|label| format!("`{label}`")).collect();
        format!("| `{}` | {} | {} |\n", it.name, labels.join(", "), it.help.trim_end_matches('.'))
    });
    let rows: String = rows.collect();
    let made = format!("{head}{BEGIN}| metric | labels | |\n|---|---|---|\n{rows}<!-- end -->{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, &made).unwrap();
    } else {
        assert_eq!(page, made, "docs/operations.md is not as the metrics are");
    }
}

/// The metrics that an expression names, without the suffixes of histograms.
fn named(expression: &str) -> Vec<&str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_metric =
        |word: &&str| ["utterd_", "grpc_server_", "process_"].iter().any(|it| word.starts_with(it));
    let suffixes = ["_bucket", "_sum", "_count"];
    let bare = |word| suffixes.iter().find_map(|suffix| str::strip_suffix(word, suffix)).unwrap_or(word);
    words.filter(is_metric).map(bare).collect()
}

/// The values of `key` anywhere in `value`.
fn values_of<'a>(key: &str, value: &'a Value) -> Vec<&'a str> {
    match value {
        Value::Array(values) => values.iter().flat_map(|value| values_of(key, value)).collect(),
        Value::Object(fields) => {
            let own = fields.get(key).and_then(Value::as_str);
            own.into_iter().chain(fields.values().flat_map(|value| values_of(key, value))).collect()
        }
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_name_metrics_that_exist() {
    let all = all().await;
    let alerts = fs::read_to_string(format!("{ROOT}/packaging/prometheus/alerts.yaml")).unwrap();
    let dashboard = fs::read_to_string(format!("{ROOT}/packaging/grafana/utterd.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let shown = values_of("expr", &dashboard);
    assert!(shown.len() > 30, "{} expressions", shown.len());
    let mut used: Vec<&str> = shown.into_iter().flat_map(named).collect();
    used.extend(named(&alerts));
    assert!(used.len() > 40, "{} names", used.len());
    let unknown: Vec<_> = used.iter().filter(|name| !all.contains_key(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let unused = all.keys().filter(|name| name.starts_with("utterd_") && !used.contains(&name.as_str()));
    // the dashboard and the alerts must use every metric, except for facts about the server
    let unused: Vec<_> =
        unused.filter(|name| !["utterd_build_info", "utterd_cache_bytes"].contains(&name.as_str())).collect();
    assert!(unused.is_empty(), "neither shown nor alerted on: {unused:?}");
}

fn asked(method: Method, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).body(()).unwrap();
    answer(&request, &Registry::default())
}

#[test]
fn only_metrics_are_served() {
    assert_eq!(asked(Method::GET, "/metrics").status(), StatusCode::OK);
    assert_eq!(asked(Method::GET, "/metrics?name=x").status(), StatusCode::OK);
    assert_eq!(asked(Method::GET, "/").status(), StatusCode::NOT_FOUND);
    let refused = asked(Method::POST, "/metrics");
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(refused.headers()[ALLOW], "GET, HEAD");
}
