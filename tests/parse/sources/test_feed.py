"""Feeds: what each format's elements mean, and where an event's time is taken from. Broken ones: `test_feed_faults`."""

from __future__ import annotations

import json
from datetime import date

import pytest

from tadoru.errors import ConfigError
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.feed import FeedSettings, read_feed
from tadoru.parse.sources.feed_item import written_date

URL = "https://town.test/feeds/all.xml"
SPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "ev": "http://purl.org/rss/1.0/modules/event/",
        "xcal": "urn:ietf:params:xml:ns:xcal",
        "gd": "http://schemas.google.com/g/2005",
        "dc": "http://purl.org/dc/elements/1.1/",
        "content": "http://purl.org/rss/1.0/modules/content/",
        "media": "http://search.yahoo.com/mrss/",
        "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
        "georss": "http://www.georss.org/georss",
        "sy": "http://purl.org/rss/1.0/modules/syndication/",
        "atom": "http://www.w3.org/2005/Atom",
        "tribe": "https://theeventscalendar.test/ns",
        "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    }.items()
)


def read(text: str, settings: FeedSettings | None = None) -> ParsedSource:
    return read_feed(text.encode(), "application/xml", URL, settings)


def rss(*items: str, head: str = "") -> str:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0"?><rss version="2.0" {SPACES}><channel><title>Town</title>{head}{inner}</channel></rss>'


def atom(*entries: str, head: str = "") -> str:
    inner = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom" {SPACES}><title>Town</title>{head}{inner}</feed>'


def only(text: str, settings: FeedSettings | None = None) -> RawEvent:
    reading = read(text, settings)
    assert reading.problems == ()
    [event] = reading.events
    return event


