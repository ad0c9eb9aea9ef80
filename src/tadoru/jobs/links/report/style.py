"""The style sheet and the script of the HTML page.

Both are written into the page and named in its content security policy by their hashes; nothing is loaded from anywhere. The page
is complete without the script, which only sorts and filters the table and lights up a dot's links.
"""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --paper: #f6f5f1; --card: #fffefb; --ink: #22303a; --soft: #5d6b73; --line: #e2e0d8; --ring: #dcdad2;
  --ok: #2f8577; --redirect: #b7821d; --broken: #c2412d; --blocked: #7d5ba6; --unread: #87919a; --way: #9fb0b0; --link: #6c8f96;
  --broken-wash: #fbe9e4; --blocked-wash: #f0e9f7; --redirect-wash: #f8efd8; --ok-wash: #e2f0ec; --unread-wash: #eceeee; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12181c; --card: #192126; --ink: #e6e9e6; --soft: #9aa8ad; --line: #2a353b; --ring: #34424a;
  --ok: #5dbba9; --redirect: #dfae4e; --broken: #f0806c; --blocked: #b698dd; --unread: #77848c; --way: #4d6064; --link: #6b95a0;
  --broken-wash: #3a211d; --blocked-wash: #2c2438; --redirect-wash: #352b16; --ok-wash: #16302b; --unread-wash: #242d32; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Hiragino Sans", "Noto Sans JP", "Liberation Sans", sans-serif; }
main, header, footer { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 56px; }
.over { margin: 0; color: var(--soft); font-size: 14px; letter-spacing: .04em; }
h1, h2 { font-family: "Iowan Old Style", "Palatino Linotype", Palatino, Charter, Georgia, "Hiragino Mincho ProN", serif;
  font-weight: 600; }
h1 { margin: 4px 0 6px; font-size: clamp(28px, 5vw, 44px); line-height: 1.15; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 4px; font-size: 23px; }
h3 { margin: 0 0 12px; font-size: 15px; font-weight: 600; }
.verdict { display: inline-block; margin: 14px 0 0; padding: 8px 16px; border-radius: 999px; font-weight: 600; }
.verdict.ok { background: var(--ok-wash); color: var(--ok); }
.verdict.broken { background: var(--broken-wash); color: var(--broken); }
.verdict.blocked { background: var(--blocked-wash); color: var(--blocked); }
.verdict.unread { background: var(--unread-wash); color: var(--soft); }
section { margin: 48px 0 0; }
.lead { margin: 0 0 18px; color: var(--soft); max-width: 68ch; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 14px; margin: 32px 0 0; padding: 0; }
.cards div, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 14px; }
.cards div { padding: 16px 18px 14px; }
.cards dt { color: var(--soft); font-size: 14px; }
.cards dd { margin: 0; font-size: 30px; line-height: 1.2; font-variant-numeric: tabular-nums; letter-spacing: -.02em; }
.cards .broken dd { color: var(--broken); } .cards .blocked dd { color: var(--blocked); }
.panel { padding: 20px 22px; }
.graph { display: block; width: 100%; height: auto; max-height: 860px; }
.ring { fill: none; stroke: var(--ring); stroke-dasharray: 2 5; }
.way { fill: none; stroke: var(--way); stroke-width: 1; } .many .way { stroke-width: .6; opacity: .8; }
.link { fill: none; stroke: var(--link); stroke-width: .7; opacity: .16; }
.link.bad { stroke: var(--broken); opacity: .6; }
.dot > * { stroke: var(--card); stroke-width: 1.5; }
.ok { fill: var(--ok); } .redirect { fill: var(--redirect); } .broken { fill: var(--broken); }
.blocked { fill: var(--blocked); } .unread { fill: var(--unread); }
.dot.more > circle { fill: var(--card); stroke: var(--soft); stroke-width: 1.6; stroke-dasharray: 2.4 1.8; }
.dot.more.broken > circle { stroke: var(--broken); }
.dot:hover > * { stroke: var(--ink); stroke-width: 2; }
.lit .link, .lit .way { opacity: .05; }
.lit .link.on, .lit .way.on { opacity: 1; stroke-width: 1.6; }
.name { fill: var(--ink); font-size: 11.5px; paint-order: stroke; stroke: var(--card); stroke-width: 3.5px;
  stroke-linejoin: round;
  pointer-events: none; }
.name.start { font-weight: 700; font-size: 13px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 20px; margin: 14px 0 0; padding: 0; list-style: none; color: var(--soft);
  font-size: 14px; }
