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
    UNSPOKEN = "unspoken"  #: generated, if only of letters: small and large ones in no order


class SecretRule(NamedTuple):
    """One kind of secret.

    Args:
        kind: Name in the mask.
        hints: Texts in small letters, one of which is there wherever the secret is; looking for them is cheap.
            A rule without any is looked for in every text.
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
_PEM_GAP: Final = r"(?:\\{1,15}+[nrt]|[\s\"'+,|>]){0,12}"
_PEM_HEAD: Final = r"Proc-Type: ?\S{1,80}|DEK-Info: ?\S{1,80}|Version: [^\n]{1,60}+"
_PEM_BODY: Final = "[A-Za-z0-9+/=]{8,}"
_QUOTES: Final = r"(?:\\{0,7}[\"'`])?"
_SET: Final = rf"{_QUOTES}\s{{0,3}}(?:=>|:=|==?|:)\s{{0,3}}"  # from the name of a field to its value
_END: Final = r"(?=[\"'`\\\s,;&)}\]<]|$|\u2026)"
_PASSWORD: Final = r"(?=[pP])(?:password|passwd|passphrase|pwd)(?:[_-]?(?:\d|old|new|confirm|confirmation|prod|dev|value|text|hash))?"  # noqa: S105
_KEYS: Final = (
    "api access private signing encryption master auth account shared subscription license app application server "
    "consumer storage webhook deploy integration write admin"
).split()
# After the number of an account it is a word of an address of AWS: arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME.
_SECRET: Final = (
    rf"(?=[scapemlwdiSCAPEMLWDI])(?<!user\.)(?<!\d{{12}}:)(?:secret|credentials?|(?:{'|'.join(_KEYS)})[_-]?key)"
)
_SECRET_HINTS: Final = ("secret", "credential", *(f"{word}{sign}key" for word in _KEYS for sign in ("", "_", "-")))
_NOT_PAGES: Final = "".join(f"(?<!{word}{sign})" for word in ("next", "page", "continuation", "sync") for sign in ("", "_", "-"))
_TOKEN: Final = rf"(?=[tajTAJ]){_NOT_PAGES}(?<!pubkey )(?<!publickey )(?:token|auth(?!or|en|ed|lib|0)|jwt)"
# What a field is about, and not the secret itself: `secret_name`, `token_type`.
_ABOUT: Final = (
    r"(?![_-]?(?:name|id|arn|path|file|url|uri|type|kind|count|length|len|size|version|field|param|header|env|var|ref|s?manager|store"
    r"|class|expir|ttl|limit|usage|budget|at\b|s\b|izer|ized|ize))"
)
_REST: Final = r"[A-Za-z0-9_-]{0,16}"
_JWT_HEAD: Final = "eyJ[A-Za-z0-9_-]{8,}+"


def _key(kind: str, prefix: str, *, then: str = r"[A-Za-z0-9_-]{8,}", form: SecretForm = SecretForm.ANY) -> SecretRule:
    """Returns the rule for a key that begins with letters of its own, `prefix`, as a plain text."""
    literal = prefix.replace(".", r"\.")
    return SecretRule(kind, (prefix.lower(),), rf"{_START}{literal}{then}", form)


def _keys(kind: str, *prefixes: str, then: str = r"[A-Za-z0-9_-]{12,}", form: SecretForm = SecretForm.UNSPOKEN) -> SecretRule:
    """Returns the rule for keys of one service, each kind of which begins with letters of its own."""
    # What begins with a letter of its own is found several times faster than what begins with a look back.
    literals = [prefix.replace(".", r"\.") for prefix in prefixes]
    begins = "|".join(rf"{literal}(?<![A-Za-z0-9_]{literal})" for literal in literals)
    return SecretRule(kind, tuple(prefix.lower() for prefix in prefixes), rf"(?:{begins}){then}", form)


_HEX: Final = "[a-f0-9]{12,}"
_LETTERS: Final = "[A-Za-z0-9]{12,}"
_UUID: Final = "[a-f0-9]{8}-[a-f0-9-]{4,27}"

#: In this order: what an earlier row masks, a later one does not see.
SECRET_RULES: Final = (
    SecretRule("private key", ("private key",), rf"-----BEGIN {_PEM}(?>{_PEM_GAP}(?:{_PEM_HEAD}|{_PEM_BODY}))+(?:[\\nrt\s]{{0,12}}-----END {_PEM})?"),
    SecretRule("private key", ("-----end",), rf"(?<![A-Za-z0-9+/=])(?>{_PEM_GAP}(?:{_PEM_HEAD})){{0,4}}(?>{_PEM_GAP}{_PEM_BODY}){{1,100}}(?:[\\nrt\s]){{0,12}}-----END {_PEM}"),
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
    SecretRule("vault token", ("hvs.", "hvb."), rf"{_START}hv[sb]\.[A-Za-z0-9_-]{{16,}}"),
    _keys("square token", "sq0atp-", "sq0csp-", "sq0idp-", "EAAA"),
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
    SecretRule("grafana token", ("glsa_", "glc_"), rf"{_START}(?:glsa|glc)_[A-Za-z0-9_=+/-]{{12,}}"),
    SecretRule("sentry token", ("sntrys_", "sntryu_"), rf"{_START}sntry[su]_[A-Za-z0-9_=+/-]{{12,}}"),
    _key("docker token", "dckr_pat_"),
    _key("atlassian token", "ATATT3", then=r"[A-Za-z0-9_=-]{12,}"),
    SecretRule("rubygems key", ("rubygems_",), rf"{_START}rubygems_[a-f0-9]{{16,}}"),
    _key("figma token", "figd_"),
    _key("postman key", "PMAK-"),
    SecretRule("planetscale token", ("pscale_",), rf"{_START}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{{8,}}"),
    _key("supabase token", "sbp_", then=r"[a-f0-9]{16,}"),
    _keys("new relic key", "NRAK-", "NRJS-", "NRII-", "NRAA-", "NRRA-"),
    _keys("1password token", "ops_eyJ", form=SecretForm.ANY),
    _keys("1password key", "A3-", then="[A-Z0-9]{6}-[A-Z0-9-]{6,}"),
    _keys("adobe secret", "p8e-", then=_LETTERS),
    _keys("airtable token", "pat", then=r"[A-Za-z0-9]{14}\.[a-f0-9]{8,}"),
    _keys("aiven password", "AVNS_", form=SecretForm.ANY),
    _keys("alibaba key", "LTAI", then=_LETTERS),
    _keys("artifactory key", "AKCp", "cmVmdGtu", then=_LETTERS),
    _keys("asana token", "1/", then=r"\d{12,}(?:/\d{12,})?:[a-f0-9]{8,}"),
    _keys("atlassian token", "ATCTT3", "ATBB", then="[A-Za-z0-9_=-]{12,}"),
    _keys("aws bedrock key", "ABSK", then="[A-Za-z0-9+/=]{16,}"),
    _keys("aws session", "FwoGZXIvYXdz", "IQoJb3JpZ2lu", then="[A-Za-z0-9+/=]{8,}", form=SecretForm.ANY),
    # Its size tells it from a path, as one in 64 begins with a slash.
    SecretRule("azure key", ("accesskey=", "accountkey="), r"(?:SharedAccess|Account)Key=(?P<secret>[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)"),
    SecretRule("azure secret", ("q~",), rf"{_START}[A-Za-z0-9_~.]{{3}}\dQ~[A-Za-z0-9_~.-]{{12,}}", SecretForm.RANDOM),
    SecretRule("azure key", ("azdo", "acdb", "astt", "+aeh", "+afu", "+amc", "+asb", "apim"), rf"{_START}[A-Za-z0-9+/]{{30,80}}(?:AZDO|ACDb|AStt|\+AEh|\+AFu|\+AMC|\+ASb|APIM)[A-Za-z0-9+/=]{{4,}}", SecretForm.RANDOM),
    _keys("buildkite token", "bkua_", "bkct_", "bkaj_", "bkpt_", "bkrt_", then=_LETTERS),
    _keys("cerebras key", "csk-", then=_LETTERS),
    _keys("circleci token", "CCIPAT_", "CCIPRJ_"),
    _keys("clojars token", "CLOJARS_", then=_LETTERS),
    _keys("cloudflare key", "v1.0-", then="[a-f0-9]{24}-[a-f0-9]{8,}"),
    _keys("contentful token", "CFPAT-"),
    _keys("crates.io token", "cio", then="[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _keys("defined networking key", "dnkey-", then="[A-Za-z0-9=_-]{12,}"),
    _keys("discord token", "M", "N", "O", then=r"[A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{20,}")._replace(hints=()),
    _keys("docker token", "dckr_oat_"),
    _keys("doppler token", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", then=r"[A-Za-z0-9_.-]{12,}"),
    _keys("dub key", "dub_"),
    _keys("duffel token", "duffel_test_", "duffel_live_", then="[A-Za-z0-9_=-]{12,}"),
    _keys("dynatrace token", "dt0c01.", "dt0s01.", "dt0s02.", then=r"[A-Za-z0-9]{12,}(?:\.[A-Za-z0-9]*)?"),
    _keys("e2b key", "e2b_", then=_HEX),
    _keys("easypost key", "EZAK", "EZTK", then=_LETTERS),
    _keys("elevenlabs key", "sk_", then="[a-f0-9]{32,}"),
    _keys("facebook token", "EAA", then="[A-Za-z0-9_-]{40,}"),
    _keys("figma token", "figu_", "figo_"),
    _keys("firebase key", "AAAA", then="[A-Za-z0-9_-]{7}:APA91[A-Za-z0-9_-]{8,}", form=SecretForm.ANY),
    _keys("firecrawl key", "fc-", then=_HEX),
    _keys("fireworks key", "fw_", then=_LETTERS),
    _keys("flutterwave key", "FLWSECK-", "FLWSECK_TEST-", "FLWPUBK_TEST-", form=SecretForm.ANY),
    _keys("fly token", "fm1r_", "fm1a_", "fm2_", "fo1_", then="[A-Za-z0-9+/=_-]{12,}"),
    _keys("frame.io token", "fio-u-", then="[A-Za-z0-9_=-]{12,}"),
    _keys("gitlab token", "GR1348941", "glimt-", "glagent-", "gloas-", "glffct-", "glwt-", form=SecretForm.TYPED),
    _keys("gocardless token", "live_", then="[A-Za-z0-9_=-]{24,}"),
    _keys("harness token", "pat.", "sat.", then=r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{8,}(?:\.[A-Za-z0-9]*)?"),
    SecretRule("terraform token", (".atlasv1.",), rf"{_START}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{8,}}"),
    _keys("heroku key", "HRKU-"),
    _keys("hubspot token", "pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-", then=_UUID),
    _keys("hugging face token", "api_org_", then=_LETTERS),
    _keys("infracost key", "ico-", then=_LETTERS),
    _keys("intra42 secret", "s-s4t2ud-", "s-s4t2af-", then=_HEX),
    _keys("jina key", "jina_", then="[A-Za-z0-9_-]{12,}"),
    _keys("langfuse key", "pk-lf-"),
    _keys("linear key", "lin_oauth_", "lin_wh_"),
    SecretRule("mailchimp key", ("-us",), rf"{_START}[a-f0-9]{{32}}-us\d{{1,2}}(?![A-Za-z0-9])"),
    _keys("mailgun key", "key-", "pubkey-", then="[a-f0-9]{32}(?![A-Za-z0-9])"),
    SecretRule("mailgun key", ("-",), rf"{_START}[a-f0-9]{{32}}-[a-f0-9]{{8}}-[a-f0-9]{{8}}(?![A-Za-z0-9-])")._replace(hints=()),
    _keys("mapbox token", "sk.eyJ", "pk.eyJ", "tk.eyJ", then=r"[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", form=SecretForm.ANY),
    SecretRule("maxmind key", ("_mmk",), rf"{_START}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk"),
    SecretRule("teams webhook", (".webhook.office.com/",), r"\.webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@/-]{12,})"),
    SecretRule("zapier webhook", ("hooks.zapier.com/",), r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d{3,}/[A-Za-z0-9]{4,})"),
    SecretRule("chat webhook", ("chat.googleapis.com/",), r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{1,80}/messages\?(?P<secret>[A-Za-z0-9_=&%-]{12,})"),
    SecretRule("pipedream webhook", (".m.pipedream.net",), rf"{_START}(?P<secret>[a-z0-9]{{12,40}})\.m\.pipedream\.net"),
    _keys("modal key", "ak-", "as-", then="[A-Za-z0-9]{20,}"),
    _keys("neon key", "napi_", then=_LETTERS),
    _keys("netlify token", "nfp_", "nfc_", "nfo_"),
    _keys("nightfall key", "NF-", then=_LETTERS),
    _keys("notion token", "secret_", then="[A-Za-z0-9]{32,}"),
    _keys("nuget key", "oy2", then="[a-z0-9]{43}(?![A-Za-z0-9])"),
    _keys("nvidia key", "nvapi-"),
    _keys("octopus key", "API-", then="[A-Z0-9]{20,}"),
    _keys("okta token", "00", then="[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])", form=SecretForm.MIXED),
    SecretRule("openshift token", ("sha256~",), r"sha256~[A-Za-z0-9_-]{12,}"),
    _keys("paddle key", "pdl_live_", "pdl_sdbx_"),
    SecretRule("paypal token", ("access_token$",), r"access_token\$(?:production|sandbox)\$[a-z0-9]{8,}(?:\$[a-f0-9]*)?"),
    _keys("pinecone key", "pcsk_"),
    _keys("plaid token", "access-sandbox-", "access-development-", "access-production-", then=_UUID),
    _keys("posthog key", "phx_", "phc_", "phs_", then=_LETTERS),
    _keys("prefect key", "pnu_", "pnb_", then=_LETTERS),
    _keys("pulumi token", "pul-", then=_HEX),
    _keys("razorpay key", "rzp_live_", "rzp_test_", form=SecretForm.ANY),
    _keys("readme key", "rdme_", then=_LETTERS),
    _keys("render key", "rnd_", then=_LETTERS),
    _keys("resend key", "re_", then="[A-Za-z0-9]{6,12}_[A-Za-z0-9]{12,}"),
    _keys("scalingo token", "tk-us-"),
    _keys("sendinblue key", "xkeysib-", "xsmtpsib-", then=r"[a-f0-9]{12,}(?:-[A-Za-z0-9]*)?"),
    _keys("settlemint token", "sm_aat_", "sm_pat_", "sm_sat_", then=_LETTERS, form=SecretForm.TYPED),
    _keys("shippo token", "shippo_live_", "shippo_test_", then=_HEX),
    _keys("sonar token", "squ_", "sqp_", "sqa_", then=_HEX),
    _keys("sourcegraph token", "sgp_", "slk_", then="[a-f0-9_]{12,}"),
    _keys("segment token", "sgp_", then="[A-Za-z0-9]{24,}"),
    _keys("supabase key", "sb_secret_"),
    _keys("tailscale key", "tskey-"),
    _keys("together key", "tgp_v1_"),
    _keys("typeform token", "tfp_", then=r"[A-Za-z0-9_.=-]{12,}"),
    _keys("vault token", "hvr.", "s.", then="[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
    _keys("vercel token", "vcp_", "vca_", "vci_", "vck_", "vercel_blob_rw_"),
    _keys("voyage key", "pa-", then="[A-Za-z0-9_-]{32,}"),
    _keys("yandex key", "AQVN", "YCAJE", "YCO", then="[A-Za-z0-9_-]{30,}"),
    _keys("yandex token", "t1.", "y0_", then=r"[A-Za-z0-9_-]{16,}={0,2}(?:\.[A-Za-z0-9_-]*)?"),
    _keys("zuplo key", "zpka_"),
    SecretRule("facebook secret", ("|", "%7c"), rf"{_START}\d{{15,16}}(?:\||%7C)[A-Za-z0-9_-]{{27,40}}(?![A-Za-z0-9_-])"),
    SecretRule("password hash", ("$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$7$", "$apr1$", "$argon2"), r"\$(?:2[aby]|1|5|6|7|y|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./$=,+]{16,}"),
    SecretRule("private key", ("private-lines",), r"Private-Lines: ?\d{1,4}(?:\\n|\s)++(?P<secret>(?:[A-Za-z0-9+/=]{8,}+(?:\\n|[\r\n])*+)++)"),
    SecretRule("one-time secret", ("secret=",), r"[?&]secret=(?P<secret>[A-Z2-7]{12,})"),
    SecretRule("password", ("machine ",), r"\bmachine\s{1,8}\S{1,100}\s{1,8}login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}(?P<secret>\S{3,200})", SecretForm.TYPED),
    SecretRule("bitcoin key", (), rf"{_START}[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}(?![A-Za-z0-9])", SecretForm.MIXED),
    # Of an address with a user and a password, the password; a port is none.
    SecretRule("password", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>`\[\]]{0,80}:(?!\[)(?!\d{1,5}(?:[/\s\"'`<>),;\u2026]|$))(?:(?P<secret>[^\s@\"'<>`/]{1,200})(?=@)|(?P<cut>[^\s@\"'<>`/()\[\]-][^\s@\"'<>`/()\[\]]{0,200})(?=$|\u2026|\.\.\.))", SecretForm.TYPED),
    SecretRule("password", ("password=", "pwd="), r"[?&](?i:password|pwd)=(?P<secret>[^\s\"'`&;<>)}\]\\]{4,200})", SecretForm.TYPED),
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
