"""What ``read`` takes a prompt for: the tables say what people write and what they want."""

from __future__ import annotations

import pytest

from upbeat.core.turn.intent import read
from upbeat.core.turn.reading import Intent

TRAP_10 = [
    ("今天天气如何", "none"),
    ("帮我翻译一下这段话", "none"),
    ("highlight the bug in parser.py", "debug"),
    ("history of this module: fix it", "debug"),
    ("请解释 parse 函数的作用", "docs"),
    ("explain this function", "docs"),
]

DEBUG = [
    "hi, can you fix the crash in parser.py",
    "The login page throws a TypeError when I submit an empty form",
    "why does get_user return None for admins?",
    "tests are failing on main since the last commit",
    "Something is wrong with the pagination in src/api/orders.ts, page 2 shows the same rows",
    "after upgrading to v3 the build fails with a missing export, can you look into it?",
    "npm run build doesn't work anymore",
    "Traceback (most recent call last):\n  File \"app/main.py\", line 3, in <module>\nKeyError: 'user'",
    "I keep getting ECONNREFUSED from the worker, please find out why",
    "debug the websocket reconnect logic",
    "there's a race condition in the connection pool, track it down",
    "the date picker component is broken in Safari",
    "How do I fix this memory leak in cache_manager.py?",
    "resolve the failing unit tests in billing",
    "TypeError: Cannot read properties of undefined (reading 'map')",
    "no need to refactor, only fix the crash in parse()",
    "登录接口报错了，帮我看一下",
    "修复 utils.py 里的 bug",
    "为什么 fetchData 返回的是空数组？",
    "单元测试跑不过，帮忙排查原因",
    "这个组件一点击就崩溃",
    "不要重构，只修复 login 的报错",
    "你好，线上服务器一直超时，帮我定位一下是哪个模块的问题",
    "登入頁面壞了，請幫我修復",
    "為什麼 parse_config 會拋出例外？",
    "這個函數報錯：KeyError",
    "执行 npm test 时报 SyntaxError，怎么解决",
]

REFACTOR = [
    "refactor the payment service into smaller modules",
    "This function is 300 lines long, can you clean it up?",
    "speed up the query in reports/summary.sql",
    "improve the performance of renderTable",
    "simplify the nested conditionals in validate_order()",
    "rename getCwd to getCurrentWorkingDirectory everywhere",
    "split UserController into two classes",
    "remove the dead code in legacy/importer.rb and tidy up the imports",
    "why is the search endpoint so slow? make it faster",
    "extract the retry logic into its own helper",
    "could you optimise the image upload handler, it uses too much memory",
    "重构订单模块",
    "优化一下这个查询接口的性能",
    "把 utils.ts 里重复的代码抽取成公共函数",
    "這段程式碼太亂了，幫我整理一下",
    "首页接口太慢了，想办法优化",
    "簡化 auth 模組的邏輯",
]

DOCS = [
    "where is the retry limit enforced?",
    "what does the handle_event function do?",
    "How does authentication work in this repo?",
    "add docstrings to core/ports.py",
    "update the README with install instructions",
    "walk me through the checkout flow in the codebase",
    "don't fix anything, just explain how the scheduler works",
    "which files call `load_settings`?",
    "can you document the public API of the parser module",
    "where are websocket connections closed?",
    "is there an existing helper for slugs in lib/text?",
    "Explain what happens when the request fails in http_client.go",
    "what's the difference between parse_all() and parse()?",
    "who calls flush_buffer",
    "Summarize the changes in this diff:\n```diff\n-a = 1\n+a = 2\n```",
    "translate the comments in utils.py into English",
    "重试上限在哪里实现",
    "不要改代码，解释一下 cache 模块",
    "用户登录是怎么实现的？代码在哪",
    "给 parse_args 加上注释",
    "介绍一下这个项目的目录结构和各模块的职责",
    "哪些地方调用了 sendMail",
    "重試次數的上限在哪裡定義？",
    "請說明這個類別的用途",
    "幫 README 補上安裝說明",
    "把 locales 目录下的 i18n 文案翻译成繁体中文",
]

FEATURE = [
    "add a dark mode toggle to the settings page",
    "implement rate limiting for the /api/login endpoint",
    "create a CLI command that exports users as CSV",
    "write unit tests for slugify",
    "Add error handling to fetchUser",
    "support gzip in the http client",
    "please add a --verbose flag to cli.py",
    "I'd like the upload form to accept multiple files, build that component",
    "change the default timeout in config/settings.toml to 30s",
    "write a test that reproduces the crash in parser.py",
    "add a debug flag to the logger",
    "Introduce pagination in GET /orders endpoint",
    "给登录接口添加验证码功能",
    "实现一个 LRU 缓存类，放到 src/cache 下",
    "新增一个导出 Excel 的接口",
    "為訂單模組新增單元測試",
    "幫我寫一個 debounce 函式",
    "在 user_service 里加一个 find_by_email 方法",
]

