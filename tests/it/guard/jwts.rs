//! JWTs: which are accepted, and what they permit.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use utterd::{
    proto::conversation_service_client::ConversationServiceClient,
    server::{Peer, Server},
};

use crate::{
    guard::{
        guarded::{CREDENTIALS, Guarded, KEYS, bearer, call, entry, with},
        issuer::{Issuer, NOON, RSA_PEM, claims, claims_with, hmac_of},
    },
    support::prelude::*,
};

const LIST: &str = "/utterd.v1.ConversationService/ListConversations";
const CREATE: &str = "/utterd.v1.ConversationService/CreateConversation";

/// A public key of RSA with 1,024 bits.
const SHORT_RSA_PEM: &str = "-----BEGIN PUBLIC KEY-----\n\
    MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCyVgHIiAyXok2PRAU5VpyYl1sm\n\
    9TSNOP/RVyJzASxXWIzB7BQLKWEB6o2U5v41BQ13MRXq3ekhgmmbr/4vd+bWAdA8\n\
    fHFzruX27t0ICVYNjm2tj2FAlk0mrDTS8ZV8rAcxv3SAHKAaikx699dUNu6yV0wC\n\
    pbJ5fLQCBp6IJjbZOQIDAQAB\n\
    -----END PUBLIC KEY-----\n";

/// A server that trusts `keys`.
async fn server(keys: &str) -> Guarded {
    Guarded::with_files(&[(KEYS, keys)], |settings| utterd::config::Settings {
        jwt_issuer: "https://issuer.test".into(),
        jwt_audience: "utterd".into(),
        ..settings
    })
    .await
}

async fn refused(server: &Guarded, token: &str) -> Refused {
    server.refusal(LIST, &bearer(token)).await
}

#[tokio::test]
async fn a_token_of_each_kind_of_key_is_accepted() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    for (algorithm, key) in [("RS256", "rsa"), ("ES256", "ec"), ("EdDSA", "ed"), ("HS256", "oct")] {
        for header in [json!({"alg": algorithm, "kid": key}), json!({"alg": algorithm, "typ": "JWT"})] {
            let token = issuer.token(&header, &claims());
            server.call(CREATE, &bearer(&token)).await.expect("it is accepted");
            server.call(LIST, &bearer(&token)).await.expect("and again");
        }
    }
}

#[tokio::test]
async fn a_public_key_in_pem_will_do() {
    let issuer = Issuer::new();
    let server = server(RSA_PEM).await;
    for header in [json!({"alg": "RS256"}), json!({"alg": "RS256", "kid": "any"})] {
        server.call(LIST, &bearer(&issuer.token(&header, &claims()))).await.expect("it is accepted");
    }
    let token = issuer.token(&json!({"alg": "ES256"}), &claims());
    refused(&server, &token).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn claims_say_the_namespace_and_the_role() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let header = json!({"alg": "EdDSA"});
    let token = |name: &str, value: Value| issuer.token(&header, &claims_with(name, value));
    let mut client = ConversationServiceClient::new(server.channel());
    let create = CreateConversationRequest { conversation_id: "a".into(), ..Default::default() };
    client
        .create_conversation(with(&token("sub", Value::Null), create.clone()))
        .await
        .expect("it is created");
    client
        .create_conversation(with(&token("namespace", json!("shop-2")), create.clone()))
        .await
        .expect("another");
    let twice =
        client.create_conversation(with(&token("sub", json!("b")), create)).await.expect_err("it is there");
    Refused::new(twice).is(Code::AlreadyExists, "CONVERSATION_EXISTS");
    for reader in [token("role", Value::Null), token("role", json!("read-only"))] {
        server.call(LIST, &bearer(&reader)).await.expect("it may read");
        server.refusal(CREATE, &bearer(&reader)).await.is(Code::PermissionDenied, "ROLE_FORBIDS");
    }
}

#[tokio::test]
async fn what_the_issuer_does_not_say_is_refused() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let wrong = [
        ("iss", json!("https://other.test")),
        ("iss", Value::Null),
        ("iss", json!(7)),
        ("iss", json!(["https://issuer.test"])),
        ("iss", json!(["https://other.test", "https://issuer.test"])),
        ("aud", json!("another")),
        ("aud", json!(["another"])),
        ("aud", Value::Null),
        ("exp", Value::Null),
        ("exp", json!("soon")),
        ("nbf", json!(NOON + 61)),
        ("namespace", Value::Null),
        ("namespace", json!("")),
        ("namespace", json!(1)),
        ("role", json!("root")),
        ("role", json!(["admin"])),
        ("sub", json!("a\nb")),
    ];
    for (name, value) in wrong {
        let token = issuer.token(&json!({"alg": "ES256"}), &claims_with(name, value.clone()));
        let refused = refused(&server, &token).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
        assert_eq!(refused.message(), "the credential is not accepted", "{name} {value}");
    }
    for (name, value) in
        [("aud", json!(["another", "utterd"])), ("nbf", json!(NOON + 60)), ("more", json!({"a": [1.5]}))]
    {
        let token = issuer.token(&json!({"alg": "ES256"}), &claims_with(name, value));
        server.call(LIST, &bearer(&token)).await.expect("it is accepted");
    }
}

