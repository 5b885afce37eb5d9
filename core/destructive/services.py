"""Hazards of commands for databases, containers, clusters, clouds and the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from upbeat.core import lazy_re as re
from upbeat.core.destructive.files import detect_overwritten
from upbeat.core.destructive.hazard import Hazard, Hazards, Severity, ShellLocation, arguments_of, options_of, word_set
from upbeat.core.shell import SimpleCommand, Words

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
    **dict.fromkeys(
        word_set("""mycli pgcli usql litecli ysqlsh cqlsh beeline hive impala-shell snowsql trino presto
        spark-sql sqlplus isql db2 influx steampipe arangosh osqueryi dolt rqlite cypher-shell ksql hdbsql vsql"""),
        word_set("-q -e -c -execute --execute --query --command -Q sql --javascript.execute-string"),
    ),
}
_SQL_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_SQL_LITERAL = re.compile(r"'(?:[^']|'')*'", re.DOTALL)
_DROP = re.compile(r"(?:^|;|\bBEGIN\b)\s*(DROP\s+(?:DATABASE|SCHEMA|TABLE|OWNED|USER|ROLE|KEYSPACE|TABLESPACE"
                   r"|COLLECTION|BUCKET|MEASUREMENT|STREAM|WAREHOUSE|PLUGGABLE\s+DATABASE|SERIES|GRAPH|CATALOG"
                   r"|PUBLICATION|SUBSCRIPTION)|TRUNCATE(?:\s+TABLE)?|RESET\s+(?:MASTER|REPLICA|BINARY)|PURGE\s+BINARY"
                   r"|ALTER\s+TABLE\s+\S+\s+(?:DELETE|DROP\s+PARTITION))\b[\s(]*"
                   r"(?:IF\s+EXISTS\s+)?([^\s;]*)", re.IGNORECASE)  # fmt: skip
_UNBOUNDED_DELETE = re.compile(
    r"(?:^|;)\s*(DELETE\s+FROM\s+\S+(?:\s+WHERE\s+(?:1\s*=\s*1|1|true))?|UPDATE\s+\S+\s+SET\b[^;]*)\s*(?:;|$)",
    re.IGNORECASE,
)
_OTHER_DESTRUCTION = re.compile(
    r"\bpg_drop_replication_slot\(|\bDETACH\s+DELETE\b|_drop(?:Database)?\(",
    re.IGNORECASE,
)
_QUERY_OPTIONS = frozenset({"-c", "-e", "-q", "-Q", "--query", "--command", "--execute", "--sql", "--eval"})
_SQL_BEGINNING = re.compile(r"\s*(?:drop|truncate|delete\s+from|alter\s+table)\s", re.IGNORECASE)
_GENERATED_SQL = re.compile(r"'\s*(?:drop|truncate|delete)\b", re.IGNORECASE)
_TEST_DATABASE = re.compile(
    r"(?:^|[_\W])(?:tests?|tmp|temp|scratch|demo|sandbox|example|ci|foo|bar)(?:$|[_\W\d])", re.IGNORECASE
)
_NONINTERACTIVE_OPTIONS = frozenset(
    {"-y", "--yes", "-auto-approve", "--auto-approve", "-f", "--force", "-q", "--quiet", "-force"}
)
SQL_PROGRAMS = frozenset(_SQL_OPTIONS)
MAX_SQL_CHARS = 4000
"""Maximum length of scanned SQL."""


def detect_sql(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """SQL in the arguments of a client, or on its input."""
    words = command.words
    flags = _SQL_OPTIONS[words[0]]
    given = [value for flag, value in pairwise(words) if flag in flags]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in flags and "=" in word]
    given += [word for word in words[2:] if not flags]
    base = " ".join(arguments_of(words[1:], frozenset({"-h", "-p", "-U", "-u", "-P"}))[:1])
    if words[0] == "sqlite3" and re.match(r":memory:|/tmp/", base):
        return
    if command.piped_from[:1] == (words[0],) and _GENERATED_SQL.search(" ".join(command.piped_from)):
        yield Hazard("database", Severity.ASK, "generated SQL")
    for text in (*given, command.stdin_text):
        yield from detect_sql_statements(text[:MAX_SQL_CHARS], base)


def detect_sql_statements(text: str, database: str) -> Hazards:
    plain = _SQL_LITERAL.sub("''", _SQL_COMMENT.sub(" ", text))
    if re.search(r"\bROLLBACK\b\W*$", plain, re.IGNORECASE):
        return
    for match in _OTHER_DESTRUCTION.finditer(plain):
        yield Hazard("database", Severity.ASK, match[0].strip()[:60])
    for match in _DROP.finditer(plain):
        statement = " ".join(match[1].upper().split())
        is_trial = _TEST_DATABASE.search(f" {match[2]} ") or _TEST_DATABASE.search(f" {database} ")
        yield Hazard("database", Severity.ASK if is_trial else Severity.DENY, f"{statement} {match[2]}")
    for match in _UNBOUNDED_DELETE.finditer(plain):
        if not re.search(r"\bWHERE\b(?!\s*(?:1\s*=\s*1|1|TRUE)\s*(?:$|;))|\bLIMIT\b", match[1], re.IGNORECASE):
            yield Hazard("database", Severity.ASK, " ".join(match[1].split()[:3]))


def detect_embedded_sql(command: SimpleCommand) -> Hazards:
    """SQL that a program without an entry passes on: ``heroku pg:psql -c``, ``manage.py dbshell``."""
    given = [value for flag, value in pairwise(command.words) if flag in _QUERY_OPTIONS]
    for text in (*given, command.stdin_text):
        if _SQL_BEGINNING.match(text):
            yield from detect_sql_statements(text[:MAX_SQL_CHARS], "")


def sql_files(words: Words) -> list[str]:
    """Return the files whose SQL ``words`` run: ``psql -f FILE``."""
    return [
        value for flag, value in pairwise(words) if flag in ("-f", "--file", "-i", "--input-file", "--queries-file")
    ]


def detect_dropdb(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    for name in arguments_of(command.words[1:], frozenset({"-h", "-p", "-U"}))[:1]:
        yield Hazard(
            "database", Severity.ASK if _TEST_DATABASE.search(f" {name} ") else Severity.DENY, f"dropdb {name}"
        )


def detect_mysqladmin(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    if "drop" in command.words:
        yield Hazard("database", Severity.DENY, " ".join(command.words[command.words.index("drop") :]))


def detect_redis(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    if "xargs" in command.wrappers and {"del", "DEL", "unlink", "UNLINK"} & set(command.words):
        yield Hazard("database", Severity.ASK, "redis-cli del")
    for word in (*command.words, *command.stdin_text.split()):
        if found := re.search(r"(?i)\bflush(?:all|db)\b", word):
            word = found[0]
            yield Hazard("database", Severity.DENY if word.upper() == "FLUSHALL" else Severity.ASK, word)
            return


def detect_mongo(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    text = " ".join((*command.words[1:], command.stdin_text))[:MAX_SQL_CHARS]
    if "dropDatabase(" in text or re.search(r"\.(?:drop|remove|deleteMany)\(\s*(?:\{\s*\})?\s*\)", text):
        yield Hazard("database", Severity.DENY if "dropDatabase()" in text else Severity.ASK, "dropDatabase()")


_LOCAL_ADDRESS = re.compile(r"(?:\w+://)?(?:[^@/\s]*@)?(?:localhost|127\.|0\.0\.0\.0|\[?::1|host\.docker\.internal|\$)")
_STORE_REQUEST = re.compile(
    r"/_delete_by_query|/delete_series|/_close\b|[?&]action=delete|/_all\b.*DELETE|/_shutdown\b"
)
_ADDRESS = re.compile(r"\w+://\S+|(?:[\w.-]+):\d+(?:/\S*)?|[\w-]+(?:\.[\w-]+)+(?:/\S*)?")


def detect_http(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """A request that deletes something on another machine, and a download over a settings file."""
    words = command.words
    joined = " ".join(words)
    methods = {b for a, b in pairwise(words) if a in ("-X", "--request", "--method")} | {
        word[2:] for word in words if word.startswith("-X")
    }
    methods |= {word.partition("=")[2] for word in words if word.startswith(("--request=", "--method="))} | set(
        words[1:3]
    )
    address = next((word for word in words[1:] if _ADDRESS.fullmatch(word)), "")
    is_deletion = (
        "DELETE" in methods
        or bool(_STORE_REQUEST.search(joined))
        or any(a in ("-Q", "--quote") and b.upper().startswith(("DELE", "RMD")) for a, b in pairwise(words))
    )
    if is_deletion and address and not _LOCAL_ADDRESS.match(address):
        yield Hazard("data", Severity.ASK, f"{words[0]} DELETE {address}"[:100])
    for flag, value in pairwise(words):
        if re.fullmatch(r"-[a-zA-Z]*[oO]|--output|--output-document", flag):
            yield from detect_overwritten(value)


def detect_input(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Clients that read commands on their input: ``sftp``, ``nc``."""
    text = f"{' '.join(command.words[1:])}\n{command.stdin_text}"
    if found := _INPUT_DELETION.search(text):
        yield Hazard("data", Severity.ASK, f"{command.words[0]}: {found[0].strip()}"[:100])


