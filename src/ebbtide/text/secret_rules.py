"""Shapes of secrets: of known keys, and of fields whose names say that they hold a secret.

A row holds for a key that was cut at its end too, as an excerpt cuts it: the shortest that it takes is far
shorter than the whole key, and what begins like one is masked.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple


class SecretForm(Enum):
    """Form that a value needs before it is taken for a secret."""

    ANY = "any"  #: the shape alone says it
    MIXED = "mixed"  #: small and large letters and a digit, as no word and no name has
    TYPED = "typed"  #: what a person may have typed: no placeholder, no variable, no call
    RANDOM = "random"  #: generated: letters and digits in no order


class SecretRule(NamedTuple):
    """One kind of secret.

    Args:
        kind: Name in the mask.
        hints: Texts in small letters, one of which is there wherever the secret is; looking for them is cheap.
        pattern: A regular expression. Its group ``secret`` is what is masked, or ``cut`` of one without its end;
            without groups, all of it. A match in which no group takes part is passed over.
        form: Form that the secret needs beside.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: str
    form: SecretForm = SecretForm.ANY


_START: Final = r"(?<![A-Za-z0-9])"
_PEM: Final = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_PEM_LINE: Final = r"(?:\\{1,15}+[nrt]|[\s\"'+,|>]){0,12}(?:Proc-Type: ?\S{1,80}|DEK-Info: ?\S{1,80}|Version: [^\n]{1,60}+|[A-Za-z0-9+/=]{8,})"
_QUOTES: Final = r"(?:\\{0,7}[\"'`])?"
_SET: Final = rf"{_QUOTES}\s{{0,3}}(?:=>|:=|==?|:)\s{{0,3}}"  # from the name of a field to its value
_END: Final = r"(?=[\"'`\\\s,;&)}\]<]|$|\u2026)"
_PASSWORD: Final = r"(?=[pP])(?:password|passwd|passphrase|pwd)(?:[_-]?(?:\d|old|new|confirm|confirmation|prod|dev|value|text|hash))?"  # noqa: S105
_KEYS: Final = "api access private signing encryption master auth account shared subscription license".split()
_SECRET: Final = rf"(?=[scapemlSCAPEML])(?<!user\.)(?:secret|credentials?|(?:{'|'.join(_KEYS)})[_-]?key)"
_SECRET_HINTS: Final = ("secret", "credential", *(f"{word}{sign}key" for word in _KEYS for sign in ("", "_", "-")))
_NOT_PAGES: Final = "".join(f"(?<!{word}{sign})" for word in ("next", "page", "continuation", "sync") for sign in ("", "_", "-"))
_TOKEN: Final = rf"(?=[tajTAJ]){_NOT_PAGES}(?<!pubkey )(?<!publickey )(?:token|auth(?!or|en|ed|lib|0)|jwt)"
# What a field is about, and not the secret itself: `secret_name`, `token_type`.
_ABOUT: Final = (
    r"(?![_-]?(?:name|id|arn|path|file|url|uri|type|kind|count|length|len|size|version|field|param|header|env|var|ref|manager|store"
    r"|class|expir|ttl|limit|usage|budget|at\b|s\b|izer|ized|ize))"
)
_REST: Final = r"[A-Za-z0-9_-]{0,16}"
_JWT_HEAD: Final = "eyJ[A-Za-z0-9_-]{8,}+"


def _key(kind: str, prefix: str, *, then: str = r"[A-Za-z0-9_-]{8,}", form: SecretForm = SecretForm.ANY) -> SecretRule:
    """Returns the rule for a key that begins with letters of its own, `prefix`, as a plain text."""
    literal = prefix.replace(".", r"\.")
    return SecretRule(kind, (prefix.lower(),), rf"{_START}{literal}{then}", form)


