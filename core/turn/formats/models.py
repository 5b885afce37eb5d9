"""Models, and what is built around them."""

from __future__ import annotations

from .rule import ALNUM, HEX, LOWER, UPPER, UUID, WORD, Rule, behind, exact, token

MODELS: tuple[Rule, ...] = (
    token("anthropic-key", "sk-ant-", WORD + "{16,}", free=True),
    token("openrouter-key", "sk-or-", WORD + "{20,}"),
    *(token("openai-key", f"sk-{kind}-", WORD + "{20,}") for kind in ("proj", "svcacct", "admin", "None")),
    token("langfuse-key", "sk-lf-", UUID),
    token("helicone-key", "sk-helicone-", WORD + "{20,}", free=True),
    token("litellm-key", "sk-litellm-", WORD + "{16,}", free=True),
    # Also DeepSeek, Moonshot, DashScope, SiliconFlow and Stability, whose keys begin as OpenAI's do.
    token("openai-key", "sk-", ALNUM + "{20,}" + WORD + "*", size=48),
    exact("huggingface-token", "hf_", ALNUM, 34),
    exact("huggingface-token", "api_org_", ALNUM, 34),
    token("groq-key", "gsk_", ALNUM + "{30,}", size=52),
    token("xai-key", "xai-", ALNUM + "{40,}", size=80),
    token("perplexity-key", "pplx-", ALNUM + "{30,}", size=48),
    token("replicate-token", "r8_", ALNUM + "{30,}", size=37),
    token("pinecone-key", "pcsk_", ALNUM + "{4,8}_" + ALNUM + "{40,}"),
    *(token("langsmith-key", f"lsv2_{kind}_", HEX + "{32}_" + HEX + "{10}", free=True) for kind in ("pt", "sk")),
    token("wandb-key", "wandb_v1_", "[A-Za-z0-9_]{40,}", free=True, size=77),
    token("nvidia-key", "nvapi-", WORD + "{50,}", size=64),
    token("together-key", "tgp_v1_", WORD + "{40,}", free=True, size=43),
    exact("fireworks-key", "fw_", ALNUM, 24),
    token("cerebras-key", "csk-", LOWER + "{40,}", size=48),
    exact("voyage-key", "pa-", "[A-Za-z0-9_-]", 43),
    token("tavily-key", "tvly-", WORD + "{32,}", size=32),
    token("firecrawl-key", "fc-", HEX + "{32}", size=32),
    token("jina-key", "jina_", WORD + "{50,}", size=60),
    exact("elevenlabs-key", "sk_", HEX, 48),
    token("runpod-key", "rpa_", UPPER + "{36,}" + LOWER + "*", size=46),
    token("anyscale-key", "esecret_", ALNUM + "{20,}", free=True),
    token("e2b-key", "e2b_", HEX + "{40}", size=40),
    exact("mem0-key", "m0-", ALNUM, 40),
    token("apify-token", "apify_api_", ALNUM + "{36}", free=True, size=36),
    token("cursor-key", "key_", HEX + "{64}", size=64),
    behind("zhipu-key", HEX + "{32}", 32, ".", ALNUM + "{16}", hint=r"[0-9a-f]{8}\.[A-Za-z0-9]{8}"),
)
