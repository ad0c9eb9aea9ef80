// Copies URLs and finds events near the reader. Everything else works without it.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const usual = [...button.childNodes];
    button.replaceChildren(button.dataset.done);
    setTimeout(() => button.replaceChildren(...usual), 2000);
  });
}

for (const button of document.querySelectorAll("button[data-near]")) {
  button.hidden = !navigator.geolocation || !isSecureContext;
  button.addEventListener("click", () => {
    button.disabled = true;
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      const url = new URL(button.dataset.near, location.href);
      url.searchParams.set("near", `${coords.latitude.toFixed(2)},${coords.longitude.toFixed(2)},10`);
      location.assign(url);
    }, () => {
      const note = document.createElement("p");
      note.className = "note warn";
      note.setAttribute("role", "alert");
      note.textContent = button.dataset.denied;
      button.parentElement.after(note);
    }, { timeout: 10_000, maximumAge: 300_000 });
  });
}