ITEMS = {
    "title": ("<title>夏祭り</title>", "title", "夏祭り"),
    "title in html": ("<title>A &amp;amp; &lt;b&gt;B&lt;/b&gt;</title>", "title", "A & B"),
    "title that only looks like html": ("<title>1 &lt; 2 and 3 &gt; 2</title>", "title", "1 < 2 and 3 > 2"),
    "title in cdata": ("<title><![CDATA[Fish & chips]]></title>", "title", "Fish & chips"),
    "title of dublin core": ("<dc:title>Talk</dc:title>", "title", "Talk"),
    "description": ("<description>&lt;p&gt;Hi&lt;/p&gt;</description>", "description", "<p>Hi</p>"),
    "the longer description": (
        "<description>short</description><content:encoded><![CDATA[<p>long</p>]]></content:encoded>",
        "description",
        "<p>long</p>",
    ),
    "uid": ("<guid isPermaLink='false'>tag:1</guid>", "uid", "tag:1"),
    "link": ("<link>https://town.test/e/1</link>", "url", "https://town.test/e/1"),
    "link with spaces around it": ("<link>\n https://town.test/e/1 \n</link>", "url", "https://town.test/e/1"),
    "relative link": ("<link>../e/1</link>", "url", "https://town.test/e/1"),
    "link that is none": ("<link>javascript:alert(1)</link>", "url", None),
    "address of the original": (
        "<link>https://proxy.test/1</link><feedburner:origLink>https://town.test/e/1</feedburner:origLink>",
        "url",
        "https://town.test/e/1",
    ),
    "permanent address": ("<guid>https://town.test/e/1</guid>", "url", "https://town.test/e/1"),
    "id that is no address": ("<guid isPermaLink='false'>https://town.test/e/1</guid>", "url", None),
    "link of atom in rss": ("<atom:link href='/e/1'/>", "url", "https://town.test/e/1"),
    "categories": (
        "<category>Music</category><category>Food</category><dc:subject>Music</dc:subject>",
        "category",
        "Music, Food",
    ),
    "enclosed image": ("<enclosure url='/a.png' type='image/png' length='1'/>", "image", "https://town.test/a.png"),
    "enclosed sound": ("<enclosure url='/a.mp3' type='audio/mpeg' length='1'/>", "image", None),
    "media": ("<media:content url='/a.jpg' medium='image'/>", "image", "https://town.test/a.jpg"),
    "media in a group": ("<media:group><media:thumbnail url='/a.jpg'/></media:group>", "image", "https://town.test/a.jpg"),
    "film": ("<media:content url='/a.mp4' medium='video'/>", "image", None),
    "georss": ("<georss:point>39.70 141.15</georss:point>", "latitude", "39.70"),
    "geo": ("<geo:Point><geo:lat>39.7</geo:lat><geo:long>141.1</geo:long></geo:Point>", "longitude", "141.1"),
    "ev start": ("<ev:startdate>2026-08-01T10:00:00+09:00</ev:startdate>", "start", "2026-08-01T10:00:00+09:00"),
    "ev end": ("<ev:startdate>2026-08-01</ev:startdate><ev:enddate>2026-08-02</ev:enddate>", "end", "2026-08-02"),
    "ev place": ("<ev:location>市民ホール</ev:location>", "venue", "市民ホール"),
    "ev organizer": ("<ev:organizer>Town</ev:organizer>", "organizer", "Town"),
    "xcal start": ("<xcal:dtstart>20260801T100000Z</xcal:dtstart>", "start", "20260801T100000Z"),
    "xcal end of whole days": (
        "<xcal:dtstart>20260801</xcal:dtstart><xcal:dtend>20260803</xcal:dtend>",
        "end",
        date(2026, 8, 2),
    ),
    "xcal place": ("<xcal:location>Hall</xcal:location>", "venue", "Hall"),
    "cancelled": ("<xcal:status>CANCELLED</xcal:status>", "is_cancelled", True),
    "confirmed": ("<xcal:status>CONFIRMED</xcal:status>", "is_cancelled", False),
    "google start": ("<gd:when startTime='2026-08-01T10:00' endTime='2026-08-01T12:00'/>", "start", "2026-08-01T10:00"),
    "google end of whole days": ("<gd:when startTime='2026-08-01' endTime='2026-08-02'/>", "end", date(2026, 8, 1)),
    "google place": ("<gd:where valueString='Hall'/>", "venue", "Hall"),
    "events calendar start": ("<tribe:startdate>2026-08-01 10:00:00</tribe:startdate>", "start", "2026-08-01 10:00:00"),
    "events calendar venue": ("<tribe:venue>Hall</tribe:venue><tribe:cost>500円</tribe:cost>", "price", "500円"),
    "hours in elements of their own": (
        "<tribe:startDate>2026-08-01</tribe:startDate><tribe:startHour>10:00 am</tribe:startHour>",
        "start_time",
        "10:00 am",
    ),
    "names with underlines": ("<tribe:event_start_date>2026-08-01</tribe:event_start_date>", "start", "2026-08-01"),
    "a day and hours apart": (
        "<tribe:date>2026-08-01</tribe:date><tribe:start>10:00</tribe:start><tribe:end>11:00</tribe:end>",
        "end_time",
        "11:00",
    ),
}


@pytest.mark.parametrize("item, field, expected", ITEMS.values(), ids=ITEMS.keys())
def test_an_element_of_an_item_is_the_field_it_means(item: str, field: str, expected: object) -> None:
    assert getattr(only(rss(item)), field) == expected


