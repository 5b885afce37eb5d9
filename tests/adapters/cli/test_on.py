"""``upbeat on`` ends what ``upbeat off`` began, and says so where something else still holds."""

from __future__ import annotations

from pathlib import Path

from commands import Here


def test_on_says_what_still_holds_it_off(here: Here, home: Path, repo: Path) -> None:
    """A folder around it that is off, or another setting, is named with what to do."""
    here("off", "--repo", str(repo.parent), cwd=repo, home=home)
    around = here("on", cwd=repo, home=home)
    here("on", "--repo", str(repo.parent), cwd=repo, home=home)
    set_off = here("on", cwd=repo, home=home, CI_AUTO_TOOLS="off")

    assert (1, 1) == (around.code, set_off.code)
    assert f"off in {repo.parent}: `upbeat on --repo {repo.parent}`\n" in around.stderr
    assert f"upbeat: still off in {repo}: `enabled` is off by environment; change it there\n" == set_off.stderr
