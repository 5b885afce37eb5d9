"""Where code is kept, built, tested and handed out."""

from __future__ import annotations

from .rule import ALNUM, HEX, LOWER, UPPER, UUID, WORD, Rule, after, exact, token

_HOSTS = (
    *(token("github-token", f"gh{kind}_", ALNUM + "{20,}", free=True, size=36) for kind in "pou"),
    token("github-token", "ghr_", ALNUM + "{20,}", free=True, size=76),
    token("github-token", "ghs_", r"[A-Za-z0-9]{20,}(?:_[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]+)*)?", free=True, size=36),
    token("github-token", "github_pat_", "[A-Za-z0-9_]{20,}", free=True, size=82),
    token("github-token", "v1.", "[0-9a-f]{40}", size=40),
    *(
        token("gitlab-token", f"gl{kind}-", r"[A-Za-z0-9_=-]{16,}(?:\.[A-Za-z0-9_-]+)*", free=True)
        for kind in ("pat", "dt", "rt", "rtr", "ptt", "cbt", "soat", "ft", "agent", "oas", "imt", "ffct", "wt")
    ),
    token("gitlab-token", "GR1348941", WORD + "{20,}", free=True, size=20),
    after("gitlab-session", "_gitlab_session=", HEX + "{32}"),
    token("bitbucket-password", "ATBB", ALNUM + "{32,}", size=32),
    token("atlassian-token", "ATATT3", "[A-Za-z0-9_=-]{40,}", free=True),
    token("bitbucket-token", "ATCTT3", "[A-Za-z0-9_=-]{40,}", free=True),
    token("trello-token", "ATTA", "[0-9a-fA-F]{64,}", size=72),
    token("jetbrains-token", "perm:", r"[A-Za-z0-9=_-]{4,120}\.[A-Za-z0-9=_-]{4,120}\.[A-Za-z0-9]{20,}", free=True),
    token("jetbrains-token", "perm-", r"[A-Za-z0-9+/=_-]{4,120}\.[A-Za-z0-9+/=_-]{2,120}\.[A-Za-z0-9]{20,}"),
)
_REGISTRIES = (
    token("npm-token", "npm_", ALNUM + "{30,}", size=36),
    token("pypi-token", "pypi-", WORD + "{40,}", free=True),
    exact("crates-token", "cio", ALNUM, 32),
    token("rubygems-key", "rubygems_", HEX + "{40,}", free=True, size=48),
    exact("nuget-key", "oy2", LOWER, 43),
    *(token("docker-token", f"dckr_{kind}_", WORD + "{20,}", free=True) for kind in ("pat", "oat")),
    token("artifactory-key", "AKCp", ALNUM + "{60,}", size=69),
    token("artifactory-token", "cmVmdGtu", ALNUM + "{50,}", size=56),
    token("clojars-token", "CLOJARS_", HEX + "{60}", free=True, size=60),
    *(
        token("packagist-token", f"packagist_{kind}_", HEX + "{64,}", free=True, size=68)
        for kind in ("out", "ort", "uut", "ack")
    ),
)
_BUILDS = (
    token("circleci-token", "CCIPAT_", ALNUM + "{16,30}_" + HEX + "{40}", free=True),
    token("circleci-token", "CCIPRJ_", ALNUM + "{16,30}_" + HEX + "{40}", free=True),
    *(token("buildkite-token", f"bk{kind}_", ALNUM + "{32,}", size=40) for kind in ("ua", "at", "aj", "ct")),
    token("harness-key", "pat.", r"[A-Za-z0-9_-]{22}\.[0-9a-zA-Z]{24}\.[A-Za-z0-9]{20}"),
    token("harness-key", "sat.", r"[A-Za-z0-9_-]{22}\.[0-9a-zA-Z]{24}\.[A-Za-z0-9]{20}"),
    Rule("octopus-key", "API-", UPPER + "{26,32}", ends=True),
    token("teamcity-token", "eyJ0eXAiOiAiVENWMiJ9.", r"[A-Za-z0-9_-]{20,60}\.[A-Za-z0-9_-]{40,}"),
    token("expo-token", "expo_", WORD + "{40}", size=40),
)
_QUALITY = (
    *(token("sonar-token", f"sq{kind}_", ALNUM + "{40}", size=40) for kind in "pua"),
    token("snyk-token", "snyk_uat.", r"[0-9a-f]{8}(?:\.[A-Za-z0-9_-]{8,})+", free=True),
    token("snyk-token", "snyk_sat.", r"[0-9a-f]{8}(?:\.[A-Za-z0-9_-]{8,})+", free=True),
    *(token("sourcegraph-token", prefix, "[A-Za-z0-9_]{40,}") for prefix in ("sgp_", "slk_")),
    token("postman-key", "PMAK-", HEX + "{24}-" + HEX + "{34}", free=True),
    token("postman-key", "PMAT-", UPPER + "{26}", free=True, size=26),
    token("launchdarkly-key", "sdk-", UUID),
    token("launchdarkly-key", "api-", UUID),
    token("readme-key", "rdme_", LOWER + "{70}", size=70),
)

CODE: tuple[Rule, ...] = (*_HOSTS, *_REGISTRIES, *_BUILDS, *_QUALITY)