DESCRIBED = {
    "venue": ("日時：8月1日 10時～\n会場：市民ホール", "venue", "市民ホール"),
    "venue in html": ("&lt;p&gt;日時：8月1日&lt;br&gt;場所：市民ホール&lt;br&gt;料金：500円&lt;/p&gt;", "venue", "市民ホール"),
    "venue on the same line": ("日時：8月1日　会場：市民ホール　参加費：無料", "venue", "市民ホール"),
    "venue in brackets": ("【日時】8月1日 【会場】市民ホール 【主催】市", "venue", "市民ホール"),
    "price": ("8月1日 会場：市民ホール　参加費：無料。", "price", "無料"),
    "organizer": ("8月1日\n主催：市民会議", "organizer", "市民会議"),
    "hours apart": ("日程：8月1日\n時間：10:00～12:00", "start_time", "10:00～12:00"),
    "hours that the date has": ("日時：8月1日 9時\n時間：10時", "start_time", None),
    "where to meet": ("8月1日\n集合場所：駅西口\n集合時間：8時30分", "venue", "駅西口"),
    "when to meet": ("8月1日\n集合場所：駅西口\n集合時間：8時30分", "start_time", "8時30分"),
    "venue behind a mark": ("8月1日\n■場所　市役所ロビー\n■定員　10人", "venue", "市役所ロビー"),
    "venue in round brackets": ("8月1日 （会場）駅前　（参加費）無料", "venue", "駅前"),
    "venue in a table": (
        "&lt;table&gt;&lt;tr&gt;&lt;th&gt;日時&lt;/th&gt;&lt;td&gt;8月1日&lt;/td&gt;&lt;/tr&gt;&lt;tr&gt;&lt;td&gt;会場&lt;/td&gt;"
        "&lt;td&gt;図書館&lt;/td&gt;&lt;/tr&gt;&lt;/table&gt;",
        "venue",
        "図書館",
    ),
    "venue in html that was escaped twice": (
        "&amp;lt;p&amp;gt;8月1日&amp;lt;br&amp;gt;会場：港&amp;lt;/p&amp;gt;",
        "venue",
        "港",
    ),
    "venue in german": ("1. August 2026&lt;br&gt;Ort: Marktplatz&lt;br&gt;Eintritt: 5 €", "venue", "Marktplatz"),
    "price in french": ("1 août 2026&lt;br&gt;Lieu : Mairie&lt;br&gt;Tarif : gratuit", "price", "gratuit"),
    "hours in english": ("Date: August 1, 2026\nTime: 2:00 PM - 4:00 PM", "start_time", "2:00 PM - 4:00 PM"),
    "a word at the end of a line": ("8月1日\nFree admission\nEverybody is welcome", "price", None),
    "a sentence with the word": ("8月1日に新しい会場で開きます", "venue", None),
}


@pytest.mark.parametrize("text, field, expected", DESCRIBED.values(), ids=DESCRIBED.keys())
def test_lines_with_a_label_are_the_fields_they_name(text: str, field: str, expected: str | None) -> None:
    assert getattr(only(rss(f"<title>夏祭り</title><description>{text}</description>")), field) == expected


@pytest.mark.parametrize(
    "text, expected", [("とき：8月1日 9時", "8月1日 9時"), ("8月2日 9時", "8月1日"), ("8月10日 9時", "8月1日")]
)
def test_the_hours_of_a_day_in_the_title_are_taken_from_the_same_day_in_the_text(text: str, expected: str) -> None:
    assert only(rss(f"<title>朝市 8月1日</title><description>{text}</description>")).start == expected


def test_hours_of_a_day_that_an_element_names_are_taken_from_the_text() -> None:
    event = only(rss("<title>祭</title><ev:startdate>2026-08-01</ev:startdate><description>時間：10時～12時</description>"))
    assert (event.start, event.start_time) == ("2026-08-01", "10時～12時")


def test_the_time_of_publication_is_kept_and_is_not_the_events() -> None:
    event = only(rss("<title>Talk</title><pubDate>Wed, 01 Jul 2026 00:00:00 GMT</pubDate>"))
    assert (event.start, event.extra) == (None, {"published": "Wed, 01 Jul 2026 00:00:00 GMT"})


def test_a_date_of_dublin_core_is_one_of_publication() -> None:
    event = only(rss("<title>Talk</title><dc:date>2026-07-01</dc:date>"))
    assert (event.start, event.extra["published"]) == (None, "2026-07-01")


ENTRY = (
    "<id>tag:town.test,2026:1</id><title type='html'>Tea &amp;amp; talk</title><link rel='self' href='/1.atom'/>"
    "<link rel='alternate' href='e/1'/><link rel='enclosure' type='image/png' href='/a.png'/><summary>short</summary>"
    "<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>8月1日 <b>10時</b></div></content>"
    "<published>2026-07-01T00:00:00Z</published><updated>2026-07-02T00:00:00Z</updated>"
    "<author><name>Town Hall</name><uri>https://town.test/</uri></author><category term='a' label='Music'/>"
)


def test_an_entry_of_atom_is_read() -> None:
    event = only(atom(ENTRY))
    assert (event.uid, event.title, event.url) == ("tag:town.test,2026:1", "Tea & talk", "https://town.test/feeds/e/1")
    assert (event.image, event.category, event.updated) == ("https://town.test/a.png", "Music", "2026-07-02T00:00:00Z")
    assert event.description == "<div>8月1日 <b>10時</b></div>"
    assert event.start == "8月1日  10時"
    assert event.extra == {
        "published": "2026-07-01T00:00:00Z",
        "author": "Town Hall",
        "enclosure": "https://town.test/a.png",
    }


