"""Questions for a person, answered over REST."""

from __future__ import annotations

from tadoru.model.event import ReviewReason
from tadoru.store.calendar.review_items import ReviewRequest
from tests.support.serving import ServiceHarness

REVIEWS = "/api/v1/admin/reviews"


def asked(harness: ServiceHarness, *candidates: int) -> int:
    """A question whether events are one."""
    detail = {"score": 0.7, "reasons": ["The titles are alike."]}
    harness.store.reviews.request(ReviewRequest(f"pair:{candidates}", candidates, ReviewReason.DEDUPE_CONFLICT, None, detail))
    return harness.store.reviews.list(reason=ReviewReason.DEDUPE_CONFLICT)[-1].id


def lacking(harness: ServiceHarness) -> int:
    """The question about the row without a date."""
    number: int = harness.viewer.get(f"{REVIEWS}?reason=missing_required").json()["items"][0]["id"]
    return number


def test_questions_are_listed_the_oldest_first_and_shown_with_what_they_are_about(harness: ServiceHarness) -> None:
    pair = asked(harness, 4, 5)
    found = harness.viewer.get(f"{REVIEWS}?limit=1").json()
    assert [one["id"] for one in found["items"]] == [lacking(harness)]
    assert [one["id"] for one in harness.viewer.get(found["next"]).json()["items"]] == [pair]
    whole = harness.viewer.get(f"{REVIEWS}/{pair}").json()
    assert [one["id"] for one in whole["events"]] == [4, 5]
    assert harness.viewer.get(f"{REVIEWS}?state=answered").json()["items"] == []
    assert harness.anybody.get(REVIEWS).status_code == 401
    assert harness.viewer.post(f"{REVIEWS}/{pair}/merge", json={}).status_code == 403


def test_two_events_are_merged_and_parted_again(harness: ServiceHarness) -> None:
    pair = asked(harness, 4, 5)
    assert harness.editor.post(f"{REVIEWS}/{pair}/merge", json={"keep": 9}).status_code == 409
    assert harness.editor.post(f"{REVIEWS}/{pair}/merge", json={"keep": 5}).json() == {"event_ids": [5]}
    again = harness.editor.post(f"{REVIEWS}/{pair}/merge", json={})
    assert (again.status_code, again.json()["detail"]) == (409, f"Review {pair} is already resolved (merge).")
    merge = harness.viewer.get("/api/v1/events/5/story").json()["merges"][0]
    assert (merge["kept_id"], merge["absorbed_id"], merge["by"]) == (5, 4, "key:editor")
    undo = f"/api/v1/admin/merges/{merge['id']}/undo"
    assert sorted(harness.editor.post(undo).json()["event_ids"]) == [4, 5]
    assert harness.editor.post(undo).status_code == 409
    assert harness.editor.post("/api/v1/admin/merges/99/undo").status_code == 404
    assert harness.anybody.get("/api/v1/events/4").status_code == 200


def test_two_events_are_kept_apart(harness: ServiceHarness) -> None:
    pair = asked(harness, 4, 5)
    assert harness.editor.post(f"{REVIEWS}/{pair}/keep-apart").json() == {"event_ids": [4, 5]}
    assert harness.viewer.get(f"{REVIEWS}/{pair}").json()["resolution"] == "keep-apart"


def test_a_row_that_lacks_its_date_is_fixed(harness: ServiceHarness) -> None:
    review = lacking(harness)
    assert harness.editor.post(f"{REVIEWS}/{review}/fix", json={"price": "無料"}).status_code == 422
    answer = harness.editor.post(f"{REVIEWS}/{review}/fix", json={"starts_at": "2050-08-20 10:00"}).json()
    assert answer["is_event"] is True
    assert harness.anybody.get(f"/api/v1/events/{answer['event_id']}").json()["starts_at"] == "2050-08-20T10:00:00+09:00"


def test_a_row_that_still_lacks_something_stays_a_question(harness: ServiceHarness) -> None:
    review = lacking(harness)
    assert harness.editor.post(f"{REVIEWS}/{review}/retry").json()["is_event"] is False
    assert harness.viewer.get(f"{REVIEWS}/{review}").json()["resolved_at"] is None


def test_a_question_is_dismissed(harness: ServiceHarness) -> None:
    review = lacking(harness)
    assert harness.editor.post(f"{REVIEWS}/{review}/dismiss").status_code == 204
    assert harness.editor.post(f"{REVIEWS}/{review}/dismiss").status_code == 409
    assert harness.viewer.get(REVIEWS).json()["items"] == []


def test_an_answer_that_does_not_fit_the_question_is_refused(harness: ServiceHarness) -> None:
    pair = asked(harness, 4, 5)
    for act, body in (("fix", {"starts_at": "2050-08-20"}), ("retry", None)):
        refused = harness.editor.post(f"{REVIEWS}/{pair}/{act}", json=body)
        assert (refused.status_code, "merge or keep-apart" in refused.json()["detail"]) == (409, True)
    for act in ("merge", "keep-apart", "fix", "retry", "dismiss"):
        assert harness.editor.post(f"{REVIEWS}/99/{act}", json={}).status_code == 404
