"""What commands do to databases, containers, clusters, clouds and the running machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise

from ..shell import Command, Words
from .harm import Grade, Harm, Harms, Here, arguments_of, options_of, split

_SQL_OPTIONS: Mapping[str, frozenset[str]] = {
    "psql": frozenset({"-c", "--command"}),
    "mysql": frozenset({"-e", "--execute"}),
    "mariadb": frozenset({"-e", "--execute"}),
    "cockroach": frozenset({"-e", "--execute"}),
    "sqlcmd": frozenset({"-Q", "-q"}),
    "clickhouse-client": frozenset({"-q", "--query"}),
    "duckdb": frozenset({"-c", "-s"}),
    "sqlite3": frozenset(),
    "bq": frozenset(),
}
_LITERAL = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_DROP = re.compile(r"(?:^|;|\bBEGIN\b)\s*(DROP\s+(?:DATABASE|SCHEMA|TABLE)|TRUNCATE(?:\s+TABLE)?)\s+"
                   r"(?:IF\s+EXISTS\s+)?([^\s;]+)", re.IGNORECASE)  # fmt: skip
_EMPTIES = re.compile(r"(?:^|;)\s*(DELETE\s+FROM\s+\S+|UPDATE\s+\S+\s+SET\b[^;]*)\s*(?:;|$)", re.IGNORECASE)
_TRIAL = re.compile(
    r"(?:^|[_\W])(?:tests?|tmp|temp|scratch|demo|sandbox|example|ci|foo|bar)(?:$|[_\W\d])", re.IGNORECASE
)
_NO_QUESTION = frozenset({"-y", "--yes", "-auto-approve", "--auto-approve", "-f", "--force", "-q", "--quiet", "-force"})
MAX_SQL = 4000
"""Characters of SQL that are looked at."""


def of_sql(command: Command, _here: Here) -> Harms:
    """SQL in the words of a client, or on its input."""
    words = command.words
    flags = _SQL_OPTIONS[words[0]]
    given = [one for flag, one in pairwise(words) if flag in flags]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in flags and "=" in word]
    given += [word for word in words[2:] if not flags]
    base = " ".join(arguments_of(words[1:], frozenset({"-h", "-p", "-U", "-u", "-P"}))[:1])
    if words[0] == "sqlite3" and re.match(r":memory:|/tmp/", base):
        return
    for text in (*given, command.text):
        yield from _of_sql_text(text[:MAX_SQL], base)


def _of_sql_text(text: str, base: str) -> Harms:
    plain = _LITERAL.sub("''", text)
    for found in _DROP.finditer(plain):
        what = " ".join(found[1].upper().split())
        is_trial = _TRIAL.search(f" {found[2]} ") or _TRIAL.search(f" {base} ")
        yield Harm("database", Grade.ASK if is_trial else Grade.DENY, f"{what} {found[2]}")
    for found in _EMPTIES.finditer(plain):
        if not re.search(r"\bWHERE\b|\bLIMIT\b", found[1], re.IGNORECASE):
            yield Harm("database", Grade.ASK, " ".join(found[1].split()[:3]))


def of_dropdb(command: Command, _here: Here) -> Harms:
    for name in arguments_of(command.words[1:], frozenset({"-h", "-p", "-U"}))[:1]:
        yield Harm("database", Grade.ASK if _TRIAL.search(f" {name} ") else Grade.DENY, f"dropdb {name}")


def of_mysqladmin(command: Command, _here: Here) -> Harms:
    if "drop" in command.words:
        yield Harm("database", Grade.DENY, " ".join(command.words[command.words.index("drop") :]))


def of_redis(command: Command, _here: Here) -> Harms:
    found = [word for word in command.words if word.upper() in ("FLUSHALL", "FLUSHDB")]
    if found:
        yield Harm("database", Grade.DENY if found[0].upper() == "FLUSHALL" else Grade.ASK, found[0])


def of_mongo(command: Command, _here: Here) -> Harms:
    text = " ".join((*command.words[1:], command.text))[:MAX_SQL]
    if "dropDatabase()" in text or re.search(r"\.(?:drop|remove|deleteMany)\(\s*(?:\{\s*\})?\s*\)", text):
        yield Harm("database", Grade.DENY if "dropDatabase()" in text else Grade.ASK, "dropDatabase()")


_RESETS = frozenset({"db:drop", "db:reset", "db:wipe", "db:purge", "db:drop:all", "migrate:fresh", "migrate:reset"})
_RESET_PAIRS = (
    ("migrate", "reset"),
    ("db", "reset"),
    ("manage.py", "flush"),
    ("manage.py", "reset_db"),
    ("migrate", "fresh"),
)


def of_migrations(command: Command, _here: Here) -> Harms:
    """Tasks of frameworks that empty a database."""
    words = command.words
    is_trial = any(_TRIAL.search(f" {one} ") for one in command.assignments)
    found = next((word for word in words[1:] if word in _RESETS), "")
    pair = next((f"{a} {b}" for a, b in pairwise(words) if (a, b) in _RESET_PAIRS), "")
    if (found or pair) and not is_trial:
        yield Harm("database", Grade.ASK, found or pair)


_ALL_CONTAINERS = re.compile(r"\$\((?:docker|podman) (?:ps|container ls) [^)]*-[a-z]*q")


def of_docker(command: Command, _here: Here) -> Harms:
    """What takes data with it: volumes. Images and containers are built again."""
    words, options = command.words, options_of(command)
    verbs = tuple(word for word in words[1:] if not word.startswith("-"))
    short = "docker " + " ".join(verbs[:2])
    if verbs[:2] == ("system", "prune") and options & {"-a", "--all", "--volumes"}:
        yield Harm("containers", Grade.DENY if "--volumes" in options else Grade.ASK, short)
    elif verbs[:2] == ("volume", "prune"):
        yield Harm("containers", Grade.DENY if options & {"-a", "--all"} else Grade.ASK, short)
    elif verbs[:2] in (("volume", "rm"), ("volume", "remove")):
        yield Harm("containers", Grade.ASK, " ".join(("docker volume rm", *verbs[2:3])))
    elif "down" in verbs[:6] and options & {"-v", "--volumes"} and (words[0] != "docker" or verbs[0] == "compose"):
        yield Harm("containers", Grade.ASK, "docker compose down -v")
    elif "rm" in verbs[:2] and _ALL_CONTAINERS.search(" ".join(words)):
        yield Harm("containers", Grade.ASK, "docker rm $(docker ps -q)")


def of_kubectl(command: Command, _here: Here) -> Harms:
    words, options = command.words, options_of(command)
    verbs = arguments_of(
        words[1:], frozenset({"-n", "--namespace", "--context", "--kubeconfig", "-l", "--selector", "-f"})
    )
    if verbs[:1] != ("delete",) or any(word.startswith("--dry-run") and "none" not in word for word in words):
        return
    kind = verbs[1].partition("/")[0].rstrip("s") if len(verbs) > 1 else ""
    shown = " ".join(("kubectl", *verbs[:3]))
    if kind in ("n", "namespace", "node", "pv", "persistentvolume", "crd", "customresourcedefinition", "all"):
        yield Harm("cluster", Grade.DENY, shown)
    elif "--all" in options or kind in ("pvc", "persistentvolumeclaim", "secret", "statefulset"):
        yield Harm("cluster", Grade.DENY if options & {"-A", "--all-namespaces"} else Grade.ASK, shown)


def of_helm(command: Command, _here: Here) -> Harms:
    verbs = arguments_of(command.words[1:])
    if verbs[:1] in (("uninstall",), ("delete",)) and "--dry-run" not in command.words:
        yield Harm("cluster", Grade.ASK, " ".join(("helm", *verbs[:2])))


def of_terraform(command: Command, _here: Here) -> Harms:
    words = command.words
    verbs = [word for word in words[1:] if not word.startswith("-")]
    destroys = verbs[:1] in (["destroy"], ["down"]) or (
        verbs[:1] == ["apply"] and {"-destroy", "--destroy"} & set(words)
    )
    destroys = destroys or verbs[:2] == ["run-all", "destroy"] or (words[0] == "cdk" and verbs[:1] == ["destroy"])
    if destroys:
        yield Harm("cloud", Grade.DENY if _NO_QUESTION & set(words) else Grade.ASK, f"{words[0]} {verbs[0]}")
    elif verbs[:2] == ["state", "rm"] or verbs[:2] == ["workspace", "delete"]:
        yield Harm("cloud", Grade.ASK, f"{words[0]} {' '.join(verbs[:2])}")


def of_cloud(command: Command, _here: Here) -> Harms:
    """Command lines of clouds: what deletes, and without a question."""
    words = command.words
    if "--dryrun" in words or "--dry-run" in words:
        return
    verbs = [word for word in words[1:] if not word.startswith("-")]
    shown = " ".join((words[0], *verbs[:3]))
    joined = " ".join(verbs)
    if re.match(r"s3 rb\b", joined) and "--force" in words:
        yield Harm("cloud", Grade.DENY, shown)
    elif re.match(r"s3 rm\b", joined) and "--recursive" in words:
        yield Harm("cloud", Grade.DENY if re.search(r"s3://[^/\s]+/?(?:\s|$)", joined) else Grade.ASK, shown)
    elif words[0] in ("gsutil", "mc", "rclone"):
        if {"rb", "purge"} & set(verbs[:1]) or (
            verbs[:1] == ["rm"] and {"-r", "-R", "--recursive", "--force"} & set(words)
        ):
            yield Harm("cloud", Grade.ASK, shown)
    elif re.search(
        r"\b(?:terminate-instances|delete-(?:db|stack|table|bucket|cluster|function|volume|snapshot)[\w-]*)", joined
    ):
        yield Harm("cloud", Grade.ASK, shown)
    elif words[0] in ("gcloud", "az") and "delete" in verbs:
        whole = {"projects", "group"} & set(verbs)
        yield Harm("cloud", Grade.DENY if whole and _NO_QUESTION & set(words) else Grade.ASK, shown)
    elif re.search(r"(?:^| )(?:apps?:?(?: )?destroy|pg:reset|addons:destroy)", joined):
        yield Harm("cloud", Grade.DENY, shown)


def of_publishing(command: Command, _here: Here) -> Harms:
    """What others have taken from us and would lose."""
    words = command.words
    match words[:3]:
        case ("gh", "repo", "delete"):
            yield Harm("published", Grade.DENY, " ".join(words[:4]))
        case ("gh", "release", "delete"):
            yield Harm("published", Grade.ASK, " ".join(words[:4]))
        case ("npm" | "pnpm", "unpublish", *_):
            yield Harm("published", Grade.DENY, " ".join(words[:3]))
        case ("cargo", "yank", *_):
            yield Harm("published", Grade.ASK, " ".join(words[:3]))


def of_machine(command: Command, _here: Here) -> Harms:
    """The running machine and its user's settings."""
    words = command.words
    match words:
        case ("shutdown" | "reboot" | "halt" | "poweroff", *_) | ("init" | "telinit", "0" | "6"):
            if "-c" not in words and "--help" not in words:
                yield Harm("machine", Grade.ASK, " ".join(words[:2]))
        case ("systemctl", "poweroff" | "reboot" | "halt", *_):
            yield Harm("machine", Grade.ASK, " ".join(words[:2]))
        case ("crontab", *rest) if "-r" in rest:
            yield Harm("crontab", Grade.DENY, "crontab -r")
        case ("kill", *rest) if rest[-1:] == ["-1"] and len(rest) > 1:
            yield Harm("machine", Grade.DENY, "kill -1")
        case ("userdel" | "deluser", *rest) if {"-r", "--remove", "--remove-home"} & set(rest):
            yield Harm("delete-home", Grade.ASK, " ".join(words))
        case ("iptables" | "ip6tables", *rest) if {"-F", "--flush"} & set(rest):
            yield Harm("machine", Grade.ASK, " ".join(words[:2]))
        case ("ufw", "reset" | "disable", *_) | ("nft", "flush", *_):
            yield Harm("machine", Grade.ASK, " ".join(words[:2]))


