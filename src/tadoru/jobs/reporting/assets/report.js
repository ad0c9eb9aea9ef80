// What a report's page can do beyond being read: light up the links of a dot, sort rows, and filter them. It is whole without.
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

  const language = document.documentElement.lang;
  const compare = new Intl.Collator(language, { numeric: true }).compare;
  const cells = (row) => row.cells ?? row.firstElementChild.children;
  const value = (row, column) => cells(row)[column].dataset.v ?? cells(row)[column].textContent;
  // `heads` are the headings of a list of rows, `body` is what the rows are in.
  const sortable = (heads, body) => heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const up = !head.classList.contains('up');
      for (const other of heads) {
        other.classList.remove('up', 'down');
        other.removeAttribute('aria-sort');
      }
      head.classList.add(up ? 'up' : 'down');
      if (head.tagName === 'TH') head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      body.append(...[...body.children].sort((a, b) => (up ? 1 : -1) * compare(value(a, column), value(b, column))));
    });
  });
  for (const table of document.querySelectorAll('table.sortable')) sortable([...table.tHead.rows[0].cells], table.tBodies[0]);
  for (const heads of document.querySelectorAll('.heads')) sortable([...heads.children], heads.nextElementSibling);

  for (const tools of document.querySelectorAll('.tools')) {
    const rows = [...tools.parentElement.querySelectorAll('[data-k]')];
    const words = tools.querySelector('input'), shown = tools.querySelector('output');
    const kinds = [...tools.querySelectorAll('select')];
    const texts = new Map();
    const text = (row) => texts.get(row) ?? texts.set(row, row.textContent.toLowerCase()).get(row);
    const filter = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const row of rows) {
        const own = row.dataset.k.split(' ');
        row.hidden = kinds.some((kind) => kind.value && !own.includes(kind.value)) || !wanted.every((word) => text(row).includes(word));
        if (!row.hidden) count += 1;
      }
      const numbers = { count: count.toLocaleString(language), all: rows.length.toLocaleString(language) };
      shown.value = tools.dataset.shown.replace(/\{(\w+)\}/g, (_, name) => numbers[name]);
    };
    words.addEventListener('input', filter);
    for (const kind of kinds) kind.addEventListener('change', filter);
    tools.hidden = false;
    filter();
  }

  // On paper nothing can be opened.
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((each) => { each.open = true; }));
})();