_INPUT_DELETION = re.compile(
    r"(?im)(?:^|[;'\"]|\s)(?:rm|rmdir|del|deltree|mdelete|mrm|delete|flushall|flushdb|purge|drop\s+\w+|glob\s+rm)\b\s*\S*"
    r"|mirror\s[^;]*--delete"
)
_RESET_TASKS = frozenset(
    {
        "db:drop",
        "db:schema:load",
        "db:structure:load",
        "db:seed:replant",
        "db:truncate_all",
        "db:reset",
        "db:wipe",
        "db:purge",
        "db:drop:all",
        "migrate:fresh",
        "migrate:reset",
    }
)
_RESET_PAIRS = (
    ("migrate", "reset"),
    ("db", "reset"),
    ("manage.py", "flush"),
    ("manage.py", "reset_db"),
    ("migrate", "fresh"),
)


def detect_migrations(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Framework tasks that empty a database."""
    words = command.words
    is_trial = any(_TEST_DATABASE.search(f" {assignment} ") for assignment in command.assignments)
    task = next((word for word in words[1:] if word in _RESET_TASKS), "")
    pair = next((f"{a} {b}" for a, b in pairwise(words) if (a, b) in _RESET_PAIRS), "")
    if (task or pair) and not is_trial:
        yield Hazard("database", Severity.ASK, task or pair)


_ALL_CONTAINERS = re.compile(r"(?:\$\(|`)(?:docker|podman) (?:ps|images|(?:container|image) ls) [^)`]*-[a-z]*q")


def detect_docker(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Removal of volumes and of many containers at once; images can be rebuilt."""
    words, options = command.words, options_of(command)
    verbs = tuple(word for word in words[1:] if not word.startswith("-"))
    short = "docker " + " ".join(verbs[:2])
    if verbs[:2] == ("system", "prune") and options & {"-a", "--all", "--volumes"}:
        yield Hazard("containers", Severity.DENY if "--volumes" in options else Severity.ASK, short)
    elif verbs[:2] == ("volume", "prune"):
        yield Hazard("containers", Severity.DENY if options & {"-a", "--all"} else Severity.ASK, short)
    elif verbs[:2] in (("volume", "rm"), ("volume", "remove")):
        yield Hazard("containers", Severity.ASK, " ".join(("docker volume rm", *verbs[2:3])))
    elif "down" in verbs[:6] and options & {"-v", "--volumes"} and (words[0] != "docker" or verbs[0] == "compose"):
        yield Hazard("containers", Severity.ASK, "docker compose down -v")
    elif {"rm", "rmi", "kill"} & set(verbs[:2]) and _ALL_CONTAINERS.search(" ".join(words)):
        yield Hazard("containers", Severity.ASK, "docker rm $(docker ps -q)")


def detect_kubectl(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    words, options = command.words, options_of(command)
    verbs = arguments_of(
        words[1:], frozenset({"-n", "--namespace", "--context", "--kubeconfig", "-l", "--selector", "-f"})
    )
    if verbs == ("delete", "{}"):
        yield Hazard("cluster", Severity.ASK, "kubectl delete")
    if verbs[:1] != ("delete",) or any(word.startswith("--dry-run") and "none" not in word for word in words):
        return
    kind = verbs[1].partition("/")[0].rstrip("s") if len(verbs) > 1 else ""
    shown = " ".join(("kubectl", *verbs[:3]))
    if kind in ("n", "namespace", "node", "pv", "persistentvolume", "crd", "customresourcedefinition", "all"):
        yield Hazard("cluster", Severity.DENY, shown)
    elif "--all" in options or kind in ("pvc", "persistentvolumeclaim", "secret", "statefulset"):
        yield Hazard("cluster", Severity.DENY if options & {"-A", "--all-namespaces"} else Severity.ASK, shown)


def detect_helm(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    verbs = arguments_of(command.words[1:])
    if verbs[:1] in (("uninstall",), ("delete",)) and "--dry-run" not in command.words:
        yield Hazard("cluster", Severity.ASK, " ".join(("helm", *verbs[:2])))


def detect_terraform(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    words = command.words
    verbs = [word for word in words[1:] if not word.startswith("-")]
    destroys = verbs[:1] in (["destroy"], ["down"]) or (
        verbs[:1] == ["apply"] and {"-destroy", "--destroy"} & set(words)
    )
    destroys = destroys or verbs[:2] == ["run-all", "destroy"] or (words[0] == "cdk" and verbs[:1] == ["destroy"])
    if destroys:
        yield Hazard(
            "cloud", Severity.DENY if _NONINTERACTIVE_OPTIONS & set(words) else Severity.ASK, f"{words[0]} {verbs[0]}"
        )
    elif verbs[:2] == ["state", "rm"] or verbs[:2] == ["workspace", "delete"]:
        yield Hazard("cloud", Severity.ASK, f"{words[0]} {' '.join(verbs[:2])}")


def detect_cloud_cli(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Cloud command-line tools that delete without confirmation."""
    words = command.words
    if "--dryrun" in words or "--dry-run" in words:
        return
    verbs = [word for word in words[1:] if not word.startswith("-")]
    shown = " ".join((words[0], *verbs[:3]))
    joined = " ".join(verbs)
    if re.match(r"s3 rb\b", joined) and "--force" in words:
        yield Hazard("cloud", Severity.DENY, shown)
    elif re.match(r"s3 rm\b", joined) and "--recursive" in words:
        yield Hazard("cloud", Severity.DENY if re.search(r"s3://[^/\s]+/?(?:\s|$)", joined) else Severity.ASK, shown)
    elif words[0] in ("gsutil", "mc", "rclone"):
        if {"rb", "purge"} & set(verbs[:1]) or (
            verbs[:1] == ["rm"] and {"-r", "-R", "--recursive", "--force"} & set(words)
        ):
            yield Hazard("cloud", Severity.ASK, shown)
    elif re.search(
        r"\b(?:terminate-instances|delete-(?:db|stack|table|bucket|cluster|function|volume|snapshot)[\w-]*)", joined
    ):
        yield Hazard("cloud", Severity.ASK, shown)
    elif words[0] in ("gcloud", "az") and "delete" in verbs:
        whole = {"projects", "group"} & set(verbs)
        yield Hazard("cloud", Severity.DENY if whole and _NONINTERACTIVE_OPTIONS & set(words) else Severity.ASK, shown)
    elif re.search(r"(?:^| )(?:apps?:?(?: )?destroy|pg:reset|addons:destroy)", joined):
        yield Hazard("cloud", Severity.DENY, shown)


def detect_unpublish(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """Published packages and releases that others depend on."""
    words = command.words
    match words[:3]:
        case ("gh", "repo", "delete"):
            yield Hazard("unpublish", Severity.DENY, " ".join(words[:4]))
        case ("gh", "release", "delete"):
            yield Hazard("unpublish", Severity.ASK, " ".join(words[:4]))
        case ("npm" | "pnpm", "unpublish", *_):
            yield Hazard("unpublish", Severity.DENY, " ".join(words[:3]))
        case ("cargo", "yank", *_):
            yield Hazard("unpublish", Severity.ASK, " ".join(words[:3]))


def detect_system_control(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """The running machine and the user's settings."""
    words = command.words
    match words:
        case ("shutdown" | "reboot" | "halt" | "poweroff", *_) | ("init" | "telinit", "0" | "6"):
            if not {"-c", "/a", "/?", "--help"} & set(words):
                yield Hazard("system-control", Severity.ASK, " ".join(words[:2]))
        case ("systemctl", "poweroff" | "reboot" | "halt", *_):
            yield Hazard("system-control", Severity.ASK, " ".join(words[:2]))
        case ("crontab", *rest) if "-r" in rest or "/dev/null" in rest:
            yield Hazard("crontab", Severity.DENY, "crontab -r")
        case ("kill", *rest) if rest[-1:] == ["1"] and "-0" not in rest:
            yield Hazard("system-control", Severity.ASK, "kill 1")
        case ("kill", *rest) if rest[-1:] == ["-1"] and len(rest) > 1:
            yield Hazard("system-control", Severity.DENY, "kill -1")
        case ("userdel" | "deluser", *rest) if {"-r", "--remove", "--remove-home"} & set(rest):
            yield Hazard("delete-home", Severity.ASK, " ".join(words))
        case ("iptables" | "ip6tables", *rest) if {"-F", "--flush"} & set(rest):
            yield Hazard("system-control", Severity.ASK, " ".join(words[:2]))
        case ("ufw", "reset" | "disable", *_) | ("nft", "flush", *_):
            yield Hazard("system-control", Severity.ASK, " ".join(words[:2]))


_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "http", "https"})
_DOWNLOAD_SUBSTITUTION = re.compile(r"(?:<|\$)\((?:curl|wget) |`(?:curl|wget) ")
INTERPRETERS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "ash", "python", "python3", "node", "perl", "ruby", "php"}
)


def detect_downloaded_script(command: SimpleCommand, _location: ShellLocation) -> Hazards:
    """A downloaded script that runs unreviewed."""
    words: Words = command.words
    if command.piped_from[:1] and command.piped_from[0] in _DOWNLOADERS:
        rest = [word for word in words[1:] if not word.startswith("-") and word != "/dev/stdin"]
        if not rest or "-s" in words or words[1:2] == ("-",):
            addresses = [word for word in command.piped_from if "://" in word or "." in word]
            yield Hazard("unreviewed-script", Severity.ASK, " ".join((*command.piped_from[:1], *addresses[:1])))
    elif script := next((word for word in words[1:] if _DOWNLOAD_SUBSTITUTION.match(word.lstrip())), ""):
        yield Hazard("unreviewed-script", Severity.ASK, script[:100])


SERVICE_DETECTORS: Mapping[str, Callable[[SimpleCommand, ShellLocation], Hazards]] = {
    **dict.fromkeys(_SQL_OPTIONS, detect_sql),
    "dropdb": detect_dropdb,
    "mysqladmin": detect_mysqladmin,
    "redis-cli": detect_redis,
    **dict.fromkeys(("valkey-cli", "keydb-cli", "dragonfly-cli", "iredis"), detect_redis),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "xhs", "curlie"), detect_http),
    **dict.fromkeys(
        ("sftp", "ftp", "lftp", "smbclient", "nc", "ncat", "netcat", "telnet", "bconsole", "ncftp", "socat"),
        detect_input,
    ),
    "mongosh": detect_mongo,
    "mongo": detect_mongo,
    **dict.fromkeys(
        ("rails", "rake", "artisan", "php", "python", "python3", "prisma", "supabase", "knex"), detect_migrations
    ),
    **dict.fromkeys(("docker", "podman", "docker-compose", "podman-compose"), detect_docker),
    **dict.fromkeys(("kubectl", "oc", "k3s"), detect_kubectl),
    "helm": detect_helm,
    **dict.fromkeys(("terraform", "tofu", "terragrunt", "pulumi", "cdk"), detect_terraform),
    **dict.fromkeys(("aws", "gcloud", "az", "gsutil", "rclone", "mc", "heroku", "fly", "flyctl"), detect_cloud_cli),
    **dict.fromkeys(("gh", "npm", "pnpm", "cargo"), detect_unpublish),
    **dict.fromkeys(
        word_set(
            "shutdown reboot halt poweroff init telinit systemctl crontab kill userdel deluser iptables ip6tables"
            " ufw nft"
        ),
        detect_system_control,
    ),
}
