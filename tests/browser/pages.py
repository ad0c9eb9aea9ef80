"""What the tests of rendering ask of an answer."""

from __future__ import annotations

from tadoru.model.web import Failure, FailureKind, Rendered


def rendered(answer: Rendered | Failure) -> Rendered:
    """The page, which must have been rendered."""
    assert isinstance(answer, Rendered), answer
    return answer


def shown(answer: Rendered | Failure) -> str:
    """Its HTML."""
    return rendered(answer).html.decode()


def kind(answer: Rendered | Failure) -> FailureKind:
    """Why there is none."""
    assert isinstance(answer, Failure), answer
    return answer.kind