#: In this order: what an earlier row masks, a later one does not see.
SECRET_RULES: Final = (
    SecretRule("private key", ("private key",), rf"-----BEGIN {_PEM}(?>{_PEM_LINE})+(?:[\\nrt\s]{{0,12}}-----END {_PEM})?"),
    SecretRule("private key", ("-----end",), rf"(?<![A-Za-z0-9+/=])(?>{_PEM_LINE}){{1,100}}(?:[\\nrt\s]){{0,12}}-----END {_PEM}"),
    SecretRule("age key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[A-Z0-9]{8,}"),
    # What begins like one and has no dot is passed over as a whole: what begins like one in it has none either.
    SecretRule("jwt", ("eyj",), rf"{_START}(?:(?P<secret>{_JWT_HEAD}\.[A-Za-z0-9_-]{{2,}}(?:\.[A-Za-z0-9_-]*)?)|{_JWT_HEAD})"),
    SecretRule("aws key", ("akia", "asia", "abia", "acca"), rf"{_START}(?:AKIA|ASIA|ABIA|ACCA)(?:[A-Z0-9]{{16}}(?![A-Za-z0-9])|[A-Z0-9]{{6,15}}(?=$|\u2026|\.\.\.| \u2192))"),
    SecretRule("github token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_START}gh[opusr]_[A-Za-z0-9]{{8,}}"),
    _key("github token", "github_pat_"),
    SecretRule("gitlab token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glft-"), rf"{_START}gl(?:pat|dt|rt|ptt|cbt|soat|ft)-[A-Za-z0-9_.-]{{8,}}"),
    SecretRule("slack token", ("xox", "xapp-"), rf"{_START}(?:xox[abdeoprs]|xapp)-[A-Za-z0-9-]{{8,}}"),
    SecretRule("slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9+/_]{6,})"),
    SecretRule("discord webhook", ("/api/webhooks/",), r"/api/webhooks/\d+/(?P<secret>[A-Za-z0-9_-]{8,})"),
    SecretRule("stripe key", ("_live_", "_test_"), rf"{_START}[srp]k_(?:live|test)_[A-Za-z0-9]{{8,}}"),
    _key("stripe key", "whsec_", then=r"[A-Za-z0-9+/=]{12,}"),
    _key("anthropic key", "sk-ant-"),
    _key("openrouter key", "sk-or-v1-"),
    _key("langfuse key", "sk-lf-"),
    SecretRule("openai key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), rf"{_START}sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{{8,}}"),
    SecretRule("api key", ("sk-",), rf"{_START}sk-[A-Za-z0-9_-]{{16,}}", SecretForm.RANDOM),
    _key("google key", "AIza", then=r"[A-Za-z0-9_-]{12,}", form=SecretForm.MIXED),
    _key("google secret", "GOCSPX-"),
    _key("google token", "ya29."),
    _key("google token", "1//0", then=r"[A-Za-z0-9_-]{16,}"),
    _key("npm token", "npm_", then=r"[A-Za-z0-9]{12,}", form=SecretForm.MIXED),
    SecretRule("pypi token", ("pypi-age",), rf"{_START}pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_-]{{4,}}"),
    _key("hugging face token", "hf_", then=r"[A-Za-z0-9]{16,}", form=SecretForm.MIXED),
    _key("groq key", "gsk_", then=r"[A-Za-z0-9]{12,}"),
    _key("replicate token", "r8_", then=r"[A-Za-z0-9]{16,}", form=SecretForm.MIXED),
    _key("perplexity key", "pplx-", then=r"[A-Za-z0-9]{16,}"),
    _key("xai key", "xai-", then=r"[A-Za-z0-9]{16,}", form=SecretForm.MIXED),
    _key("tavily key", "tvly-"),
    SecretRule("langsmith key", ("lsv2_",), rf"{_START}lsv2_(?:pt|sk)_[A-Za-z0-9_]{{8,}}"),
    _key("sendgrid key", "SG.", then=r"[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?", form=SecretForm.MIXED),
    _key("twilio key", "SK", then=r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    SecretRule("digitalocean token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_START}do[por]_v1_[a-f0-9]{{8,}}"),
    SecretRule("shopify token", ("shpat_", "shpca_", "shppa_", "shpss_"), rf"{_START}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{8,}}"),
    SecretRule("telegram token", (":aa",), rf"{_START}\d{{8,10}}:AA[A-Za-z0-9_-]{{10,}}"),
    _key("databricks token", "dapi", then=r"[a-f0-9]{32}"),
    _key("linear key", "lin_api_"),
    _key("notion token", "ntn_", then=r"[A-Za-z0-9]{16,}"),
    SecretRule("vault token", ("hvs.", "hvb."), rf"{_START}hv[sb]\.[A-Za-z0-9_-]{{16,}}"),
    SecretRule("grafana token", ("glsa_", "glc_"), rf"{_START}(?:glsa|glc)_[A-Za-z0-9_=]{{12,}}"),
    SecretRule("sentry token", ("sntrys_", "sntryu_"), rf"{_START}sntry[su]_[A-Za-z0-9_=+/-]{{12,}}"),
    _key("docker token", "dckr_pat_"),
    _key("atlassian token", "ATATT3", then=r"[A-Za-z0-9_=-]{12,}"),
    SecretRule("rubygems key", ("rubygems_",), rf"{_START}rubygems_[a-f0-9]{{16,}}"),
    _key("figma token", "figd_"),
    _key("postman key", "PMAK-"),
    SecretRule("planetscale token", ("pscale_",), rf"{_START}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{{8,}}"),
    _key("supabase token", "sbp_", then=r"[a-f0-9]{16,}"),
    _key("new relic key", "NRAK-"),
    # Of an address with a user and a password, the password; a port is none.
    SecretRule("password", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>`\[\]]{0,80}:(?!\[)(?!\d{1,5}(?:[/\s\"'`<>),;\u2026]|$))(?:(?P<secret>[^\s@\"'<>`/]{1,200})(?=@)|(?P<cut>[^\s@\"'<>`/()\[\]-][^\s@\"'<>`/()\[\]]{0,200})(?=$|\u2026|\.\.\.))", SecretForm.TYPED),
    SecretRule("password", ("curl",), r"curl\b[^\n|;]{0,200}? (?:-u|--user)[ =]?[\"']?[^\s:\"']{1,60}:(?P<secret>[^\s\"'|;@]{3,200})", SecretForm.TYPED),
    SecretRule("credentials", ("authorization",), rf"(?i:authorization){_SET}{_QUOTES}(?i:basic|bearer|token|bot|digest|apikey|negotiate)\s+(?P<secret>[A-Za-z0-9._~+/=-]{{6,}})", SecretForm.TYPED),
    SecretRule("credentials", ("authorization",), rf"(?i:authorization){_SET}{_QUOTES}(?P<secret>[A-Za-z0-9._~+/=-]{{12,}})", SecretForm.RANDOM),
    SecretRule("token", ("bearer ",), r"(?i:\bbearer)\s+(?P<secret>[A-Za-z0-9._~+/=-]{12,})", SecretForm.RANDOM),
    SecretRule("cookie", ("cookie",), r"(?i:\b(?:set-)?cookie)[\"']?: ?[\"']?(?P<secret>[\w.-]+=[^\s\"'\r\n]{8,}(?:; ?[\w.-]+=[^\s\"';\r\n]+)*)"),
    SecretRule("signature", ("signature=", "sig="), r"(?i:[?&](?:x-amz-signature|x-goog-signature|sig|signature))=(?P<secret>[A-Za-z0-9%+/=_-]{16,})"),
    # A password in quotes, after an option or in a variable of the environment; without them it may be code.
    SecretRule("password", ("pass", "pwd"), rf"(?i:{_PASSWORD}){_SET}\\{{0,7}}[\"'`](?P<secret>[^\s\"'`\\]{{4,200}}){_END}", SecretForm.TYPED),
    SecretRule("password", ("pass", "pwd"), rf"(?i:--{_PASSWORD})(?:=|(?= +\S*[^\sa-z])|(?= +\S+\s*(?:$|[-|&;>\"'\\\n]))) *(?P<secret>[^\s\"'`\\-][^\s\"'`\\]{{3,200}})", SecretForm.TYPED),
    SecretRule("password", ("pass", "pwd"), r"(?:(?:PASSWORD|PASSWD|PASSPHRASE|PWD)\s{0,3}[=:]|_PASS=)\s{0,3}(?P<secret>[^\s\"'`\\/,;&)}\]][^\s\"'`\\,;&)}\]]{3,200})", SecretForm.TYPED),
    SecretRule("password", ("pass", "pwd"), rf"(?i:{_PASSWORD}){_SET}(?![A-Za-z_]\w*\.[A-Za-z_])(?P<secret>(?=[^\s\d]{{0,200}}\d)[^\s\"'`\\,;&()}}{{\]\[<>]{{4,200}}){_END}", SecretForm.TYPED),
    SecretRule("secret", ('"value"', "'value'"), r"[\"'][A-Z0-9_]*(?:PASSWORD|SECRET|TOKEN|KEY)[\"']\\?,\s*\\?[\"']value\\?[\"']\s*:\s*\\?[\"'](?P<secret>[^\"'\\]{4,200})", SecretForm.TYPED),
    SecretRule("secret", _SECRET_HINTS, rf"(?i:{_SECRET}{_ABOUT}{_REST}){_SET}{_QUOTES}(?P<secret>[^\s\"'`\\,;&()}}{{\]\[<>]{{8,400}})", SecretForm.RANDOM),
    SecretRule("token", ("token", "auth", "jwt"), rf"(?i:{_TOKEN}{_ABOUT}{_REST}){_SET}{_QUOTES}(?P<secret>[^\s\"'`\\,;&()}}{{\]\[<>]{{12,400}})", SecretForm.RANDOM),
    SecretRule("secret", ("--token", "--secret", "--key", "--api", "-token", "-secret", "-key"), r"--(?:[\w-]{0,20}-)?(?:token|secret|api-key|apikey|key)(?:=| +)[\"']?(?P<secret>[^\s\"'`\\,;&()}{\]\[<>]{8,400})", SecretForm.RANDOM),
)

#: Names of fields whose values are secrets, as a regular expression on the whole name.
SECRET_FIELD: Final = rf"(?i:[\w.-]*?(?:{_PASSWORD}|{_SECRET}{_ABOUT}{_REST}|{_TOKEN}{_ABOUT}{_REST}|authorization|cookie))"

#: Words that stand where a secret would.
PLACEHOLDERS: Final = frozenset(
    "none null nil true false undefined string str text password passwd pass secret token changeme change_me example test "
    "testing dummy fake foo bar baz foobar hidden redacted masked required optional invalid valid wrong correct empty default "
    "value your_password yourpassword your-password mypassword my_password prompt stdin password1 password2 bearer basic "
    "username user admin root".split()
)
