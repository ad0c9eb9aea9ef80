// Updates a page while it is open. The service sends messages over a WebSocket; elements name the subjects that they show:
//
// data-live="crawl/12"    the subjects of an element, separated by spaces; crawl/* for all crawls
// data-field="pages"      inside: shows this field of the newest message
// data-field-value, -max  the same for <progress>
// data-live-notices       inside: a list to which each notice is added
// data-live-refresh       the element is replaced by the server's version after a message (by its id, else by its order)
// data-live-reload        the page is reloaded once when the subject has ended
// data-live-every="5"     elements are refreshed every 5 seconds, where there are no messages
//
// Pages work without this script. It never inserts markup from messages: texts are set as texts.
(() => {
  "use strict";
  const script = document.currentScript;
  const liveElements = () => [...document.querySelectorAll("[data-live]")];
  const every = Number(document.querySelector("[data-live-every]")?.dataset.liveEvery || 0);
  if (window.tadoruLive || !("WebSocket" in window) || (!liveElements().length && !every)) return;
  window.tadoruLive = true;

  const texts = JSON.parse(script.dataset.words || "{}");
  const numberFormat = new Intl.NumberFormat(document.documentElement.lang || "en", { maximumFractionDigits: 1 });
  const busy = ["queued", "running"];
  let after = script.dataset.after === undefined ? null : Number(script.dataset.after);
  let socket = null, tries = 0, timer = 0, refreshing = 0, isOver = false, isReloading = false, lastRefresh = -1e9;

  const region = document.createElement("p");
  region.className = "unseen";
  region.setAttribute("role", "status");
  region.setAttribute("aria-live", "polite");
  document.body.append(region);
  const announce = (key, values) => {
    if (texts[key]) region.textContent = texts[key].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? "");
  };

  const subjects = () => {
    const found = new Set(liveElements().flatMap((place) => place.dataset.live.split(/\s+/).filter(Boolean)));
    return found.size > 100 ? ["crawl/*", "source/*"] : [...found];
  };
  const about = (subject) => {
    const every = subject.split("/")[0] + "/*";
    return liveElements().filter((place) => place.dataset.live.split(/\s+/).some((one) => one === subject || one === every));
  };

  function connect() {
    clearTimeout(timer);
    if (socket || isOver || isReloading || document.hidden || tries > 12 || !liveElements().length) return;
    try {
      socket = new WebSocket(location.origin.replace(/^http/, "ws") + "/ws");
    } catch {
      return;
    }
    const mine = socket;
    mine.onmessage = (event) => { if (mine === socket) receive(event.data); };
    mine.onclose = (event) => {
      if (mine !== socket) return;
      socket = null;
      isOver = [4401, 1008].includes(event.code);
      if (isOver) announce("over", {});
      else timer = setTimeout(connect, Math.min(60000, 500 * 2 ** tries++) * (0.5 + Math.random()));
    };
  }

  function disconnect() {
    clearTimeout(timer);
    const old = socket;
    socket = null;
    if (old) old.close(1000);
  }

  function receive(text) {
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (message.kind === "hello") {
      tries = 0;
      after ??= message.last_id;
      socket.send(JSON.stringify({ kind: "subscribe", subjects: subjects(), after }));
    } else if (message.kind === "gap") {
      after = message.last_id;
      reload();
    } else if (message.body) {
      after = message.id;
      about(message.subject).forEach((place) => show(place, message));
      if (message.kind !== "crawl.progress" && message.kind !== "crawl.notice") announceState(message);
    }
  }

  function show(place, { kind, body, at }) {
    for (const one of place.querySelectorAll("[data-field]")) {
      const value = body[one.dataset.field] ?? body.counts?.[one.dataset.field];
      if (value === undefined) continue;
      one.textContent = typeof value === "number" ? numberFormat.format(value) : texts[`${one.dataset.field}.${value}`] ?? value;
    }
    for (const bar of place.querySelectorAll("[data-field-value]")) {
      const { fieldValue, fieldMax } = bar.dataset;
      if (fieldMax in body) bar.max = Math.max(1, body[fieldMax], body[fieldValue] ?? 0);
      if (fieldValue in body) bar.value = body[fieldValue];
    }
    const list = kind === "crawl.notice" && (place.matches("[data-live-notices]") ? place : place.querySelector("[data-live-notices]"));
    if (list) {
      const line = document.createElement("li");
      line.className = "small";
      line.textContent = `${new Date(at).toLocaleTimeString(document.documentElement.lang)} ${body.text}`;
      list.append(line);
      while (list.children.length > 50) list.firstElementChild.remove();
    }
    const hasEnded = kind === "run.ended" || kind === "crawl.removed" || (kind === "crawl.state" && !busy.includes(body.state));
    if (hasEnded) document.querySelector("[data-flash]")?.remove(); // What was started is over.
    if (hasEnded && "liveReload" in place.dataset) reload();
    else if (kind !== "crawl.progress" && kind !== "crawl.notice" && ("liveRefresh" in place.dataset || "liveReload" in place.dataset)) {
      clearTimeout(refreshing);
      refreshing = setTimeout(refresh, Math.max(100 + 200 * Math.random(), lastRefresh + 2000 - performance.now()));
    }
  }

  function announceState({ kind, subject, body }) {
    const name = body.name || document.querySelector(`[data-live="${subject}"][data-live-name]`)?.dataset.liveName || "";
    if (name) announce(`${kind}.${body.state ?? body.status}`, { ...body, name });
  }

  function reload() {
    if (isReloading) return;
    isReloading = true;
    disconnect();
    location.reload();
  }

  async function refresh() {
    lastRefresh = performance.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (!answer.ok || answer.redirected) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const selector = "[data-live-refresh], [data-live-reload]";
      const found = [...fresh.querySelectorAll(selector)];
      document.querySelectorAll(selector).forEach((old, index) => {
        const made = old.id ? fresh.getElementById(old.id) : found[index];
        if (!made || (!old.id && made.dataset.live !== old.dataset.live) || made.outerHTML === old.outerHTML) return;
        const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
        old.replaceWith(document.importNode(made, true));
        if (focused) document.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
      });
    } catch { /* The next message triggers another attempt. */ }
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : ((tries = 0), connect())));
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", connect);
  if (every) setInterval(() => { if (!document.hidden && !isReloading) refresh(); }, every * 1000);
  connect();
})();
