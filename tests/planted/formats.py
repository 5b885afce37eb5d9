"""What an issued secret looks like, a line an issuer's format, as the issuer's pages show it.

``{A20}`` stands for twenty letters or digits, ``{a}`` for small ones, ``{H}`` for hexadecimal digits, ``{h}`` for
those in capitals, ``{U}`` for capitals or digits, ``{W}`` for letters, digits, ``_`` and ``-``, ``{B}`` for base64's
letters, ``{D}`` for digits, ``{V}`` for base32, ``{X}`` for a UUID, ``{J}`` for base64 of a JSON object. What stands
between ``«`` and ``»`` is the secret, or all of it.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import uuid
from dataclasses import dataclass

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "H": string.digits + "abcdef",
    "h": string.digits + "ABCDEF",
    "U": string.ascii_uppercase + string.digits,
    "W": string.ascii_letters + string.digits + "_-",
    "B": string.ascii_letters + string.digits + "+/",
    "D": string.digits,
    "V": string.ascii_uppercase + "234567",
}
RUN = 8
"""Characters of a secret in a row that nobody may see."""
_REDACTED = re.compile("<redacted:[a-z0-9-]+>")
_GAP = re.compile(r"\{([AaHhUWBDVXJ])(\d*)\}")

TEMPLATES = """
AKIA{V16}
ASIA{V16}
ABSK{B108}=
IQoJb3JpZ2luX2VjE{B300}==
amzn.mws.{X}
amzn1.oa2-cs.v1.{H64}
AIza{W35}
ya29.a0{W160}
GOCSPX-{W28}
1//0{W95}
GOOG1E{U55}
DefaultEndpointsProtocol=https;AccountName=store1;AccountKey=«{B86}==»;EndpointSuffix=core.windows.net
Endpoint=sb://bus1.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{B43}=»
https://store1.blob.core.windows.net/c?sv=2022-11-02&se=2026-01-01&sr=c&sp=r&sig=«{A42}%3D»
{A3}8Q~{W31}
{A52}JQQJ99{A14}AZDO{A4}
{A52}JQQJ99{A18}ACOG{A4}
{B76}+ASt{B5}A==
{A76}ACDb{A5}Q==
{W44}AzFu{W5}A==
{A42}AzSeB{A5}
{A33}AzCaB{A5}=
LTAI5t{A18}
STS.N{A28}
AKID{A32}
bce-v3/ALTAK-{A21}/{H40}
ALTAK{A21}
AKLT{A43}
dop_v1_{H64}
doo_v1_{H64}
DO00{U16}
HRKU-AA{W58}
fm2_lJPE{B200}
hvs.CAESI{W90}
hvb.AAAAAQ{W140}
{A14}.atlasv1.{A67}
pul-{H40}
dp.pt.{A43}
dp.st.prd.{A43}
ops_eyJ{B250}
A3-{U6}-{U6}-{U5}-{U5}-{U5}-{U5}
st.{H24}.{H32}.{H32}
AGE-SECRET-KEY-1{U58}
cfut_{A40}{H8}
cfat_{A40}{H8}
cfk_{A40}{H8}
v1.0-{H24}-{H146}
vcp_{A56}
vck_{A56}
vercel_blob_rw_{A16}_{A30}
nfp_{A36}
rnd_{A28}
SCW{U17}
AQVN{W36}
y0_AgAAAA{W50}
AVNS_{W19}
dapi{H32}
dapi{H32}-2
dose{H32}
sbp_{H40}
sb_secret_{W22}_{A8}
pscale_tkn_{W43}
pscale_pw_{W43}
napi_{a64}
mdb_sa_sk_{W40}
cflt{B60}
tskey-auth-{A17}-{A32}
tskey-api-{A17}-{A32}
ghp_{A36}
gho_{A36}
ghu_{A36}
ghs_{A36}
ghr_{A76}
github_pat_{A22}_{A59}
glpat-{W20}
glpat-{W27}.01.{a9}
gldt-{W20}
glrt-{W20}
glptt-{H40}
glcbt-64_{W20}
glimt-{W25}
glagent-{W50}
GR1348941{W20}
ATBB{A24}{h8}
ATATT3xFfGF0{W170}={h8}
ATCTT3xFfGN0{W170}={h8}
ATTA{H64}{h8}
npm_{A36}
pypi-AgEIcHlwaS5vcmc{W150}
cio{A32}
rubygems_«{H48}»
oy2{a43}
dckr_pat_{W27}
dckr_oat_{W32}
AKCp{A69}
cmVmdGtuOjAxOj{A50}
CLOJARS_{H60}
CCIPAT_{A22}_{H40}
bkua_{H40}
pat.{W22}.{H24}.{A20}
API-{U29}
sqp_{H40}
squ_{H40}
snyk_uat.{H8}.{W60}.{W43}
sgp_{H40}
sgp_{H16}_{H40}
PMAK-{H24}-{H34}
sdk-{X}
rdme_{a70}
sk-ant-api03-{W93}AA
sk-ant-admin01-{W93}AA
sk-or-v1-{H64}
sk-proj-{W74}T3BlbkFJ{W74}
sk-svcacct-{W74}T3BlbkFJ{W74}
sk-{A20}T3BlbkFJ{A20}
sk-{H32}
sk-{A48}
sk-lf-{X}
hf_{A34}
gsk_{A52}
xai-{A80}
pplx-{A48}
r8_{A37}
pcsk_{A6}_{A63}
lsv2_pt_{H32}_{H10}
wandb_v1_{A77}
nvapi-{W64}
tgp_v1_{W43}
fw_{A24}
csk-{a48}
tvly-{A32}
fc-{H32}
jina_{H32}{W33}
rpa_{U40}
{H32}.{A16}
apify_api_{A36}
e2b_{H40}
xoxb-{D12}-{D13}-{A24}
xoxp-{D12}-{D12}-{D13}-{H32}
xoxe.xoxp-1-{A166}
xapp-1-A{U10}-{D13}-{H64}
https://hooks.slack.com/services/«T{U10}/B{U10}/{A24}»
https://discord.com/api/webhooks/{D19}/«{W68}»
MT{A24}.G{A5}.{W38}
{D10}:«AA{W33}»
https://acme.webhook.office.com/webhookb2/«{X}@{X}/IncomingWebhook/{H32}/{X}»
https://open.feishu.cn/open-apis/bot/v2/hook/«{X}»
https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«{X}»
https://oapi.dingtalk.com/robot/send?access_token=«{H64}»
SEC{H64}
SG.{W22}.{W43}
SK{H32}
{H32}-us18
key-{H32}
{H32}-{H8}-{H8}
md-{A22}
xkeysib-{H64}-{A16}
re_{A8}_{A24}
dG9rO{B54}=
WPL_AP1.{A16}.{A6}==
EAA{A180}
AAAAAAAAAAAAAAAAAAAAA{A26}%2B{A20}%3D{A50}
sk_live_{A24}
sk_test_{A99}
rk_live_{A99}
whsec_{A32}
sq0atp-{W22}
sq0csp-{W43}
EAAA{W60}
access_token$production$«{a16}${H32}»
AQEyhm{B120}==-{B43}=-{A16}
rzp_live_{A14}
pdl_live_apikey_{a26}_{A22}_{A3}
access-production-{X}
FLWSECK_TEST-{H32}-X
live_{A30}
xnd_production_{A60}
shpat_{H32}
shpss_{H32}
glsa_{A32}_{H8}
glc_{B120}=
NRAK-{U27}
{H36}NRAL
dt0c01.{V24}.{V64}
sntrys_{B120}=_{B43}
sntryu_{H64}
hcaik_{a58}
phx_{A43}
xaat-{X}
lin_api_{A40}
ntn_{D11}{A35}
secret_{A43}
figd_{W40}
pat{A14}.{H64}
2/{D16}/{D16}:{H32}
pk_{D8}_{U32}
tfp_{W44}_{W14}
CFPAT-{W43}
{H24}:{H64}
sk.{J}.{W22}
pat-na1-{X}
00D{A12}!AQ{A90}
eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.{J}.{W43}
eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.{W342}.{W16}.{W80}.{W22}
otpauth://totp/acme:jane?secret=«{V32}»&issuer=acme
PMAT-{U26}
sl.u.{W150}
test_{A30}
postgres://app:«{A20}»@db.internal:5432/app
mongodb+srv://app:«{A18}»@cluster0.abcde.mongodb.net/app
redis://:«{A24}»@cache:6379/0
amqp://worker:«{A16}»@mq:5672/vhost
https://«{H40}»@github.com/acme/app.git
Authorization: Bearer «{W43}»
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """A text as it is planted, and the part of it that nobody may see."""

    text: str
    secret: str