def test_addresses_are_relative_to_the_nearest_base() -> None:
    entry = "<title>a</title><link xml:base='sub/' href='1'/>"
    text = atom(entry).replace("<feed ", "<feed xml:base='https://base.test/x/' ")
    assert only(text).url == "https://base.test/x/sub/1"


def test_addresses_are_relative_to_the_base_of_an_entry() -> None:
    text = atom("<title>a</title><link href='1'/>").replace("<entry>", "<entry xml:base='https://base.test/y/'>")
    assert only(text).url == "https://base.test/y/1"


@pytest.mark.parametrize("space", ["http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"], ids=["1.0", "0.90"])
def test_items_of_rss_in_rdf_stand_beside_their_channel(space: str) -> None:
    text = (
        f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{space}" {SPACES}>'
        "<channel rdf:about='https://town.test/'><title>Town</title><items><rdf:Seq><rdf:li resource='x'/></rdf:Seq></items>"
        "</channel><item rdf:about='https://town.test/e/1'><title>Talk</title>"
        "<ev:startdate>2026-08-01T10:00</ev:startdate></item><item><title>Walk</title></item></rdf:RDF>"
    )
    talk, walk = read(text).events
    assert (talk.title, talk.url, talk.uid, talk.start) == (
        "Talk",
        "https://town.test/e/1",
        "https://town.test/e/1",
        "2026-08-01T10:00",
    )
    assert walk.title == "Walk"


@pytest.mark.parametrize("version", ["0.91", "0.92", "2.0", ""])
def test_every_version_of_rss_is_read(version: str) -> None:
    assert only(rss("<title>a</title>").replace('version="2.0"', f'version="{version}"')).title == "a"


def test_elements_in_another_spelling_are_the_same() -> None:
    assert only("<RSS><Channel><Item><Title>a</Title></Item></Channel></RSS>").title == "a"


def test_schema_org_in_a_description_tells_when_the_event_is() -> None:
    inner = (
        '<div itemscope itemtype="https://schema.org/Event"><span itemprop="name">x</span>'
        '<time itemprop="startDate" datetime="2026-08-01T10:00+09:00">Saturday</time></div>'
    )
    event = only(rss(f"<title>Talk</title><description><![CDATA[{inner}]]></description>"))
    assert (event.title, event.start) == ("Talk", "2026-08-01T10:00+09:00")


WHERE = {
    "title first": (("title", "description"), "8月1日"),
    "description first": (("description", "title"), "8月2日"),
    "publication": (("published",), "2026-07-01"),
    "publication at last": (("none", "published"), "2026-07-01"),
    "nowhere": (("none",), None),
}


@pytest.mark.parametrize("places, expected", WHERE.values(), ids=WHERE.keys())
def test_the_date_is_looked_for_where_the_settings_say(places: tuple[str, ...], expected: str | None) -> None:
    item = "<title>祭り 8月1日</title><description>8月2日</description><pubDate>2026-07-01</pubDate>"
    assert only(rss(item), FeedSettings(date_from=places)).start == expected


def test_an_event_namespace_wins_over_the_words() -> None:
    assert only(rss("<title>8月1日</title><ev:startdate>2026-08-02</ev:startdate>")).start == "2026-08-02"


def test_a_pattern_of_ones_own_finds_the_date() -> None:
    item = "<title>2026年1月1日号</title><description>開催 8/1/26 です</description>"
    assert only(rss(item), FeedSettings(date_pattern=r"開催\s+(\S+)")).start == "8/1/26"


