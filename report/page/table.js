// Tables that sort, filter and copy. A row is its texts, the keys it is sorted by, and its element.
const kMostShown = 400; // rows in the document; sorting, filtering and copying see all

class DataTable {
  constructor(host, table, columns, rows) {
    this.columns = columns;
    this.rows = rows;
    this.order = null;
    this.table = table;
    this.head = [...table.tHead.rows[0].cells];
    this.body = table.tBodies[0];
    this.search = make('input', {type: 'search', placeholder: 'filter rows', 'aria-label':
      `filter rows of ${table.caption.textContent}`});
    this.search.addEventListener('input', () => this.render());
    const copy = make('button', {type: 'button'}, 'Copy as TSV');
    copy.addEventListener('click', () => copy_text(this.tsv(), copy));
    this.count = make('span', {class: 'soft', role: 'status'});
    host.prepend(make('div', {class: 'tools'}, [this.search, copy, this.count]));
    this.head.forEach((cell, column) => {
      const button = make('button', {type: 'button', class: 'sort'}, cell.textContent);
      button.addEventListener('click', () => this.sort(column));
      cell.replaceChildren(button);
      cell.setAttribute('aria-sort', 'none');
    });
    this.render();
  }
  // Ascending, then descending; unknown values come last either way.
  sort(column) {
    const down = this.order && this.order.column === column && !this.order.down;
    this.order = {column, down: Boolean(down)};
    const compare = (a, b) => (typeof a === 'number' && typeof b === 'number'
      ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true}));
    this.rows.sort((a, b) => {
      const one = a.keys[column], other = b.keys[column];
      if (one === null || other === null) return (one === null) - (other === null);
      return down ? compare(other, one) : compare(one, other);
    });
    this.head.forEach((cell, i) =>
      cell.setAttribute('aria-sort', i !== column ? 'none' : down ? 'descending' : 'ascending'));
    this.render();
  }
  matching() {
    const wanted = this.search.value.trim().toLowerCase();
    return wanted === '' ? this.rows
      : this.rows.filter((row) => row.texts.some((text) => text.toLowerCase().includes(wanted)));
  }
  tsv() {
    const line = (cells) => cells.map((text) => text.replace(/[\t\r\n]+/g, ' ')).join('\t');
    return [this.columns, ...this.matching().map((row) => row.texts)].map(line).join('\n') + '\n';
  }
  element(row) {
    if (!row.element) {
      row.element = make('tr', {}, row.texts.map((text, i) =>
        make('td', {class: typeof row.keys[i] === 'number' ? 'n' : ''}, text)));
    }
    return row.element;
  }
  render() {
    const rows = this.matching();
    this.body.replaceChildren(...rows.slice(0, kMostShown).map((row) => this.element(row)));
    this.count.textContent = rows.length > kMostShown
      ? `first ${kMostShown} of ${rows.length} rows; copying takes all`
      : `${rows.length} of ${this.rows.length} rows`;
  }
}

// The clipboard, or where a page from disk may not reach it, a selection.
const copy_text = async (text, button) => {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch (refused) {
    const area = make('textarea', {class: 'away'});
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand('copy');
    area.remove();
  }
  button.textContent = done ? 'Copied' : 'Not allowed here';
  setTimeout(() => { button.textContent = 'Copy as TSV'; }, 1500);
};

const new_table = (caption, columns, rows) => {
  const head = make('tr', {}, columns.map((name) => make('th', {scope: 'col'}, name)));
  const table = make('table', {}, [make('caption', {}, caption), make('thead', {}, head), make('tbody')]);
  const host = make('div', {class: 'data'}, make('div', {class: 'scroll'}, table));
  host.table = new DataTable(host, table, columns, rows);
  return host;
};

// Tables that the page came with.
const tables = [...document.querySelectorAll('div.data')].map((host) => {
  const table = host.querySelector('table');
  const rows = [...table.tBodies[0].rows].map((element) => ({
    element, texts: [...element.cells].map((cell) => cell.textContent),
    keys: [...element.cells].map((cell) => {
      const key = cell.dataset.v ?? cell.textContent;
      if (key === '') return null;
      return cell.classList.contains('n') && Number.isFinite(Number(key)) ? Number(key) : key;
    })}));
  host.table = new DataTable(host, table,
    [...table.tHead.rows[0].cells].map((cell) => cell.textContent), rows);
  return host.table;
});
