"""What is said to a model and hardly ever in code: one row a phrase.

A row is tried only where one of its needles occurs in the squeezed text (letters and digits alone), so that a
text without them costs next to nothing. Rows that are looked for in the squeezed text see through every trick of
spacing and punctuation; the others need their word ends, because ``you are nowhere`` is no order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """``pattern`` is looked for in the squeezed text, or in the folded one if not ``squeezed``.

    It cannot match where none of ``needles`` stands, nor where there are ``further`` ones and none of them does.
    """

    needles: tuple[str, ...]
    pattern: re.Pattern[str]
    squeezed: bool
    further: tuple[str, ...] = ()


def _squeezed(needles: str, *parts: str, further: str = "") -> Phrase:
    return Phrase(tuple(needles.split()), re.compile("".join(parts)), squeezed=True, further=tuple(further.split()))


def _spoken(needles: str, *parts: str, further: str = "") -> Phrase:
    """A phrase in which each blank stands for one to eight characters that are no letters."""
    words = "".join(parts).replace(" ", r"[\W_]{1,8}")
    pattern = re.compile(rf"\b(?:{words})\b")
    return Phrase(tuple(needles.split()), pattern, squeezed=False, further=tuple(further.split()))


def _marker(needles: str, *parts: str) -> Phrase:
    return Phrase(tuple(needles.split()), re.compile("".join(parts)), squeezed=False)


# English

_IGNORE = "(?:ignore|disregard|forget|overlook|donotfollow|dontfollow|stopfollowing|donotobey|dontobey|stopobeying)"
_IGNORING = "ignore disregard forget overlook donotfollow dontfollow stopfollowing donotobey dontobey stopobeying"
_ALL = "(?:all|any|every|each|both|of|the|these|those|this|that|your|my|our|its|and|other|everything|what){0,5}"
_PAST = "(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|developer|safety)"
_MORE = "(?:ly|and|or|given|stated|system|user|developer|safety|previous|prior|set|of){0,3}"
_ORDERS = "(?:instruction|prompt|directive|guideline|command|order|directions)"
_AI = "(?:ai|llm|language model|(?:ai|coding) (?:assistant|agent|model)s?|claude|codex|chatgpt|gpt)"
_THE_USER = "(?:the |your )?(?:user|human)"

# Chinese, simplified and traditional

_IGNORE_ZH = (
    "(?:忽略|忽视|忽視|无视|無視|忘记|忘記|忘掉|抛弃|拋棄"
    "|不要理会|不要理會|不用理会|不用理會|不要遵守|不要遵循|不必遵守|停止遵守|停止遵循)"
)
_ALL_ZH = "(?:掉|你|您|我|所有|一切|全部|任何|的|在|这|這|些|此|了|到){0,6}"
_PAST_ZH = (
    "(?:以上|上述|上面|之前|此前|先前|前面|前述|早前|原有|原来|原來|既有|系统|系統|开发者|開發者)"
    "(?:的|所有|一切|全部|任何|给|給|你|您|出|系统|系統|说|說|过|過|和|与|與){0,6}"
)
_ORDERS_ZH = "(?:指令|指示|提示|命令|规则|規則|要求|约束|約束|限制|设定|設定|对话|對話|内容|內容)"

PHRASES: tuple[Phrase, ...] = (
    _squeezed(
        "instruction prompt directive guideline command order directions disregard",
        f"{_IGNORE}{_ALL}{_PAST}{_MORE}{_ORDERS}",
        f"|(?:override|bypass){_ALL}{_PAST}{_MORE}(?:instruction|prompt|directive|guideline)",
        f"|{_IGNORE}(?:all|any|of|your|the|my|everything){{1,4}}(?:instruction|directive|guideline)s?"
        "(?:above|before|youweregiven|youhave|sofar|given|andinstead)|disregard(?:all|everything|any)?(?:of)?(?:the)?above",
        further=f"{_IGNORING} override bypass",
    ),
    _squeezed(
        "rules", f"{_IGNORE}{_ALL}(?:previous|prior|above|earlier|preceding|system){_MORE}rules", further=_IGNORING
    ),
    _squeezed(
        "ignoreall ignoreev ignorean forgetall forgetev forgetan",
        "(?:ignore|forget)(?:all|everything|anything)(?:of)?(?:the)?(?:above|before|youknow|youweretold|ihavesaid|isaid)",
    ),
    _spoken(
        "youarenow",
        "you are now (?:an? |in |acting |no longer |free from |free of |operating |unrestricted|jailbroken|dan)",
    ),
    _spoken("fromnowon", "from now on you (?:are|will|must|shall|should|have to|act)"),
    _spoken(
        "user human",
        "(?:do not|don.?t|never|must not|without) ",
        "(?:tell|inform|alert|notify|notifying|mention|reveal|revealing|disclose|disclosing)(?:ing)? ",
        f"(?:(?:this|that|it|anything|any of this|about it|about this) )?(?:(?:to|about) )?{_THE_USER}",
    ),
    _spoken(
        "systemprompt",
        "(?:reveal|print|show|repeat|output|display|leak|expose|dump|tell me|give me|send|write out|return) "
        "(?:(?:me|us|back|out|all|of|the|full|entire|exact|complete|hidden|your|initial|original|verbatim) ){0,4}"
        "system prompt|your (?:new|updated|revised|real|actual|overriding) system prompt|your system prompt is",
    ),
    _spoken(
        "instruction task orders",
        "(?:new|updated|revised|real) (?:instructions?|task|orders) "
        r"(?:for (?:you|the (?:ai|assistant|agent|model))|from (?:the )?(?:user|system|developer|admin\w*))",
        further="new updated revised real",
    ),
    _spoken(
        "ai llm model agent assistant claude codex gpt",
        "(?:attention|note to|message to|message for|instructions? for|instructions? to|dear) "
        rf"(?:the |any |all |an )?{_AI}|(?:if you are|as) an? {_AI} (?:you |please|do |must|then |reading )",
        further="attention noteto messageto messagefor instructionfor instructionsfor instructionto instructionsto dear"
        " ifyouarea asaai asallm asalanguage asacoding asaclaude asacodex asachatgpt asagpt"
        " asanai asanllm asanlanguage asancoding asanclaude asancodex asanchatgpt asangpt",
    ),
    _spoken(
        "actas behaveas respondas answeras",
        r"(?:act|behave|respond|answer) as (?:dan|if you (?:are|were|have) "
        r"(?:(?:an?|no|not) )?(?:unrestricted|jailbroken|restrictions|bound|limits|root|admin\w*|ai))",
    ),
    _spoken(
        "ignore disregard forget bypass override",
        "(?:you (?:must|should|will|can|may)|please) (?:now )?(?:ignore|disregard|forget|bypass|override) "
        "(?:(?:all|any|the|your|every) ){0,3}"
        "(?:instructions?|safety|guidelines?|restrictions|guardrails|system|previous|prior)",
        further="you please",
    ),
    _spoken(
        "modeis modeen modeac modenow modeon",
        "(?:developer|jailbreak|god|dan|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|on)",
    ),
    _spoken(
        "withoutasking withoutrequesting withoutwaiting",
        "without (?:asking|requesting|waiting)(?: for)? (?:the |your )?(?:user|human)",
        "(?:.?s)?(?: for)? (?:permission|confirmation|approval|consent)",
    ),
    _squeezed(
        "指令 指示 提示 命令 规则 規則 要求 约束 約束 限制 设定 設定 对话 對話 内容 內容",
        f"{_IGNORE_ZH}{_ALL_ZH}{_PAST_ZH}{_ORDERS_ZH}"
        "|(?:忽略|无视|無視|忘记|忘記|忘掉)(?:你|您|所有|一切|全部|任何|的){1,4}(?:指令|指示|提示词|提示詞|系统提示|系統提示)",
    ),
    _squeezed(
        "现在 現在 此刻",
        "(?:从|從)(?:现在|現在|此刻)(?:开始|開始|起)[你您](?:是|将|將|要|必须|必須|就是|扮演)"
        "|[你您](?:现在|現在)(?:是一[个個名位]|不再是|不再受|将扮演|將扮演|扮演|的身份是|的角色是)",
    ),
    _squeezed(
        "用户 用戶 使用者 人类 人類",
        "(?:不要|别|別|不得|请勿|請勿|切勿|禁止|无需|無需|不能)(?:把|将|將|这|這|件|此|事|向|跟|和|对|對){0,5}"
        "(?:(?:告诉|告訴|告知|通知|透露给|透露給|提醒)(?:用户|用戶|使用者|人类|人類)"
        "|(?:用户|用戶|使用者)(?:透露|提及|提起|说明|說明|报告|報告|告知|说|說))",
    ),
    _squeezed(
        "系统提示 系統提示 系统指令 系統指令 系统消息 系統訊息",
        "(?:泄露|洩露|泄漏|洩漏|透露|输出|輸出|显示|顯示|打印|列印|告诉我|告訴我|说出|說出|复述|複述|重复|重複)"
        "(?:你|您|的|完整|全部|原始|所有|一下){0,5}(?:系统|系統)(?:提示|指令|消息|訊息)",
    ),
    # What a chat is written with
    _marker(
        "im system user assistant tool human developer end eot eom begin start channel message return call",
        r"<\s{0,4}\|\s{0,4}(?:im_(?:start|end|sep)|system|user|assistant|tool|human|developer|end|endoftext|endofprompt"
        r"|eot_id|eom_id|begin_of_text|start_header_id|end_header_id|channel|message|start|return|call)\s{0,4}\|\s{0,4}>"
        r"|<\s{0,4}/?\s{0,4}(?:start|end)_of_turn\s{0,4}>",
    ),
    _marker("inst", r"\[\s{0,4}/\s{0,4}inst\s{0,4}\]"),
    _marker("sys", r"<<\s{0,4}/?\s{0,4}sys\s{0,4}>>"),
    _marker(
        "system assistant function tool",
        r"<\s{0,4}/?\s{0,4}(?:antml:)?(?:system|system[ _-](?:reminder|message|prompt)|assistant|function_calls|"
        r"function_results|tool_result|tool_response)(?:\s{1,4}[\w:-]{1,30}\s?=[^<>\n]{0,80})?\s{0,4}/?\s{0,4}>",
    ),
    _marker(
        "assistant human",
        r"(?:^|(?<=\n))[\s#>*_/-]{0,12}(?:assistant|human)[*_]{0,3}[:：]"
        r"(?:[*_ \t]{0,4}(?=\n|\Z)|[ \t*_]{1,6}[a-z][\w',]{0,20}[ ,]{1,2}[a-z])",
    ),
    _marker(
        "system user developer instruction",
        r"(?:^|(?<=\n))[\s#>*_/-]{0,12}(?:system|user|developer|system prompt|(?:new|updated) instructions?)"
        r"[*_]{0,3}[:：][*_\s]{1,6}(?:ignore|disregard|please |do not |don.?t |never |always |from now|forget"
        r"|you (?:must|will|shall|should|have to|are now|are no longer) )",
    ),
    _marker(
        "系统 系統 助手 指令",
        r"(?:^|(?<=\n))[\s#>*_/-]{0,12}(?:新的?|最新)?(?:系统|系統|系统提示词?|系統提示詞?|助手|指令)[:：]\s{0,4}[你您请請忽]",
    ),
)

INSTRUCTION_TAG = re.compile(r"\[\s{0,4}I[Nn][Ss][Tt]\s{0,4}\]")
"""Looked for in the text itself: ``[inst]`` in lower case is a list with one instance."""