TTLS = {
    "minutes": ("<ttl>90</ttl>", 5400.0),
    "a period": ("<sy:updatePeriod>daily</sy:updatePeriod>", 86_400.0),
    "several times in a period": ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency>", 21_600.0),
    "the longer of both": ("<ttl>60</ttl><sy:updatePeriod>daily</sy:updatePeriod>", 86_400.0),
    "never more than a month": ("<ttl>99999999</ttl>", 31 * 86_400.0),
    "nonsense": ("<ttl>soon</ttl><sy:updateFrequency>0</sy:updateFrequency>", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize("head, expected", TTLS.values(), ids=TTLS.keys())
def test_a_feed_says_how_often_it_wants_to_be_read(head: str, expected: float | None) -> None:
    assert read(rss(head=head)).ttl == expected


def test_a_feed_names_its_next_page() -> None:
    assert read(atom(head="<link rel='next' href='?page=2'/>")).next_url == "https://town.test/feeds/all.xml?page=2"
    assert read(rss(head="<atom:link rel='next' href='/2'/>")).next_url == "https://town.test/2"


JSON_ITEM = {
    "id": 7,
    "title": "Talk &amp; tea",
    "url": "/e/7",
    "content_html": "<p>August 1, 2026 at 10:00</p>",
    "date_published": "2026-07-01T00:00:00Z",
    "date_modified": "2026-07-02T00:00:00Z",
    "tags": ["Music", 3, "Food"],
    "authors": [{"name": "Town Hall"}],
    "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg"}, {"url": "/a.png", "mime_type": "image/png"}],
}


def test_an_item_of_json_feed_is_read() -> None:
    feed = {"version": "https://jsonfeed.org/version/1.1", "items": [JSON_ITEM, "no item"], "next_url": "/feed?page=2"}
    reading = read(json.dumps(feed))
    [event] = reading.events
    assert (event.uid, event.title, event.url, event.image) == (
        "7",
        "Talk & tea",
        "https://town.test/e/7",
        "https://town.test/a.png",
    )
    assert (event.start, event.category, event.updated) == ("August 1, 2026 at 10:00", "Music, Food", "2026-07-02T00:00:00Z")
    assert event.extra == {
        "published": "2026-07-01T00:00:00Z",
        "author": "Town Hall",
        "enclosure": "https://town.test/a.mp3",
    }
    assert reading.next_url == "https://town.test/feed?page=2"
    assert [(one.position, one.reason) for one in reading.problems] == [("item 2", "The item is not an object and is skipped.")]


def test_no_more_items_are_read_than_wanted() -> None:
    items = [f"<title>{number}</title>" for number in range(5)]
    for text in (rss(*items), json.dumps({"items": [{"title": "x"}] * 5})):
        reading = read(text, FeedSettings(limit=3))
        assert len(reading.events) == 3
        assert [one.reason for one in reading.problems] == ["There are more than 3 items; the rest is not read."]


def test_settings_are_taken_from_texts_as_well_as_lists() -> None:
    assert FeedSettings.from_mapping({}) == FeedSettings()
    expected = FeedSettings(date_from=("title", "published"), date_pattern="x", limit=7)
    assert FeedSettings.from_mapping({"date_from": "title, published", "date_pattern": "x", "limit": "7"}) == expected
    assert FeedSettings.from_mapping({"date_from": ["title", "published"], "date_pattern": "x", "limit": 7}) == expected


@pytest.mark.parametrize(
    "mapping, words",
    [
        ({"date_from": "pubDate"}, ["date_from", "title, description, published, none"]),
        ({"date_from": [["title"]]}, ["date_from", "title, description, published, none"]),
        ({"date_pattern": "("}, ["date_pattern", "a regular expression"]),
        ({"limit": 0}, ["limit", "1 to 50000"]),
        ({"dates": 1}, ["dates", "date_from, date_pattern, limit"]),
    ],
    ids=["place", "list in a list", "pattern", "limit", "unknown"],
)
def test_a_setting_that_does_not_fit_is_named_with_what_is_allowed(mapping: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        FeedSettings.from_mapping(mapping)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("9月5日～26日の毎週土曜日 全4回 10:00～12:00 会場：東公民館", "9月5日～26日の毎週土曜日 全4回 10:00～12:00"),
        (
            "9月5日から11月28日までの毎月第1・第3土曜日（10月3日を除く）10時から",
            "9月5日から11月28日までの毎月第1・第3土曜日（10月3日を除く）10時",
        ),
        ("8月1日の夕方に集合", "8月1日"),
    ],
)
def test_the_rule_of_a_series_is_a_part_of_its_written_date(text: str, expected: str) -> None:
    assert written_date(text) == expected
