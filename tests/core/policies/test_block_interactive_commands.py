"""Which commands would wait at a terminal, and which are left as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_play import asked, call, said_by, shell, starting, view_of

from upbeat.core.contract.effect import Deny, RewriteInput
from upbeat.core.contract.event import ToolKind
from upbeat.core.policies.block_interactive_commands import ENVIRONMENT, POLICY
from upbeat.core.policy.tty_requirements import PROGRAM_PATTERN

SAYS_NOTHING = """
git commit -m x
git commit -am 'fix'
git commit -qm x
git commit --message=x
git commit -F msg.txt
git commit --amend --no-edit
git commit --amend -m x
git commit -C HEAD
git commit --fixup HEAD~1
git commit --dry-run
git -c core.editor=true commit --amend
GIT_EDITOR=true git commit --amend
git rebase main
git rebase --abort
git rebase --skip
git log -p
git diff
git show HEAD
git log -i --grep x
git add -A
git add src/p
git stash -u
git tag v1
git tag -a v1 -m x
git tag -am x v1
git tag -l
git merge main
git config user.name
git clean -n
printf 'y\\n' | git add -p
less README.md
git log | less
more README.md
man git
echo vim a.py
grep -rn 'git rebase -i' docs
git commit -m 'git rebase -i HEAD~3'
# vim a.py
which vim
vim --version
vim -es -c '%s/a/b/' -c wq a.py
nvim --headless +qa
emacs --batch -l a.el
cat .vimrc
top -b -n 1
top -bn1
top -l 1
ssh host uptime
ssh -p 22 host 'cd /srv && ls'
ssh host <<'E'§uptime§E
ssh -N -L 1:a:2 host
ssh -V
ssh-keygen -t ed25519 -N '' -f k
python a.py
python -m pytest
python3.11 -c 'print(1)'
python - <<'E'§print(1)§E
echo 'print(1)' | python3
python < a.py
python --version
python -Bc 'print(1)'
node a.js
node -e '1'
node --test
psql -c 'select 1'
psql -d x -f a.sql
sqlite3 a.db 'select 1'
sqlite3 a.db < a.sql
npm init -y
npm init vite@latest web -- --template vue
npm install
npm ci
apt list --installed
apt-get install -y jq
sudo apt install -y jq
apt-get -qq install jq
yes | apt install jq
dnf install -y jq
pacman -S --noconfirm jq
pacman -Ss jq
tmux new -d -s work
$EDITOR a.py
""".strip().split("\n")

DENIED = """
vim a.py
cd src && vi a.py
sudo nano /etc/hosts
/usr/bin/vim a.py
emacs -nw a.py
git config --edit
htop
top
watch -n 1 ls
lazygit
tmux attach -t work
git rebase -i HEAD~3
git rebase --interactive main
git rebase --edit-todo
git add -p
git add -i
git checkout -p
git stash --patch
git clean -i
git commit
git commit -a
git add . && git commit
git add . && git commit --amend
sudo git commit --amend
bash -c 'git commit --amend'
(git commit --amend)
git tag -a v1
ssh host
ssh -p 22 me@host
sftp host
python
python3
python3.12
python -i a.py
node
cd x && node
psql
psql -d x
sqlite3 a.db
mysql -u root
npm init
apt install jq
sudo apt-get install jq
apt upgrade
yum install jq
pacman -S jq
bash -c 'vim a.py'
""".strip().split("\n")

REWRITTEN = (
    "git commit --amend",
    "git commit --amend -a",
    "git rebase --continue",
    "git rebase -i --autosquash main",
    "git cherry-pick --continue",
    "git merge --continue",
    "git -C sub commit --amend",
    "git commit -e -m x",
    "git commit --squash HEAD~1",
)


def test_says_nothing_for() -> None:
    """What ends by itself is left as it is."""
    found = {line: said_by(POLICY, starting(shell(line.replace("§", "\n")))) for line in SAYS_NOTHING}

    assert dict.fromkeys(SAYS_NOTHING, ()) == found


@pytest.mark.parametrize("line", DENIED)
def test_denies(line: str) -> None:
    """A command that waits for input is denied, with the alternative in both languages."""
    [english] = said_by(POLICY, starting(shell(line)))
    [chinese] = said_by(POLICY, starting(shell(line)), language="zh")

    assert isinstance(english, Deny)
    assert "waits for input at a terminal" in english.text
    assert "没有终端" in chinese.text
    assert "{" not in english.text + chinese.text


@pytest.mark.parametrize("line", REWRITTEN)
def test_rewrites(line: str) -> None:
    """One command of git that only wants an editor gets one that does nothing; the line stays as it is."""
    [effect] = said_by(POLICY, starting(shell(line)))

    assert isinstance(effect, RewriteInput)
    assert {"command": ENVIRONMENT + line} == effect.fields
    assert "GIT_EDITOR=:" in effect.text


@pytest.mark.parametrize(
    ("line", "alternative"),
    [
        ("git commit", "--no-edit"),
        ("git add . && git commit --amend", "--no-edit"),
        ("apt install jq", "`-y`"),
        ("npm init", "`-y`"),
        ("ssh host", "`ssh HOST COMMAND`"),
        ("python", "here-document"),
        ("git rebase -i x", "--autosquash"),
        ("git add -p", "git apply --cached"),
    ],
)
def test_names_the_alternative(line: str, alternative: str) -> None:
    """The text names the flag or the program that works."""
    [effect] = said_by(POLICY, starting(shell(line)))

    assert alternative in effect.text


def test_the_cheap_test_misses_nothing() -> None:
    """Every line that is denied or rewritten passes the cheap test; calls of other tools are ignored."""
    assert all(PROGRAM_PATTERN.search(line) for line in (*DENIED, *REWRITTEN))
    assert not PROGRAM_PATTERN.search("ls -la src && make test")
    assert () == said_by(POLICY, starting(call("Write", ToolKind.WRITE, given={"content": "vim a.py"})))


@given(st.text(max_size=80), st.sampled_from((*DENIED, *REWRITTEN)))
def test_any_line(text: str, line: str) -> None:
    """No line makes it raise."""
    for one in (text, f"{line} {text}", f"{text} {line}"):
        asked(POLICY, starting(shell(one)), view_of(POLICY))
