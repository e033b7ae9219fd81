//! Tests of precedence, and of the values that are refused.

use std::{ffi::OsString, fs};

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn problems(sources: Sources) -> String {
    sources.load().unwrap_err().to_string()
}

#[test]
fn nothing_given_is_the_default() {
    let variables = variables(&[("PATH", "/bin"), ("UTTER", "x")]);
    let effective = Sources { variables, ..Default::default() }.load().unwrap();
    assert_eq!(effective.settings, Settings::default());
    assert_eq!(effective.origin("listen"), Origin::Default);
}

#[test]
fn the_defaults_are_those_that_the_documents_name() {
    let settings = Settings::default();
    assert_eq!((settings.buffer_size, settings.max_tokens, settings.summary_token_limit), (20, 8000, 1000));
    assert_eq!((settings.backend, settings.summarization_enabled), (Backend::Memory, true));
    assert_eq!(settings.max_conversations_retained, 1000);
}

#[test]
fn a_flag_beats_a_variable_beats_the_file_beats_the_preset() {
    let directory = tempfile::tempdir().unwrap();
    let file = "preset = \"turns\"\nmax_turns = 7\nmax_batch = 3\nlog = 'warn'\n";
    fs::write(directory.path().join("utterd.toml"), file).unwrap();
    let effective = Sources {
        flags: vec![("log", "debug".into())],
        variables: variables(&[("UTTERD_MAX_BATCH", "4"), ("UTTERD_LOG", "trace")]),
        directory: directory.path().into(),
        file: None,
    }
    .load()
    .unwrap();
    let settings = &effective.settings;
    assert_eq!((settings.max_turns, settings.max_batch, settings.log.as_str()), (7, 4, "debug"));
    assert_eq!(effective.origin("log"), Origin::Flag("log"));
    assert_eq!(effective.origin("max_batch"), Origin::Variable("UTTERD_MAX_BATCH".into()));
    assert!(matches!(effective.origin("max_turns"), Origin::File { line: 2, .. }));
    assert_eq!((settings.buffer_size, effective.origin("buffer_size")), (0, Origin::Preset("turns")));
}

#[cfg(feature = "full")]
#[test]
fn a_database_needs_a_url_and_a_schema() {
    let long = "s".repeat(57);
    let postgres = ("backend", "postgres".to_owned());
    let url = ("database_url", "postgres://ann:secret@db/talk".to_owned());
    let load = |flags: &[(&'static str, String)]| {
        Sources { flags: flags.to_vec(), ..Sources::default() }.load().map_err(|error| error.to_string())
    };
    let message = load(&[postgres.clone(), ("database_schema", long.clone())]).unwrap_err();
    for expected in [
        "database_url is ``; accepted: the URL of a database, since the backend is postgres (--backend)",
        "accepted: the name of a schema, 1 to 56 bytes, since the backend is postgres",
    ] {
        assert!(message.contains(expected), "{message}");
    }
    let shown = load(&[postgres, url]).unwrap().to_string();
    assert!(shown.contains("postgres://ann@db/talk") && !shown.contains("secret"), "{shown}");
    assert!(load(&[("database_schema", long)]).is_ok(), "another backend has no schema");
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.toml");
    fs::write(&path, "bufer_size = 3\n\nmax_batch = 0\nlisten = ['x']\n").unwrap();
    let message = problems(Sources {
        flags: vec![("memory_limit", "lots".into())],
        variables: variables(&[("UTTERD_MAX_TOKEN", "1"), ("UTTERD_BACKEND", "rocks")]),
        file: Some(path),
        ..Default::default()
    });
    for expected in [
        "mine.toml:1: there is no key `bufer_size`; the nearest is `buffer_size`",
        "mine.toml:3: max_batch is `0`; accepted: a number from 1 to 2147483647",
        "mine.toml:4: listen is `[\"x\"]`; accepted: text, a number, true or false",
        "there is no setting UTTERD_MAX_TOKEN, so it is ignored; the nearest is UTTERD_MAX_TOKENS",
        "UTTERD_BACKEND: backend is `rocks`; accepted: in-memory (also written memory), fjall (also written durable), sled or postgres",
        "--memory-limit: memory_limit is `lots`; accepted: bytes",
    ] {
        assert!(message.contains(expected), "{expected}\nis not in\n{message}");
    }
    assert_eq!(message.lines().count(), 7);
}

#[test]
fn a_named_file_must_exist() {
    let variables = variables(&[("UTTERD_CONFIG", "/nowhere/utterd.toml")]);
    let message = problems(Sources { variables, ..Default::default() });
    assert!(message.contains("/nowhere/utterd.toml: cannot be read"), "{message}");
}

#[test]
fn what_is_no_toml_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("utterd.toml"), "listen = \n").unwrap();
    let message = problems(Sources { directory: directory.path().into(), ..Default::default() });
    assert!(message.contains("is not TOML"), "{message}");
}

