// index.html#self-test: what the page promises, tried on its own data; lines "ok ..." or "FAIL ..."
// in <pre id="self-test">, the last one "done <count>". docs/report.md says what is tried.
const self_test = async () => {
  const lines = [];
  const check = (good, text) => lines.push(`${good ? 'ok' : 'FAIL'} ${text}`);
  const marks_in = (group, series) => {
    const path = group && group.querySelector(series.dots ? '.dots' : '.line');
    return path ? path.getAttribute('d').split(series.dots ? /M/ : /[ML]/).length - 1 : 0;
  };
  const pointer = (plot, type, index) => {
    const at = plot.view.place(index), box = plot.svg.getBoundingClientRect();
    plot.host.dispatchEvent(new PointerEvent(type, {bubbles: true,
      clientX: box.left + at.x * plot.unit, clientY: box.top + at.y * plot.unit}));
  };

  const drawn = (plot) => {
    const figure = plot.figure;
    if (figure.series) {
      const wrong = dressed(figure).filter((series) => series.points.length !==
        marks_in(plot.svg.querySelector(`[data-series="${series.index}"]`), series));
      return check(wrong.length === 0, `${plot.id}: a mark for each point`);
    }
    if (figure.boxes) {
      return check(plot.svg.querySelectorAll('.core').length ===
        figure.boxes.filter((box) => box[5]).length, `${plot.id}: a box for each core`);
    }
    const {width, height} = plot.view.canvas;
    const image = plot.view.canvas.getContext('2d').getImageData(0, 0, width, height).data;
    let coloured = 0;
    for (let i = 3; i < image.length; i += 4) coloured += image[i] > 0;
    const known = cells_of(figure.heat).filter((value) => !Number.isNaN(value)).length;
    check(coloured === known && width * height === cells_of(figure.heat).length,
      `${plot.id}: a coloured cell for each value`);
  };

  // The expected words come from the data, not from the view that is tried.
  const expected = (plot, index) => {
    const figure = plot.figure;
    if (figure.boxes) return [figure.boxes.filter((box) => box[5] && box[4] >= 0)[index][6]];
    if (figure.heat) {
      const columns = figure.heat.columns.length, value = cells_of(figure.heat)[index];
      return [figure.heat.rows[Math.floor(index / columns)], figure.heat.columns[index % columns],
        Number.isNaN(value) ? 'not measured' : show(value)];
    }
    const points = figure.series.flatMap((series) => series.points);
    return [show(points[index][1]), interval(points[index][2], points[index][3])];
  };
  const hover = (plot) => {
    // Somewhere in the middle: a click has whole pixels, which at an edge may lie outside.
    const count = plot.view.spots.length;
    const index = Math.min(count - 1, Math.floor(count / 3) + Math.floor(Math.sqrt(count) / 2));
    if (count === 0) return check(true, `${plot.id}: hover, nothing to show`);
    pointer(plot, 'pointermove', index);
    const text = plot.tip.textContent;
    // Two points may share a place; then the first of them speaks.
    const same = plot.figure.series ? plot.index : index;
    const at = plot.view.place(index), found = plot.view.place(same);
    check(!plot.tip.hidden && Math.hypot(at.x - found.x, at.y - found.y) < 0.1 &&
      expected(plot, same).every((word) => text.includes(word)), `${plot.id}: hover shows the nearest`);
    pointer(plot, 'click', index);
    check(expected(plot, plot.index).every((word) => plot.chosen.textContent.includes(word)),
      `${plot.id}: a click keeps the ${plot.figure.heat ? 'pair' : 'point'}`);
    plot.leave();
    plot.choose();
  };
  const keys = (plot) => {
    const press = (key) => plot.host.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    press('Home');
    const first = plot.index;
    press('ArrowRight');
    const moved = plot.view.spots.length < 2 || plot.index !== first || plot.figure.heat?.columns.length === 1;
    const spoken = plot.view.spots.length === 0 || plot.chosen.textContent !== '';
    press('Escape');
    check(moved && spoken && plot.index === -1, `${plot.id}: keys step through the points`);
  };
  const legend = (plot) => {
    const button = plot.legend.querySelector('button');
    if (!button) return;
    const count = () => plot.svg.querySelectorAll('.series').length, before = count();
    button.click();
    const without = count();
    button.click();
    check(without === before - 1 && count() === before, `${plot.id}: the legend hides a series`);
  };

  const table = (name, one) => {
    const numbers = one.rows.length > 0 ? one.rows[0].keys.findIndex((key) => typeof key === 'number') : 0;
    const column = Math.max(0, numbers);
    const original = [...one.rows];
    const keys_shown = () => one.rows.map((row) => row.keys[column]).filter((key) => key !== null);
    const ordered = (sign) => keys_shown().every((key, i, all) => i === 0 ||
      (typeof key === 'number' && typeof all[i - 1] === 'number' ? sign * (key - all[i - 1]) >= 0
        : sign * String(key).localeCompare(String(all[i - 1]), 'en', {numeric: true}) >= 0));
    const button = one.head[column].querySelector('button');
    button.click();
    const up = ordered(1) && one.head[column].getAttribute('aria-sort') === 'ascending';
    button.click();
    const down = ordered(-1) && one.head[column].getAttribute('aria-sort') === 'descending';
    const top = one.rows.length === 0 || one.body.rows[0].textContent === one.rows[0].texts.join('');
    check(up && down && top, `${name}: sorts`);
    one.rows = original;
    one.head[column].setAttribute('aria-sort', 'none');
    const wanted = one.rows.length > 0 ? one.rows[one.rows.length - 1].texts.find((text) => text.trim()) : '';
    one.search.value = wanted.slice(0, 12).trim().toUpperCase();
    one.search.dispatchEvent(new Event('input'));
    const found = one.matching();
    const fits = (row) => row.texts.some((text) => text.toUpperCase().includes(one.search.value));
    check(found.length === original.filter(fits).length &&
      one.body.rows.length === Math.min(kMostShown, found.length), `${name}: filters`);
    const copied = one.tsv().split('\n');
    check(copied.length === found.length + 2 && copied[0].split('\t').length === one.columns.length &&
      (found.length === 0 || copied[1] === found[0].texts.map((t) => t.replace(/[\t\r\n]+/g, ' ')).join('\t')),
      `${name}: copies what is shown`);
    one.search.value = '';
    one.render();
  };

  for (const plot of plots) {
    const variants = plot.share ? [false, true] : [false];
    for (const share of variants) {
      if (share) plot.share.click();
      drawn(plot);
      hover(plot);
      keys(plot);
      legend(plot);
      table(`points of ${plot.id}`, plot.points.build());
      plot.points.host.remove();
      plot.points.shown = null;
    }
    if (plot.share) plot.share.click();
  }
  tables.forEach((one, i) => table(`table ${i + 1}`, one));
  const before = document.documentElement.dataset.theme;
  theme.click();
  const changed = document.documentElement.dataset.theme;
  theme.click();
  check(before !== changed && document.documentElement.dataset.theme === before, 'the theme switches');
  check(getComputedStyle(document.body).marginTop === '0px', 'the style applies');
  check(document.documentElement.scrollWidth <= document.documentElement.clientWidth,
    'the page does not scroll sideways');
  await new Promise((resolve) => { setTimeout(resolve, 50); }); // violations are told later
  check(performance.getEntriesByType('resource').length === 0, 'nothing is requested');
  check(complaints.length === 0, `no error and no violation ${complaints.join('; ')}`);
  lines.push(`done ${lines.length}`);
  document.body.append(make('pre', {id: 'self-test'}, lines.join('\n')));
};
if (location.hash === '#self-test' || location.search === '?self-test') {
  addEventListener('load', () => self_test().catch((problem) =>
    document.body.append(make('pre', {id: 'self-test'}, `FAIL ${problem}\n${problem.stack}`))));
}