_FETCHES = frozenset({"curl", "wget", "fetch", "http", "https"})
_FETCHED = re.compile(r"(?:<|\$)\((?:curl|wget) |`(?:curl|wget) ")
INTERPRETERS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "ash", "python", "python3", "node", "perl", "ruby", "php"}
)


def of_fetched(command: Command, _here: Here) -> Harms:
    """A script that comes from the web and is run unread."""
    words: Words = command.words
    if command.fed_by[:1] and command.fed_by[0] in _FETCHES:
        rest = [word for word in words[1:] if not word.startswith("-") and word != "/dev/stdin"]
        if not rest or "-s" in words or words[1:2] == ("-",):
            yield Harm("unread", Grade.ASK, " ".join((*command.fed_by[:1], *_addresses(command.fed_by))))
    elif found := next((word for word in words[1:] if _FETCHED.match(word.lstrip())), ""):
        yield Harm("unread", Grade.ASK, found[:100])


def _addresses(words: Words) -> list[str]:
    return [word for word in words if "://" in word or "." in word][:1]


RULES: Mapping[str, Callable[[Command, Here], Harms]] = {
    **dict.fromkeys(_SQL_OPTIONS, of_sql),
    "dropdb": of_dropdb,
    "mysqladmin": of_mysqladmin,
    "redis-cli": of_redis,
    "mongosh": of_mongo,
    "mongo": of_mongo,
    **dict.fromkeys(
        ("rails", "rake", "artisan", "php", "python", "python3", "prisma", "supabase", "knex"), of_migrations
    ),
    **dict.fromkeys(("docker", "podman", "docker-compose", "podman-compose"), of_docker),
    **dict.fromkeys(("kubectl", "oc", "k3s"), of_kubectl),
    "helm": of_helm,
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "pulumi", "cdk"), of_terraform),
    **dict.fromkeys(("aws", "gcloud", "az", "gsutil", "rclone", "mc", "heroku", "fly", "flyctl"), of_cloud),
    **dict.fromkeys(("gh", "npm", "pnpm", "cargo"), of_publishing),
    **dict.fromkeys(
        split(
            "shutdown reboot halt poweroff init telinit systemctl crontab kill userdel deluser iptables ip6tables"
            " ufw nft"
        ),
        of_machine,
    ),
}