#[test]
fn variables_of_others_are_passed_over() {
    let variables = variables(&[
        ("UTTERD_SERVER", "http://x"),
        ("UTTERD_TOKEN", "secret"),
        ("UTTERD_TOKEN_FILE", "/x"),
        ("UTTERD_DATA", "/x"),
        ("UTTERD_LLM_API_KEY", "sk-secret"),
        ("UTTERD_SERVICE_HOST", "10.0.0.1"),
        ("UTTERD_SERVICE_PORT", "50051"),
        ("UTTERD_SERVICE_PORT_GRPC", "50051"),
        ("UTTERD_PORT", "tcp://10.0.0.1:50051"),
        ("UTTERD_PORT_50051_TCP_ADDR", "10.0.0.1"),
    ]);
    assert!(Sources { variables, ..Default::default() }.load().is_ok());
}

/// A variable of a newer version, or of a script, does not keep a server from starting.
#[test]
fn an_unknown_variable_is_a_warning() {
    let variables = variables(&[("UTTERD_MAX_TOKEN", "1"), ("UTTERD_MAX_BATCH", "4")]);
    let effective = Sources { variables, ..Default::default() }.load().unwrap();
    assert_eq!(effective.settings, Settings { max_batch: 4, ..Settings::default() });
    let warnings: Vec<_> = effective.warnings.iter().map(ToString::to_string).collect();
    let expected = "there is no setting UTTERD_MAX_TOKEN, so it is ignored; the nearest is UTTERD_MAX_TOKENS";
    assert_eq!(warnings, [expected]);
}

#[test]
fn an_eviction_leaves_no_more_than_there_may_be() {
    let flags = vec![("keep_utterances", "21".to_owned()), ("keep_turns", "2".to_owned())];
    let message = problems(Sources { flags, ..Default::default() });
    for expected in [
        "--keep-utterances: keep_utterances is `21`; accepted: at most buffer_size, 20 (default)",
        "--keep-turns: keep_turns is `2`; accepted: 0, since max_turns is 0, unlimited (default)",
    ] {
        assert!(message.contains(expected), "{expected}\nis not in\n{message}");
    }
    let flags = [("preset", "turns"), ("max_turns", "2")].map(|(name, text)| (name, text.to_owned()));
    assert!(
        Sources { flags: flags.into(), ..Default::default() }.load().is_ok(),
        "the preset's 3 is left out"
    );
}

