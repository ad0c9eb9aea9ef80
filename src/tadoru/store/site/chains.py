"""Following single steps to their ends: redirects, canonicals, pages of a series. All chains at once, by doubling the stride."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tadoru.store.site.arrays import Flags, Ids


@dataclass(frozen=True, slots=True)
class Ends:
    """Where steps lead, by page id."""

    end: Ids
    """The last page of the chain; the page itself when it leads nowhere; some page of the loop when it leads into one."""
    steps: Ids
    """How many steps it takes; meaningless for a loop."""
    looping: Flags
    """It leads into a loop, or is on one."""


def ends(step: Ids) -> Ends:
    """`step` is the next page for each page, 0 or less for none."""
    everyone = np.arange(len(step), dtype=np.int32)
    leads_on: Flags = step > 0
    to = np.where(leads_on, step, everyone)
    steps = leads_on.astype(np.int32)
    # No chain without a loop is longer than there are pages that lead on.
    longest, stride = int(steps.sum()), 1
    while stride <= longest:
        onward = to[to]
        if (onward == to).all():
            break
        steps = steps + steps[to]
        to = onward
        stride *= 2
    # Who is still at a page that leads on, after more steps than any chain has, is in a loop.
    return Ends(to, steps, leads_on[to])


def path(step: Ids, start: int, most: int) -> list[int]:
    """The pages from one on, without itself, up to so many; a loop is left when it closes."""
    found: list[int] = []
    seen = {start}
    at = int(step[start])
    while at > 0 and len(found) < most:
        found.append(at)
        if at in seen:
            break
        seen.add(at)
        at = int(step[at])
    return found


def on_loop(step: Ids) -> Flags:
    """Pages that steps lead back to. Where everybody in a loop is after very many steps, are the pages of the loop."""
    found = ends(step)
    there = np.zeros(len(step), np.bool_)
    there[found.end[found.looping]] = True
    there &= step != np.arange(len(step))
    return there
