// Every figure of the page: plot, legend, points and, for several runs, the switch to shares.
const legend_of = (plot) => {
  const legend = make('div', {class: 'legend', role: 'group', 'aria-label': 'series; press to hide'});
  for (const series of plot.figure.series ? dressed(plot.figure) : []) {
    if (series.name === '' || series.points.length === 0) continue;
    const sample = draw('svg', {viewBox: '0 0 30 14', class: `sample ${series.colour}`,
      'aria-hidden': 'true'});
    if (series.line) {
      sample.append(draw('path', {class: series.dashed ? 'line dashed' : 'line', d: 'M2 7H28'}));
    }
    if (series.dots) sample.append(draw('path', {class: 'dots', d: kShapes[series.shape](15, 7, 4)}));
    const button = make('button', {type: 'button', 'aria-pressed': 'true'}, [sample, series.name]);
    button.addEventListener('click', () => {
      plot.toggle(series.index);
      button.setAttribute('aria-pressed', String(!plot.hidden.has(series.index)));
    });
    legend.append(button);
  }
  return legend;
};

const share_switch = (plot, share, caption, legend, points) => {
  const whole = plot.id, own = caption.textContent;
  const other = document.getElementById(share);
  const words = other.querySelector('figcaption').textContent;
  other.hidden = true;
  const button = make('button', {type: 'button', class: 'share', 'aria-pressed': 'false'},
    'normalise to each one’s roof');
  button.addEventListener('click', () => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(on));
    plot.display(on ? share : whole);
    caption.textContent = on ? words : own;
    legend.replaceChildren(...legend_of(plot).children);
    if (points.open) points.build();
  });
  return button;
};

const began = performance.now();
const shares = new Map(Object.entries(figures).filter(([, figure]) => figure.share_of)
  .map(([id, figure]) => [figure.share_of, id]));
const plots = [];
for (const host of document.querySelectorAll('.plot')) {
  const id = host.dataset.figure;
  if (figures[id].share_of && figures[figures[id].share_of]) continue; // behind a switch
  const frame = host.closest('figure');
  const plot = new Plot(host, id);
  const legend = legend_of(plot), points = points_table(plot);
  const caption = frame.querySelector('figcaption');
  if (shares.has(id)) {
    plot.share = share_switch(plot, shares.get(id), caption, legend, points);
    host.before(plot.share);
  }
  if (legend.children.length > 0) plot.chosen.after(legend);
  frame.append(points);
  plot.legend = legend;
  plot.points = points;
  plots.push(plot);
}
const drawn_ms = performance.now() - began;
document.documentElement.dataset.drawnMs = drawn_ms.toFixed(0);