#[test]
fn content_must_fit_a_message() {
    let given = |pairs: &[(&'static str, &str)]| Sources {
        flags: pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        ..Default::default()
    };
    let message = problems(given(&[("max_content_bytes", "8MiB"), ("max_message_bytes", "8MiB")]));
    assert!(message.contains("less than max_message_bytes, 8388608 (--max-message-bytes)"), "{message}");
    let message = problems(given(&[("max_content_bytes", "16777217")]));
    assert!(message.contains("accepted: at most 16777216 (16MiB)"), "{message}");
    let settings = given(&[("max_content_bytes", "1MiB")]).load().unwrap().settings;
    assert_eq!((settings.max_content_bytes, settings.max_message_bytes), (1 << 20, 17 << 20));
    for (message, content) in [("64MiB", 16 << 20), ("16MiB", 15 << 20), ("1MiB", 512 << 10)] {
        let settings = given(&[("max_message_bytes", message)]).load().unwrap().settings;
        assert_eq!(settings.max_content_bytes, content, "in messages of {message}");
    }
}

#[cfg(feature = "full")]
#[test]
fn a_model_is_named_where_there_is_a_protocol() {
    let with = |pairs: &[(&'static str, &str)]| Sources {
        flags: pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        ..Default::default()
    };
    let message = problems(with(&[("llm", "openai")]));
    let expected = "default: llm_model is ``; accepted: the name of a model, since llm is openai (--llm)";
    assert!(message.contains(expected), "{message}");
    let settings = with(&[("llm", "openai"), ("llm_model", "gpt-4.1-mini")]).load().unwrap().settings;
    assert_eq!((settings.llm, settings.llm_model.as_str()), (Llm::OpenAi, "gpt-4.1-mini"));
    let settings = with(&[("llm_models", " gpt-4.1, gpt-4.1-nano,,")]).load().unwrap().settings;
    assert_eq!(settings.llm_models, ["gpt-4.1", "gpt-4.1-nano"]);
}

#[cfg(feature = "full")]
#[test]
fn embeddings_are_of_a_model_at_an_address() {
    let with = |pairs: &[(&'static str, &str)]| Sources {
        flags: pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        ..Default::default()
    };
    let (url, model) = (("embedding_base_url", "http://127.0.0.1:1/v1"), ("embedding_model", "m"));
    let message = problems(with(&[url]));
    let expected = "default: embedding_model is ``; accepted: the name of a model, since there is an embedding_base_url (--embedding-base-url)";
    assert!(message.contains(expected), "{message}");
    let message = problems(with(&[model]));
    assert!(message.contains("default: embedding_base_url is ``; accepted: the address of"), "{message}");
    for (wrong, accepted) in [
        (("embedding_dimensions", "4097"), "accepted: a number from 0 (the model's default) to 4096"),
        (("embedding_base_url", "127.0.0.1:1"), "accepted: an address that begins with http://"),
        (("embedding_timeout", "0s"), "accepted: a time above 0"),
    ] {
        let message = problems(with(&[url, model, wrong]));
        assert!(message.contains(accepted), "{message}");
    }
    let settings = with(&[url, model, ("embedding_dimensions", "384")]).load().unwrap().settings;
    assert_eq!((settings.embedding_dimensions, settings.embedding_model.as_str()), (384, "m"));
}

#[test]
fn an_open_address_asks_for_a_guard() {
    let with = |pairs: &[(&'static str, &str)]| Sources {
        flags: pairs.iter().map(|(name, text)| (*name, (*text).to_owned())).collect(),
        ..Default::default()
    };
    for near in ["127.0.0.1:1", "127.8.8.8:1", "[::1]:1"] {
        assert!(with(&[("listen", near)]).load().is_ok(), "{near}");
    }
    for open in ["0.0.0.0:1", "10.0.0.1:1", "[::]:1"] {
        let message = problems(with(&[("listen", open)]));
        let expected = format!(
            "--listen: listen is `{open}`; accepted: an address of this machine alone, such as 127.0.0.1:1, since callers are not authenticated (credentials, jwt_keys), and there is no TLS (tls_cert, tls_key)"
        );
        assert!(message.contains(&expected), "{message}");
        let message = problems(with(&[("listen", open), ("credentials", "x")]));
        assert!(message.contains("since there is no TLS (tls_cert, tls_key): tokens"), "{message}");
        assert!(message.contains("allow_insecure = true (--allow-insecure true)"), "{message}");
        let message = problems(with(&[("listen", open), ("tls_cert", "x"), ("tls_key", "x")]));
        assert!(message.contains("since callers are not authenticated"), "{message}");
        let guarded = [("listen", open), ("tls_cert", "x"), ("tls_key", "x"), ("credentials", "x")];
        assert!(with(&guarded).load().is_ok(), "{open}");
        assert!(with(&[("listen", open), ("allow_insecure", "true")]).load().is_ok(), "{open}");
    }
}

#[cfg(feature = "full")]
#[test]
fn jwts_are_made_for_this_server() {
    let flags = vec![("jwt_keys", "keys.json".to_owned())];
    let message = problems(Sources { flags: flags.clone(), ..Default::default() });
    let expected = "default: jwt_audience is ``; accepted: what the `aud` of JWTs for this server holds, since there are jwt_keys (--jwt-keys)";
    assert!(message.contains(expected), "{message}");
    let flags = [flags, vec![("jwt_audience", "utterd".to_owned())]].concat();
    assert!(Sources { flags, ..Default::default() }.load().is_ok());
}

#[cfg(feature = "full")]
#[test]
fn what_is_shown_loads_to_the_same_settings() {
    let directory = tempfile::tempdir().unwrap();
    let flags = [
        ("preset", "turns"),
        ("memory_limit", "1000"),
        ("backend", "durable"),
        ("data_dir", "with \"quotes\" and \\"),
        ("flush", "1s 500ms"),
        ("scrub_interval", "1day"),
        ("traces_sampled", "0.25"),
        ("llm", "anthropic"),
        ("llm_base_url", "https://llm.example.com"),
        ("llm_model", "one \"model\""),
        ("llm_api_key_file", "/run/secrets/key"),
    ]
    .map(|(name, text)| (name, text.to_owned()))
    .to_vec();
    let first = Sources { flags, ..Default::default() }.load().unwrap();
    let path = directory.path().join("shown.toml");
    fs::write(&path, first.to_string()).unwrap();
    let second = Sources { file: Some(path), ..Default::default() }.load().unwrap();
    assert_eq!(first.settings, second.settings);
}

/// `UPDATE_DOCS=1 cargo test -p utterd-config --features full` rewrites the table in docs/configuration.md.
#[test]
fn the_docs_list_every_default() {
    const BEGIN: &str = "<!-- made from crates/config/src/keys.rs -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once("<!-- end -->").unwrap();
    let rows = KEYS.iter().map(|key| match key.default_text() {
        text if text.is_empty() => format!("| `{}` | | {} |\n", key.name, key.help),
        text => format!("| `{}` | `{text}` | {} |\n", key.name, key.help),
    });
    let rows: String = rows.collect();
    let made = format!("{head}{BEGIN}| setting | default | |\n|---|---|---|\n{rows}<!-- end -->{tail}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &made).unwrap();
    } else {
        assert_eq!(page, made, "docs/configuration.md is not as the settings are");
    }
}

#[test]
fn a_setting_of_a_part_that_is_not_built_is_refused_by_name() {
    for (part, key, value) in [
        (Part::Fjall, "backend", "fjall"),
        (Part::Sled, "backend", "sled"),
        (Part::Inspector, "inspector", "127.0.0.1:1"),
        (Part::Jwt, "jwt_issuer", "https://issuer.example.com"),
        (Part::Llm, "llm_timeout", "7s"),
        (Part::Llm, "embedding_dimensions", "384"),
        (Part::Otel, "traces_sampled", "0.25"),
        (Part::Postgres, "database_connections", "3"),
    ] {
        let loaded = Sources { flags: vec![(key, value.to_owned())], ..Sources::default() }.load();
        match (loaded, part.built()) {
            (Ok(_), Ok(())) => {}
            (Err(refused), Err(unbuilt)) => {
                let told = format!("--{}: {key} is `{value}`; accepted: ", key.replace('_', "-"));
                let refused = refused.to_string();
                assert!(
                    refused.contains(&told) && refused.ends_with(&format!("since this program is {unbuilt}"))
                );
            }
            (loaded, _) => panic!("{part:?}: {key} = {value}: {}", loaded.is_ok()),
        }
    }
}
