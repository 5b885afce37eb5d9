"""The command hook: stdin to the session's running server, its answer to stdout, exit 0 always.

Law: standard library only, and as little of it as can be (``tests/test_shim.py`` counts the modules): this
file is started for single events. Run it as ``python -I -S shim.py CLIENT``. When no server answers, the
core runs in this very process.
"""

import sys

TYPE_CHECKING = False  # typing itself would cost more than all the rest
if TYPE_CHECKING:
    from _socket import socket

TIMEOUT = 8.0
"""Seconds that the server may take; clients give up on a hook after ten."""
LAST_SECONDS = 9
"""After that the process ends, whatever it waits for: a stdin that stays open, a stdout that nobody reads."""
MAX_FRAME = 4 * 1024 * 1024
"""Bytes that go over the socket at once; a larger payload is answered in this process."""


def main(client: str) -> int:
    """Answer one payload; 0 whatever happens."""
    end_in(LAST_SECONDS)
    payload = read_stdin()
    answer = ask_server(client, payload)
    if answer is None:
        answer = ask_core(client, payload)
    if answer:
        write_stdout(answer)
    end_in(0)
    return 0


def end_in(seconds: int) -> None:
    """End this process with exit code 0 after ``seconds``; 0 takes that back."""
    import _signal  # type: ignore[import-not-found]  # not signal, which loads all of enum
    import posix

    def leave(*_: object) -> None:
        try:
            posix.write(2, b"upbeat: hook not answered in %d seconds\n" % seconds)
        finally:
            posix._exit(0)

    if seconds:
        _signal.signal(_signal.SIGALRM, leave)
    _signal.alarm(seconds)


def read_stdin() -> bytes:
    """All of stdin; nothing when it is closed. A socket, a pipe, a file or a terminal read the same."""
    try:
        return sys.stdin.buffer.read()
    except (AttributeError, OSError, ValueError):
        return b""


def write_stdout(data: bytes) -> None:
    """All of ``data`` to stdout; a client that has gone away is no error of ours."""
    import posix

    try:
        posix.set_blocking(1, True)  # some clients give a pipe that takes no more than it has room for
        while data:
            data = data[posix.write(1, data) :]
    except OSError:
        return


def ask_server(client: str, payload: bytes) -> "bytes | None":
    """The answer of the MCP server that our client runs; None when there is none."""
    import _socket
    import posix

    connection = None
    try:
        path = socket_path(posix.getuid(), client, posix.getppid())
        folder = posix.lstat(path.rpartition("/")[0])
        if folder.st_uid != posix.getuid() or folder.st_mode & 0o170077 != 0o040000:
            return None
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(TIMEOUT)
        connection.connect(path)
        connection.sendall(len(payload).to_bytes(8, "big") + payload)
        return receive(connection)
    except (OSError, ValueError):
        return None
    finally:
        if connection is not None:
            connection.close()


def receive(connection: "socket") -> "bytes | None":
    """One frame: eight bytes of length, then that many; None when it breaks off."""
    size = int.from_bytes(read_exactly(connection, 8), "big")
    return read_exactly(connection, size) if size <= MAX_FRAME else None


def read_exactly(connection: "socket", size: int) -> bytes:
    chunks = []
    while size:
        chunk = connection.recv(min(size, 65536))
        if not chunk:
            raise ValueError("the server closed the connection")
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def socket_path(uid: int, client: str, client_pid: int) -> str:
    """Where the server of the client with this pid listens. No environment: both sides must find the same."""
    return "/tmp/upbeat-%d/%s-%d.sock" % (uid, client, client_pid)  # noqa: S108, UP031 -- private folder, checked


def ask_core(client: str, payload: bytes) -> bytes:
    """The answer of the core in this process, with the packages that ``-S`` kept away."""
    try:
        import site

        site.main()
        from upbeat.adapters.hook import answer_bytes
        from upbeat.adapters.wiring import build

        return answer_bytes(client, payload, build())
    except Exception as error:
        sys.stderr.write("upbeat: hook not answered: %s: %s\n" % (type(error).__name__, ascii(str(error))))  # noqa: UP031
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "claude-code"))
