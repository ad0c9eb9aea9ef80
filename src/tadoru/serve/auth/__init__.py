"""Who calls, and whether they may.

For a route: `caller: Annotated[Caller, Depends(caller)]` (`who`) says who it is; that they may call it was checked before, for
the whole application. A page gets the token of its forms from `csrf_token(request)` (`cookies`); a form sends it as the field
`csrf`, a script as the header X-CSRF-Token. The guard has read a form by then: `request.state.form` has its fields. To tell the
audit log more than the path of a change, call `note(request, subject, **detail)` (`audit`).

For the pages around signing in (`sign_in`), all of them plain functions for a thread:
`sign_in(request, name, password) -> SignedIn | None`, `open_link(request, token) -> User | None` (does the one-time link hold?),
`use_link(request, token, password) -> SignedIn | None`, `sign_out(request)`; `start(response, request, signed_in)` and
`forget(response, request)` (`cookies`) put the session into the browser and take it out; `safe_next(target)` is where to go
afterwards. `sign_in` and `use_link` raise `Refused` with 429 when somebody tries too often. The address of a one-time link is
`/welcome?token=…`; who must sign in first is led to `/sign-in?next=…`. Changes of users and keys take `by(request)` (`audit`).
"""
