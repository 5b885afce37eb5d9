"""The command hook: stdin to the session's running server, its answer to stdout, exit code 0 always.

Invariant: standard library only, and as little of it as possible (``tests/adapters/hook_entry/test_shim.py`` counts the
modules), because each event starts this file anew. Run it as ``python -I -S shim.py CLIENT``. If no server answers, the
core runs in this process.
"""

import sys

TYPE_CHECKING = False  # importing typing would cost more than everything else
if TYPE_CHECKING:
    from _socket import socket

SERVER_TIMEOUT_SECONDS = 8.0
"""How long the server may take; clients give up on a hook after ten seconds."""
EXIT_AFTER_SECONDS = 9
"""The process ends after that, even if stdin stays open or nobody reads stdout."""
MAX_FRAME_BYTES = 4 * 1024 * 1024
"""The largest payload for the socket; a larger one is answered in this process."""


def main(client: str) -> int:
    """Answer one payload; return 0 whatever happens."""
    exit_after(EXIT_AFTER_SECONDS)
    payload = read_stdin()
    answer = request_from_server(client, payload)
    if answer is None:
        answer_in_process(client, payload)
    else:
        write_stdout(answer)
    exit_after(0)
    return 0


def exit_after(seconds: int) -> None:
    """End this process with exit code 0 after ``seconds``; 0 cancels that."""
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
    """Return all of stdin; nothing if it is closed."""
    try:
        return sys.stdin.buffer.read()
    except (AttributeError, OSError, ValueError):
        return b""


def write_stdout(data: bytes) -> None:
    """Write all of ``data`` to stdout; a client that is gone is no error."""
    import posix

    try:
        posix.set_blocking(1, True)  # some clients pass a non-blocking pipe
        while data:
            data = data[posix.write(1, data) :]
    except OSError:
        return


def request_from_server(client: str, payload: bytes) -> "bytes | None":
    """Return the answer of the MCP server that the client runs; None if there is none."""
    import _socket
    import posix

    connection = None
    try:
        path = socket_path(posix.getuid(), client, posix.getppid())
        folder = posix.lstat(path.rpartition("/")[0])
        if folder.st_uid != posix.getuid() or folder.st_mode & 0o170077 != 0o040000:
            return None
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(SERVER_TIMEOUT_SECONDS)
        connection.connect(path)
        streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in open_streams())
        proof = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)] if streams else []
        connection.sendmsg([len(payload).to_bytes(8, "big")], proof)
        if payload:  # even of nothing, sendall fails if the server has answered and gone
            connection.sendall(payload)
        return receive_frame(connection)
    except (OSError, ValueError):
        return None
    finally:
        if connection is not None:
            connection.close()


def open_streams() -> list[int]:
    """Return the descriptors that show the server who started this hook: its input and output, if both are open."""
    import posix

    try:
        for stream in (0, 1):
            posix.fstat(stream)
    except OSError:
        return []
    return [0, 1]


def receive_frame(connection: "socket") -> "bytes | None":
    """Receive one frame: eight bytes of length, then that many bytes; None if it is too long."""
    return receive_rest(connection, read_exactly(connection, 8))


def receive_rest(connection: "socket", header: bytes) -> "bytes | None":
    """Receive what follows the eight bytes of length."""
    size = int.from_bytes(header, "big") if len(header) == 8 else MAX_FRAME_BYTES + 1
    return read_exactly(connection, size) if size <= MAX_FRAME_BYTES else None


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
    """Return where the server of the client with this pid listens, without the environment: both sides must agree."""
    return "/tmp/upbeat-%d/%s-%d.sock" % (uid, client, client_pid)  # noqa: S108, UP031 -- private folder, checked


def answer_in_process(client: str, payload: bytes) -> None:
    """Write the core's answer from this process, with the packages that ``-S`` left out.

    A hook that is killed meanwhile leaves a file, from which the journal records that it was not answered.
    """
    try:
        import gc
        import site

        gc.disable()  # a third of the time to import; this process ends with its answer
        site.main()
        from upbeat.adapters.system.environment import read_environment
        from upbeat.adapters.system.journal.pending import announce_hook, settle_hook, take_turn

        environment = read_environment()
        pending = announce_hook(str(environment.state_home), client, payload)
        if b'ToolUse"' in payload:  # guards come in bursts; a prompt's tools take seconds, for which they need not wait
            take_turn(pending)
        from upbeat.adapters.hook_entry.answer import answer_payload, arrival_of_hook
        from upbeat.adapters.wiring import build_application
        from upbeat.core.contract.arrival import Route

        application = build_application(environment)
        write_stdout(answer_payload(client, payload, application, arrival_of_hook(client, Route.COMMAND)))
        settle_hook(pending)
    except Exception as error:
        sys.stderr.write("upbeat: hook not answered: %s: %s\n" % (type(error).__name__, ascii(str(error))))  # noqa: UP031


def end(code: int) -> None:
    """End this process without the interpreter's cleanup, which takes as long as its start."""
    import posix

    sys.stderr.flush()
    posix._exit(code)


if __name__ == "__main__":
    end(main(sys.argv[1] if len(sys.argv) > 1 else "claude-code"))
