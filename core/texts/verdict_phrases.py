"""The words by which an agent says how its stage ended, English and Chinese.

Law: one table per meaning, one pattern a line, written for folded text (lower case, simplified characters).
``{n}`` stands for a number above zero and ``{tests}`` for what can pass. A pattern that begins and ends with a
letter matches whole words only. Patterns on one line stand two spaces apart; a line that begins with ``|`` goes on
with the one before. What is not listed says nothing.
"""

from __future__ import annotations


def patterns(table: str) -> tuple[str, ...]:
    """The patterns of ``table``, in order."""
    found: list[str] = []
    for line in table.replace("{n}", NUMBER).splitlines():
        if line.lstrip().startswith("|"):
            found[-1] += line.lstrip()
        else:
            found += [pattern.strip() for pattern in line.split("  ") if pattern.strip()]
    return tuple(found)


FOLDED_TOO = {"嚴": "严", "棄": "弃", "闕": "阙"}
"""Traditional characters that prompts never needed."""

NUMBER = (
    r"(?:[1-9][\d,]{0,9}|one|two|three|four|five|six|seven|eight|nine|ten|several|some|multiple|many|a few|both"
    r"|[一二两三四五六七八九十几多])"
)
TESTS = (
    r"(?:tests?|test suites?|suites?|specs?|test cases?|cases|scenarios?|checks?|test runs?|builds?|ci|pipeline"
    r"|pytest|jest|vitest|e2e|everything|all of them|they all)"
)
_STATE = r"(?:(?:now|also|all|still|have|has|are|is|were|was|both|again|cleanly|successfully|locally)\s+){0,4}"

LABELS = r"""
    (?:final\s+)?(?:verdict|result|results|status|outcome|conclusion|decision|recommendation)
    (?:最终|总体|测试|验证|审查|评审|回顾)?(?:结论|结果|判定|裁定|裁决|状态)(?:是|为)?
"""
"""What stands before a colon and a verdict."""

SAID_OF_ANY: dict[str, str] = {
    "pass": r"""
        pass
        passed
        success
        successful
        (?:全部|已|测试|验证|审查|评审)?通过
        合格
    """,
    "fail": r"""
        fail
        failed
        failure
        not passed
        (?:测试|验证)?失败
        (?:审查|评审|测试|验证)?(?:未|没有?|不)通过
        不合格
    """,
    "reject": r"""
        reject
        rejected
        request(?:ed)? changes
        changes requested
        (?:审查|评审)?(?:驳回|拒绝)
        打回
    """,
    "approve": r"""
        approve
        approved
        lgtm
        批准
        同意合并
    """,
    "issues": r"""
        issues
        issues found
        有问题
        存在问题
    """,
}
"""Words that are a verdict when they stand alone on a line, or after a label."""