def templates() -> list[str]:
    """One template an issuer's format."""
    return [line for line in TEMPLATES.strip().split("\n") if line]


def drawn(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def issue(rng: random.Random, template: str) -> Planted:
    """A secret of the format of ``template``."""

    def fill(found: re.Match[str]) -> str:
        kind, length = found.groups()
        if kind == "X":
            return str(uuid.UUID(int=rng.getrandbits(128), version=4))
        if kind == "J":
            body = json.dumps({"sub": drawn(rng, ALPHABETS["D"], 10), "jti": drawn(rng, ALPHABETS["A"], 22)})
            return base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")
        return drawn(rng, ALPHABETS[kind], int(length))

    whole = _GAP.sub(fill, template)
    before, opened, rest = whole.partition("«")
    if not opened:
        return Planted(whole, whole)
    secret, _, behind = rest.partition("»")
    return Planted(before + secret + behind, secret)


def without_marks(text: str) -> str:
    """``text`` without what stands for a secret: its kind may be a part of the secret's own prefix."""
    return _REDACTED.sub("\n", text)


def leaks(secret: str, text: str) -> bool:
    """Whether ``RUN`` characters of ``secret`` in a row are in ``text``."""
    text = without_marks(text)
    return any(secret[start : start + RUN] in text for start in range(max(len(secret) - RUN + 1, 1)))