#[tokio::test]
async fn a_signature_that_no_key_made_is_refused() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let good = issuer.token(&json!({"alg": "RS256"}), &claims());
    let (message, signature) = good.rsplit_once('.').expect("a signature");
    let other = Issuer::new().token(&json!({"alg": "ES256", "kid": "ec"}), &claims());
    let wrong = [
        issuer.token(&json!({"alg": "none"}), &claims()),
        issuer.token(&json!({"alg": "None"}), &claims()),
        issuer.token(&json!({}), &claims()),
        issuer
            .signed(&json!({"alg": "HS256", "kid": "rsa"}), &claims(), |it| hmac_of(RSA_PEM.as_bytes(), it)),
        issuer.signed(&json!({"alg": "HS256"}), &claims(), |it| hmac_of(RSA_PEM.as_bytes(), it)),
        issuer.token(&json!({"alg": "RS256", "kid": "nobody"}), &claims()),
        issuer.token(&json!({"alg": "RS256", "kid": "ec"}), &claims()),
        issuer.token(&json!({"alg": "RS256", "kid": "other"}), &claims()),
        issuer.token(&json!({"alg": "HS256", "kid": "ec"}), &claims()),
        issuer.token(&json!({"alg": "RS256", "crit": ["exp"], "exp": 1}), &claims()),
        other,
        format!("{message}."),
        format!("{message}.{}", signature.replace(|c: char| c.is_ascii_digit(), "x")),
        format!("{}.{signature}", message.to_lowercase()),
        "..".into(),
        "a.b".into(),
        format!("{good}.x"),
    ];
    for token in wrong {
        refused(&server, &token).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
    server.call(LIST, &bearer(&good)).await.expect("it is accepted");
}

/// Everybody knows the public key: as an HMAC secret it would admit everybody.
#[tokio::test]
async fn a_public_key_is_no_secret_of_hmac() {
    let issuer = Issuer::new();
    let server = server(RSA_PEM).await;
    let body: String = RSA_PEM.lines().filter(|line| !line.starts_with('-')).collect();
    for secret in [RSA_PEM.as_bytes(), RSA_PEM.trim_end().as_bytes(), body.as_bytes()] {
        let token = issuer.signed(&json!({"alg": "HS256"}), &claims(), |it| hmac_of(secret, it));
        refused(&server, &token).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
}

#[tokio::test]
async fn a_token_expires_a_minute_after_it_says() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let token = issuer.token(&json!({"alg": "ES256"}), &claims_with("exp", json!(NOON + 10)));
    server.call(LIST, &bearer(&token)).await.expect("it is good");
    server.clock.advance(Duration::from_secs(69));
    server.call(LIST, &bearer(&token)).await.expect("clocks differ");
    server.clock.advance(Duration::from_secs(1));
    refused(&server, &token).await.is(Code::Unauthenticated, "EXPIRED_CREDENTIALS");
    let long_ago = claims_with("exp", json!(NOON - 1_000));
    let old = issuer.token(&json!({"alg": "ES256"}), &long_ago);
    refused(&server, &old).await.is(Code::Unauthenticated, "EXPIRED_CREDENTIALS");
    refused(&server, &old).await.is(Code::Unauthenticated, "EXPIRED_CREDENTIALS");
    // who cannot sign learns nothing about the times of a token
    let forged =
        issuer.signed(&json!({"alg": "HS256", "kid": "oct"}), &long_ago, |it| hmac_of(b"another", it));
    refused(&server, &forged).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    let unsigned = issuer.token(&json!({"alg": "none"}), &long_ago);
    refused(&server, &unsigned).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn tokens_of_both_kinds_are_accepted_side_by_side() {
    let issuer = Issuer::new();
    let credentials = entry("one", "shop-1", "read-write", "token-1");
    let keys = issuer.keys();
    let server = Guarded::with_files(&[(CREDENTIALS, &credentials), (KEYS, &keys)], |settings| {
        utterd::config::Settings { jwt_audience: "utterd".into(), ..settings }
    })
    .await;
    server.call(LIST, &bearer("token-1")).await.expect("it is accepted");
    let token = issuer.token(&json!({"alg": "ES256"}), &claims_with("iss", Value::Null));
    server.call(LIST, &bearer(&token)).await.expect("any issuer with the key will do");
}

/// Someone sends tokens that nobody signed, each a different one.
#[tokio::test]
async fn junk_is_refused_and_shuts_out_nobody_else() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let connect = async |number| {
        server.connect_as(Peer::new(number, Some("192.0.2.1:7".parse().expect("an address")))).await
    };
    let (hostile, neighbour) = (connect(1).await, connect(2).await);
    let good =
        |subject: &str| bearer(&issuer.token(&json!({"alg": "ES256"}), &claims_with("sub", json!(subject))));
    for number in 0..200 {
        let claims = claims_with("sub", json!(number.to_string()));
        let junk =
            issuer.signed(&json!({"alg": "HS256", "kid": "oct"}), &claims, |it| hmac_of(b"another", it));
        let status = call(hostile.clone(), LIST, &bearer(&junk)).await.expect_err("nobody signed it");
        Refused::new(status).is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    }
    for (connection, subject) in [(&hostile, "one"), (&neighbour, "other"), (&neighbour, "one")] {
        call(connection.clone(), LIST, &good(subject)).await.expect("it is accepted");
    }
}

