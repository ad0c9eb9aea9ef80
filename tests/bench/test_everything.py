"""The summary of a whole run of the benchmark says what its parts said, and nothing that they did not."""

from __future__ import annotations

from xml.etree import ElementTree

from bench.everything import Figure, Part, bars, document, parts
from bench.ratios_chart import svg

LINKS = """# Results

Written by a run of the benchmark; `README.md` says what the columns mean.

- Command: `bench/run -o somewhere`
- Start-up: `./tadoru --version` 29 ms, `python -c pass` 11 ms: 2.7 times (allowed: three times and 150 ms, 183 ms: kept)

## generated: 4,000 pages

| crawler             | pages/s | tadoru is | note |
| ------------------- | ------: | --------: | ---- |
| tadoru 0.1.0        |   1,265 |     1.00× |      |
| wget2 1.99.1        |   3,622 |     0.35× |      |
| Scrapy 2.19.0       |    37.0 |    34.22× |      |

- tadoru is 34.22 times Scrapy (asked: 30.00, goal: 45.00): enough

## python3-doc

| Scrapy 2.19.0       |    35.6 |    28.50× |      |

- tadoru is 28.50 times Scrapy (asked: 30.00, goal: 45.00): NOT ENOUGH
"""


def links() -> Part:
    return next(part for part in parts(None) if part.name == "links")


def test_the_worst_of_several_sites_counts_and_what_was_not_measured_is_said() -> None:
    text = document([(links(), LINKS)], "bench/run --everything")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| links:")]
    assert rows == [
        ["links: times as fast as Scrapy", "at least 30", "28.5", "**not kept**"],
        ["links: times as fast as wget2", "at least 0.33", "not measured", "**not kept**"],
    ]
    assert "| start-up, beside a bare interpreter | " in text
    assert "2.7 times" in text
    assert text.count("\n# ") == 0
    assert "somewhere" not in text, "the command is said once, at the head"
    assert "### generated: 4,000 pages" in text


def test_what_is_asked_to_be_small_is_kept_when_it_is() -> None:
    figure = Figure(what="again", pattern=r"takes ([\d.]+) of", most=0.1)
    assert figure.row("takes 0.035 of it")[1:] == ("at most 0.1", "0.035", "kept")
    assert figure.row("takes 0.35 of it")[3] == "**not kept**"


def test_the_picture_has_a_bar_for_each_peer_of_the_first_site() -> None:
    found = bars([(links(), LINKS)])
    assert [(bar.peer, bar.ratio) for bar in found] == [("wget2", 0.35), ("Scrapy", 34.22)]
    drawn = ElementTree.fromstring(svg(found))
    texts = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Scrapy", "wget2", "34.2×", "0.35×"} <= set(texts)
