"""The words that prompts are understood by, English and Chinese.

Law: a table of plain phrases per meaning, no patterns. English is in lower case, Chinese in simplified
characters; ``core.turn.lexicon`` folds a prompt to the same before it compares. A comma separates
phrases. The longest phrase at a place wins, so a longer one also takes an ordinary meaning out: "code of
conduct" is not "code", 验证码 is not 代码.
"""

from __future__ import annotations

from enum import StrEnum


class Tag(StrEnum):
    """What a phrase means to the reading."""

    DEBUG = "debug"
    REFACTOR = "refactor"
    DOCS = "docs"
    FEATURE = "feature"
    OTHER = "other"
    """Asks for something that is not work on code: translate, proofread."""
    CHANGE = "change"
    """Asks for a change without saying which kind."""
    ATTEND = "attend"
    """Asks for something to be done, perhaps only a look."""
    COMPOSE = "compose"
    """Asks for text; with a ``TEXT`` after it, for text that is not code."""
    TEXT = "text"
    SYMPTOM = "symptom"
    """Says that something is broken."""
    SOFT = "soft"
    """May say that something is broken."""
    SLOW = "slow"
    ASK = "ask"
    """Begins a question about what there is."""
    START = "start"
    """Begins such a question at the beginning of a clause."""
    WHERE = "where"
    PLACE = "place"
    """What code does with a thing; after where, a question about an implementation."""
    WHY = "why"
    HOW = "how"
    """Asks how to do something, or how something is done."""
    DOCS_NOUN = "docs noun"
    NOT = "not"
    EXCEPT = "except"
    """Denies what follows in the sentence, while what it names still matters."""
    OR = "or"
    AND = "and"
    BREAK = "break"
    IF = "if"
    GENERAL = "general"
    """Asks for a definition, from a book rather than from a repository."""
    DEICTIC = "deictic"
    """Points at text elsewhere in the prompt."""
    DEPTH = "depth"
    PAST = "past"
    CRAFT3 = "craft 3"
    CRAFT2 = "craft 2"
    CRAFT1 = "craft 1"
    EVERYDAY = "everyday"
    MATHS = "maths"
    ORDINARY = "ordinary"
    """Says nothing; listed to keep a shorter phrase from being found inside it."""


def words(text: str) -> frozenset[str]:
    """The words of ``text``, for tables of single words."""
    return frozenset(text.split())


