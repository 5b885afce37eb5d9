"""The words that commit messages and reports of one line begin with.

Law: tables only; they count at the beginning of a prompt and nowhere else (``core.turn.opening``), so that they may
hold words which say little elsewhere. English in lower case, Chinese in simplified characters.
"""

from __future__ import annotations

from .phrases import words

REPAIRS = words("""
    fix fixes fixed bugfix bugfixes hotfix unbreak unbreaks""")
"""Tell of a repair, or ask for one."""

CORRECTIONS = words("resolves resolved repairs repaired corrects corrected correct correcting workaround")
"""The same in words that people also use of themselves."""

CHANGES = words("""
    adds removes removing deletes drops implements improves changes updates upgrades supports uses using replaces
    refactors renames moves introduces enables disables handles handling simplifies optimizes extends exposes reverts
    allows makes sets ignores bumps cleans unifies rewrites reduces prevents preventing ensures ensuring avoids avoiding
    ensure reject preserve force warn ignore disallow disallows propagate propagates normalize normalizes normalise
    sanitize sanitizes suppress suppresses backport backports emit emits deduplicate canonicalize dedup refine refines
    standardize standardizes reimplement validates rejects restores preserves returns raises throws warns catches closes
    skips resets forces passes""")
"""Tell of a change: in the third person, or what people rarely ask people to do."""

BEHAVIOURS = words("""
    added removed deleted dropped implemented improved changed updated upgraded supported used replaced refactored
    renamed moved introduced enabled disabled handled simplified optimized extended exposed reverted allowed made
    ignored bumped cleaned unified reduced prevented ensured avoided disallowed
    prevent avoid skip raise return accept respect restore catch close clear reset check validate pass call send escape
    strip wrap unwrap forbid deny keep treat tolerate include exclude print detect always never properly correctly only
    now limit require store read load save copy process open start stop cover customize reorder redesign account mark
    consider honor honour rely fall defer delay lock
    避免 防止 确保 保证 忽略 允许 兼容 强制 限制 恢复 校验 捕获 不再 拒绝 跳过 补全 去除 正确""")
"""Say what was done, or what a program shall do; people say them to people, too, so that more must be about code."""

DENIALS = frozenset({"don't", "do not", "dont", "must not", "mustn't", "不要", "别", "不许", "禁止", "勿", "请勿"})
"""Say what a program shall not do, where no work is denied."""

OF_PEOPLE = words("""
    worry disturb forget bother mind touch think know ask tell say talk wait guess care be do go give lie cry like want
    feel hurry remember try hesitate need believe trust explain look stop
    担心 打扰 忘 忘记 动 碰 管 问 说 告诉 哭 想 看 听 急 着急 客气 怕 害怕 猜 停 吃 喝 走 来 去""")
"""Follow a denial that is said to somebody: "don't touch the tests"."""

UPGRADES = words("upgrade upgrades upgraded bump bumps bumped downgrade downgrades update updates updated pin pins")
"""Are about code when a version follows."""

OF_BOTH = words("show use run install get let write create make enable set process handle open read")
"""Are denied to a worker ("don't run the tests") and, where the sentence names an identifier, to a program."""

LABELS = words("feat fix perf refactor bugfix hotfix regression")
"""Types of a change before a colon: "fix: the header is lost"."""

TYPES = LABELS | words("build chore ci docs revert style test tests deps")
"""The same with a scope in brackets: "build(deps): …"."""
