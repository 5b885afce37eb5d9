"""Clouds and what runs on them: providers, databases, networks, stores of secrets."""

from __future__ import annotations

from .rule import ALNUM, BASE64, HEX, LOWER, UPPER, UUID, WORD, Rule, after, behind, exact, token

_CASK = "[A-Za-z0-9+/]"
"""Microsoft's identifiable keys: a signature of four letters at a fixed place."""

_AMAZON = (
    *(exact("aws-access-key", prefix, UPPER, 16) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    token("aws-bedrock-key", "ABSK", BASE64 + "{80,}={0,2}"),
    token("aws-bedrock-key", "bedrock-api-key-", "[A-Za-z0-9+/_=-]{60,}", free=True),
    *(
        token("aws-session-token", prefix, BASE64 + "{60,}={0,2}")
        for prefix in ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz", "AQoDYXdz", "AQoEXAMPLE")
    ),
    token("aws-marketplace-key", "amzn.mws.", UUID, free=True),
    token("amazon-login-secret", "amzn1.oa2-cs.v1.", HEX + "{64}", free=True, size=64),
)
_GOOGLE = (
    token("google-api-key", "AIza", WORD + "{35,}", size=35),
    token("google-api-key", "AQ.Ab", WORD + "{40,}"),
    token("google-oauth", "ya29.", WORD + r"{20,}(?:\.[A-Za-z0-9_-]+)*"),
    token("google-oauth", "GOCSPX-", WORD + "{20,}", free=True, size=28),
    token("google-oauth", "1//0", WORD + "{40,}"),
    token("google-storage-key", "GOOG1E", UPPER + "{18,}", size=55),
)
_MICROSOFT = (
    after("azure-account-key", "AccountKey=", BASE64 + "{40,}={0,2}"),
    after("azure-account-key", "SharedAccessKey=", BASE64 + "{40,}={0,2}"),
    after("azure-account-key", "accesskey=", BASE64 + "{40,}={0,2}"),
    after("azure-signature", "&sig=", "[A-Za-z0-9%+/_-]{40,}={0,2}"),
    after("azure-signature", "?sig=", "[A-Za-z0-9%+/_-]{40,}={0,2}"),
    Rule(
        "azure-client-secret",
        "Q~",
        "[A-Za-z0-9_.~-]{31,34}(?![_~-])",
        "[A-Za-z0-9_.~-]{3}[0-9]",
        4,
        skips=4,
        before="",
        ends=True,
    ),
    behind("azure-devops-token", ALNUM + "{52}", 52, "JQQJ99", ALNUM + "{14}AZDO" + ALNUM + "{4}"),
    behind("azure-ai-key", ALNUM + "{52}", 52, "JQQJ99", ALNUM + "{26}"),
    behind("azure-account-key", _CASK + "{76}", 76, "+ASt", _CASK + "{5}[AQgw]=="),
    behind("azure-cosmos-key", _CASK + "{76}", 76, "ACDb", _CASK + "{5}[AQgw]=="),
    behind("azure-batch-key", _CASK + "{76}", 76, "+ABa", _CASK + "{5}[AQgw]=="),
    behind("azure-function-key", "[A-Za-z0-9_-]{44}", 44, "AzFu", "[A-Za-z0-9_-]{5}[AQgw]=="),
    behind("azure-search-key", ALNUM + "{42}", 42, "AzSe", "[A-D]" + ALNUM + "{5}"),
    behind("azure-redis-key", _CASK + "{33}", 33, "AzCa", "[A-P]" + _CASK + "{5}="),
    behind("azure-service-bus-key", _CASK + "{33}", 33, "+ASb", _CASK + "{6}="),
    behind("azure-event-hub-key", _CASK + "{33}", 33, "+AEh", _CASK + "{6}="),
    behind("azure-relay-key", _CASK + "{33}", 33, "+ARm", _CASK + "{6}="),
    behind("azure-iot-key", _CASK + "{33}", 33, "AIoT", _CASK + "{6}="),
    behind("azure-registry-key", _CASK + "{42}", 42, "+ACR", "[A-D]" + _CASK + "{5}"),
)
_CHINA = (
    Rule("alibaba-access-key", "LTAI", ALNUM + "{12,26}", ends=True),
    Rule("alibaba-access-key", "STS.", ALNUM + "{20,60}", ends=True),
    exact("tencent-secret-id", "AKID", ALNUM, 32),
    exact("baidu-access-key", "ALTAK", ALNUM, 21),
    token("baidu-api-key", "bce-v3/ALTAK-", ALNUM + "{16,40}/" + HEX + "{40}", free=True),
    Rule("volcengine-access-key", "AKLT", "[A-Za-z0-9_-]{30,60}={0,2}", ends=True),
    Rule("volcengine-access-key", "AKTP", "[A-Za-z0-9_-]{30,60}={0,2}", ends=True),
)
_HOSTS = (
    *(token("digitalocean-token", f"do{kind}_v1_", HEX + "{40,}", free=True, size=64) for kind in "por"),
    exact("digitalocean-spaces-key", "DO00", UPPER, 16),
    token("heroku-key", "HRKU-", WORD + "{30,}", free=True, size=60),
    *(token("fly-token", prefix, "[A-Za-z0-9+/=_-]{40,}") for prefix in ("fm2_", "fm1r_", "fm1a_", "fo1_")),
    *(token("cloudflare-token", prefix, WORD + "{40,}", size=48) for prefix in ("cfk_", "cfut_", "cfat_")),
    token("cloudflare-origin-key", "v1.0-", HEX + "{24}-" + HEX + "{146}"),
    *(token("vercel-token", f"vc{kind}_", WORD + "{24,}", size=56) for kind in "piark"),
    token("vercel-blob-token", "vercel_blob_rw_", ALNUM + "{8,20}_" + ALNUM + "{20,}", free=True),
    *(token("netlify-token", f"nf{kind}_", ALNUM + "{36,}", size=36) for kind in "pcoub"),
    token("render-key", "rnd_", ALNUM + "{28,}", size=28),
    exact("scaleway-access-key", "SCW", UPPER, 17),
    exact("yandex-key", "AQVN", "[A-Za-z0-9_-]", 36),
    token("yandex-token", "y0_", WORD + "{50,}"),
    token("yandex-token", "t1.", r"[A-Za-z0-9_-]{20,400}={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
    token("scalingo-token", "tk-us-", WORD + "{48}", size=48),
    token("aiven-password", "AVNS_", WORD + "{16,}", free=True, size=19),
)
_DATA = (
    token("databricks-token", "dapi", HEX + "{32}(?:-[0-9]{1,2})?", size=32),
    exact("databricks-token", "dose", HEX, 32),
    token("supabase-key", "sbp_", HEX + "{40}", free=True, size=40),
    token("supabase-key", "sb_secret_", WORD + "{20,}", free=True, size=31),
    *(
        token("planetscale-token", f"pscale_{kind}_", "[A-Za-z0-9_=-]{20,}", free=True)
        for kind in ("tkn", "pw", "oauth")
    ),
    token("neon-key", "napi_", LOWER + "{40,}", size=64),
    token("mongodb-secret", "mdb_sa_sk_", WORD + "{40}", free=True, size=40),
    token("confluent-secret", "cflt", BASE64 + "{60}", size=60),
    token("elastic-key", "essu_", "[A-Za-z0-9+/=_-]{40,}", free=True),
    token("prefect-key", "pnu_", ALNUM + "{36}", size=36),
    token("prefect-key", "pnb_", ALNUM + "{36}", size=36),
)
_STORES = (
    *(token("vault-token", prefix, WORD + "{20,}", free=True) for prefix in ("hvs.", "hvb.", "hvr.")),
    behind("terraform-token", ALNUM + "{14}", 14, ".atlasv1.", WORD + "{60,70}"),
    token("terraform-token", ".atlasv1.", WORD + "{40,}", free=True, size=67),
    token("pulumi-token", "pul-", HEX + "{40}", size=40),
    *(
        token("doppler-token", f"dp.{kind}.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}", free=True)
        for kind in ("pt", "st", "ct", "sa", "scim", "audit", "said")
    ),
    token("infisical-token", "st.", r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    token("1password-token", "ops_eyJ", "[A-Za-z0-9+/_-]{40,}={0,2}", free=True),
    Rule("1password-key", "A3-", "[A-Z0-9]{6}-[A-Z0-9-]{20,40}", ends=True),
)
_NETWORKS = (
    token("tailscale-key", "tskey-", WORD + "{16,}", free=True),
    token("netbird-token", "nbp_", ALNUM + "{36,}", size=36),
    token("defined-networking-token", "dnkey-", LOWER + "{26}-" + LOWER + "{52}"),
    token("jumpcloud-key", "jca_", ALNUM + "{36}", size=36),
)

CLOUDS: tuple[Rule, ...] = (*_AMAZON, *_GOOGLE, *_MICROSOFT, *_CHINA, *_HOSTS, *_DATA, *_STORES, *_NETWORKS)
