"""Messages, mail, payment, shops."""

from __future__ import annotations

from .rule import ALNUM, BASE64, HEX, LOWER, UUID, WORD, Rule, after, behind, exact, token

_CHATS = (
    token("slack-token", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9%+/_-]{10,}"),
    token("slack-token", "xapp-", "[0-9]-[A-Za-z0-9-]{10,}", free=True),
    token("slack-token", "xwfp-", "[A-Za-z0-9-]{20,}", free=True),
    after("webhook-url", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{16,}"),
    *(
        after("webhook-url", f"{host}.com/api/webhooks/", "[0-9]{5,20}/[A-Za-z0-9_-]{16,}")
        for host in ("discord", "discordapp")
    ),
    *(
        behind(
            "discord-token",
            f"[MNO][A-Za-z0-9_-]{{{width - 1}}}",
            width,
            ".",
            r"[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
            hint=r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{8}",
        )
        for width in (24, 26)
    ),
    after("webhook-url", "webhook.office.com/webhookb2/", "[A-Za-z0-9@_/-]{16,}"),
    after("webhook-url", "/open-apis/bot/v2/hook/", "[A-Za-z0-9-]{16,}"),
    after("webhook-url", "qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", "[A-Za-z0-9-]{16,}"),
    after("webhook-url", "oapi.dingtalk.com/robot/send?access_token=", "[A-Za-z0-9]{16,}"),
    after("webhook-url", "hooks.zapier.com/hooks/catch/", "[0-9]{4,12}/[A-Za-z0-9]{5,}"),
    after("webhook-url", "maker.ifttt.com/trigger/", "[A-Za-z0-9_-]{1,60}/(?:json/)?with/key/[A-Za-z0-9_-]{16,}"),
    exact("dingtalk-secret", "SEC", HEX, 64),
    Rule("telegram-token", ":AA", WORD + "{33}(?![_-])", "[0-9]{8}", 8, skips=8, before="", ends=True, hint="[0-9]:AA"),
    token("linkedin-secret", "WPL_AP", r"[0-9]\.[A-Za-z0-9]{12,24}\.[A-Za-z0-9+/]{4,12}={0,2}", free=True),
    token("facebook-token", "EAA", ALNUM + "{80,}"),
    token("instagram-token", "IGQ", "[A-Za-z0-9_-]{80,}"),
    token("instagram-token", "IGAA", "[A-Za-z0-9_-]{80,}"),
    token("x-bearer-token", "A" * 20, "[A-Za-z0-9]{1,60}%[A-Za-z0-9%]{40,}"),
    behind("firebase-key", "AAAA[A-Za-z0-9_-]{7}", 11, ":APA91b", "[A-Za-z0-9_-]{120,140}"),
    token("pubnub-key", "sec-c-", WORD + "{36,}", free=True),
)
_MAIL = (
    token("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}"),
    exact("twilio-key", "SK", HEX, 32),
    behind("mailchimp-key", HEX + "{32}", 32, "-us", "[0-9]{1,2}"),
    exact("mandrill-key", "md-", "[A-Za-z0-9_-]", 22),
    exact("mailgun-key", "key-", HEX, 32),
    behind(
        "mailgun-key", HEX + "{32}", 32, "-", HEX + "{8}-" + HEX + "{8}", hint="[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}"
    ),
    token("brevo-key", "xkeysib-", HEX + "{64}-" + ALNUM + "{16}", free=True),
    token("brevo-key", "xsmtpsib-", HEX + "{64}-" + ALNUM + "{16}", free=True),
    token("resend-key", "re_", ALNUM + "{8}_" + ALNUM + "{24}"),
    token("telnyx-key", "KEY0", "[0-9A-F]{24,32}_" + ALNUM + "{20,}"),
    token("intercom-token", "dG9rO", BASE64 + "{40,}={0,2}", size=54),
)
_PAYMENT = (
    *(
        token("stripe-key", f"{kind}_{mode}_", ALNUM + "{10,}")
        for kind in ("sk", "rk")
        for mode in ("live", "test", "prod")
    ),
    token("stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/=]{20,}", free=True, size=32),
    token("square-token", "sq0atp-", WORD + "{20,}", free=True, size=22),
    token("square-token", "sq0csp-", WORD + "{40,}", free=True, size=43),
    token("square-token", "EAAA", WORD + "{60}", size=60),
    token("braintree-token", "access_token$", "(?:production|sandbox)[$][0-9a-z]{16}[$][0-9a-f]{32}", free=True),
    token(
        "adyen-key", "AQE", r"[a-z0-9]hm[A-Za-z0-9+/]{40,400}={0,2}(?:-[A-Za-z0-9+/]{20,200}={0,2}-[!#-&(-;?-~]{8,24})?"
    ),
    token("razorpay-key", "rzp_live_", ALNUM + "{14}", free=True, size=14),
    token("razorpay-key", "rzp_test_", ALNUM + "{14}", free=True, size=14),
    *(
        token("paddle-key", f"pdl_{mode}_apikey_", LOWER + "{26}_" + ALNUM + "{22}_" + ALNUM + "{3}", free=True)
        for mode in ("live", "sdbx")
    ),
    *(token("plaid-token", f"access-{mode}-", UUID, free=True) for mode in ("production", "development", "sandbox")),
    token("flutterwave-key", "FLWSECK_TEST-", "[0-9a-zA-Z]{12,}(?:-X)?", free=True, size=32),
    token("flutterwave-key", "FLWSECK-", "[0-9a-zA-Z]{12,}(?:-X)?", free=True, size=32),
    exact("mollie-key", "live_", ALNUM, 30),
    exact("mollie-key", "test_", ALNUM, 30),
    token("gocardless-token", "live_", WORD + "{40}", size=40),
    token("xendit-key", "xnd_production_", ALNUM + "{40,}", free=True),
    token("xendit-key", "xnd_development_", ALNUM + "{40,}", free=True),
    token("midtrans-key", "Mid-server-", WORD + "{20,}", free=True, size=24),
    token("duffel-token", "duffel_live_", "[A-Za-z0-9_=-]{43}", free=True, size=43),
    token("duffel-token", "duffel_test_", "[A-Za-z0-9_=-]{43}", free=True, size=43),
    exact("easypost-key", "EZAK", ALNUM, 54),
    exact("easypost-key", "EZTK", ALNUM, 54),
    token("shippo-token", "shippo_live_", HEX + "{40}", free=True, size=40),
    token("shippo-token", "shippo_test_", HEX + "{40}", free=True, size=40),
)
_SHOPS = (
    *(
        token("shopify-token", f"shp{kind}_", "[0-9a-fA-F]{32}", free=True, size=32)
        for kind in ("at", "ca", "pa", "ss", "tka", "ua")
    ),
    behind("maxmind-key", ALNUM + "{6}_" + ALNUM + "{29}", 36, "_mmk"),
    token("settlemint-token", "sm_aat_", ALNUM + "{16,}", free=True),
    token("settlemint-token", "sm_pat_", ALNUM + "{16,}", free=True),
)

SERVICES: tuple[Rule, ...] = (*_CHATS, *_MAIL, *_PAYMENT, *_SHOPS)