GOOD: dict[str, str] = {
    "tests": rf"""
        {TESTS} {_STATE}(?:pass|passes|passed|passing|green|succeed|succeeds|succeeded|successful)
        (?:all|everything) (?:is |are )?(?:now )?(?:green|passing|passed|pass|passes)
        {TESTS} (?:ran|run|finished|completed|complete) (?:successfully|cleanly|green)
        (?:build|compilation|compile) (?:now )?(?:succeeds|succeeded|is successful|was successful|successful|passes)
        (?:builds|compiles) (?:now )?(?:cleanly|successfully|without errors)
        acceptance criteria (?:are )?(?:all )?(?:met|satisfied|verified)
        100% (?:of )?(?:the )?(?:tests? )?(?:pass|passed|passing)
        (?:测试|用例|场景|检查|单测|单元测试|集成测试|回归测试|验证|验收|流水线)(?:均|都|也|已|已经|全部|全|现在
            |现已|目前|运行){{0,3}}(?:通过|成功|过了|绿了|全绿)
        (?:全部|全都|均已|均|都|悉数)(?:测试|用例)?(?:已|已经)?(?:通过|成功|过了)
        (?:全绿|一片绿|绿灯)
        (?:构建|编译|打包)(?:已|已经|现在|现已|均|都){{0,2}}(?:成功|通过)
        通过率(?:为|是|达到|达)?\s*[:：]?\s*100\s*%
        (?:验收标准|验收条件)(?:均|都|已|全部){{0,2}}(?:满足|符合|达成)
    """,
    "reviews": r"""
        (?:i |we )?(?:approve|approved|approving)
        lgtm
        looks good(?: to me| to merge| overall)?
        (?:ready|good|safe|ok|okay|fine) to (?:merge|ship|land|go)
        ship it
        (?:no|zero
            |0) (?:(?:blocking|blocker|critical|major|significant|serious|high|further|remaining|open
            |security|high-severity) )*(?:issues?|problems?|findings?|concerns?|objections?|blockers?
            |vulnerabilities|defects?)(?! in [\w./-]+\.\w)
        (?:did not|didn't) find (?:any )?(?:blocking |critical |major |security )*(?:issues?|problems?
            |vulnerabilities)
        (?:code |security )?review (?:has |is )?(?:pass|passes|passed)
        pass(?:es|ed) (?:the )?(?:code |security )?review
        (?:审查|评审|代码审查|代码评审|安全审查|复审)(?:已|已经|现在|现已|结果)?(?:通过|合格)
        (?:审查|评审|复审)结论[:：]?\s*通过
        通过(?:了)?(?:本次|代码|安全)?(?:审查|评审|复审)
        (?:予以|可以|同意)?批准(?:合并)?
        (?:同意|可以|可|准予|建议)(?:直接)?合并
        (?:没有|未|并未|没|无)(?:再)?(?:发现|看到)?(?:任何|其他|新的?)?(?:阻塞|阻断|严重|重大|明显|高危|关键|安全
            |致命)?性?的?(?:问题|漏洞|缺陷|隐患)
    """,
    "retro": r"""
        (?:no|zero|0) (?:new |open |further |remaining |significant |major |outstanding |real )*(?:issues?
            |problems?|improvements?|action items?|follow-?ups?|findings?)
        nothing (?:left )?to (?:improve|fix|report|follow up|change|add)
        (?:went|ran) (?:well|smoothly) (?:throughout|overall|from start to finish)
        (?:没有|未|并未|没|无)(?:再)?(?:发现|看到|遗留)?(?:任何|其他|新的?)?(?:需要改进的?|待改进的?
            |遗留的?)?(?:问题|改进项|待办|缺陷)
        (?:无需|不需要|没有需要|没什么可)改进
        (?:一切|整体|全程)顺利
    """,
}