PHRASES: dict[Tag, str] = {
    Tag.DEBUG: """
        fix, fixing, debug, debugging, troubleshoot, diagnose, solve, resolve, repair, bisect, hunt down,
        track down, track it down, look into why, find out why, figure out why, investigate, root cause, be fixed,
        get fixed, fix up, hotfix, patch up, get to the bottom of, find the bug, find the cause,
        find the root cause,
        修复, 修正, 修好, 修掉, 修一下, 修下, 修改bug, 修bug, 改bug, 修个bug, 修, 解决, 排查, 调试, 排错, 除错,
        侦错, 找出原因, 查明, 查原因, 定位问题, 定位bug, 纠正, 复现, 诊断""",
    Tag.REFACTOR: """
        refactor, refactoring, optimize, optimise, optimizing, optimising, improve, improving, clean up,
        clean it up, clean this up, cleaning up, cleanup, simplify, simplifying, restructure, restructuring,
        reorganize, reorganise, rewrite, rewriting, rework, modernize, modernise, dedupe, deduplicate, extract,
        inline, decouple, split, split up, break up, rename, renaming, remove dead code, delete dead code,
        remove unused, delete unused, remove duplication, speed up, speeding up, tidy, tidy up, consolidate,
        modularize, modularise, unify, streamline, be refactored, be optimized, be optimised, be simplified,
        be cleaned up, be renamed, be split, reduce duplication, reduce the complexity, reduce memory,
        make it more readable, make it readable, move, clean, convert, migrate, get rid of the duplication,
        remove the duplication, break it into, break this into, break it up, break it down, break them up,
        turn this into, turn these, turn it into, port it to, reduce, shrink, deprecate, drop support, untangle,
        flatten, cut the, merge the duplicate, dry up, inline the, memoize, memoise,
        重构, 优化, 改进, 改善, 清理, 简化, 整理, 提升性能, 提高性能, 加快, 加速, 提速, 抽取, 抽离, 抽成, 抽出,
        提取, 拆分, 拆成, 拆开, 解耦, 重写, 重命名, 改名, 去重, 精简, 重新组织, 合并重复, 改写, 美化, 规范化,
        降低, 拆, 拆一下, 统一, 统一一下, 迁移到, 减少, 规范, 瘦身, 归并, 收敛, 抽, 封装, 改写成, 改得, 梳理成,
        抽一个, 提成, 提取成, 换成""",
    Tag.DOCS: """
        explain, explaining, describe, document, documenting, walk me through, clarify, summarize, summarise,
        understand, annotate, outline, tell me about, tell me how, tell me what, tell me why, show me how,
        show me where, show me, give me an overview, analyze, analyse, find, list, locate, look up, search for,
        compare, review, check whether, check if, be documented, comment on, comment the, point me to,
        help me understand, i don't understand, don't understand, do not understand, trace, elaborate,
        解释, 说明, 讲解, 介绍, 讲讲, 讲一下, 讲下, 说说, 描述, 总结, 概括, 梳理, 分析, 写文档, 补文档, 看懂,
        理解, 阐述, 查找, 找到, 找出, 找一下, 列出, 搜索, 添加注释, 加注释, 加上注释, 写注释, 补注释, 补充注释,
        告诉我, 看不懂, 了解, 定位, 审查, 评审, 解读, 加注解, 写注解, 加上注解, 更新文档, 补充文档, 弄清楚,
        搞清楚, 讲一讲, 说一下, 说一说, 过一遍, 带我看, 带我过, 帮我看看哪""",
    Tag.FEATURE: """
        add, adding, implement, implementing, create, creating, building, develop, write, writing, generate,
        introduce, support, enable, integrate, scaffold, set up, expose, extend, port, be added, be implemented,
        be supported, allow, make a new, make an, make a, wire up, hook up, put together, design, come up with,
        build a, build an, build me, build the, build out, build that, build this, build us, need a, need an,
        want a, want an, be able to, let users, allow users, users should, log every, log all, log each, log when,
        log the, hook the, hook it,
        实现, 添加, 新增, 增加, 加上, 加个, 加一个, 加入, 创建, 新建, 编写, 写一个, 写个, 写一份, 写, 开发, 支持,
        接入, 集成, 引入, 生成, 设计, 做一个, 做个, 搭建, 补充, 补上, 补一个, 补, 实作, 建立, 撰写, 完成,
        添加一个, 加一下, 加, 想要一个, 需要一个, 需要支持, 希望能, 能够, 弄一个, 弄个, 提供一个, 提供, 做成,
        跳转到""",
    Tag.OTHER: """
        translate, translating, proofread, proofreading, paraphrase, how do you say, how do i say, how to say,
        翻译, 翻成, 译成, 译为, 怎么说, 润色, 润饰, 校对""",
    Tag.CHANGE: """
        change, update, make, modify, remove, delete, drop, replace, set, bump, upgrade, downgrade, use, switch,
        adjust, tweak, handle, hide, edit, turn, disable, revert, undo, apply, configure, rebase, merge, retry it,
        cache it, log it, skip it, ignore it, make it,
        改成, 改为, 改一下, 改下, 修改, 更新, 删除, 删掉, 去掉, 移除, 替换, 换成, 调整, 升级, 降级, 迁移, 转换,
        转成, 改, 禁用, 启用, 回滚, 部署, 配置一下, 处理, 迁到""",
    Tag.ATTEND: """
        run, rerun, show, get, let, test, help, need, want, should, finish, commit, deploy, install, look at,
        take a look,
        运行, 跑一下, 执行, 处理一下, 看一下, 看看, 帮我, 需要, 把, 查一下, 查下""",
    Tag.COMPOSE: """
        write, writing, compose, draft, rewrite, polish, proofread, summarize, summarise, reply, reply to,
        rephrase, shorten, correct, correct the,
        写, 写一封, 写封, 写一首, 写首, 写一篇, 写篇, 写一份, 写一个, 写个, 编写, 撰写, 回复, 改写, 润色, 总结,
        讲一个, 编一个""",
    Tag.TEXT: """
        email, e-mail, mail, letter, poem, haiku, limerick, story, essay, song, lyrics, speech, blog post, tweet,
        cover letter, resume, cv, birthday message, birthday card, invitation, slogan, toast, eulogy, novel,
        screenplay, thank you note, text message, linkedin post, love letter, announcement, article, thesis,
        paper, reply, paragraph, sentence, sonnet, joke, obituary, press release, homework, grammar,
        meeting notes, notes, minutes, plot, chapter, this text, this paragraph, this sentence, this passage,
        the text, the word, this word, the phrase, this phrase,
        邮件, 电子邮件, 信, 诗, 诗歌, 故事, 作文, 情书, 小说, 简历, 履历, 周报, 日报, 演讲稿, 文章, 论文, 祝福语,
        请假条, 朋友圈, 请假邮件, 读后感, 感谢信, 短文, 段落, 这段话, 这句话, 句子, 句话, 这句, 段话, 这篇, 笑话,
        辞职信, 求职信, 贺卡, 会议纪要, 会议记录, 语法, 内容, 文本, 原文, 歌词, 一封信, 这段文字, 文字""",
    Tag.SYMPTOM: """
        bug, bugs, crash, crashes, crashed, crashing, fails, failing, fail, broken, breaks, broke, error out,
        errors out, this error, the error, this exception, the exception, this failure, an error, an exception,
        getting errors, throws, throwing, doesn't work, does not work, do not work, don't work, doesnt work,
        not working, isn't working, stopped working, no longer works, won't start, won't compile, won't build,
        won't load, not compile, hangs, hanging, freezes, gets stuck, stuck, deadlocks, memory leak, leaks,
        leaking, segfault, segfaults, regression, wrong, incorrect, incorrectly, unexpected, unexpectedly,
        goes wrong, what's wrong, flaky, race condition, infinite loop, off by one, off-by-one, corrupts,
        corrupted, misbehaves, doesn't compile, does not compile, raises an error, stack trace, stacktrace,
        traceback, blows up, dies, timing out, times out, timed out, returns nothing, unresponsive,
        not responding, build error, build errors, test failure, test failures, the issue, this issue, test fails,
        tests fail, tests are failing, the tests fail, failing test, failing tests, build fails,
        the build is broken, flaky test, flaky tests, null pointer, deadlock, unhandled exception,
        uncaught exception, chokes, chokes on, barfs, explodes, misaligned, flickers, flickering, garbled,
        out of memory, panics, permission denied, connection refused, undefined method, is red, went red,
        goes red, turned red, out of sync, not defined, disappears, ci is red, oom, off by,
        报错, 报了错, 崩溃, 崩了, 挂了, 挂掉, 坏了, 坏掉, 出错, 出了问题, 有问题, 出问题, 不工作, 不生效, 没生效,
        没反应, 没有反应, 失效, 失败, 异常退出, 抛出异常, 抛异常, 抛出例外, 跑不过, 跑不通, 跑不起来, 通不过,
        不通过, 打不开, 进不去, 卡死, 卡住, 死循环, 死锁, 内存泄漏, 内存泄露, 内存溢出, 空指针, 超时, 白屏, 闪退,
        乱码, 漏洞, 缺陷, 故障, 不对, 不正确, 编译不过, 编译失败, 启动失败, 启动不了, 起不来, 无法启动, 无法编译,
        无法运行, 无法登录, 抛错, 失灵, 丢失, 错位, 异常, 死结, 不能用, 用不了, 出现错误, 有错误, 没法用,
        接口报错, 不见了, 无响应, 错乱, 闪烁, 红了, 过不了, 时好时坏, 跑挂, 找不到模块, 没跑, 没执行, 没触发,
        溢出, 无限回圈, 无限循环, 超时了""",
    Tag.SOFT: """
        error, errors, failed, failure, failures, exception, exceptions, problem, problems, doesn't, does not,
        didn't, did not, won't, can't, cannot, isn't, is not, aren't, is undefined, is null, no longer,
        used to work, conflict, conflicts, crash report, broken link, issue, issues, weird, strange, fault,
        faulty, mismatch, duplicated, return none, returns none, return null, returns null, return undefined,
        returns undefined, returning null, return empty, returns empty, type error, type errors, import error,
        import errors, syntax error, syntax errors, compile error, compile errors, merge conflict,
        merge conflicts, randomly, intermittently, shouldn't, nan, unable to, cannot find, can't find, could not,
        couldn't, not being, never called, not found, missing, empty, blank, stale, twice, ignored, loses,
        refuses, rejected, truncated, overlaps, overflows, 401, 403, 404, 500, 502, 503, 504, exit code 1,
        suspect, disappeared, not showing, not rendered, doesn't match, getting, i get, i'm getting, keeps saying,
        it says, even though, stays, keeps, half the, what happened, works on, don't, do not, dont,
        错误, 问题, 例外, 无法, 不能, 不了, 没有返回, 不显示, 不出来, 返回空, 空白, 丢了, 重复, 冲突, 警告,
        不更新, 不触发, 返回的是空, 返回了空, 语法错误, 类型错误, 编译错误, 合并冲突, 返回null, 偶尔, 偶发, 随机,
        不一致, 不匹配, 没了, 没有触发, 没有调用, 找不到, 不存在, 变成了, 不符, 抖动, 怀疑, 没, 没有, 仍然, 还是,
        却, 盖住, 遮住, 不准, 有误, 不够""",
    Tag.SLOW: """
        slow, so slow, too slow, slower, faster, sluggish, performance, inefficient, code quality,
        too much memory, messy, unreadable, duplicated code, duplicate code, code smell, too long, more readable,
        readability, maintainable, duplication, smaller pieces, startup time, load time, too complex, complexity,
        copy-pasted, copy paste, spaghetti, hard to read, hard to follow, takes too long, takes forever,
        bottleneck, too big, unmaintainable, across the codebase, everywhere, inconsistent, consistent, too many,
        nested, nesting, if/else, cleaner, clearer, ugly, hacky, magic numbers, magic number, too often,
        太慢, 很慢, 好慢, 变慢, 慢, 性能, 效能, 太乱, 很乱, 可读性, 可维护性, 冗余, 臃肿, 太长, 重复代码, 更快,
        卡顿, 复杂度, 命名, 太久, 太复杂, 太大, 难读, 难维护, 瓶颈, 耗时, 重复的代码, 清晰, 嵌套, 写法, 全局,
        混乱, 难看, 不优雅, 优雅, 易读, 一致, 风格, 魔法数字""",
    Tag.ASK: """
        what does, what do, what is, what's, what are, what happens, what kind of, how does, how do the, how is,
        how are, how it works, how they work, what it does, which file, which files, which function,
        which functions, which module, which class, who calls, what calls, is there, are there, what about,
        how many, how come, what will, what would, how works, what for, what breaks if, what would break,
        what will break, what depends on, what else depends, tour, quick tour, tour of, overview of, overview,
        summary of, high level overview, high-level overview, diagram, any docs, docs on, documentation on,
        relationship between, relationship, what is a, what is an, what's a, what's an, what does it mean,
        difference between,
        是什么, 什么, 怎么实现的, 如何实现的, 怎样实现的, 是怎么, 是如何, 是怎样, 怎么工作, 如何工作, 怎么运行,
        哪些, 哪个, 有没有, 干什么, 做什么, 干嘛用, 多少, 作用, 用途, 含义, 原理, 是谁, 谁在, 怎么回事, 区别,
        怎么走, 有哪些, 几个, 谁调用, 谁在调用, 被谁调用, 谁呼叫, 关系, 干嘛, 干啥, 意思, 什么是, 是什么意思,
        什么意思, 有什么区别, 有何区别""",
    Tag.START: """
        does, is, are, do, did, has, have, which, who, can the, can a, could the, should the, was, were, will the,
        what, when is, when are, when does, when do, when will""",
    Tag.WHERE: """
        where, whereabouts,
        在哪里, 在哪儿, 在哪, 哪里, 哪儿, 哪个文件, 哪些文件, 什么地方, 哪些地方, 何处, 哪一行, 位于哪, 哪里调用,
        哪些地方调用, 哪些地方用到""",
    Tag.PLACE: """
        enforced, implemented, defined, declared, handled, called, invoked, instantiated, overridden, initialized,
        initialised, parsed, serialized, serialised, registered, validated, imported, exported, configured, set,
        computed, calculated, checked, persisted, loaded, logged, cached, triggered, thrown, raised, caught,
        rendered, injected, dispatched, routed, resolved, populated, mutated, referenced, hardcoded, hard-coded,
        written, closed, opened, enforce, implement, define, declare, handle, invoke, instantiate, override,
        initialize, initialise, parse, serialize, serialise, register, validate, compute, persist, cache, trigger,
        render, inject, dispatch, resolve, populate, mutate, log,
        实现, 定义, 处理, 调用, 校验, 配置, 注册, 声明, 初始化, 触发, 限制, 生效, 引用, 导入, 导出, 判断, 设置""",
    Tag.WHY: """
        why, how come, why's, what happened, what went wrong,
        为什么, 为何, 为啥, 怎么会, 怎么回事, 原因, 咋回事, 什么原因, 怎么了, 咋了, 哪里出, 哪里不对""",
    Tag.HOW: """
        how do i, how do we, how can i, how can we, how to, how should, how would, how,
        怎么, 如何, 怎样, 怎么样, 咋""",
    Tag.DOCS_NOUN: """
        docs, documentation, docstring, docstrings, readme, comments, comment, jsdoc, javadoc, changelog,
        user guide, guide, tutorial, doc, doc comments, doc comment, code comments, api docs, contributing guide,
        manual, typo, typos, wiki,
        注释, 文档, 注解, 说明文档, 使用说明, 安装说明, 接口文档, 手册, 教程, 更新日志, 文件说明""",
    Tag.NOT: """
        don't, do not, dont, no need to, no need for, not asking you to, not asking for, you shouldn't, must not,
        mustn't, please no, there's no need to,
        不要, 别, 不用, 无需, 不必, 不需要, 先不要, 先别, 先不, 勿, 请勿, 没让你, 不是要, 不许, 禁止, 不想,
        不打算, 千万别, 毋须""",
    Tag.EXCEPT: """
        without, instead of, rather than, except, not,
        而不是, 不影响, 不改变, 不改动, 不修改, 不破坏, 不动""",
    Tag.OR: """
        or, nor,
        或, 或者, 也不要, 也别""",
    Tag.AND: """
        and, then, and then, also, plus, afterwards, and also, so that, so,
        并, 并且, 然后, 同时, 顺便, 以及, 再, 接着, 之后再""",
    Tag.BREAK: """
        but, just, only, instead, rather, simply, but only, just only,
        但, 但是, 只, 只要, 只需, 只需要, 而是, 仅, 仅仅, 不过""",
    Tag.IF: """
        if, when, whenever, unless, in case,
        如果, 当, 假如, 要是""",
    Tag.GENERAL: """
        what is a, what is an, what's a, what's an, mean, means, meaning of, what does it mean,
        difference between, what are the benefits, who invented, history of programming, pros and cons,
        in general, in simple terms, like i'm five, in layman's terms, a beginner, for beginners, learn, learning,
        什么是, 是什么意思, 什么意思, 有什么区别, 有何区别, 的区别, 入门, 学习, 自学, 面试, 零基础, 通俗""",
    Tag.DEICTIC: """
        following, below, above, this, these, the text, this text, this paragraph, this sentence, this passage,
        以下, 下面, 上面, 这段, 这句, 这篇, 下列, 上述, 这些, 这段话, 这句话""",
    Tag.DEPTH: """
        impact, blast radius, call chain, call chains, call graph, call hierarchy, call tree, callers, callees,
        who calls, what calls, deep analysis, deep dive, analyze deeply, analyse deeply, analyze in depth,
        in depth, in-depth, ripple effect, what would break, what breaks if, what will break, what depends on,
        what else depends, depends on it, impact analysis, affected by, gets affected, be affected,
        side effects of changing, dependency graph, tier 2, tier-2, all usages,
        影响, 影响范围, 影响面, 波及, 调用链, 调用链路, 调用关系, 调用图, 谁调用, 谁在调用, 被谁调用, 哪里调用,
        哪些地方调用, 哪些地方用到, 上下游, 深度分析, 深入分析, 允许深度分析, 可以深度分析, 依赖关系, 呼叫链,
        呼叫关系, 谁呼叫, 牵连, 调用了""",
    Tag.PAST: """
        last commit, previous commit, latest commit, recent commits, recent changes, regression, used to work,
        since yesterday, since the last, since the upgrade, since upgrading, after upgrading, after the upgrade,
        after updating, after merging, git blame, git history, git log, git bisect, last release,
        previous version, last version, earlier version, last week, history of this, stopped working,
        no longer works, previously, before the refactor, worked before, worked yesterday, last merge,
        the last pr, since the last commit, since the last release,
        上次提交, 上一次提交, 上个版本, 上一个版本, 之前, 以前, 回归, 升级后, 升级之后, 更新后, 合并后, 昨天还,
        原来, 历史版本, 提交记录, 最近的提交, 最近改动, 上周, 重构后, 改完之后""",
    Tag.CRAFT3: """
        codebase, code base, source code, source file, source files, refactor, refactoring, endpoint, endpoints,
        stack trace, stacktrace, traceback, unit test, unit tests, integration test, integration tests, e2e tests,
        end-to-end tests, test suite, test case, test cases, failing test, failing tests, test fails, tests fail,
        tests are failing, the tests fail, flaky test, flaky tests, regression test, regression tests, docstring,
        docstrings, subclass, middleware, eslint, pytest, mypy, webpack, tsconfig, git blame, git history, git log,
        git diff, git bisect, pull request, merge conflict, merge conflicts, null pointer, segfault, memory leak,
        race condition, deadlock, off-by-one, type hints, type hint, type error, type errors, import error,
        import errors, syntax error, syntax errors, compile error, compile errors, compiler error, compiler errors,
        build error, build errors, build fails, the build is broken, rest api, backend, back end, frontend, front end,
        linter, regex, websocket, webhook, webhooks, i18n, env var, env vars, environment variable,
        environment variables, feature flag, config file, config files, readme, changelog, monorepo,
        function signature, method signature, call site, call sites, this function, these functions, this code,
        the code, my code, our code, this method, this repo, the repo, our repo, this repository, this script,
        that function, the function, dead code, unit-test, type checker, typecheck, static analysis, parser, compiler,
        graphql, sql injection, xss, csrf, dependency injection, ci pipeline, code path, legacy code, tech debt,
        technical debt, code review, error handling, exception handling, stdout, stderr, null check, null checks,
        http client, rate limiter, rate limiting, async function, unhandled exception, uncaught exception, codegen,
        docker compose, dockerfile, makefile, entry point, http handler, import statement, imports in, circular import,
        feature flags, cypress tests, playwright, vitest, tailwind, sqlalchemy, kubernetes, terraform, elasticsearch,
        rubocop, async/await, nestjs, numpy array, dataframe, ci is red, ci job, ci build, github actions, gitlab ci,
        across the codebase, metaclass, superclass, file descriptor, file descriptors, keyword argument,
        keyword arguments, stdin, kwargs, malloc, cmake, dtype, regexp, syscall, type annotation, type annotations,
        false positive, false positives, 代码库, 程式码库, 单元测试, 集成测试, 测试用例, 源码, 源代码, 原始码, 重构,
        堆栈, 调用链, 空指针, 内存泄漏, 内存泄露, 单测, 前端, 后端, 中间件, 序列化, 反序列化, 枚举, 鉴权, 程式码,
        函式库, 命令行工具, 语法错误, 类型错误, 编译错误, 编译失败, 类型注解, 类型提示, 环境变量, 配置文件, 设定档,
        接口报错, 这个函数, 该函数, 这段代码, 这个类别, 技术债, 死代码, 错误处理, 异常处理, 空值检查, 代码审查,
        测试覆盖率, 公共函数, 工具函数, 依赖注入, 仓库代码, 提交记录, 合并冲突, 拉取请求, 端到端测试, 代码仓库, 调用方,
        too many open files, connection refused, out of memory, heap out of memory, stack overflow, undefined behavior,
        event loop, switch statement, singleton, global state, lookup table, visitor pattern, context manager,
        事件循环, 浏览器兼容, 堆内存, 解析器, 编译器, 文件描述符, 标准输入, 标准输出, 标准错误, 语法树, 类型推断,
        执行绪安全, 线程安全, 竞态条件, 微服务, 这个仓库, 入口文件, 持续集成, 流水线""",
    Tag.CRAFT2: """
        pydantic, sqlalchemy, celery, pytest, numpy, pandas, webpack, vite, eslint, prettier, tailwind, kafka,
        rabbitmq, elasticsearch, terraform, gradle, maven, tokio, scipy, jest, mypy, ruff, the architecture, function,
        functions, module, modules, code, api, apis, database, cache, caching, interface, interfaces, compile,
        compiles, compilation, scheduler, payload, schema, config, variable, variables, parameter, parameters, array,
        arrays, dict, null, undefined, plugin, plugins, ci, docker, logger, util, utils, handler, handlers, props,
        repository, repo, commit, commits, diff, hardcoded, hard-coded, debounce, callback, callbacks, enum, enums,
        struct, constructor, getter, setter, async, cli, json, yaml, css, html, sql, orm, sdk, authentication,
        unauthenticated, debug, debugging, debugger, codec, deserialize, serialize, serialization, the build,
        the tests, our tests, all tests, my tests, web app, this class, this module, the module, this file,
        this component, the component, command line, gitignore, cron job, subprocess, thread pool, connection pool,
        foreign key, stored procedure, rpc, grpc, redux, django, flask, fastapi, kubernetes, k8s, nginx, redis,
        postgres, mysql, sqlite, mongodb, typescript, javascript, npm, pnpm, pip, linting, formatter, tokenizer, lexer,
        ast, boilerplate, polyfill, semaphore, mutex, goroutine, coroutine, generics, typedef, typings, localhost,
        nullable, uuid, retry logic, retry limit, rate limit, dark mode, settings page, login page, date picker,
        pagination, error message, error messages, error code, jwt, oauth, cors, status code, http, stub out, codemod,
        http 500, feature branch, main branch, which file, which files, which function, which functions, which module,
        which class, this project, our project, sidebar, navbar, dropdown, tooltip, checkbox, breadcrumb, importer,
        exporter, renderer, serializer, validator, resolver, reducer, crawler, scraper, indexer, dispatcher, bundler,
        transpiler, daemon, prisma, laravel, header file, header files, text node, text nodes, traceback frames,
        startup time, nil, monorepo, locale, locales, prometheus, oom, state machine, if/else, e2e, e2e suite,
        next dev, snapshot test, mockup component, cron, codeowners, linters, npm install, pip install, api 文档,
        which test, which tests, data model, dev server, magic number, magic numbers, memoize, unit tested,
        package manager, last commit, latest commit, previous commit, recent commits, this pr, the pr, review pr, a pr,
        the last pr, subcommand, args, arg, unicode, whitespace, tty, tuple, newline, dns, tcp, udp, ssl, tls, env,
        compat, decorator, namespace, iterator, iterable, boolean, symlink, hostname, char, multipart, content-type,
        content-length, charset, utf-8, unix, posix, cpython, backport, deprecation, noop, no-op, refcount,
        autocomplete, return value, return values, default value, repl, scroll position, filenames, filename, spinner,
        database connection, database connections, request id, health check, health checks, bundle size,
        coverage report, peer dependency, peer dependencies, postgresql, github login, graphql schema, lodash, esbuild,
        rollup, svelte, vue, angular, rustc, clang, gcc, jvm, response code, nightly build, backup job, nightly job,
        job queue, job runner, trailing comma, trailing commas, open file, temp file, temp files, off by one,
        load balancer, line number, line numbers, column name, column names, hash map, hashmap, linked list,
        binary search, bytecode, byte string, request body, response body, command-line, pretty print, 深色模式,
        暗黑模式, 夜间模式, 多语言, 多语系, 轮播图, 乱码, 浏览器, 重新加载, 拖拽, 拖曳, 端口被占用, 国际化, 空指标,
        加锁, 锁竞争, 内存占用, 分页组件, 滚动条, 换行符, 时间戳, 表头, 下拉菜单, 快捷键, 热更新, 本地运行, 命名空间,
        装饰器, 迭代器, 元组, 缓冲区, 套接字, 子命令, 请求体, 响应体, 泛型, 主键, 外键, 布尔, 函数, 函式, 代码, 模块,
        模组, 接口, 介面, 组件, 元件, 报错, 抛出异常, 数组, 阵列, 变量, 变数, 数据库, 资料库, 缓存, 快取, 线程, 执行绪,
        编译, 注释, 注解, 命令行, 指令列, 插件, 外挂程式, 单例, 正则, 路由, 字段, 栏位, 分页, 回调, 回呼, 程式, 这个类,
        类里, 物件导向, 脚手架, 构造函数, 参数, 抛异常, 抛出例外, 实作, 组态, 协程, 渲染, 异步, 非同步, 同步锁, 线程池,
        连接池, 索引失效, 登录接口, 登录页, 登入页, 登录页面, 登入页面, 首页接口, 错误码, 状态码, 报错信息, 错误信息,
        日志级别, 单元, 静态检查, 类型检查, 重试, 调用, 呼叫, 回滚, 主干, 测试覆盖, 依赖包, 类别的, 定时任务, 消息队列,
        跨域, 服务端, 客户端代码, 这个项目, 本项目, 这个专案, 该项目, 本仓库, 控制台报, 样式文件, 前端页面, 搜索框,
        搜寻框, 侧边栏, 导航栏, 输入框, 弹窗, 复选框, 表格组件, 移动端, 状态机, 嵌套, 代码风格, 请求头, 接口文档,
        魔法数字, 上次提交, 上一次提交, 最近的提交""",
    Tag.CRAFT1: """
        port, ports, default, defaults, empty list, uploader, downloader, loader, parser, runner, renderer, formatter,
        startup, shutdown, pagination, verbose, retry limit, deadline, rate limiter, null, none value, edge case, fix,
        implement, bug, bugs, crash, crashes, crashed, crashing, error, errors, exception, exceptions, test, tests,
        tested, class, classes, method, methods, login, logout, signup, auth, authorization, token, tokens, password,
        button, page, pages, modal, widget, dashboard, ui, layout, request, requests, response, header, headers, query,
        queries, column, migration, migrations, configuration, settings, flag, argument, arguments, loop, loops,
        string, strings, integer, timeout, timeouts, retry, retries, queue, worker, thread, threads, script, scripts,
        app, application, website, client, service, services, component, components, package, packages, library,
        framework, dependency, dependencies, import, imports, export, exports, builds, pipeline, deploy, deployment,
        deployed, container, log, logs, logging, latency, memory, cpu, algorithm, helper, helpers, controller,
        controllers, router, route, routes, listener, hook, hooks, render, renders, upload, uploads, download, file,
        files, folder, directory, path, branch, merge, version, release, legacy, unused, hot reload, server, servers,
        throws, throw, return, returns, returned, rename, deprecated, search, form, checkout, session, sessions,
        validation, validate, optimize, optimise, performance, inheritance, recursion, recursive, gzip, python, golang,
        rust, java, kotlin, ruby, php, swift, bash, terminal, install, checkout flow, feature, features,
        toast notification, tooltip, field, fields, input, inputs, parse, type, types, model, template, csv, rendering,
        crash loop, encoding, decoding, decode, encode, hash, index, proxy, permission, permissions, event, events,
        ticket, staging, production, prod, qa, regression, backwards compatible, notification, notifications, avatar,
        sort, filter, react, coverage, toggle, mock, mocks, yarn, cargo, stub, fixture, fixtures, lint, implementation,
        implementations, test coverage, cypress, project, rails, express, babel, element, elements, selector,
        collapsible, 401, 403, 404, 500, 502, 503, 504, scrollbar, icon, footer, menu, tab, tabs, tenant, inbox,
        logged out, logged in, log in, sign in, sign up, rows, row, table, records, record, payment, users, user,
        admin, api key, spec, specs, snapshot, snapshots, metrics, audit log, attempt, sorting, sorted, value, values,
        disabled, enabled, valid, invalid, merged, format, plugin system, loading, dataclass, dataclasses, selectors,
        re-render, re-renders, promise, promises, constant, constants, option, completion, warning, parsing, logic,
        stream, typing, bytes, buffer, socket, url, urls, object, attribute, instance, identifier, expression,
        operator, overflow, assertion, allocation, allocator, binary, linux, wrapper, usage, directive, definition,
        syntax, workaround, zip, scroll, rounding, rounded, transaction, transactions, bundle, filename, cursor, undo,
        redo, clipboard, heap, draft, drafts, duplicates, duplicate, cell, cells, viewport, pixel, pixels, hover,
        keyboard, shortcut, drag and drop, e-mail address, email address, end date, start date, date range, backup,
        postgres, github, gitlab, locale, currency, checkbox, redirect, redirects, hot reloaded, in parallel,
        json parameter, slug, compatibility, padding, lookup, codepoint, executable, traversal, offset, rollback, 选项,
        格式, 输出, 表达式, 会话, 解码, 转义, 重定向, 断言, 字节, 用户名, 撤销, 重做, 唯一, 消息, 上传图片, 金额, 昵称,
        公告, 关键字, 回车, 双击, 点击, 返回, 加载, 汇率, 换算, 默认语言, 像素, 光标, 剪贴板, 乱序, 刷新, 滚动, 占用,
        监听, 存储, 登出, 跳回, 拖动, 计算, 统计, 启动, 端口, 默认, 默认值, 空值, 空列表, 边界情况, 重试, 掉线, 断线,
        限流, 轮询, 方法, 项目, 专案, 数据, 异常, 例外, 错误, 崩溃, 登录, 登入, 注册, 按钮, 页面, 表单, 请求, 响应,
        回应, 配置, 日志, 日志文件, 部署, 依赖, 相依, 测试, 性能, 效能, 优化, 实现, 修复, 服务器, 伺服器, 超时, 逾时,
        上传, 索引, 查询, 迁移, 提交, 版本, 框架, 算法, 演算法, 递归, 递回, 继承, 解析, 权限, 类型, 型别, 循环, 回圈,
        线上, 生产环境, 测试环境, 服务, 订单, 用户登录, 目录结构, 文档, 功能, 字符串, 字串, 并发, 延迟, 内存, 记忆体,
        下拉框, 导出, 导入, 校验, 筛选, 排序, 组件库, 上限, 次数, 首页, 后台, 网关, 队列, 队列服务, 类别, 物件, 对象,
        指针, 容器, 镜像, 架构, 流程, 逻辑, 验证码功能, 支付, 推送, 控制台, 终端, 安装, 命令, 文件, 目录, 分支, 构建,
        打包, 进程, 脚本, 控制器, 样式, 头像, 下拉, 跳转, 列表, 详情页, 手机号, 时间筛选, 开关, 命名, 复杂度, 图片,
        数据表, 表结构, 时区, 编码, 封装, 语言切换, 大文件, 状态, 路径, 变量名, 日期, 缩略图, 手机端, 小程序, 网页,
        网站, 软件, 应用, 超时时间, 超时设置, 超时配置, 常量, 无限回圈, 无限循环""",
    Tag.EVERYDAY: """
        weather, rain, recipe, cook, cooking, dinner, lunch, breakfast, restaurant, kitchen, house, garden,
        landlord, rent, car, bike, dishwasher, fridge, washing machine, phone, tv, laptop screen, doctor, dentist,
        headache, diet, workout, gym, sleep, girlfriend, boyfriend, wife, husband, mom, mum, dad, sister, brother,
        daughter, son, kids, friend, friends, boss, wedding, birthday, holiday, vacation, trip, travel, flight,
        hotel, airport, school, semester, teacher, homework, exam, college, university, essay, movie, film, music,
        guitar, piano, football, soccer, basketball, dog, cat, pet, shirt, shoes, dress, market, stock, stocks,
        economy, politics, president, war, revolution, history class, tax, taxes, invoice, mortgage, loan, salary,
        ballet, yoga, dance, church, magazine, newspaper, book, books, novel, story, poem, song, store, shop,
        shopping, bed, desk, door, window cleaner, bathroom, toilet, tap, sink, roof, wall, plant, plants, liver,
        heart, lungs, brain, kidney, human body, my body, your body, body weight, body clock, sales team,
        at work, relationship, battery life, coffee,
        tea, wine, beer, cake, pizza, bread, constitution, treaty, law, lawyer, court, physics, chemistry,
        biology, novel's, poetry, religion, philosophy, laptop, computer, my computer, elevator, building,
        flights, meeting, photoshop, party, beach, drink, drinks, street, hunger, poverty, hair,
        marriage, interview, job, jobs, career, money, price, prices, baby, lamp,
        合同, 发票, 照片, 体力,
        天气, 下雨, 吃饭, 晚饭, 午饭, 早饭, 餐厅, 厨房, 房东, 租房, 汽车, 手机, 电视, 冰箱, 洗衣机, 医生, 感冒,
        头疼, 减肥, 健身, 睡眠, 女朋友, 男朋友, 老婆, 老公, 妈妈, 爸爸, 孩子, 女儿, 儿子, 朋友, 老板, 婚礼, 生日,
        假期, 旅行, 旅游, 机票, 酒店, 学校, 老师, 班, 考试, 大学, 电影, 音乐, 股票, 股市, 情绪, 心情, 感情,
        工作压力, 公司, 仓库里, 箱货, 菜谱, 红烧肉, 咖啡, 历史上, 地理, 语文, 英语, 身体, 心脏, 肝脏, 房子, 家里,
        快递, 客厅, 卧室, 同学, 邻居, 婆婆, 聚会, 演唱会, 论文, 电脑, 美食, 加薪, 主管, 名字, 起名, 情人, 飞机,
        火车, 电梯, 相对论, 人工智能, 客户说, 高考""",
    Tag.MATHS: """
        equation, equations, derivative, integral, algebra, calculus, geometry, theorem, quadratic, polynomial,
        trigonometry, matrix multiplication by hand, solve for x, probability of,
        导数, 求导, 极值, 最小值, 最大值, 方程, 定积分, 不定积分, 二次函数, 一次函数, 三角函数, 指数函数,
        对数函数, 定义域, 值域, 单调性, 数学, 作业, 几何, 概率, 已知函数, 顶点, 抛物线, 求函数, 奇函数, 偶函数,
        求它, 求证""",
    Tag.ORDINARY: """
        table for one, table for two, table for three, table for four, book a table, a table at, port of call,
        dress code, code of conduct, zip code, postal code, promo code, discount code, area code, qr code,
        voucher code, code name, function of the, error bars, error of judgment, trial and error, class action,
        first class, business class, world class, service charge, customer service, room service, test drive,
        blood test, pregnancy test, covid test, driving test, medical test, api key for life, in case, of course,
        stock market, no problem, by the way, set up a meeting, interface with, method acting, bug report,
        bug reports, bug tracker, bug bounty, crash reporter, crash report, crash reports, error page,
        error handler, error handlers, error boundary, error log, error logs, error logging, error codes,
        error type, error types, error handling, exception handler, debug mode, debug flag, debug log, debug logs,
        debug logging, debug build, debug info, debug output, issue template, issue tracker, performance test,
        performance tests, performance review, in addition, make sense, make sure, failing that, fail-safe,
        fail safe, comment section, comment system, comment box, comment form, comment thread, comments table,
        comments section, comment feature, comment endpoint, comments endpoint, comment model, comment api,
        comments api, doc builder, docs site, docs builder, document upload, document store, document model,
        support ticket, support tickets, customer support, the support, the build, not only, no idea,
        i don't know, don't know why, don't know, do not know, not sure, no matter, why not, no way,
        whether or not, can't i, don't you, if possible, not null, or so, search engine, wrong way, not found,
        file not found, no such, no such file, error message, error messages, error code, error handling logic,
        error response, error responses, error state, error states, memory usage, clean architecture, clean code,
        move on, moving on, mean to, means that, which means, this means, that means, by means of, i mean,
        third party, fixed income, fixed price, fixed rate, fixed term, set the table,
        set of, list of, fix version, quick fix, review app, i don't see, i don't get,
        don't see, don't get why, i don't have, don't have, i don't think, don't remember, the function of the,
        the function of a, the function of an, no errors, without errors, log in to, getting started, error text,
        error texts, error format, error output,
        字节跳动, 装饰器材,
        验证码, 二维码, 邮政编码, 密码本, 人类, 种类, 分类, 各类, 类似, 加载, 参加, 更加, 加密, 加班, 加油,
        加拿大, 附加, 补丁, 补课, 补贴, 修理, 装修, 维修, 进修, 选修, 必修, 修养, 只读, 特别, 区别, 级别, 识别,
        分别, 性别, 告别, 别人, 别的, 别名, 类别, 不知道, 不明白, 不清楚, 不确定, 问题列表, 来自, 来源, 原来,
        未来, 回来, 出来, 本来, 起来, 下来, 再次, 再见, 当前, 当中, 应当, 适当, 听写, 大写, 小写, 缩写, 读写,
        填写, 重写, 写法, 写入, 改变, 改天, 更改, 不仅, 不只, 只有, 只是, 并不, 并发, 合并, 并行, 信息, 信号,
        相信, 微信, 短信, 通信, 信任, 信用, 自信, 单价, 补全, 慢慢, 缓慢, 上班, 值班, 班级, 编号, 编码, 编辑器,
        讲课, 错误页, 错误日志, 报错页面, 错误提示, 异常日志, 调试模式, 调试日志, 性能测试, 问题单, 把握, 或许,
        诗人, 加法, 加权, 加减, 不管, 不同, 不过, 不断, 追加, 拆迁, 拆除, 统一战线, 规范书, 卡片, 卡车, 随机数,
        不存在感, 没问题, 没事, 没关系, 没错, 没用过, 还是说, 却步, 抽空, 抽奖, 抽烟, 抽象, 并没有, 写在, 写进,
        写到, 写着, 写好, 提成比例""",
}


