"""Secrets with a published format: one row a format, written from its vendor's documentation.

A row's pattern begins with its literal, which ``re`` finds by a plain search, so that a text without the literal
costs next to nothing. Behind the literal every quantifier is possessive or bounded: no input makes a pattern
walk over the same characters again and again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALNUM = "[A-Za-z0-9]"
_WORD = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class Rule:
    """``pattern`` is tried where ``literal`` occurs; its group 1, or all of it if it has none, is the secret."""

    kind: str
    literal: str
    pattern: re.Pattern[str]


def _token(kind: str, literal: str, rest: str, *, free: bool = False, exact: bool = False) -> Rule:
    """A token that begins with ``literal``. ``free``: whatever stands before it. ``exact``: nothing may follow."""
    start = re.escape(literal)
    if not free:
        # Letters before it belong to another word, unless they end an escape: \n, %3D, \u0022.
        start += (
            rf"(?:(?<![A-Za-z0-9]{start})|(?<=\\[nrtbf]{start})"
            rf"|(?<=%[0-9A-Fa-f]{{2}}{start})|(?<=\\u[0-9A-Fa-f]{{4}}{start}))"
        )
    return Rule(kind, literal, re.compile(start + rest + ("(?![A-Za-z0-9])" if exact else "")))


def _after(kind: str, literal: str, rest: str) -> Rule:
    """A secret that stands behind ``literal``; group 1 of ``rest`` is the secret."""
    return Rule(kind, literal, re.compile(re.escape(literal) + rest))


RULES: tuple[Rule, ...] = (
    # Clouds
    *(_token("aws-access-key", prefix, "[A-Z0-9]{16}", exact=True) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    _token("aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{80,}+={0,2}"),
    _token("google-api-key", "AIza", _WORD + "{35,}+"),
    _token("google-oauth", "ya29.", _WORD + "{20,}+"),
    _token("google-oauth", "GOCSPX-", _WORD + "{20,}+", free=True),
    _after("azure-account-key", "AccountKey=", "([A-Za-z0-9+/]{40,}+={0,2})"),
    _after("azure-account-key", "SharedAccessKey=", "([A-Za-z0-9+/]{40,}+={0,2})"),
    _after("azure-signature", "&sig=", "([A-Za-z0-9%+/]{40,}+={0,2})"),
    _after("azure-signature", "?sig=", "([A-Za-z0-9%+/]{40,}+={0,2})"),
    Rule(
        "azure-client-secret",
        "Q~",
        re.compile(r"Q~(?<=[\w.~-]{3}[0-9]Q~)[\w.~-]{31,34}+(?![\w~-])", re.ASCII),
    ),
    _token("alibaba-access-key", "LTAI", _ALNUM + "{12,26}+", exact=True),
    _token("tencent-secret-id", "AKID", _ALNUM + "{32}", exact=True),
    _token("digitalocean-token", "dop_v1_", _HEX + "{40,}+", free=True),
    _token("digitalocean-token", "doo_v1_", _HEX + "{40,}+", free=True),
    _token("digitalocean-token", "dor_v1_", _HEX + "{40,}+", free=True),
    _token("databricks-token", "dapi", _HEX + "{32}"),
    _token("heroku-key", "HRKU-", _WORD + "{30,}+", free=True),
    *(_token("fly-token", prefix, "[A-Za-z0-9+/=_-]{40,}+") for prefix in ("fm2_", "fm1r_", "fm1a_", "fo1_")),
    _token("vault-token", "hvs.", _WORD + "{20,}+", free=True),
    _token("vault-token", "hvb.", _WORD + "{20,}+", free=True),
    _token("terraform-token", ".atlasv1.", _WORD + "{40,}+", free=True),
    _token("tailscale-key", "tskey-", _WORD + "{16,}+", free=True),
    _token("supabase-key", "sbp_", _HEX + "{40}", free=True),
    _token("supabase-key", "sb_secret_", _WORD + "{20,}+", free=True),
    _token("planetscale-token", "pscale_tkn_", _WORD + "{20,}+", free=True),
    _token("planetscale-token", "pscale_pw_", _WORD + "{20,}+", free=True),
    # Code hosts and package registries
    *(_token("github-token", f"gh{kind}_", _ALNUM + "{20,}+", free=True) for kind in "pousr"),
    _token("github-token", "github_pat_", "[A-Za-z0-9_]{20,}+", free=True),
    *(
        _token("gitlab-token", prefix, r"[A-Za-z0-9_=-]{16,}+(?:\.[A-Za-z0-9_-]++)*+", free=True)
        for prefix in (
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glsoat-",
            "glft-",
            "glagent-",
            "gloas-",
        )
    ),
    _token("npm-token", "npm_", _ALNUM + "{30,}+"),
    _token("pypi-token", "pypi-", _WORD + "{40,}+", free=True),
    _token("rubygems-key", "rubygems_", _HEX + "{40,}+", free=True),
    _token("docker-token", "dckr_pat_", _WORD + "{20,}+", free=True),
    _token("docker-token", "dckr_oat_", _WORD + "{20,}+", free=True),
    _token("artifactory-key", "AKCp", _ALNUM + "{60,}+"),
    _token("atlassian-token", "ATATT3", "[A-Za-z0-9_=-]{40,}+", free=True),
    _token("postman-key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}", free=True),
    # Models
    _token("anthropic-key", "sk-ant-", _WORD + "{16,}+", free=True),
    _token("openrouter-key", "sk-or-", _WORD + "{20,}+"),
    *(_token("openai-key", f"sk-{kind}-", _WORD + "{20,}+") for kind in ("proj", "svcacct", "admin")),
    _token("openai-key", "sk-", _ALNUM + "{20,}+" + _WORD + "*+"),
    _token("huggingface-token", "hf_", _ALNUM + "{34}", exact=True),
    _token("huggingface-token", "api_org_", _ALNUM + "{34}", exact=True),
    _token("groq-key", "gsk_", _ALNUM + "{30,}+"),
    _token("xai-key", "xai-", _ALNUM + "{40,}+"),
    _token("perplexity-key", "pplx-", _ALNUM + "{30,}+"),
    _token("replicate-token", "r8_", _ALNUM + "{30,}+"),
    # Messages and mail
    _token("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}+"),
    _token("slack-token", "xapp-", "[0-9]-[A-Za-z0-9-]{10,}+", free=True),
    _after("webhook-url", "hooks.slack.com/", "((?:services|workflows|triggers)/[A-Za-z0-9_/+-]{16,}+)"),
    _after("webhook-url", "discord.com/api/webhooks/", "([0-9]{5,20}/[A-Za-z0-9_-]{16,}+)"),
    _after("webhook-url", "discordapp.com/api/webhooks/", "([0-9]{5,20}/[A-Za-z0-9_-]{16,}+)"),
    _after("webhook-url", "webhook.office.com/webhookb2/", "([A-Za-z0-9@_/-]{16,}+)"),
    _after("webhook-url", "/open-apis/bot/v2/hook/", "([A-Za-z0-9-]{16,}+)"),
    _after("webhook-url", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", "([A-Za-z0-9-]{16,}+)"),
    _after("webhook-url", "oapi.dingtalk.com/robot/send?access_token=", "([A-Za-z0-9]{16,}+)"),
    Rule("telegram-token", ":AA", re.compile(r":AA(?<=[0-9]{8}:AA)[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])")),
    _token("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _token("twilio-key", "SK", _HEX + "{32}", exact=True),
    Rule("mailchimp-key", "-us", re.compile("[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])")),
    _token("facebook-token", "EAA", _ALNUM + "{80,}+"),
    _token("mailgun-key", "key-", _HEX + "{32}", exact=True),
    # Payment and shops
    *(
        _token("stripe-key", f"{kind}_{mode}_", _ALNUM + "{10,}+")
        for kind in ("sk", "rk")
        for mode in ("live", "test", "prod")
    ),
    _token("stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/=]{20,}+", free=True),
    *(_token("shopify-token", f"shp{kind}_", "[0-9a-fA-F]{32}", free=True) for kind in ("at", "ca", "pa", "ss")),
    _token("square-token", "sq0atp-", _WORD + "{20,}+", free=True),
    _token("square-token", "sq0csp-", _WORD + "{40,}+", free=True),
    # Secret stores, quality and search of code
    _token("1password-token", "ops_eyJ", "[A-Za-z0-9+/_-]{40,}+={0,2}", free=True),
    _token("1password-key", "A3-", "[A-Z0-9]{6}-[A-Z0-9-]{20,40}", exact=True),
    *(_token("sonar-token", prefix, _ALNUM + "{40}", exact=True) for prefix in ("sqp_", "squ_", "sqa_")),
    _token("sourcegraph-token", "sgp_", "[A-Za-z0-9_]{40,}+"),
    # Watching and planning
    _token("grafana-token", "glsa_", "[A-Za-z0-9]{32}_[0-9a-f]{8}", free=True),
    _token("grafana-token", "glc_", "[A-Za-z0-9+/=]{32,}+", free=True),
    _token("newrelic-key", "NRAK-", "[A-Z0-9]{27}", free=True),
    _token("sentry-token", "sntrys_", "[A-Za-z0-9+/=_]{40,}+", free=True),
    _token("sentry-token", "sntryu_", _HEX + "{40,}+", free=True),
    _token("linear-key", "lin_api_", _ALNUM + "{30,}+", free=True),
    _token("notion-token", "ntn_", _ALNUM + "{40,}+"),
    _token("doppler-token", "dp.pt.", _ALNUM + "{40,}+", free=True),
    # Formats that many issuers share
    _token(
        "jwt",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}+\.(?:eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]++)?"
        r"|[A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]{8,}+){3})",
    ),
    _token("age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,}+", free=True),
)
