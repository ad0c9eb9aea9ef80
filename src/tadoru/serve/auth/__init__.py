"""Authentication and authorisation.

- `principal`: who makes a request (`principal: Annotated[Principal, Depends(current_principal)]`), and its audit log entry
  (`note_change(request, subject, **detail)` adds detail; `actor_of(request)` is the actor for the store).
- `authentication`: identifies the principal by API key or session; signing in and out, one-time links, session cookies, CSRF
  tokens. A form sends `csrf_token(request)` as the field `csrf`, a script as the header X-CSRF-Token.
- `guard`: enforces the table of `serve.roles` before every route. It has read a form by then: `request.state.form` has its
  fields.
- `rate_limits`, and `http_security`: allowed Host headers and the security headers of responses.

The functions of signing in run in a thread. `sign_in` and `use_link` raise `HttpProblem` with 429 after too many attempts. A
one-time link is `/welcome?token=…`; anonymous visitors of a protected page are redirected to `/sign-in?next=…`.
"""