TRADITIONAL = """
    復复彙汇儘尽幹干録录綫线籤签髮发曆历徵征臟脏數数組组類类別别塊块報报錯错誤误碼码庫库測测試试優优構构複复
    製制實实現现調调應应運运執执參参變变資资檔档裡里裏里麼么麽么為为這这個个樣样嗎吗誰谁請请說说講讲釋释註注
    冊册錄录頁页陣阵單单義义導导圖图與与對对輸输項项專专業业務务處处離离異异拋抛發发給给從从無无會会當当讓让
    機机壞坏線线結结編编譯译輯辑鏈链網网絡络載载傳传遞递遷迁級级計计時时間间關关係系選选擇择際际標标題题簡简
    體体節节點点殺杀進进記记憶忆緩缓衝冲區区啟启啓启動动遠远靜静態态屬属繼继視视設设備备檢检詢询條条邏逻訊讯
    號号聲声繪绘劃划頭头紅红燒烧寫写簽签證证書书語语詞词針针驗验權权園园軟软鍵键盤盘過过濾滤齊齐該该後后統统
    總总續续終终於于風风險险壓压縮缩較较還还沒没問问認认識识難难見见覺觉聽听員员環环產产層层廣广維维護护誌志
    東东電电話话郵邮詩诗論论開开飾饰賴赖擴扩雙双歷历創创連连鎖锁斷断歸归熱热夠够換换邊边範范圍围響响幫帮盡尽
    僅仅們们學学習习師师愛爱聯联擬拟願愿顯显錢钱買买賣卖鐘钟舊旧術术樹树樓楼漢汉葉叶藝艺藥药議议讀读貝贝財财
    責责貨货質质購购費费賀贺輕轻輛辆輪轮農农遊游達达適适遺遗鄰邻長长門门閉闭閱阅陳陈陽阳隊队陸陆雜杂雲云霧雾
    韓韩順顺須须預预領领頻频飛飞養养館馆馬马駕驾騎骑驅驱魚鱼鳥鸟麗丽黃黄龍龙夾夹決决況况凍冻劇剧勞劳勢势匯汇
    協协卻却廳厅團团塵尘壽寿奪夺婦妇孫孙寧宁審审寶宝將将屆届島岛幣币廢废廠厂彈弹徑径惡恶慮虑懷怀擁拥據据擊击
    擔担滿满滾滚潛潜潔洁濟济燈灯爭争牆墙獎奖獨独獲获畢毕畫画瘋疯盜盗監监碩硕禮礼種种穩稳窮穷競竞筆笔築筑籃篮
    糧粮紀纪約约純纯紙纸細细紹绍絕绝經经緒绪綠绿綱纲緊紧緣缘練练縣县績绩織织罰罚聖圣職职腦脑腸肠臉脸臺台興兴
    莊庄華华萬万蘇苏蘭兰虛虚蟲虫補补裝装襯衬訂订託托診诊評评誠诚課课談谈諒谅諾诺謀谋謝谢謹谨豐丰貓猫貢贡貴贵
    貸贷趙赵趕赶躍跃轉转輔辅鏡镜隨随隱隐雞鸡頓顿顆颗顏颜顧顾飯饭飲饮驚惊鬆松麵面齒齿氣气溫温乾干週周喚唤尋寻
    佈布閃闪併并淨净礎础釐厘佔占準准狀状內内兩两來来車车軌轨軸轴遲迟鎮镇閒闲靈灵頂顶駐驻滯滞潰溃沖冲丟丢亂乱
    櫃柜歐欧歲岁殘残減减湯汤滅灭瀏浏煩烦爾尔犧牺狹狭瑣琐畝亩疊叠癢痒皺皱盃杯睏困矯矫礙碍稱称穫获竄窜糾纠綁绑
    綜综締缔縫缝繞绕繫系纖纤罷罢聞闻膠胶膽胆舉举艱艰蓋盖蘋苹衛卫襲袭規规訪访訴诉詳详誘诱諮咨謊谎讚赞賞赏贏赢
    輩辈辦办辭辞鄉乡鈕钮鉤钩銀银鋪铺錶表鍾钟鑰钥閣阁闆板陰阴雖虽頸颈飄飘餓饿駁驳驟骤髒脏鬧闹鴨鸭麥麦迴回價价
    偵侦幾几則则刪删醫医廚厨媽妈戶户敗败貼贴闡阐棧栈欄栏爍烁鑑鉴觸触譜谱許许腳脚餘余確确戰战斂敛篩筛積积並并
    祇只隻只纔才
"""
"""Traditional characters, each followed by its simplified form."""
