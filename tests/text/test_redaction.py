"""Secrets are masked, also cut ones, and nothing else is."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.quality import secrets
from ebbtide.text.redaction import is_secret_field, redact, redacted
from ebbtide.text.secret_rules import SECRET_RULES

HEX = "9f3c1b7ae04d5826f1c09b3d7e5a2468"
# What stands around a secret, what of it anybody may see, and what nobody may; in parts, so that no scanner
# takes the file for a leak.
SECRETS = json.loads((Path(__file__).parents[1] / "secrets.json").read_text(encoding="utf-8"))
HARMLESS = [
    "commit 3fb2a9c1d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8, sha256:" + HEX * 2,
    "123e4567-e89b-12d3-a456-426614174000",
    "toolu_01A09q90qw90lq917835lq9 call_AbCdEf0123456789xy msg_01XyZAbCd chatcmpl-9xKq2Vb9TzR4mW8sLc3",
    "claude-sonnet-4-20250514 gpt-4o-2024-08-06 meta-llama/Llama-3.1-70B-Instruct",
    "/srv/app/src/secret/token_store.py:42 ./auth/password_reset.py C:\\auth\\token.txt",
    "max_tokens=4096 input_tokens: 128000 token_count=17 tokens: 1,024",
    "http://localhost:8080/path http://127.0.0.1:5000 http://[::ffff:192.9.5.5] http://localhost:-1",
    "password = get_password(user) password = self.password password=password",
    "token = tokens[i]; secret = os.environ['APP_SECRET']; api_key=os.environ[\"X\"]",
    '"password": "<your password>" password=${DB_PASSWORD} PASSWORD=$1 password: ********',
    "secret_name: my-app-secret-v2, tokenizer: bert-base-uncased-v1, author: jsmith1987",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "sk-container-id-10 sk-toggleable__content-arrow npm_config_registry npm_lifecycle_event hf_hub_download",
    "Bearer authentication is used; basic auth: required; the --password suffers from the same",
    "nextPageToken=CAUQAAdh3kd93jf83jf next_token: x7Kq2Vb9TzR4mW8s",
    "PASS: test_login_view  PWD=/srv/app  -----BEGIN CERTIFICATE-----",
    "ssh-rsa key, primary key=id7, keyboard: 104, monkey=3fb2a9c1d0e4f5a6",
    "git@github.com:foo/bar.git 10.0.0.1:5432 2024-01-02T03:04:05Z 0x7f3a9c1d0e4f",
]


@pytest.mark.parametrize(("around", "seen", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_masked(around, seen, secret) -> None:
    """Nothing of it is left but the last characters of a long one."""
    text = around.format(seen + secret)
    masked = redact(text)
    assert longest_part(secret, masked) <= 4
    assert "[" in masked
    assert redact(masked) == masked


@pytest.mark.parametrize(("around", "seen", "secret"), SECRETS.values(), ids=SECRETS)
def test_a_secret_that_was_cut_is_masked(around, seen, secret) -> None:
    """Wherever an excerpt ends, no more of it is seen than the first characters."""
    text = around.format(seen + secret)
    start = text.index(secret)
    for end in range(start, start + len(secret)):
        for mark in ("", "\u2026", "..."):
            masked = redact(text[:end] + mark)
            assert longest_part(secret, masked) <= 15, masked


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text) -> None:
    """Hashes, ids, paths, models, numbers, code and placeholders are shown as they are."""
    assert redact(text) == text


@pytest.mark.parametrize(("kind", "rows"), secrets.planted(seed=3, each=5).items())
def test_a_kind_of_a_known_service_is_masked(kind: str, rows: list[tuple[str, list[str]]]) -> None:
    """Of a secret in the shape that its service gives it no part is left that is of use."""
    assert not any(secrets.shows(redact(text), made) for text, made in rows), kind


def test_a_text_that_looks_like_a_secret_is_shown() -> None:
    """Types in code, addresses of secrets, names, ids and hashes stay as they are."""
    innocents = secrets.INNOCENTS.splitlines()
    assert len(innocents) >= 100
    assert [text for text in innocents if redact(text) != text] == []


def test_a_password_may_be_a_word() -> None:
    """In quotes, after an option, in an address and in the environment it is one, whatever it looks like."""
    for text in ("password='{}'", "--password {}", "ftp://a:{}@b", "PGPASSWORD={}", '{{"passwd": "{}"}}'):
        assert redact(text.format("marmalade")) == text.format("[password]")
    value = ("password='marmalade'", "we had marmalade", "key is m4rm4l4d3", "password='m4rm4l4d3'")
    assert redacted(value) == (
        "password='[password]'",
        "we had marmalade",
        "key is [password]",
        "password='[password]'",
    )


def test_each_rule_is_reached() -> None:
    """Every hint is in small letters, since it is looked for in a text in small letters."""
    assert [rule for rule in SECRET_RULES if any(hint != hint.lower() for hint in rule.hints)] == []


@given(
    st.text(max_size=200),
    st.sampled_from([each[1] + each[2] for each in SECRETS.values()]),
    st.text(max_size=20),
)
def test_masking_twice_changes_nothing(before, secret, after) -> None:
    """What was masked is no secret any more, whatever stands around it."""
    once = redact(f"{before} {secret} {after}")
    assert redact(once) == once


def test_long_texts_take_no_longer_than_they_are_long() -> None:
    """A text of a million characters that look like the beginning of everything is done soon."""
    for part in (
        "password=",
        "://a:",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "token",
        "sk-",
        "Cookie: a=b;",
        "AKIA",
    ):
        redact(part * 20_000)


@dataclass(frozen=True)
class Inner:
    text: str
    number: int = 1


class Pair(NamedTuple):
    left: str
    right: Inner


def test_texts_anywhere_in_a_value_are_masked() -> None:
    """Dataclasses, tuples, lists and tables are gone through; what holds no secret stays the same object."""
    clean = Inner("nothing")
    value = (clean, [Inner("password='marmalade'")], {"api_key='" + HEX + "'": Pair("a", clean)}, 7, None)
    masked = redacted(value)
    assert masked[0] is clean
    assert masked[1] == [Inner("password='[password]'")]
    assert list(masked[2]) == ["api_key='[secret ...2468]'"]
    assert masked[2].popitem()[1] == Pair("a", clean)
    assert redacted((clean, 1)) == (clean, 1)


def test_a_part_that_was_cut_out_of_a_secret_is_masked() -> None:
    """As where the words behind a colon are shown by themselves."""
    around, seen, secret = json.loads(
        (Path(__file__).parents[1] / "secrets.json").read_text(encoding="utf-8")
    )["telegram"]
    whole, cut = redacted([around.format(seen + secret), f"chosen: {secret}"])
    assert secret not in whole + cut


def test_what_is_nested_too_deeply_is_not_shown() -> None:
    """No secret is shown for lying deep, and no depth is an error."""
    value: object = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    for _ in range(100_000):
        value = [value]
    shown = redacted(value)
    depth = 0
    while isinstance(shown, list):
        (shown,), depth = shown, depth + 1
    assert (depth, shown) == (201, "[nested too deeply to be looked through for secrets]")


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "apiKey", "X-Api-Key", "client_secret", "access_token", "Authorization"],
)
def test_names_of_secret_fields(name) -> None:
    """A field that holds a secret is known by its name."""
    assert is_secret_field(name)


@pytest.mark.parametrize(
    "name", ["path", "max_tokens", "secret_name", "token_type", "author", "query", "passenger", "key"]
)
def test_names_of_other_fields(name) -> None:
    """Other fields are not."""
    assert not is_secret_field(name)


def longest_part(secret: str, text: str) -> int:
    """Characters of the longest part of the secret that the text holds, its beginning and end included."""
    return max(
        (
            size
            for size in range(1, len(secret) + 1)
            if any(secret[at : at + size] in text for at in range(len(secret) - size + 1))
        ),
        default=0,
    )
