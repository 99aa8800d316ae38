"""RESP2 and RESP3 in both directions: a blocking client for tests, and the incremental splitter
that the fault proxy works with. Errors come back as values (Error), never as exceptions."""

import socket


class Error(str):
    """An error reply."""

    def __repr__(self):
        return f"Error({str(self)!r})"


def pack(*arguments):
    """A command as RESP bytes."""
    out = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        out.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(out)


def split(buffer, start=0):
    """Offset behind the complete RESP value at `start`, or None if it has not all come yet."""
    end = buffer.find(b"\r\n", start)
    if end < 0:
        return None
    kind, head, end = buffer[start:start + 1], buffer[start + 1:end], end + 2
    if kind in b"+-:_#,(":
        return end
    count = int(head)
    if kind in b"$=!":
        if count < 0:
            return end
        end += count + 2
        return end if end <= len(buffer) else None
    items = count * 2 if kind in b"%|" else count
    for _ in range(max(items, 0)):
        end = split(buffer, end)
        if end is None:
            return None
    return end


def arguments(command):
    """The arguments of a complete RESP command, as bytes."""
    found, position = [], command.index(b"\r\n") + 2
    for _ in range(int(command[1:position - 2])):
        end = command.index(b"\r\n", position)
        length = int(command[position + 1:end])
        found.append(bytes(command[end + 2:end + 2 + length]))
        position = end + 2 + length + 2
    return found


class Client:
    """c = Client(path); c("SET", "k", "v"). Strings come back as bytes unless `text`."""

    def __init__(self, address, user=None, password=None, text=True, timeout_s=10, protocol=3):
        """`address`: path of a Unix socket, or (host, port)."""
        family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout_s)
        self.socket.connect(address if isinstance(address, tuple) else str(address))
        self.file = self.socket.makefile("rb")
        self.text = text
        self.pushes = []
        if protocol == 3:
            login = ["AUTH", user or "default", password] if password else []
            self.greeting = self("HELLO", 3, *login)

    def __call__(self, *command):
        self.socket.sendall(pack(*command))
        return self.read()

    def pipeline(self, commands):
        self.socket.sendall(b"".join(pack(*command) for command in commands))
        return [self.read() for _ in commands]

    def read(self):
        """One reply; pushes that come before it are kept in `pushes`."""
        while True:
            kind, value = self._value()
            if kind != b">":
                return value
            self.pushes.append(value)

    def wait_push(self):
        """One push: a pub/sub message."""
        while not self.pushes:
            kind, value = self._value()
            assert kind == b">", value
            self.pushes.append(value)
        return self.pushes.pop(0)

    def _value(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        return kind, self._body(kind, rest)

    def _body(self, kind, rest):
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return Error(rest.decode())
        if kind in b":(":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"_":
            return None
        if kind == b"#":
            return rest == b"t"
        count = int(rest)
        if kind in b"$=!":
            if count < 0:
                return None
            data = self.file.read(count + 2)[:-2]
            return data.decode(errors="surrogateescape") if self.text else data
        if kind == b"%":
            return {self._item(): self._item() for _ in range(count)}
        return None if count < 0 else [self._item() for _ in range(count)]

    def _item(self):
        return self._value()[1]

    def backend_ms(self):
        """The server's TIME in milliseconds."""
        seconds, micros = self("TIME")
        return int(seconds) * 1000 + int(micros) / 1000

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
