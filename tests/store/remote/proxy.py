"""A TCP proxy on loopback before a server: it cuts connections, or holds them, after so many bytes."""

import socket
import threading
from contextlib import suppress


class Proxy:
    """Forward to a port. `cuts`: how many connections break off after `bytes` towards the server; `holds`: then stop.

    What was sent to it while it holds stays unanswered; `held` is set once it does.
    """

    def __init__(self, port: int, bytes: int, cuts: int = 0, holds: bool = False):
        self.target, self.bytes, self.cuts, self.holds = port, bytes, cuts, holds
        self.held = threading.Event()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._listener, *self._open):
            _close(one)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self._open += [client, server]
                threading.Thread(target=self._forward, args=(client, server, True), daemon=True).start()
                threading.Thread(target=self._forward, args=(server, client, False), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, upward: bool) -> None:
        seen = 0
        with suppress(OSError):
            while content := source.recv(1 << 16):
                seen += len(content)
                if upward and seen > self.bytes and self._breaks():
                    if self.holds:
                        self.held.set()
                        return
                    break
                target.sendall(content)
        _close(source)
        _close(target)

    def _breaks(self) -> bool:
        with self._lock:
            if self.holds:
                return True
            breaks = self.cuts > 0
            self.cuts -= breaks
            return breaks


def _close(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