BAD: dict[str, str] = {
    "tests": rf"""
        {TESTS} {_STATE}(?:fail|fails|failed|red|broken|crash|crashes|crashed|timed out)
        {TESTS} (?:is|are|keeps?|still|remains?) (?:still )?(?:failing|red|broken)
        (?:do|does|did|are|is|was|were|has|have|could|can|will)(?: not|n't|not)(?: yet| all
            | fully)? (?:been )?(?:pass|passed|passing|succeed|succeeded|compile|build|green)
        (?:cannot|can't) (?:pass|compile|build)
        not all (?:of )?(?:the |my )?{TESTS} (?:are |have |do )?(?:pass|passed|passing|green)
        (?:no|none of the) {TESTS} (?:pass|passes|passed|are passing)
        (?:is|are|still|keeps?|has been|have been) failing
        (?:fails|failed|fail) (?:with|on line|at line|because|due to|again|against|here|in ci|to (?:compile|build
            |start|run|pass|import|load))
        (?:fails|failed|fail)(?=\s*(?:[.,;:!(]|$|-(?!\w)|—|and\b|but\b|while\b|after\b|in\b|on\b|at\b|when\b|for\b))
        (?:build|compilation|compile|assertion|pipeline) (?:has |is |still )*(?:fails|failed|failure|failing
            |broken|errors out)
        (?:there (?:is|are)|with|shows?|has|have|got|leaves?|found) (?:still )?{{n}} (?:failing|failed|broken
            |red) (?:tests?|cases?|specs?|scenarios?|checks?|suites?)
        acceptance criteria (?:are |is )?not (?:all )?(?:met|satisfied)
        (?:测试|用例|场景|检查|单测|验证|验收|构建|编译|打包|断言|运行|执行|流水线|回归)(?:仍|仍然|依然|依旧|还是
            |还|都|均|全部|全|结果|又|再次|最终|也|并){{0,3}}(?:失败|报错|出错|崩溃|挂了|没过|过不了|红了)(?!时|后
            |的|率|次数|重试|处理|路径|提示|会|则|就|场景|情况|分支|原因|用例数)
        (?:未|没有|没|不|不能|无法|未能|没能|尚未|并未|还没|还没有)(?:全部|都|全|完全|能|成功)?(?:通过|跑通
            |编译通过)(?!率)
        (?:仍|仍然|依然|依旧|还是|全部|均|都|又|再次|最终)失败(?!时|后|的|率|次数|重试|处理)
        失败(?:了)?(?=\s*(?:[,，。;；:：!！(]|$))
        (?:通不过|跑不过|过不了|跑不通)
        (?:有|还有|仍有|尚有|出现|存在)\s*{{n}}\s*(?:个|项|条|例|处)?(?:失败|未通过|报错)(?:的)?(?:测试|用例|场景
            |断言)?
    """,
    "reviews": r"""
        (?:i |we )?(?:must |have to |would |will |am |are |hereby )*reject(?:ing)? (?:this|the (?:change|changes
            |pr|patch|diff|commit|branch|implementation|merge))
        (?:this|the) (?:change|changes|pr|patch|diff|commit|branch|pull request|implementation) (?:is|are|was|were
            |has been|must be|should be) rejected
        (?:i |we )?(?:am |are )?request(?:ing|ed)? (?:some |further |more )?changes
        changes (?:are |were )?(?:requested|required|needed|necessary)
        (?:needs?|requires?) (?:some |more |further |another )?(?:changes|rework|work before|fixes|revision|round)
        not (?:yet |currently )?(?:approved|approving|ready|mergeable|acceptable|good to (?:go|merge)
            |safe to merge|ok to merge|fit to merge)
        (?:cannot|can't|can not|do not|don't|won't|will not|should not|shouldn't
            |must not)(?: yet)? (?:be )?(?:approve|approved|merge|merged|accept|accepted|ship|shipped|sign off)
        (?:does not|doesn't|did not|didn't) (?:look good|pass (?:the )?(?:code |security )?review)
        (?:must|has to|have to|needs? to) be (?:fixed|addressed|resolved|changed|rewritten) (?:before|first|prior)
        (?:block|blocks|blocking) (?:the |this )?(?:merge|merging|release|approval)
        (?:there (?:is|are)|found|with|has|have|contains?|identified|see|leaves?) (?:still )?(?:a|an
            |{n}) (?:blocking|blocker|critical|high|major|severe|serious|high-severity
            |must-fix)(?:[ -]severity)?(?: security)? ?(?:issues?|problems?|findings?|bugs?|vulnerability
            |vulnerabilities|defects?)?
        (?:审查|评审|复审|代码审查|安全审查)(?:结果|结论)?[:：]?\s*(?:不|未|没有|没|未能)通过
        (?:予以|决定|建议|必须)?(?:驳回|打回)
        拒绝(?:合并|批准|通过|该(?:改动|变更|提交|补丁)|此(?:改动|变更|提交|补丁)|本次)
        (?:不|不能|不予|不可以?|不应|不同意|无法|暂不|暂时不能|还不能|不建议|不宜)(?:批准|通过|合并|放行)
        (?:要求|请求|需要|必须|应当|需)(?:先)?(?:修改|返工|改动|整改|修正|修复)(?:后|之后|才|再|才能)
        (?:要求|请求)(?:修改|返工|整改)
        (?:有|发现|发现了|存在|还有|仍有|包含)\s*(?:{n}\s*)?(?:个|处|项|条)?(?:阻塞|阻断|严重|高危|重大|关键
            |致命)性?的?(?:安全)?(?:问题|漏洞|缺陷|错误)
    """,
    "retro": r"""
        (?:{n}) (?:new |open |further |remaining |significant |major |outstanding |recurring |process )*(?:issues?
            |problems?|improvements?|action items?|follow-?ups)
        (?:issues|problems|improvements|action items) (?:were |was |are |have been )?(?:found|identified|remain
            |remaining|left|needed)
        (?:found|identified|there (?:is|are)|see) (?:an?|some|more) (?:\w+ )?(?:issues?|problems?|improvements?)
        (?:needs?|requires?) (?:improvement|improving|follow-up)
        (?:发现|发现了|存在|有|还有|仍有|遗留|总结出)\s*(?:以下|如下|{n}|若干|一些|不少)?\s*(?:个|处|项|条
            |点)?(?:主要|流程|待改进|需要改进)?的?(?:问题|改进项|待改进|缺陷|不足)
        (?:需要|有待|值得|应当|应)改进
    """,
}

