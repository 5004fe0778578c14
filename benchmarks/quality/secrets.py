"""Secrets that are planted in texts: which kinds are masked, and which innocent texts are touched.

    python -m benchmarks.quality.secrets [--seed S] [--each N]

Every kind is made N times with random characters in the shape that its service gives it, alone in a sentence
and, where it has no shape of its own, in the field that names it. A kind is masked if no more than its first
characters, or its last four, are left of each. The innocent texts are code, hashes, ids, addresses and prose.
"""

from __future__ import annotations

import argparse
import random
import string
from typing import Final

from benchmarks.measure import setup, write_result
from ebbtide.text.redaction import redact

_LOW: Final = string.ascii_lowercase + string.digits
_ANY: Final = string.ascii_letters + string.digits
_SETS: Final = {
    "h": "0123456789abcdef",
    "l": _LOW,
    "a": _ANY,
    "u": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "w": _ANY + "_-",
    "b": _ANY + "+/",
    "x": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "q": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
}
#: One kind a line: its name, and the text around it, in which `<a20>` stands for 20 random characters of a
#: set: `h` hex, `l` small, `a` letters and digits, `u` capital, `d` digits, `w` with - and _, `b` base64, `x`
#: base58, `q` base32. Digits are no secret: they say whose it is.
KINDS: Final = """\
1password token: token is ops_eyJ<w250>
1password secret key: use A3-<u6>-<u11>-<u5>-<u5>-<u5>
adobe client secret: use p8e-<l32>
age secret key: use AGE-SECRET-KEY-1<u58>
airtable token: use pat<a14>.<h64>
aiven password: use AVNS_<w18>
alibaba access key: use LTAI<a20>
algolia api key: ALGOLIA_API_KEY=<h32>
amqp password: amqp://app:<a16>@mq.internal:5672/
anthropic key: use sk-ant-api03-<w93>AA
anthropic admin key: use sk-ant-admin01-<w93>AA
argon2 hash: $argon2id$v=19$m=65536,t=3,p=4$<b22>$<b43>
artifactory api key: use AKCp<a69>
artifactory reference token: use cmVmdGtu<a56>
asana token: use 1/<d16>:<h32>
atlassian api token: use ATATT3xFfGF0<w150>
authorization basic: Authorization: Basic <b40>
authorization bearer: Authorization: Bearer <w40>
aws access key: use AKIA<u16>
aws temporary key: use ASIA<u16>
aws secret key: aws_secret_access_key = <b40>
aws bedrock key: use ABSK<b110>
aws session token: use IQoJb3JpZ2luX2VjE<b200>
azure ad secret: use <a3>7Q~<w34>
azure devops token: use <a52>JQQJ99BAACAAAAAAAAAAASAZDO<a4>
azure storage key: DefaultEndpointsProtocol=https;AccountName=x;AccountKey=<b86>==
azure shared access key: Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=<b43>=
azure signature: https://x.blob.core.windows.net/c?sv=2022&sig=<a43>%3D
bcrypt hash: $2b$12$<a53>
bitbucket app password: use ATBB<a32>
bitbucket client secret: bitbucket_client_secret: <w32>
bitcoin private key: use 5K<x49>
buildkite token: use bkua_<h40>
cerebras key: use csk-<l48>
circleci token: use CCIPAT_<a22>_<h40>
clojars token: use CLOJARS_<l60>
cloudflare api token: CLOUDFLARE_API_TOKEN=<w40>
cloudflare origin key: use v1.0-<h24>-<h146>
cloudinary url: CLOUDINARY_URL=cloudinary://<d15>:<w27>@cloud
codecov token: CODECOV_TOKEN=<h8>-<h4>-4<h3>-a<h3>-<h12>
cohere key: cohere_api_key = <a40>
coinbase token: coinbase_access_token: <w64>
confluent secret: confluent_secret_key=<a64>
contentful token: use CFPAT-<w43>
cookie: Cookie: session=<w40>
crates.io token: use cio<a32>
curl user: curl -u admin:<a16> https://x.example
databricks token: use dapi<h32>
datadog api key: DD_API_KEY=<h32>
datadog app key: DD_APP_KEY=<h40>
deepgram key: DEEPGRAM_API_KEY=<h40>
defined networking token: use dnkey-<l26>-<l52>
digitalocean token: use dop_v1_<h64>
digitalocean refresh token: use dor_v1_<h64>
discord bot token: use MT<a22>.G<w5>.<w38>
discord client secret: discord_client_secret = <w32>
discord webhook: https://discord.com/api/webhooks/<d18>/<w68>
docker token: use dckr_pat_<w27>
docker auth: {"auths": {"r.example": {"auth": "<b32>"}}}
doppler token: use dp.pt.<a43>
drone token: drone_access_token=<a32>
dropbox token: dropbox_api_secret: <l15>
duffel token: use duffel_test_<w43>
dynatrace token: use dt0c01.<u24>.<u64>
e2b key: use e2b_<h40>
easypost key: use EZAK<a54>
easypost test key: use EZTK<a54>
elevenlabs key: use sk_<h48>
etsy token: etsy_access_token: <l24>
facebook page token: use EAAM<a120>
facebook app token: use <d15>|<w27>
fastly token: FASTLY_API_TOKEN=<w32>
figma token: use figd_<w40>
firebase server key: use AAAA<w7>:APA91b<w134>
firecrawl key: use fc-<h32>
fireworks key: use fw_<a24>
flutterwave secret: use FLWSECK_TEST-<h12>
fly token: use fm2_<b100>
frame.io token: use fio-u-<w64>
ftp password: ftp://deploy:<a12>@ftp.example/
gcp api key: use AIza<w35>
github app token: use ghs_<a36>
github oauth token: use gho_<a36>
github token: use ghp_<a36>
github fine-grained token: use github_pat_<a22>_<a59>
github refresh token: use ghr_<a36>
gitlab token: use glpat-<w20>
gitlab runner token: use GR1348941<w20>
gitlab deploy token: use gldt-<w20>
gitlab feed token: use glft-<w20>
gitlab agent token: use glagent-<w50>
gitlab trigger token: use glptt-<h40>
gitlab incoming mail token: use glimt-<w25>
gitlab session cookie: Cookie: _gitlab_session=<h32>
gocardless token: use live_<w40>
google oauth secret: use GOCSPX-<w28>
google oauth token: use ya29.<w120>
google refresh token: use 1//0<w60>
google chat webhook: https://chat.googleapis.com/v1/spaces/AAAAx/messages?key=AIza<w35>&token=<w43>
grafana cloud token: use glc_<b80>
grafana service token: use glsa_<a32>_<h8>
groq key: use gsk_<a52>
harness token: use pat.<w22>.<h24>.<a20>
heroku key: use HRKU-AA<w58>
heroku key, old: HEROKU_API_KEY=<h8>-<h4>-4<h3>-a<h3>-<h12>
hubspot token: use pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>
hugging face token: use hf_<a34>
hugging face organisation token: use api_org_<a34>
infracost key: use ico-<a32>
intra42 secret: use s-s4t2ud-<h64>
jdbc password: jdbc:postgresql://db/x?user=app&password=<a14>
jfrog identity token: jfrog_access_token: <a64>
jina key: use jina_<a60>
jwt: use eyJ<w30>.eyJ<w60>.<w43>
kraken token: kraken_access_token: <b86>==
kubernetes secret: {"client-secret": "<b40>"}
langfuse key: use sk-lf-<h8>-<h4>-<h4>-<h4>-<h12>
langsmith key: use lsv2_pt_<h32>_<h10>
launchdarkly token: launchdarkly_access_token: <w40>
linear key: use lin_api_<a40>
linkedin secret: linkedin_client_secret = <a16>
mailchimp key: use <h32>-us12
mailgun key: use key-<h32>
mailgun signing key: use <h32>-<h8>-<h8>
mapbox token: use sk.eyJ<w80>.<w22>
maxmind key: use <a6>_<a29>_mmk
mattermost token: mattermost_access_token: <l26>
messagebird token: messagebird_api_token = <l25>
modal token: use as-<a22>
mongodb password: mongodb+srv://app:<a16>@c.mongodb.net/x
mysql password: mysql -u root --password=<a14> x
neon key: use napi_<l64>
netlify token: use nfp_<a36>
netrc password: machine x.example login bot password <a16>
new relic key: use NRAK-<u27>
new relic browser key: use NRJS-<h19>
new relic insert key: use NRII-<w32>
new york times token: nytimes_access_token: <w32>
notion token: use ntn_<d11><a35>
notion token, old: use secret_<a43>
npm token: use npm_<a36>
nuget key: use oy2<l43>
nvidia key: use nvapi-<w64>
octopus key: use API-<u26>
okta token: use 00<w40>
okta token, named: okta_api_token=<w42>
one-time secret: otpauth://totp/x:y?secret=<q32>&issuer=x
openai key: use sk-<a20>T3BlbkFJ<a20>
openai project key: use sk-proj-<w120>
openai service key: use sk-svcacct-<w120>
openrouter key: use sk-or-v1-<h64>
openshift token: use sha256~<w43>
paddle key: use pdl_live_apikey_<l26>_<a22>_<a3>
paypal token: use access_token$production$<l16>$<h32>
perplexity key: use pplx-<a48>
pinecone key: use pcsk_<a5>_<a64>
plaid token: use access-sandbox-<h8>-<h4>-<h4>-<h4>-<h12>
plaid secret: plaid_secret_key=<l30>
planetscale token: use pscale_tkn_<w43>
planetscale password: use pscale_pw_<w43>
postgres password: postgresql://app:<a16>@db/prod
posthog key: use phx_<a43>
postman key: use PMAK-<h24>-<h34>
prefect token: use pnu_<l36>
private key: -----BEGIN PRIVATE KEY-----\\n<b64>\\n<b64>\\n-----END PRIVATE KEY-----
openssh key: -----BEGIN OPENSSH PRIVATE KEY-----\\n<b70>\\n<b70>\\n-----END OPENSSH PRIVATE KEY-----
putty key: Private-Lines: 2\\n<b64>\\n<b64>\\n
pulumi token: use pul-<h40>
pypi token: use pypi-AgEIcHlwaS5vcmc<w150>
razorpay key: use rzp_live_<a14>
readme key: use rdme_<l70>
redis password: redis://:<a20>@cache:6379/0
render key: use rnd_<a32>
replicate token: use r8_<a37>
resend key: use re_<a8>_<a24>
rubygems key: use rubygems_<h48>
scalingo token: use tk-us-<w48>
segment token: use sgp_<a64>
sendgrid key: use SG.<w22>.<w43>
sendinblue key: use xkeysib-<h64>-<a16>
sentry token: use sntrys_eyJ<b100>
sentry user token: use sntryu_<h64>
settlemint token: use sm_aat_<a16>
shadow hash: $6$<b16>$<a86>
shippo token: use shippo_live_<h40>
shopify token: use shpat_<h32>
shopify secret: use shpss_<h32>
shopify private token: use shppa_<h32>
slack app token: use xapp-1-<u11>-<d13>-<h64>
slack bot token: use xoxb-<d12>-<d12>-<a24>
slack user token: use xoxp-<d12>-<d12>-<d12>-<h32>
slack refresh token: use xoxe-1-<a146>
slack webhook: https://hooks.slack.com/services/T<u8>/B<u8>/<a24>
slack signing secret: SLACK_SIGNING_SECRET=<h32>
snyk token: SNYK_TOKEN=<h8>-<h4>-4<h3>-a<h3>-<h12>
sonar token: use squ_<h40>
sourcegraph token: use sgp_<h16>_<h40>
square token: use EAAA<w60>
square secret: use sq0csp-<w43>
squarespace token: squarespace_access_token: <h8>-<h4>-<h4>-<h4>-<h12>
stripe key: use sk_live_<a24>
stripe restricted key: use rk_live_<a24>
stripe webhook secret: use whsec_<a32>
supabase token: use sbp_<h40>
supabase secret key: use sb_secret_<w31>
tailscale key: use tskey-auth-<a17>-<a32>
tavily key: use tvly-<a32>
teams webhook: https://x.webhook.office.com/webhookb2/<h8>-<h4>-<h4>/IncomingWebhook/<h32>
telegram token: use <d10>:AA<w33>
terraform token: use <a14>.atlasv1.<w67>
together key: use tgp_v1_<w43>
travis token: travis_access_token: <a22>
twilio key: use SK<h32>
twilio auth token: TWILIO_AUTH_TOKEN=<h32>
twitch secret: twitch_client_secret=<l30>
twitter access secret: twitter_access_secret: <a45>
twitter bearer token: Bearer AAAAAAAAAAAAAAAAAAAAA<a80>
typeform token: use tfp_<w59>
vault token: use hvs.<w90>
vault batch token: use hvb.<w140>
vault token, old: use s.<a24>
vercel token: use vcp_<a56>
voyage key: use pa-<w43>
weights and biases key: WANDB_API_KEY=<h40>
wireguard key: PrivateKey = <b43>=
xai key: use xai-<a80>
yandex api key: use AQVN<w36>
yandex aws key: use YCAJE<w36>
yandex iam token: use t1.<a40>==.<w86>
zapier webhook: https://hooks.zapier.com/hooks/catch/<d7>/<l7>/
zendesk secret: zendesk_secret_key: <l40>
zuplo key: use zpka_<a33>_<h8>
"""

