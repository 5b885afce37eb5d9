"""Watching, planning, writing, identity: what teams work with."""

from __future__ import annotations

from .rule import ALNUM, BASE64, HEX, UUID, WORD, Rule, after, behind, exact, token

_WATCHING = (
    token("grafana-token", "glsa_", ALNUM + "{32}_" + "[0-9a-fA-F]{8}", free=True),
    token("grafana-token", "glc_", "[A-Za-z0-9+/=]{32,}", free=True),
    token("grafana-key", "eyJrIjoi", BASE64 + "{60,}={0,2}"),
    *(token("newrelic-key", f"NR{kind}-", WORD + "{27,}", free=True, size=27) for kind in ("AK", "AA", "RA", "BR")),
    token("newrelic-key", "NRII-", WORD + "{32}", free=True, size=32),
    token("newrelic-key", "NRIQ-", WORD + "{32}", free=True, size=32),
    behind("newrelic-license", HEX + "{36}", 36, "NRAL"),
    *(
        token("dynatrace-token", f"dt0{kind}.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}", free=True)
        for kind in ("c01", "s01", "s02", "s03", "s04", "s06", "s08", "s16")
    ),
    token("sentry-token", "sntrys_", "[A-Za-z0-9+/=_]{40,}", free=True),
    token("sentry-token", "sntryu_", HEX + "{40,}", free=True, size=64),
    *(token("honeycomb-key", f"hc{kind}ik_", ALNUM + "{40,}", size=58) for kind in "abx"),
    token("axiom-token", "xaat-", UUID, free=True),
    token("axiom-token", "xapt-", UUID, free=True),
    token("posthog-key", "phx_", ALNUM + "{40,}", size=43),
    token("posthog-key", "phs_", ALNUM + "{40,}", size=43),
    exact("statsig-key", "secret-", ALNUM, 43),
    token("pagerduty-key", "pdus+", "[A-Za-z0-9_+-]{20,}", free=True),
)
_PLANNING = (
    token("linear-key", "lin_api_", ALNUM + "{30,}", free=True, size=40),
    token("linear-key", "lin_oauth_", HEX + "{40,}", free=True, size=64),
    token("notion-token", "ntn_", ALNUM + "{40,}", size=46),
    exact("notion-token", "secret_", ALNUM, 43),
    token("figma-token", "figd_", WORD + "{38,}", free=True, size=40),
    token("airtable-token", "pat", ALNUM + r"{14}\.[0-9a-f]{64}"),
    token("asana-token", "1/", "[0-9]{13,19}:[0-9a-f]{32}"),
    token("asana-token", "2/", "[0-9]{13,19}/[0-9]{13,19}:[0-9a-f]{32}"),
    token("clickup-token", "pk_", "[0-9]{5,10}_[A-Z0-9]{32}"),
    token("typeform-token", "tfp_", WORD + r"{30,}(?:\.[A-Za-z0-9_-]+)*", size=59),
    token("frameio-token", "fio-u-", WORD + "{64}", free=True, size=64),
    token("n8n-key", "n8n_api_", ALNUM + "{40,}", free=True),
    token("dropbox-token", "sl.", "(?:u[.])?[A-Za-z0-9_-]{100,}"),
)
_WRITING = (
    token("contentful-token", "CFPAT-", WORD + "{40,}", free=True, size=43),
    token("sanity-token", "sk", ALNUM + "{80,}", size=80),
    behind("ghost-key", HEX + "{24}", 24, ":", HEX + "{64}", hint="[0-9a-f]{8}:[0-9a-f]{8}"),
    token("mapbox-token", "sk.eyJ", r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{16,}", free=True),
    token("mapbox-token", "tk.eyJ", r"[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{16,}", free=True),
)
_CUSTOMERS = (
    *(token("hubspot-token", f"pat-{place}-", UUID) for place in ("na1", "na2", "eu1", "ap1")),
    behind(
        "salesforce-token",
        "00D" + ALNUM + "{12}",
        15,
        "!",
        "[A-Za-z0-9_.]{80,120}",
        hint="[A-Za-z0-9]{8}![A-Za-z0-9_.]{8}",
    ),
    token("retool-key", "retool_", "[0-9a-z]{26,}"),
    token("metabase-key", "mb_", "[A-Za-z0-9+/=]{40,}"),
)
_IDENTITY = (
    after("okta-token", "SSWS ", "00[A-Za-z0-9_-]{38,42}"),
    token("stytch-secret", "secret-live-", "[A-Za-z0-9_=-]{30,}", free=True),
    token("stytch-secret", "secret-test-", "[A-Za-z0-9_=-]{30,}", free=True),
    token("adobe-secret", "p8e-", WORD + "{32}", free=True, size=32),
)

WORK: tuple[Rule, ...] = (*_WATCHING, *_PLANNING, *_WRITING, *_CUSTOMERS, *_IDENTITY)