#[tokio::test(start_paused = true)]
async fn one_subject_in_two_namespaces_is_two_callers() {
    let issuer = Issuer::new();
    let server = Guarded::with_files(&[(KEYS, &issuer.keys())], |settings| utterd::config::Settings {
        jwt_audience: "utterd".into(),
        calls_per_second: 1,
        ..settings
    })
    .await;
    let of = |namespace: &str| {
        bearer(&issuer.token(&json!({"alg": "ES256"}), &claims_with("namespace", json!(namespace))))
    };
    server.call(LIST, &of("shop-1")).await.expect("the first");
    server.refusal(LIST, &of("shop-1")).await.is(Code::ResourceExhausted, "TOO_MANY_CALLS_A_SECOND");
    server.call(LIST, &of("shop-2")).await.expect("the other's first");
}

#[tokio::test]
async fn keys_that_cannot_be_used_are_named() {
    let issuer = Issuer::new();
    let short = json!({"keys": [{"kty": "oct", "k": "c2hvcnQ"}]}).to_string();
    let planted = json!({"keys": [{"kty": "oct", "k": ["planted-secret"]}]}).to_string();
    let modulus = BASE64.encode([0xff; 128]);
    let rsa = json!({"keys": [{"kty": "RSA", "n": modulus, "e": "AQAB"}]}).to_string();
    let long = json!({"keys": [{"kty": "RSA", "n": BASE64.encode([0xff; 1_025]), "e": "AQAB"}]}).to_string();
    let odd = [&[0, 0x7f][..], &[0xff; 255]].concat();
    let odd = json!({"keys": [{"kty": "RSA", "n": BASE64.encode(odd), "e": "AQAB"}]}).to_string();
    let private = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let cases = [
        ("{\n", "line 2: is neither a JWK set"),
        ("{\"keys\": []}", "line 1: holds no key"),
        (&short, "line 1: keys[0]: has 5 bytes; accepted: 32 or more"),
        (&planted, "line 1: holds no key"),
        (&rsa, "line 1: keys[0]: has 1024 bits; accepted for RSA: 2048 to 8192"),
        (&long, "line 1: keys[0]: has 8200 bits; accepted for RSA"),
        (&odd, "line 1: keys[0]: has 2047 bits; accepted for RSA"),
        (SHORT_RSA_PEM, "line 1: key 1: has 1024 bits; accepted for RSA: 2048 to 8192"),
        (private, "line 1: holds no key"),
    ];
    for (text, told) in cases {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("keys");
        std::fs::write(&file, text).expect("it is written");
        let settings = utterd::config::Settings {
            jwt_keys: Some(file),
            jwt_audience: "utterd".into(),
            ..Default::default()
        };
        let error = match Server::new(&settings, ManualClock::new()) {
            Ok(_) => panic!("the server starts with {text}"),
            Err(error) => error.to_string(),
        };
        assert!(error.starts_with("jwt_keys: ") && error.contains(told), "{error}");
        assert!(!error.contains("planted"), "{error}");
    }
    server(&issuer.keys()).await;
}

#[tokio::test(start_paused = true)]
async fn keys_are_read_again_when_they_change() {
    let issuer = Issuer::new();
    let server = server(&issuer.keys()).await;
    let token = issuer.token(&json!({"alg": "ES256"}), &claims());
    server.call(LIST, &bearer(&token)).await.expect("it is accepted");
    server.write(KEYS, RSA_PEM);
    tokio::time::sleep(Duration::from_secs(3)).await;
    refused(&server, &token).await.is(Code::Unauthenticated, "INVALID_CREDENTIALS");
    let token = issuer.token(&json!({"alg": "RS256"}), &claims());
    server.call(LIST, &bearer(&token)).await.expect("it is accepted");
}
