"""A fault proxy between the daemon and Valkey (Unix socket to Unix socket) that understands RESP.

    proxy = Proxy(listen, upstream)
    rule = proxy.add("acquire", SWALLOW)        # the next command that names "acquire"
    proxy.await_event("forwarded", "acquire")   # it has been submitted
    proxy.cut()                                 # every connection breaks now

It runs in a thread of its own. Rules name a command by a word among its first arguments (the name
of a function or a command), apply once unless `times` says otherwise, and are asked in the order in
which they were added. Never changes a byte that no rule asked for.
"""

import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from support import resp

# What may happen to a command and its reply.
SWALLOW = "swallow"          # submitted; neither its reply nor a later one of that connection comes
CUT = "cut"                  # submitted; when its reply comes, the connection breaks instead
CUT_AT = "cut at"            # submitted; `at` bytes of the reply come through, then it breaks
HALF_CLOSE = "half-close"    # submitted; instead of the reply the daemon sees the end of the stream
DELAY = "delay"              # submitted; the reply (and all after it) comes `seconds` later
HOLD = "hold"                # the command itself (and all after it) waits until release()
ERROR = "error"              # never submitted; `text` is answered as an error
RAW = "raw"                  # never submitted; the bytes `raw` are answered, whatever they are
DROP = "drop"                # never submitted; the connection is silent from then on

SUBSCRIPTIONS = (b"subscribe", b"unsubscribe", b"psubscribe", b"punsubscribe", b"ssubscribe",
                 b"sunsubscribe")
HEAD_ARGUMENTS = 2           # a rule's word is looked for in the first arguments only


@dataclass
class Rule:
    """One fault; `hits` counts how often it was applied."""

    word: bytes
    action: str
    times: int = 1
    skip: int = 0
    text: str = ""
    raw: bytes = b""
    at: int = 0
    seconds: float = 0.0
    hits: int = 0

    def takes(self, names):
        if self.hits >= self.times or not any(self.word in name for name in names):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.hits += 1
        return True


@dataclass
class Pending:
    """A command that was sent on (or not), in the order in which replies are owed."""

    names: list
    rule: Rule = None
    reply: bytes = None      # made by us: the command was never submitted


@dataclass(eq=False)
class Link:
    """One connection of the daemon and its counterpart to Valkey."""

    client: socket.socket
    server: socket.socket
    from_client: bytearray = field(default_factory=bytearray)
    from_server: bytearray = field(default_factory=bytearray)
    owed: list = field(default_factory=list)
    held: bool = False
    late: list = field(default_factory=list)  # (due, bytes) for the daemon
    dead: bool = False
    mute: bool = False       # nothing more comes from the server (RESP replies cannot skip one)


