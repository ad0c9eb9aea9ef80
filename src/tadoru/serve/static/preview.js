// Shows what the settings of a source find while they are typed: after a pause, the form is sent to the address of its preview
// button, and the preview of the answer replaces the one on the page. Without this script the button does the same.
(() => {
  "use strict";
  const button = document.querySelector("button[data-preview]");
  const place = document.getElementById("preview");
  if (!button || !place) return;
  const form = button.form;
  const watched = ["settings", "type", "city", "timezone"];
  const pause = 800;
  let timer = 0, waiting = null, shown = "";

  const typed = () => watched.map((name) => form.elements[name].value).join("\0");

  async function show() {
    const now = typed();
    if (now === shown) return;
    waiting?.abort();
    const mine = (waiting = new AbortController());
    place.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(button.formAction, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        headers: { Accept: "text/html" },
        signal: mine.signal,
      });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.getElementById("preview");
      const problem = page.querySelector(".note.bad");
      if (found) {
        place.replaceChildren(...(problem && !found.contains(problem) ? [problem] : found.childNodes));
        shown = now;
      }
    } catch (error) {
      if (error.name !== "AbortError") shown = "";
    } finally {
      if (waiting === mine) place.removeAttribute("aria-busy");
    }
  }

  form.addEventListener("input", (event) => {
    if (!watched.includes(event.target.name)) return;
    clearTimeout(timer);
    timer = setTimeout(show, pause);
  });
  button.addEventListener("click", (event) => {
    event.preventDefault();
    shown = "";
    clearTimeout(timer);
    show();
  });
})();
