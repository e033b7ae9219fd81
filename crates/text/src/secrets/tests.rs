use proptest::prelude::*;

use super::{look::TABLE, *};

/// Texts with made-up credentials; `~` stands in each so that no scanner takes this file for a leak.
const CREDENTIALS: &[&str] = &[
    // by their prefix
    "ghp_~16C7e42F292c6912E7710c838347Ae178B4a",
    "push with github_pat_~11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789abcdefghijklmnopqrstuv",
    "AKIA~IOSFODNN7EXAMPQE is in the log",
    "ASIA~Y34FZKBOKMUTVV7A",
    "sk-~proj-9aB3xYz0QwErTyUiOpAsDfGhJkLzXcVbNm12",
    "sk-~ant-api03-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe",
    "xoxb-~2048132-99812345-AbCdEfGhIjKlMnOp",
    "xapp-~1-A02-31337-d0d0cafe99",
    "AIza~SyD4x8Kq2mN7pR1sT5uV9wX3yZ6aB0cD2eF",
    "sk_~live_4eC39HqLyjWDarjtT1zdp7dc",
    "rk_~live_51H8xKq2eZvKYlo2C0aB3dE4",
    "glpat-~x8Kq2mN7pR1sT5uV9wX3",
    "npm_~k3J9xQ2mZ7pR1sT5uV9wX3yZ6aB0cD2eF4gH",
    "pypi-~AgEIcHlwaS5vcmcCJDk4YjM2ZTA1LWQ4YTItNDY3",
    "hf_~QxKzRmNpTsVwYbCdFgHjLkMnPqRsTvWx12",
    "SG.~ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbihYzrnopKc1s5crA",
    "SK~5f3c9a7e1b8d4026af91c3d5e7b90842",
    "dop_~v1_b5f0c9e8d7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0",
    "hvs.~CAESIJ9x2mZ7pR1sT5uV9wX3yZ6aB0cD2eF4gH5",
    "ya29.~a0AfH6SMBx8Kq2mN7pR1sT5uV9wX3yZ6aB0cD",
    "GOCSPX-~k3J9xQ2mZ7pR1sT5uV9wX3yZ6aB0",
    "shpat_~5f3c9a7e1b8d4026af91c3d5e7b90842",
    "eyJ~hbGciOiJIUzI1NiJ9.eyJ~zdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    // by what surrounds them
    "110201543:~AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawq",
    "MTk4NjIyNDgzNDcxOTI1MjQ4~.Cl2FMQ.~ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    "-----BEGIN RSA ~PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----",
    "postgres://app:~s3cr3tPw@db.example.org:5432/app",
    "redis://:~p4ssw0rd@cache:6379/0",
    "https://bob:~hunter22@git.example.org/a.git",
    "curl -u admin:~Tr0ub4dor https://api.example.org",
    "curl --user 'bob:~q8!kfz02' https://api.example.org",
    // by their label
    "Authorization: Bearer ~mF_9.B5f-4.1JqM",
    "-H 'Authorization: Basic ~dXNlcjpwYXNzd29yZA=='",
    "mysql --password ~Qx7kLm92 -h db",
    "mysql --password=~Qx7kLm92",
    "DB_PASSWORD=~correcthorse",
    "export AWS_SECRET_ACCESS_KEY=~wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ8kLmN2p",
    "\"password\": \"~Sommer2024\"",
    "{\"client_secret\":\"~9f8Kd02mQx71LzPo\"}",
    "{\\\"api_key\\\": \\\"~9f8Kd02mQx71LzPo\\\"}",
    "x-api-key: ~4f9d8a7c6b5e4d3c2b1a",
    "Server=db;User Id=sa;Password=~Pa55w0rd!x;Encrypt=true",
    "AccountKey=~k3J9xQ2mZ7pR1sT5uV9wX3yZ6aB0cD2eF4gH==;",
    "my password is ~Blue#Kettle9, please log in",
    "The wifi password is ~kettle-42-blue.",
    "Mein Passwort lautet ~Sommer2024!",
    "mi contraseña es ~Girasol88",
    "mon mot de passe est ~Tournesol88",
    "мой пароль: ~Podsolnuh88",
    "密码是~Xiangrikui88",
    "パスワードは ~Himawari88x です",
    "passphrase: \"~correct horse battery staple\"",
    "Cookie: theme=dark; session=~s%3Ak3J9xQ2mZ7pR1sT5uV9",
    "Set-Cookie: JSESSIONID=~0A1B2C3D4E5F60718293A4B5; Path=/",
    "https://example.org/cb?access_token=~k3J9xQ2mZ7pR1sT5&state=1",
    "<password>~Sommer2024</password>",
    "clientSecret = '~9f8Kd02mQx71LzPo'",
    "| admin_password | ~Sommer2024 |",
    "**API key:** ~9f8Kd02mQx71LzPo",
    "secret_key_base: ~0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "--api-key ~9f8Kd02mQx71LzPo",
    "set the token to ~9f8Kd02mQx71LzPo",
];