class Proxy:
    def __init__(self, listen, upstream):
        self.listen_path = Path(listen)
        self.upstream = str(upstream)
        self.events = []  # (what, names) in order
        self._changed = threading.Condition()
        self._rules = []
        self._links = []
        self._frozen = False
        self._refusing = False
        self._running = True
        self._todo = []
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = socket.socketpair()
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.listen_path))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    # --- asked from the test's thread -------------------------------------------------------------

    def add(self, word, action, **options):
        """Adds a rule for the next commands whose first arguments contain `word`."""
        rule = Rule(word.lower().encode(), action, **options)
        with self._changed:
            self._rules.append(rule)
        return rule

    def clear(self):
        with self._changed:
            self._rules.clear()

    def release(self):
        """Lets go what HOLD keeps back."""
        self._do(self._release_all)

    def cut(self):
        """Breaks every connection now."""
        self._do(lambda: [self._break(link) for link in list(self._links)])

    def refuse(self, refusing=True):
        """New connections are closed at once."""
        self._refusing = refusing

    def freeze(self):
        """No byte moves in either direction, and nothing is closed: a network black hole."""
        self._do(lambda: setattr(self, "_frozen", True))

    def thaw(self):
        self._do(self._thaw)

    def count(self, what, word=""):
        with self._changed:
            return sum(self._is(event, what, word.encode()) for event in self.events)

    def await_event(self, what, word="", count=1, timeout_s=10):
        """Awaits the `count`-th event of a kind: "forwarded", "replied", "fault", "connected",
        "closed"."""
        with self._changed:
            done = self._changed.wait_for(
                lambda: sum(self._is(event, what, word.encode()) for event in self.events) >= count,
                timeout_s)
        assert done, f"the proxy saw no {what} {word} in {timeout_s} s"

    @staticmethod
    def _is(event, what, word):
        return event[0] == what and (not word or any(word in name for name in event[1]))

    def _do(self, act):
        """Runs `act` in the proxy's thread and waits for its end."""
        done = threading.Event()
        with self._changed:
            self._todo.append((act, done))
        self._wake_write.send(b"x")
        assert done.wait(10), "the proxy's thread does not answer"

    def close(self):
        if not self._running:
            return
        self._do(lambda: setattr(self, "_running", False))
        self._thread.join(10)
        # Not in the thread: it may act on what it was asked before this one has sent the wake.
        self._wake_read.close()
        self._wake_write.close()
        self.listen_path.unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- the proxy's thread -----------------------------------------------------------------------

    def _run(self):
        while self._running:
            for key, _ in self._selector.select(self._next_due()):
                if key.fileobj is self._wake_read:
                    self._wake_read.recv(64)
                elif key.fileobj is self._listener:
                    self._accept()
                elif not key.data.dead:
                    self._readable(key.data, key.fileobj)
            with self._changed:
                todo, self._todo = self._todo, []
            for act, done in todo:
                act()
                done.set()
            self._send_late()
        for link in list(self._links):
            self._break(link)
        self._listener.close()

    def _next_due(self):
        due = [link.late[0][0] for link in self._links if link.late]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _accept(self):
        client, _ = self._listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            if self._refusing:
                raise ConnectionRefusedError
            server.connect(self.upstream)
        except OSError:
            client.close()
            server.close()
            return
        link = Link(client, server)
        self._links.append(link)
        self._note("connected", [])
        for end in (client, server):
            self._selector.register(end, selectors.EVENT_READ, link)

    def _readable(self, link, end):
        if self._frozen:
            # Take it off the selector: nothing may move, and a ready descriptor would spin.
            self._selector.unregister(end)
            return
        try:
            data = end.recv(262144)
        except ConnectionError:
            data = b""
        if not data:
            self._break(link)
        elif end is link.client:
            link.from_client += data
            self._take_commands(link)
        else:
            link.from_server += data
            self._take_replies(link)

    def _take_commands(self, link):
        start = 0
        while not link.held and not link.dead:
            end = resp.split(link.from_client, start)
            if end is None:
                break
            command = bytes(link.from_client[start:end])
            names = [name.lower() for name in resp.arguments(command)[:HEAD_ARGUMENTS]]
            rule = self._rule_for(names)
            if rule and rule.action == HOLD:
                link.held = True
                self._note("fault", names)
                break
            start = end
            self._pass_on(link, command, names, rule)
        del link.from_client[:start]

    def _pass_on(self, link, command, names, rule):
        if rule and rule.action == DROP:
            link.mute = True
            self._note("fault", names)
        if link.mute and (rule is None or rule.action == DROP):
            return
        if rule and rule.action in (ERROR, RAW):
            reply = rule.raw if rule.action == RAW else b"-%s\r\n" % rule.text.encode()
            link.owed.append(Pending(names, rule, reply))
            self._note("fault", names)
            self._take_replies(link)
            return
        if names[0] not in SUBSCRIPTIONS:
            link.owed.append(Pending(names, rule))
        try:
            link.server.sendall(command)
        except OSError:
            self._break(link)
            return
        self._note("forwarded", names)

    def _take_replies(self, link):
        start = 0
        while not link.dead:
            if link.owed and link.owed[0].reply is not None:
                self._give(link, link.owed.pop(0).reply)
                continue
            end = resp.split(link.from_server, start)
            if end is None:
                break
            reply = bytes(link.from_server[start:end])
            start = end
            if reply[:1] == b">" or not link.owed:
                self._give(link, reply)
            else:
                self._answer(link, link.owed.pop(0), reply)
        del link.from_server[:start]

    def _answer(self, link, pending, reply):
        rule = pending.rule
        if rule is None:
            self._give(link, reply)
            self._note("replied", pending.names)
            return
        if rule.action == SWALLOW:
            link.mute = True
        elif rule.action == DELAY:
            link.late.append((time.monotonic() + rule.seconds, reply))
        elif rule.action == CUT_AT:
            self._give(link, reply[:rule.at])
            self._break(link)
        elif rule.action == CUT:
            self._break(link)
        elif rule.action == HALF_CLOSE:
            link.client.shutdown(socket.SHUT_WR)
        self._note("fault", pending.names)

    def _give(self, link, data):
        if not data or link.mute:
            return
        if link.late:
            link.late.append((link.late[-1][0], data))
            return
        try:
            link.client.sendall(data)
        except OSError:
            self._break(link)

    def _send_late(self):
        for link in list(self._links):
            while link.late and link.late[0][0] <= time.monotonic():
                _, data = link.late.pop(0)
                rest, link.late = link.late, []
                self._give(link, data)
                link.late = rest

    def _rule_for(self, names):
        with self._changed:
            return next((rule for rule in self._rules if rule.takes(names)), None)

    def _release_all(self):
        for link in list(self._links):
            if link.held:
                link.held = False
                self._take_commands(link)

    def _thaw(self):
        self._frozen = False
        for link in self._links:
            for end in (link.client, link.server):
                if end.fileno() not in self._selector.get_map():
                    self._selector.register(end, selectors.EVENT_READ, link)

    def _break(self, link):
        if link.dead:
            return
        link.dead = True
        self._links.remove(link)
        for end in (link.client, link.server):
            if end.fileno() in self._selector.get_map():
                self._selector.unregister(end)
            end.close()
        self._note("closed", [])

    def _note(self, what, names):
        with self._changed:
            self.events.append((what, names))
            self._changed.notify_all()
