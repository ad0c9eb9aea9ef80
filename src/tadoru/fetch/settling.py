"""When a page has come to rest: judged from what its browser reports, with the time passed in.

A page rests when it asks for nothing and changes nothing for a while. Two kinds of page never do, and count as resting all the
same: those that keep moving without asking for anything (a carousel), and those that ask again and again without any change (a
poll). A request that has been on its way for long is one that waits for news, and is not waited for.
"""

from __future__ import annotations

LONG = 8.0
"""Seconds after which a request is taken for one that the server keeps open."""
STILL = 2.0
"""Seconds without a change that end the wait for a page which polls."""
POLLS = 3
MOVING = 4
"""So many times as quiet a network, when the page itself does not stand still."""


class Stir:
    """What moves in a page. `now` is any clock that does not go back."""

    def __init__(self, quiet: float, now: float) -> None:
        self._quiet = quiet
        self._readable = self._received = False
        self._on_their_way: dict[str, float] = {}
        self._held: set[str] = set()
        self._asked = self._changed = now
        self._polls = 0
        self.moves = 0
        """How often something moved."""

    @property
    def last(self) -> float:
        """When something moved last; of a page that never stands still, when it last mattered."""
        first, last = sorted((self._asked, self._changed))
        return last if last - first < self._quiet else first

    def readable(self, now: float) -> None:
        """The document is there to its end."""
        self._readable = True
        self._change(now)

    def received(self) -> None:
        """Nothing more comes of the document. One whose reading is cut short by a script is never said to be readable."""
        self._received = True

    def replaced(self, keep: str, now: float) -> None:
        """Another document took the place of this one; only its own request (`keep`) is still of interest."""
        self._readable = self._received = False
        self._on_their_way = {name: began for name, began in self._on_their_way.items() if name == keep}
        self._change(now)

    def changed(self, now: float) -> None:
        """The document changed."""
        self._change(now)

    def held(self, name: str) -> None:
        """A request waits for its turn: that is not the site's time."""
        self._held.add(name)

    def let_go(self, name: str, now: float) -> None:
        """It waits no longer."""
        self._held.discard(name)
        if name in self._on_their_way:
            self._on_their_way[name] = now
        self._ask(now)

    def asked(self, name: str, now: float) -> None:
        """A request began."""
        self._on_their_way[name] = now
        self._ask(now)

    def answered(self, name: str, now: float) -> None:
        """A request is over."""
        if self._on_their_way.pop(name, None) is not None:
            self._polls += 1
            self._ask(now)

    def rests_at(self, now: float) -> float | None:
        """The moment at which the page rests if nothing moves until then; None when something has to happen first."""
        if not (self._readable or self._received) or self._held:
            return None
        waited_for = [began for began in self._on_their_way.values() if began + LONG > now]
        if not waited_for:
            patience = self._quiet if self._readable else MOVING * self._quiet
            return min(max(self._asked, self._changed) + patience, self._asked + MOVING * self._quiet)
        news = max(waited_for) + LONG
        if self._polls >= POLLS:
            return min(news, self._changed + max(STILL, self._quiet))
        return news

    def _ask(self, now: float) -> None:
        self._asked = now
        self.moves += 1

    def _change(self, now: float) -> None:
        self._changed = now
        self._polls = 0
        self.moves += 1