UNDONE = r"""
    (?:i |we |it |the (?:task|work|change|feature|agent) )(?:could not|couldn't|cannot|can't|was not able to
            |wasn't able to|were not able to|am unable to|was unable to|am not able to|did not manage to
            |didn't manage to|have not been able to|failed to|did not
            |didn't) (?:(?:fully|actually
            |even) )?(?:complete|finish|implement|do|perform|carry out|proceed|continue|start|deliver|write|create
            |be (?:completed|finished|done|implemented))
    ^(?:could not|couldn't|cannot|can't|unable to|failed to|not able to) (?:fully |actually )?(?:complete|finish
            |implement|do|perform|carry out|proceed|continue|start|deliver)
    (?:i am|i'm|we are|work is|task is|currently|completely) blocked
    ^blocked (?:by|on|because|:)
    (?:i|we) (?:gave|give|had to give) up
    (?:task|work|stage|implementation|feature|plan|design) (?:is|was|remains) (?:not (?:done|complete|completed
            |finished|implemented)|incomplete|unfinished)
    (?:我|我们|本次|该|此|任务|工作|功能|目前|最终|仍)?(?:无法|未能|没能|没有办法|没法|不能)(?:完成|实现|继续|进行
            |开展|交付|做完|执行)(?:本|该|此|这|任务|工作|需求|实现|修改|,|，|。|$|\s|:|：|下去|所)
    (?:任务|工作|功能|实现|阶段)(?:尚|还|并)?(?:未|没有|没)(?:完成|做完|实现)
    (?:被阻塞|被卡住|只好放弃|已放弃|不得不放弃)
"""
"""Says clearly that the work of a stage could not be done."""

LIMITED = r"""
    almost  nearly  most  mostly  some  many  half  several  partly  partially  only  hardly
    大部分  大多  多数  部分  几乎  差不多  有些  一些  个别  仅
"""
"""Stands before what is said of a part only."""

EXCEPT = r"""
    except  except for  excepting  apart from  other than  aside from  besides  excluding  with the exception
    除  除了  除去
"""
"""Takes something out of what is said in its sentence."""

BUT = r"""
    but  however  though  although  yet
    但  但是  不过  然而  可是  只是
"""
"""Takes something back of what was said before it in its sentence."""

LATER = r"""
    after  once  when  as soon as  until  if
    修改后  修复后  之后  改完  补上后  后再  后可  才
"""
"""Says that an approval is not given yet."""

DOUBTS = r"""
    (?:could not|couldn't|cannot|can't|unable to|not able to|did not|didn't|have not|haven't|has not|hasn't
            |was not|were not|not been) (?:actually |yet |even |be )?(?:run|ran|execute|executed|start|started|tested)
    (?:skipped|disabled|excluded|ignored|commented out|deselected) (?:the|two|three|some|all|one|failing|e2e
            |integration|those|these|it|them)
    marked .{1,60} as (?:skipped|skip|xfail|todo)
    timed out  (?:hit|hits|reached) (?:the|a) timeout  segmentation fault  core dumped  out of memory
    exit(?:ed with)?(?: code| status)?[ :=]+[1-9]\d*
    (?:failed to|could not|cannot) run  no tests ran
    (?:无法|未能|没能|没有|没|未|尚未|不能)(?:运行|执行|启动|跑)
    (?:跳过|禁用|注释掉|忽略|排除)了?(?:两|部分|一些|失败|端到端|集成|该|这|\d)
    (?:测试|用例|运行|执行)超时  段错误  退出码\s*(?:为|是)?\s*[:：]?\s*[1-9]
"""
"""Says that something was not tested, or ended oddly: no failure, and no pass either."""

