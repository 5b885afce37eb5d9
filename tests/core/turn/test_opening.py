"""Prompts that begin as commit messages and reports of one line do, and prompts that only begin like them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upbeat.core.texts import opening_phrases as known
from upbeat.core.texts.phrases import Tag
from upbeat.core.turn.intent import read
from upbeat.core.turn.lexicon import find_phrases
from upbeat.core.turn.opening import Opening, as_told, read_opening
from upbeat.core.turn.reading import Intent

OPENINGS = [
    ("fix the header", Opening(0)),
    ("  - fix the header", Opening(4)),
    ("[fix] the header", Opening(6)),
    ("## fix the header", Opening(3)),
    ("issue #12: fix the header", Opening(11)),
    ("fix: the header", Opening(5, "fix", 2)),
    ("perf!: the header", Opening(7, "perf", 2)),
    ("build(deps): the header", Opening(13, "build", 3)),
    ("chore: the header", Opening(7, "chore")),
    ("dinner(late): the header", Opening(14, "dinner")),
    ("win,pipe: the header", Opening(10, "win,pipe", 1)),
    ("unix, windows: the header", Opening(15, "unix, windows", 1)),
    ("linux: the header", Opening(7, "linux")),
    ("a:b", Opening(0)),
    ("see https://a.example/b", Opening(0)),
    ("", Opening(0)),
]

TOLD = [
    ("fixes the cart", [("fixes", {Tag.DEBUG})]),
    ("cart: fixes it", [("fixes", {Tag.DEBUG})]),
    ("bugfix: the cart", [("bugfix", {Tag.DEBUG})]),
    ("ensure it", [("ensure", {Tag.CHANGE})]),
    ("avoid it", [("avoid", {Tag.ATTEND})]),
    ("避免它", [("避免", {Tag.ATTEND})]),
    ("it fixes the x", []),
    ("don't crash", [("don't", {Tag.ATTEND}), ("crash", {Tag.SYMPTOM, Tag.CRAFT1})]),
    ("don't worry", [("don't", {Tag.NOT, Tag.SOFT})]),
    ("don't", [("don't", {Tag.NOT, Tag.SOFT})]),
    ("不要忘记它", [("不要", {Tag.NOT})]),
]

DEBUG = [
    "Fixes the race in the pool",
    "Fixed JSONP format (added semicolon)",
    "linux: fix -Wsign-compare warning",
    "bugfix: wrong header",
    "Bugfix: Only 'nargs' completions are given",
    "[bugfix] wrong content type",
    "fix(auth): lost cookies",
    "fix: provide a value for each arg",
    "Issue #1809: resolves the lookup",
    "Fix/ignore flake8 problems",
    "Corrects the padding of the tuple",
    "don't crash if exceptiongroup has only hidden tb frames",
    "Do not crash if next() is called without arguments",
    "fix: 登录超时后没有重试",
    "修复请求头为空时的崩溃",
    "不要在请求头为空时崩溃",
]

CHANGED = [
    "Do not set headers with None value",
    "upgrade go-validator to v10",
    "bump lodash from 4.17.20 to 4.17.21",
    "force binary existance check",
    "Now 'json' parameter will be used to prepare body only if the 'data'\nparameter is not present",
    "Don't install the reactor in is_asyncio_reactor_installed()",
    "unix: don't copy arguments for sync fs requests",
    "Ensures the decorator keeps its namespace",
    "Prevents warnings from the certificate check",
    "avoid skipping headers when filtering 304 response headers",
    "add --disable-plugin-autoload",
    "must not call the callback twice",
    "Ignore empty parts when parsing Content-Disposition header",
    "Removed unused import",
    "feat(cli): 支持 --json 输出",
    "避免重复序列化请求参数",
    "防止缓存被并发写坏导致的死锁",
    "确保回调只调用一次，且不再抛出异常",
    "忽略配置文件里的空字段",
    "“timeout”参数不再生效",
    "升级 webpack 到 v5.2",
    "修复 JSONP 的格式，末尾加上分号",
    "调试日志应该输出到标准错误",
    "增加一个选项，关闭输出里的列号",
    "不要在响应体为空时抛异常",
]

SILENT = [
    "don't worry",
    "do not disturb me",
    "don't panic",
    "don't forget to call mom",
    "do not be sad",
    "don't cry",
    "Don't tell anyone",
    "don't let me down",
    "do not enter",
    "don't go there",
    "Don't set the table yet",
    "do not miss class tomorrow",
    "don't break my heart",
    "don't crash my party",
    "don't lie to me",
    "don't ask me again",
    "do not smoke here",
    "never give up",
    "never mind",
    "no longer hungry",
    "fix world hunger",
    "Fixes my mood",
    "Fixed it",
    "fixed, thanks",
    "Fixed now, go on",
    "fixes everything",
    "fix: my sleep schedule",
    "fix: dinner for six",
    "bugfix: none today, let's go to the beach",
    "fix the roof",
    "fixed the dishwasher today",
    "Fixed the leak in the bathroom",
    "upgrade my plan to business class",
    "upgrade my phone",
    "upgrade me to first class",
    "upgrade to a bigger house",
    "bump the meeting to 3.30",
    "upgrade my iphone to iOS 17.4",
    "raise the price to 9.99",
    "update my resume to v2",
    "prevent memory loss in old age",
    "prevent hair loss",
    "prevent a cold",
    "avoid carbs",
    "avoid traffic on the way to the airport",
    "avoid paying the parking ticket",
    "ensure a good night's sleep",
    "ensure the kids are in bed by nine",
    "handle a difficult customer",
    "ignore my last message",
    "skip breakfast",
    "skip the intro",
    "remove red wine stains",
    "reject the job offer politely",
    "restore old photos",
    "respect your elders",
    "preserve lemons in salt",
    "accept the invitation",
    "keep it short",
    "keep calm and carry on",
    "force myself to wake up early",
    "raise a child",
    "return the shoes to the store",
    "print this page",
    "open the window",
    "close the door",
    "call me a taxi",
    "send flowers to my wife",
    "check the weather",
    "correct my grammar",
    "corrected, thank you",
    "correctly pronounce Worcestershire",
    "resolve a fight with my sister",
    "resolved!",
    "todo: buy milk",
    "reminder: call the dentist",
    "note: the party is at eight",
    "idea: a story about a robot",
    "question: who was Napoleon?",
    "dinner: pasta or rice?",
    "he/she: which one should I use in a letter?",
    "London -> Paris by train",
    "2 + 2 == 5, wrote Orwell",
    "chapter 1.2 of the book, please",
    "season 2.5 of the show",
    "improve my English",
    "improved a lot, thanks",
    "added sugar is bad for you",
    "added two eggs, what now?",
    "removed my wisdom teeth yesterday",
    "changed my mind",
    "made a cake",
    "the 'wonder' drug",
    "what does 'serendipity' mean?",
    "self-help for beginners",
    "gluten-free bread",
    "a world-class dinner",
    "a state-of-the-art kitchen",
    "user-friendly advice on moving house",
    "supports for a bad knee",
    "use less sugar",
    "use a polite tone",
    "make the answer shorter",
    "make a wish",
    "allow me to introduce myself",
    "support my team on Sunday",
    "enable me to sleep",
    "drop me a line",
    "switch seats with him",
    "wrap a present",
    "strip wallpaper off a wall",
    "cover the cake with cream",
    "catch the bus to work",
    "reset my body clock",
    "clear my head",
    "validate my feelings",
    "emit less carbon at home",
    "treat a burn",
    "detect a lie",
    "refine crude oil",
    "不用担心",
    "别担心",
    "不要打扰我",
    "不要哭",
    "别忘了给妈妈打电话",
    "请勿吸烟",
    "禁止吸烟",
    "禁止停车",
    "不要放弃",
    "别闹了",
    "不再爱了",
    "避免熬夜",
    "避免堵车",
    "避免感冒",
    "防止脱发",
    "防止孩子着凉",
    "确保睡眠充足",
    "确保按时到机场",
    "保证每天喝水",
    "忽略我上一句话",
    "允许我自我介绍",
    "修好我的自行车",
    "修复和女朋友的关系",
    "修复家庭关系",
    "修正我的英语发音",
    "解决世界饥饿问题",
    "升级到头等舱",
    "升级我的会员",
    "升级我的手机到最新款",
    "处理和老板的矛盾",
    "支持我的球队",
    "兼容并包是什么意思",
    "不要在床上吃东西",
    "不要在家里抽烟",
    "补充维生素",
    "去除衣服上的油渍",
    "提示：今晚八点吃饭",
    "备注：记得买牛奶",
    "强制自己早起",
    "限制孩子看电视",
    "恢复体力",
    "what's the definition of love",
    "explain the logic of Aristotle",
    "what are binary stars",
    "make a stack of pancakes",
    "stream a movie tonight",
    "what are my options for dinner",
    "warning signs of a stroke",
    "what is the object of Monopoly",
    "give me an instance of courage in literature",
    "usage of the word whom",
    "write about the syntax of a haiku",
    "stack the chairs in the hall",
    "get padding for the sofa",
    "show me the expression on his face",
    "buy a burrito wrapper",
    "tell me about the buffer zone in Korea",
    "find a socket wrench",
    "how do I plug this into a wall socket",
    "remove the stock option from my offer",
    "add an option for vegetarians to the wedding menu",
    "change the completion date of our kitchen",
    "what is the smoke signal for help",
    "fix the traffic signal on my street",
    "use a wooden pointer",
    "update the literal translation of the psalm",
    "get a lookup of my ancestors",
    "avoid an overflow of the bathtub",
    "check the allocation of seats",
    "set the volume to 7.5",
    "add 1.5 cups of sugar",
    "change my appointment to v2 of the plan",
    "raise my glass to the newlyweds",
    "never go to bed angry",
    "always be kind",
    "only the good die young",
    "now is the time",
    "correct posture while sitting",
    "ignore the noise from my neighbour",
    "cover letter for a nurse",
    "lock the front door",
    "mark my words",
    "load the dishwasher",
    "copy the key at the store",
    "save me a seat",
    "stop the bleeding",
    "start a garden",
    "open a bank account",
    "read me a bedtime story",
    "store potatoes in winter",
    "keep the baby warm",
    "treat a sunburn",
    "send the invitation to the guests",
    "pass the salt",
    "strip the bed",
    "wrap the gift",
    "call the landlord",
    "limit screen time for kids",
    "delay my flight",
    "honor my father",
    "process my grief",
    "don't skip the vegetables",
    "don't print the photos",
    "don't copy his homework",
    "do not open the oven",
    "don't load the car yet",
    "Don't ever change",
    "Do not resuscitate",
    "don't stop believing",
    "don't look back in anger",
    "don't play with matches",
    "don't eat the yellow snow",
    "do not pass Go, do not collect $200",
    "别开窗户",
    "别吃太多",
    "不要迟到",
    "不要乱扔垃圾",
    "禁止入内",
    "保证完成任务",
    "保证质量的餐厅有哪些",
    "兼容性格的人怎么相处",
    "避免尴尬的聊天话题",
    "恢复睡眠",
    "限制热量",
    "拒绝同事的邀请",
    "正确刷牙",
    "捕获野猪",
    "允许宠物的酒店",
    "强制执行判决书是什么",
    "跳过早餐好吗",
    "升级我的座位",
    "修复老照片",
    "修复皮肤屏障",
    "修复古画",
    "不再年轻",
    "校验身份证",
    "fix my relationship",
    "fix the economy",
    "fix a drink",
    "fixing a hole where the rain gets in",
    "fix breakfast",
    "fixed income investments",
    "resolved to lose weight",
    "corrects posture, that brace",
    "uses of vinegar",
    "makes me happy",
    "used to live in Paris",
    "allows dogs",
    "raises for teachers",
    "closes at nine",
    "returns policy of Zara",
    "handles of the pot",
    "supports bipartisan bill",
    "adds insult to injury",
    "drops of Jupiter lyrics",
    "moves like Jagger",
    "passes for the ski resort",
    "warns of storms",
    "throws a ball",
    "catches fish",
    "rejects my love",
    "把合同格式改一下",
    "简历用什么格式好",
    "给我三个选项",
    "今晚吃饭有哪些选项",
    "写一段英语会话",
    "他的表情和表达式",
    "经济输出是什么",
    "中国的粮食输出",
    "修改旅行选项",
    "改一下发票的格式",
    "去掉多余的选项，帮我选一家餐厅",
    "帮我排版成表格格式发给老板",
    "数学表达式怎么化简",
    "解码她的心思",
    "解码爱情",
    "翻译成信的格式",
    "手机壳的格式",
    "视频是什么格式",
    "把照片换成 JPG 格式",
    "增加体力输出",
    "电影有几种结局选项",
    "健身房会话费用",
    "断言他会赢",
    "我断言明天下雨",
    "字节跳动怎么样",
    "字节跳动的面试难吗",
    "请转义这首诗",
    "重定向人生",
    "装饰器材在哪买",
]

MISSED = ["what attributes make a good leader", "adds attributes to my personality"]
"""Said of people in words of the craft; only their sense could tell."""

LATER = [
    "I ensure you, it is fine",
    "thanks, that fixes it",
    "please don't crash",
    "so, fixed the thing",
]


@pytest.mark.parametrize(("prose", "opening"), OPENINGS)
def test_read_opening(prose: str, opening: Opening) -> None:
    """read_opening goes past list marks, tags, numbers and a label, and weighs the label."""
    assert opening == read_opening(prose)


@pytest.mark.parametrize(("prose", "hits"), TOLD)
def test_as_told(prose: str, hits: list[tuple[str, set[Tag]]]) -> None:
    """as_told gives the first words the meaning that they have at the beginning, and all others their own."""
    told = as_told(prose, find_phrases(prose), read_opening(prose))
    assert hits == [(hit.phrase, set(hit.tags)) for hit in told]


@given(st.text(alphabet="-*[] \n#:,./()!x1fixdon't不要避免\x01", max_size=60))
def test_opening_is_total(prose: str) -> None:
    """Whatever a prompt begins with, the opening lies inside it, and the hits stay in order and apart."""
    opening = read_opening(prose)
    assert 0 <= opening.start <= len(prose)
    told = as_told(prose, find_phrases(prose), opening)
    assert all(one.end <= other.start for one, other in pairwise(told))


@pytest.mark.parametrize("prompt", DEBUG)
def test_a_repair(prompt: str) -> None:
    """A message that tells of a repair, or of what must not break, is debug."""
    assert Intent.DEBUG is read(prompt).intent


@pytest.mark.parametrize("prompt", CHANGED)
def test_a_change(prompt: str) -> None:
    """A message that says what a program shall do from now on is about code."""
    assert Intent.NONE is not read(prompt).intent


def test_says_nothing_for() -> None:
    """What begins like a commit message but is said to a person, or of everyday things, is not about code."""
    assert dict.fromkeys(SILENT, Intent.NONE) == {prompt: read(prompt).intent for prompt in SILENT}


@pytest.mark.parametrize("prompt", MISSED)
@pytest.mark.xfail(strict=True, reason="needs to know more than words")
def test_missed(prompt: str) -> None:
    """These are not about code, and are taken for it."""
    assert Intent.NONE is read(prompt).intent


@pytest.mark.parametrize("prompt", LATER)
def test_only_the_beginning(prompt: str) -> None:
    """The same words later in a prompt say nothing by themselves."""
    assert Intent.NONE is read(prompt).intent


def test_a_label_is_no_name() -> None:
    """In "fix(auth): …" fix is the type of a change, no function that is called; what the scope names counts."""
    assert ((), ()) == (read("fix(auth): lost cookies").targets.symbols, read("fix(auth): lost cookies").targets.files)
    assert ("src/auth.py",) == read("fix(src/auth.py): lost cookies").targets.files
    assert ("fix",) == read("the header is lost in fix(auth)").targets.symbols


def test_tables_are_apart() -> None:
    """No word stands in two tables of openings."""
    assert set() == known.REPAIRS & known.CHANGES | known.REPAIRS & known.BEHAVIOURS | known.CHANGES & known.BEHAVIOURS
