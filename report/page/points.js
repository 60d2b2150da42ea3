// The points of a figure as rows of a table, every digit.
const row_of = (values) => ({
  texts: values.map((value) => (typeof value === 'string' ? value : exact(value))),
  keys: values.map((value) => (value === '' || value === undefined ? null : value))});

const points_of = (figure) => {
  if (figure.heat) {
    const {rows, columns, details, scale} = figure.heat, cells = cells_of(figure.heat);
    const names = [figure.y.label, figure.x.label, scale].concat(
      details ? ['low', 'high', 'samples'] : []);
    const list = [];
    cells.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      const pair = [rows[Math.floor(i / columns.length)], columns[i % columns.length], value];
      list.push(row_of(details ? [...pair, ...(details[i] || [null, null, null])] : pair));
    });
    return [names, list];
  }
  if (figure.boxes) {
    const view = floor_view(figure, new Set(), {width: 640, most: 400});
    return [['core', 'groups, coarsest first'], view.spots.map((core, i) => {
      const [name, ...groups] = view.words(i);
      return row_of([name, groups.map((text) => text.slice(3)).join(', ')]);
    })];
  }
  return [['series', 'point', figure.x.label, figure.y.label, 'low', 'high'],
    figure.series.flatMap((series) => series.points.map(([x, y, low, high, label]) =>
      row_of([series.name, label, x, y, low, high])))];
};

// Built when it is first opened: most readers open few.
const points_table = (plot) => {
  const details = make('details', {class: 'points'}, make('summary', {}, 'Points of this picture'));
  details.build = () => {
    if (details.host) details.host.remove();
    details.host = new_table(`Points: ${plot.figure.title}`, ...points_of(plot.figure));
    details.append(details.host);
    details.shown = plot.id;
    return details.host.table;
  };
  details.addEventListener('toggle', () => {
    if (details.open && details.shown !== plot.id) details.build();
  });
  return details;
};