NONE = [
    # weather, small talk, thanks
    "what's the weather like in Berlin tomorrow?",
    "could you tell me whether it will rain today",
    "明天北京会下雨吗",
    "请问今天天气怎么样",
    "hello",
    "Hi there! How are you?",
    "good morning",
    "你好呀",
    "早安，今天過得如何？",
    "thanks, that's great",
    "谢谢",
    "辛苦了，多謝",
    "lol nice one",
    "how was your weekend",
    # acknowledgements and going on
    "continue",
    "ok go on",
    "yes please",
    "y",
    "1",
    "继续",
    "好的",
    "可以，就这样做",
    "繼續吧",
    "sounds good, proceed",
    "no, the second option",
    "try again",
    "do it",
    "looks good to me",
    # commands to the client
    "/clear",
    "/compact",
    "/model opus",
    "/compact keep the part about parser.py",
    "/help",
    # translation and words
    'translate "fix the bug in parser.py" into French',
    '翻译"修复登录接口的bug"成英文',
    "把这句话翻译成日语：接口报错了",
    "What does 「修復」 mean?",
    "Translate the following paragraph into German:\n\nThe function returns an error when the module is not loaded.",
    "how do you say 'the server is down' in Spanish?",
    "请帮我把“重构这个函数”翻译成英文",
    "Hey, could you please translate this sentence to Chinese: add tests to the module",
    "proofread this text: we fix bugs quickly",
    # e-mail and other writing
    "write an email to my boss about taking Friday off",
    "draft a polite reply to the landlord about the broken heating issue",
    "帮我写一封请假邮件",
    "写一首关于秋天的诗",
    "write a haiku about a crash in production code",
    "improve my essay on climate change",
    "help me fix the grammar in my cover letter",
    "write a birthday message for my sister",
    "幫我潤飾這篇文章",
    # food, home, life
    "how long should I boil an egg",
    "give me a recipe for lasagna",
    "红烧肉怎么做",
    "my car won't start, what could be the problem?",
    "fix my sleep schedule",
    "how do I fix a leaking tap",
    "I need to clean the kitchen, make a checklist",
    "should I quit my job",
    "我和女朋友吵架了怎么办",
    "推薦幾家台北的餐廳",
    "plan a three day trip to Kyoto",
    "add milk and eggs to my shopping list",
    "what should I name my cat?",
    "how can I improve my performance at work?",
    "my phone crashed again, ugh",
    "there is a bug crawling on my desk",
    "build me a workout plan",
    # school, knowledge, maths
    "I have a test tomorrow and I'm nervous",
    "which class should I take next semester at school?",
    "who wrote the latest issue of the New Yorker?",
    "what is the capital of Australia",
    "explain photosynthesis",
    "explain the causes of the French Revolution",
    "how does a microwave work?",
    "what is the function of the liver?",
    "solve the equation x^2 - 5x + 6 = 0",
    "已知函数 f(x)=x^2+2x，求它的最小值",
    "求二次函数 y=ax^2+bx+c 的顶点",
    "what's the derivative of sin(x)*cos(x)",
    "what is a race condition?",
    "什么是死锁？",
    "recommend a good book about algorithms",
    "谁是美国第一任总统",
    "how many people live in iOS... I mean in Oslo",
    "is YouTube down or is it just me?",
    "compare the iPhone and the MacBook battery life",
    "what's on at example.com tonight",
    # words of the craft in ordinary clothes
    "is there a dress code for the wedding?",
    "what's the promo code for the shop",
    "my daughter's ballet class starts at 5, remind me",
    "我们班下周有数学测试",
    "她的情绪快崩溃了，怎么安慰她",
    "公司仓库里还有多少箱货",
    "the stock market crash of 1929",
    "the service at this restaurant was terrible, complain for me",
    "don't touch the code, what's the weather",
    "don't worry about it",
    # nothing there
    "",
    "   \n\t ",
    "?",
    "。。。",
    "👍",
    "12345",
]


@pytest.mark.parametrize(("prompt", "intent"), TRAP_10)
def test_trap_10(prompt: str, intent: str) -> None:
    """read takes the sentences that the first orchestrator misread for what they are."""
    assert read(prompt).intent == Intent(intent)


@pytest.mark.parametrize("prompt", DEBUG)
def test_debug(prompt: str) -> None:
    """read takes prompts about something broken for debug."""
    assert read(prompt).intent == Intent.DEBUG


@pytest.mark.parametrize("prompt", REFACTOR)
def test_refactor(prompt: str) -> None:
    """read takes prompts that want the same behaviour in better code for refactor."""
    assert read(prompt).intent == Intent.REFACTOR


@pytest.mark.parametrize("prompt", DOCS)
def test_docs(prompt: str) -> None:
    """read takes questions about the code, and documentation, for docs."""
    assert read(prompt).intent == Intent.DOCS


@pytest.mark.parametrize("prompt", FEATURE)
def test_feature(prompt: str) -> None:
    """read takes prompts that want something new for feature."""
    assert read(prompt).intent == Intent.FEATURE


def test_none() -> None:
    """read has nothing to say to prompts that are not about code in a repository."""
    assert dict.fromkeys(NONE, Intent.NONE) == {prompt: read(prompt).intent for prompt in NONE}