#: Texts without a secret, one a line: nothing of them may be masked.
INNOCENTS: Final = """\
commit 3fb2a9c1d0e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8
sha256:9f3c1b7ae04d5826f1c09b3d7e5a24689f3c1b7ae04d5826f1c09b3d7e5a2468
image: redis@sha256:9f3c1b7ae04d5826f1c09b3d7e5a24689f3c1b7ae04d5826f1c09b3d7e5a2468
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
123e4567-e89b-12d3-a456-426614174000
toolu_01A09q90qw90lq917835lq9
call_AbCdEf0123456789xy
msg_01XyZAbCd
chatcmpl-9xKq2Vb9TzR4mW8sLc3
req_011CQ4k8wHkXg2mUKyXG8xYQ
run-2024-08-06T12-30-00Z
claude-sonnet-4-20250514
gpt-4o-2024-08-06
meta-llama/Llama-3.1-70B-Instruct
us.anthropic.claude-3-5-sonnet-20241022-v2:0
/srv/app/src/secret/token_store.py:42
./auth/password_reset.py
C:\\auth\\token.txt
max_tokens=4096 input_tokens: 128000
token_count=17 tokens: 1,024
tokens used: 12345, tokens left: 67890
http://localhost:8080/path
http://127.0.0.1:5000
https://example.com/search?q=token&page=2
git@github.com:foo/bar.git
10.0.0.1:5432
password = get_password(user)
password = self.password
def set_password(self, password: str) -> None:
if password != confirm_password:
const password = await prompt("Password: ")
token = tokens[i]
secret = os.environ['APP_SECRET']
api_key=os.environ["OPENAI_API_KEY"]
apiKey: process.env.ANTHROPIC_API_KEY
api_key = config.get("api_key")
privateKey: Uint8Array
privateKey: Uint8Array, publicKey: Uint8Array
private_key: Ed25519PrivateKey
secret: Buffer = randomBytes(32)
token: Float64Array
secretKey: Base64String
accessKey: Int32Array | undefined
signingKey: Sha256Digest
arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db-x7Kq2V
SECRET=arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/api-key-AbC12f
secretArn: arn:aws:secretsmanager:eu-west-1:210987654321:secret:billing9-Zk3PqT
arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab
arn:aws:iam::123456789012:role/app-role
"password": "<your password>"
password=${DB_PASSWORD}
PASSWORD=$1
password: ********
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
export OPENAI_API_KEY=your-api-key-here
api_key: "changeme"
secret_name: my-app-secret-v2
secret_key_ref: app-secrets
tokenizer: bert-base-uncased-v1
author: jsmith1987
sk-container-id-10 sk-toggleable__content-arrow
npm_config_registry npm_lifecycle_event
hf_hub_download(repo_id="org/model")
Bearer authentication is used; basic auth: required
the --password option suffers from the same
PASS: test_login_view
PWD=/srv/app
-----BEGIN CERTIFICATE-----
ssh-rsa key, primary key=id7
keyboard: 104, monkey=3fb2a9c1d0e4f5a6
2024-01-02T03:04:05Z
0x7f3a9c1d0e4f
nextPageToken=CAUQAAdh3kd93jf83jf
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk
as-of-date: as-implemented
pa-rt of the re_name and re_compile functions
key-value store, key-frame animation
s.split(",") and s.startswith("x")
live_migration_of_the_database_is_done
API-REFERENCE-DOCUMENT and API-GATEWAY
secret_manager_client_configuration_v2
fc-cache -f; fc-list; fc-match
sm_pat_tern, squ_are, phs_ical
EAAA is no word, and M.G. no name
AVNS_names, cio_names, csk-like
pat.match(line) and pat.search(line)
tk-us-layout-with-many-words-in-its-name
dub_bing_of_words, rnd_generator_seed, vci_names
t1.column_name = t2.column_name_that_is_long
SELECT t1.customer_identifier FROM orders t1
figo_nacci is a joke, nfo_files too
pip install pydantic==2.9.2 fastapi==0.115.4
MyModule.Helper.someVeryLongFunctionNameThatGoesOnAndOn
Microsoft.Extensions.DependencyInjectionAbstractions
1/2000000000000 of a second; 3/4 done
$1 and $2 are the arguments; awk '{print $6}'
https://hooks.slack.com/ is where webhooks live
Cookie: the banner asks once
check that root login and password auth are off on every host
login as admin with the usual password today
Traceback: File "app.py", line 42, in <module>
The secret of success is to begin; the key is patience
class TokenStore2Factory: token: AccessToken2Type
const secretKey = createSecretKey(buffer)
"max_output_tokens": 8192, "thinking_tokens": 1024
test_auth.py::test_token_is_refreshed PASSED
sessionId: 6f1c2b3a-4d5e-6f70-8192-a3b4c5d6e7f8
"""