.legend svg { width: 13px; height: 13px; margin-right: 7px; vertical-align: -1.5px; overflow: visible; }
.legend b { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
.legend .more { fill: none; stroke: var(--soft); stroke-width: 1.6; stroke-dasharray: 2.4 1.8; }
.note { margin: 12px 0 0; color: var(--soft); font-size: 14px; max-width: 80ch; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 18px; }
.bar { display: block; width: 100%; height: 26px; border-radius: 7px; overflow: hidden; }
.codes { margin: 18px 0 0; padding: 12px 0 0; border-top: 1px solid var(--line); color: var(--soft); font-size: 14px; }
.codes span { display: inline-block; margin-right: 18px; white-space: nowrap; }
.columns { display: block; width: 100%; height: auto; }
.column { fill: var(--ok); opacity: .85; }
.count, .axis { fill: var(--soft); font-size: 12.5px; text-anchor: middle; } .count { fill: var(--ink); }
.bad-link { padding: 16px 0; border-top: 1px solid var(--line); }
.bad-link:first-child { padding-top: 0; border-top: 0; } .bad-link:last-child { padding-bottom: 0; }
.bad-link > p { margin: 0; }
.where { margin: 8px 0 0; padding: 0 0 0 16px; border-left: 2px solid var(--line); list-style: none; color: var(--soft);
  font-size: 15px; }
.where li { padding: 2px 0; overflow-wrap: anywhere; } .where q { color: var(--ink); }
summary { cursor: pointer; color: var(--soft); font-size: 15px; margin-top: 6px; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: 3px; overflow-wrap: anywhere; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--ok); outline-offset: 2px; }
.tag { display: inline-block; min-width: 44px; margin-right: 8px; padding: 1px 8px; border-radius: 6px; text-align: center;
  font-size: 13px;
  font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
.tag.ok { background: var(--ok-wash); color: var(--ok); } .tag.redirect { background: var(--redirect-wash);
  color: var(--redirect); }
.tag.broken { background: var(--broken-wash); color: var(--broken); }
  .tag.blocked { background: var(--blocked-wash); color: var(--blocked); }
.tag.unread { background: var(--unread-wash); color: var(--soft); }
.error { color: var(--soft); font-size: 15px; }
.tools { display: flex; flex-wrap: wrap; gap: 10px; align-items: center; margin: 0 0 14px; }
.tools[hidden] { display: none; }
.tools input, .tools select { padding: 8px 12px; border: 1px solid var(--line); border-radius: 9px; background: var(--card);
  color: inherit; font: inherit; }
.tools input { flex: 1 1 220px; min-width: 0; }
.tools output { color: var(--soft); font-size: 14px; }
table { width: 100%; border-collapse: collapse; font-size: 15px; }
th:first-child { width: 96px; }
th { padding: 0 10px 8px; color: var(--soft); font-size: 14px; font-weight: 500; text-align: left; white-space: nowrap; }
th button { padding: 0; border: 0; background: none; color: inherit; font: inherit; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " \\2191"; } th[aria-sort=descending] button::after { content: " \\2193"; }
td { padding: 9px 10px; border-top: 1px solid var(--line); vertical-align: top; }
td:first-child, th:first-child { padding-left: 0; } td:last-child, th:last-child { padding-right: 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } th.number { text-align: right; }
td small { display: block; color: var(--soft); font-size: 14px; overflow-wrap: anywhere; }
td.from { color: var(--soft); max-width: 280px; overflow-wrap: anywhere; }
.list { margin: 0; padding: 0; list-style: none; } .list li { padding: 5px 0; overflow-wrap: anywhere; }
footer { margin-top: 56px; padding-bottom: 48px; color: var(--soft); font-size: 14px; }
@media (max-width: 640px) { main, header, footer { padding-left: 16px; padding-right: 16px; } header { padding-top: 32px; }
  .cards { grid-template-columns: 1fr 1fr; gap: 10px; } .cards dd { font-size: 25px; }
  .panel { padding: 16px; border-radius: 12px; }
  .name { display: none; } .name.start { display: inline; font-size: 26px; }
  section { margin-top: 36px; } .from, td.number, th.number { display: none; } .verdict { border-radius: 14px; } }
@media print { body { background: none; } .tools { display: none; } .panel, .cards div { break-inside: avoid; } }
"""

SCRIPT = """
(() => {
  const graph = document.querySelector('.graph');
  if (graph) {
    const lines = [...graph.querySelectorAll('[data-a]')];
    const light = (number) => {
      graph.classList.toggle('lit', number !== undefined);
      for (const line of lines) line.classList.toggle('on', line.dataset.a === number || line.dataset.b === number);
    };
    graph.addEventListener('pointerover', (event) => light(event.target.closest('[data-n]')?.dataset.n));
    graph.addEventListener('pointerleave', () => light(undefined));
  }
  const table = document.querySelector('#urls');
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const tools = document.querySelector('.tools');
  const [words, kind, shown] = ['input', 'select', 'output'].map((name) => tools.querySelector(name));
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = (kind.value && !row.dataset.k.split(' ').includes(kind.value)) || !wanted.every((word) => text.includes(word));
      if (!row.hidden) count += 1;
    }
    shown.value = `${count.toLocaleString('en')} of ${rows.length.toLocaleString('en')}`;
  };
  const value = (row, column) => row.cells[column].dataset.v ?? row.cells[column].textContent;
  const compare = new Intl.Collator('en', { numeric: true }).compare;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      rows.sort((a, b) => (up ? 1 : -1) * compare(value(a, column), value(b, column)));
      body.append(...rows);
    });
  });
  words.addEventListener('input', filter);
  kind.addEventListener('change', filter);
  tools.hidden = false;
  filter();
})();
"""