/// Texts that look like some, and are none.
const OTHERS: &[&str] = &[
    "commit 8b8a0d67c3f1e2a4b5d6978812345678deadbeef",
    "the session 550e8400-e29b-41d4-a716-446655440000 ended",
    "session_id: 550e8400-e29b-41d4-a716-446655440000",
    "order #W2378156 was shipped",
    "token_count: 123456789012",
    "max_tokens=4096",
    "password: required",
    "the token bucket algorithm",
    "secretary: Marta Kovalenko",
    "tokens: 1,024",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0ba822c15d6c15b0f00a08",
    "credentials: /home/anna/.config/app/credentials2024.json",
    "secret: config/prod/keys_v2/signing.pem",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password=getpass.getpass()",
    "password: settings.DB_PASSWORD",
    "DB_PASSWORD=$DB_PASS123",
    "DB_PASSWORD=${DB_PASS:-abc123}",
    "API_KEY=<your-api-key-123456>",
    "api_key: YOUR_API_KEY_HERE_123",
    "The password must have at least 8 characters",
    "\"password\": \"must be at least 8 characters\"",
    "password is required",
    "I forgot my password, what now?",
    "password reset: https://example.org/reset/12345678",
    "nextPageToken: CAUQAA12345678abcd",
    "the secret to 10x growth is patience",
    "https://example.org:8080/a@b/c",
    "docker run -u 1000:1000 image",
    "chown -u www-data:www-data .",
    "author: J.K.Rowling1965",
    "sk-learn-style-estimators-are-here-to-stay",
    "git@github.com:acme/shop.git at 10:30:00",
    "primary key: order_12345678",
    "tokenizer: cl100k_base_2023",
    "auth: disabled",
    "Authorization: required",
    "postgres://user:$DB_PASSWORD@host/db",
    "postgres://user:<password>@host/db",
    "the bearer of this letter",
    "inside: 12345678abcdef90",
    "password: ********",
    "passwords: 12 in total",
    "x-request-id: 4f9d8a7c6b5e4d3c2b1a",
    "def login(user, password): return token",
    "PT2291K, HAT069, AB12CD",
    "User(name=name, password=hashed_password)\\n    db.save2()",
    "const password = req.body.password1;",
    "pwd: /home/anna/project1",
    "user.password = hashPassword123(req.body.password)",
    "let token = parser.next_token2();",
    "secret santa: Friday at 18:00",
];

#[test]
fn credentials_are_found() {
    let is_missed = |text: &String| !redact(text).contains(MARK) || !find(&redact(text)).is_empty();
    let texts = CREDENTIALS.iter().map(|text| text.replace('~', ""));
    assert_eq!(texts.filter(is_missed).collect::<Vec<_>>(), [""; 0]);
    assert!(CREDENTIALS.len() >= 40);
}

#[test]
fn what_is_none_stays() {
    let redacted: Vec<_> = OTHERS.iter().map(|text| redact(text)).collect();
    assert_eq!(redacted, OTHERS);
    assert!(OTHERS.len() >= 30);
}

#[test]
fn only_the_credential_goes() {
    let clean = |text: &str| redact(&text.replace('~', "")).into_owned();
    assert_eq!(clean("postgres://app:~s3cr3tPw@db/app"), "postgres://app:[secret]@db/app");
    assert_eq!(clean("my password is ~Kettle-9x, ok?"), "my password is [secret], ok?");
    assert_eq!(clean("a=1 Password=~Pa55w0rd;b=2"), "a=1 Password=[secret];b=2");
    assert_eq!(clean("use ghp_~16C7e42F292c6912E7710c838347Ae178B4a."), "use [secret].");
    assert_eq!(clean("Authorization: Bearer ~mF_9.B5f-4.1JqM'"), "Authorization: Bearer [secret]'");
    assert_eq!(clean("{\"token\": \"~9f8Kd02mQx71LzPo\", \"n\": 1}"), "{\"token\": \"[secret]\", \"n\": 1}");
}

#[test]
fn the_table_is_sorted_and_whole() {
    assert!(TABLE.lines().is_sorted_by(|one, next| one < next));
    let kinds = ["prefix", "word", "around", "login", "password", "key", "session", "before", "plain"];
    let listed = kinds.iter().flat_map(|kind| PATTERNS.listed(kind));
    assert_eq!(listed.count(), TABLE.lines().count(), "every line is read");
    assert!(["prefix", "word", "around", "login", "plain"].iter().all(|kind| PATTERNS.get(kind).is_some()));
    assert!(VALUE.is_some() && LABELS.is_some());
}

#[test]
fn long_texts_take_time_in_proportion() {
    for piece in [
        "token=",
        "token:“",
        "password: ",
        "-----BEGIN ",
        "a://b:c@",
        "://",
        "-u a:",
        "hf_",
        "eyJ.",
        "a:",
        ";-token",
        "\"secret\":",
        "1",
        "-----BEGIN PRIVATE KEY",
        "Mab.",
        "--token x",
    ] {
        redact(&piece.repeat((1 << 17) / piece.len()));
    }
}

proptest! {
    #[test]
    fn any_text_is_handled(
        text in "\\PC*|((password|token|secret|://|[ =:\"'@.-]|[$<{\\[%*…(&]|-u |sk-|eyJ|[a-zA-Z0-9é]{1,9}|\\PC){0,40})",
    ) {
        let clean = redact(&text);
        prop_assert_eq!(matches!(clean, Cow::Owned(_)), !find(&text).is_empty());
    }
}