IF = r"""
    ^\s*(?:goal|aim|acceptance|definition of done|todo|to do|plan|next|next steps?|requirements?|expected)\s*[:：-]
    ^\s*(?:todo|to do)
    ^\s*(?:目标|待办|下一步|要求|计划)\s*[:：]
    according to  (?:developer|author|agent|user|he|she|they|readme|badge|reviewer|tester) (?:says?|said|claims?
            |claimed|reports?|reported|writes?|wrote|states?|stated)
    据  声称  开发者说  作者说
    if  unless  in case  whether  provided  assuming  once  as long as  subject to  pending  until  ^when
    ^whenever  如果  假如  若(?!干)  倘若  一旦  是否  除非  ^当  只要  直到  待.{0,8}后
"""
"""Makes what is said depend on something."""

HYPOTHESIS = r"""
    should  would  could  might  may  must  will  shall  going to  expects?  expected  expecting  supposed  seems?
    appears?  looks? like  probably  likely  presumably  hopefully  believe  assume  think  hope  perhaps  maybe
    make sure  making sure  ensures?  ensuring  to make  so that  in order  needs? to  wants?  to\s*$  can\s*$
    should not  应该  应当  可能  大概  估计  预计  预期  期望  希望  看起来  看上去  似乎  也许  或许  确保  保证
    以便  必须  将会  理应  理论上  想必  需要让  使得
"""
"""Stands before what somebody expects or wants, and does not know."""

DESCRIBING = r"""
    (?:tests?|case|check|spec|scenario|assertion) (?:that|which|where)  when  whenever  where  how  what
    asserts? that  checks? (?:that|whether|what)  handles?  handling  simulates?  mocks?  covers?  covering  retry
    retries  xfail  even though  (?:was|were)\s*$  模拟  覆盖  处理  断言  校验  提示  用户  当
"""
"""Stands before a failure that is what something is about, and not what has happened."""

NAMING = r"""
    (?:the|a|an|any|each|every|of|for|on|per|old|log|count)\s*$
"""
"""Stands before "failed" as an adjective."""

HISTORY = r"""
    previously  earlier  initially  originally  at first  first run  first attempt  used to  formerly
    had(?: been)?\s*$  no longer
    before (?:the|my|this|that|these|our) (?:fix|fixes|change|changes|patch|commit|refactor|refactoring|repair)
    before(?=\s*(?:[.,;:!)]|$))  beforehand  on (?:main|master)(?: already)?  last time  之前  此前  先前  原先
    原来  原本  最初  一开始  起初  曾经  曾  上次  第一次  首次  以前  修复前  修改前  改动前  不再
"""
"""Says what has been, and is perhaps no longer."""

REPAIRED = r"""
    (?<!not )(?<!be )(?<!isn't )(?<!n't )(?<!not yet )(?:fixed|repaired|resolved|addressed|solved|corrected|healed
            |unbroke)
    (?:and|then) (?:fix|repair|resolve)
    (?:已|已经|都|均|全部)(?:修复|修好|修正|解决|改好)
    (?:修复|修好|修正|解决|处理)(?:了|好了|完|掉)
    ^(?:修复|修正|解决)(?!后|不)
"""
"""Says that what is named beside it has been put right."""

NEGATION = r"""
    not  never  no  none  nothing  nobody  neither  nor  without  zero  0  avoids?  prevents?  instead of
    rather than  \w{1,10}n't  cannot  没有  没  未  不是  并非  并未  并不  无  不会  避免  防止  而非  而不是  零
"""

STILL = r"""
    still  again  remains?  keeps?  continues?  仍  依然  依旧  还是  又  再次
"""

NOW = r"""
    now  finally  after (?:the |my |this |that )?(?:fix|fixes|change|repair|patch|fixing|repairing)  afterwards
    in the end  rerun  re-run  second run  currently  现在  现已  目前  如今  修复后  修改后  最终  之后  重跑
    重新运行
"""

WHOLE = r"""
    all  every  everything  whole  entire  full  100%  全部  所有  均  都  全绿  悉数  整个
"""

REASONS = r"""
    because  due to  caused by  expected  instead of  missing  must  should  undefined  null  traceback
    assert\w*  \w{0,40}error  \w{0,40}exception  [\w./-]{1,80}\.[a-z]{1,5}:\d+
    因为  由于  原因  期望  预期  实际  应该  应当  必须  缺少
    缺失  错误  异常  报错
"""
"""What a sentence has that says why."""