def planted(seed: int, each: int) -> dict[str, list[tuple[str, list[str]]]]:
    """Returns, by kind, texts with the random parts that each holds."""
    chance = random.Random(seed)
    return {name: [_planted(form, chance) for _ in range(each)] for name, form in kinds()}


def kinds() -> list[tuple[str, str]]:
    """Returns the name and the form of every kind."""
    return [
        (name, form.replace("\\n", "\n"))
        for name, _, form in (row.partition(": ") for row in KINDS.splitlines())
    ]


def _planted(form: str, chance: random.Random) -> tuple[str, list[str]]:
    text, secrets = "", []
    for part in form.replace("<", "\0<").replace(">", "\0").split("\0"):
        letters = _SETS.get(part[1:2], "")
        if part.startswith("<") and letters and part[2:].isdigit():
            made = chance.choice(letters.strip("_-+/")) + "".join(
                chance.choices(letters, k=int(part[2:]) - 1)
            )
            if part[1] != "d":
                secrets.append(made)
            text += made
        else:
            text += part
    return text, secrets


def shows(masked: str, secrets: list[str]) -> bool:
    """Returns True if more of a secret is left than its beginning and its last characters."""
    return any(
        secret[at : at + 6] in masked
        for secret in secrets
        for at in range(max(1, len(secret) - 9))
        if len(secret) >= 10
    )


def main() -> None:
    """Plants, masks, and writes down what was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=30)
    parser.add_argument("--each", type=int, default=20, help="secrets of each kind")
    options = parser.parse_args()
    texts = planted(options.seed, options.each)
    left = {name: sum(shows(redact(text), secrets) for text, secrets in rows) for name, rows in texts.items()}
    innocents = INNOCENTS.splitlines()
    touched = [text for text in innocents if redact(text) != text]
    open_kinds = {name: count for name, count in left.items() if count}
    result = {
        "setup": setup("ebbtide"),
        "seed": options.seed,
        "each": options.each,
        "kinds": len(left),
        "masked_kinds": len(left) - len(open_kinds),
        "secrets": len(left) * options.each,
        "left": open_kinds,
        "innocents": len(innocents),
        "touched": touched,
    }
    write_result("quality-secrets", result)
    print(
        f"{result['masked_kinds']} of {len(left)} kinds masked; "
        f"{len(touched)} of {len(innocents)} innocent texts touched"
    )
    for name, count in open_kinds.items():
        print(f"  {name}: {count} of {options.each} left")
    for text in touched:
        print(f"  touched: {text}")


if __name__ == "__main__":
    main()
