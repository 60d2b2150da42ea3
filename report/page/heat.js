// Heat maps: a canvas of one pixel a cell, stretched; the frame, groups and labels as SVG over it.
// Viridis (van der Walt and Smith 2015), the stops that gnuplot gets too.
const kViridis = ['440154', '472d7b', '3b528b', '2c728e', '21918c', '28ae80', '5ec962', 'addc30',
  'fde725'].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
const heat_colour = (share) => {
  const at = clamp(share, 0, 1) * (kViridis.length - 1), i = Math.min(kViridis.length - 2, Math.floor(at));
  return kViridis[i].map((from, k) => Math.round(from + (at - i) * (kViridis[i + 1][k] - from)));
};

// Cells as numbers, NaN where unknown; unpacked once.
const cells_of = (heat) => {
  if (heat.values) return heat.values;
  const count = heat.rows.length * heat.columns.length;
  heat.values = new Float64Array(count).fill(NaN);
  if (heat.packed) {
    const bytes = atob(heat.packed);
    for (let i = 0; i < count; ++i) {
      const code = bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1);
      if (code > 0) heat.values[i] = heat.least + (heat.most - heat.least) * (code - 1) / 65534;
    }
  } else {
    heat.cells.forEach((value, i) => { if (value !== null) heat.values[i] = value; });
  }
  return heat.values;
};

const heat_canvas = (heat) => {
  const rows = heat.rows.length, columns = heat.columns.length, cells = cells_of(heat);
  const canvas = make('canvas', {width: columns, height: rows, class: 'cells', 'aria-hidden': 'true'});
  const context = canvas.getContext('2d'), image = context.createImageData(columns, rows);
  for (let i = 0; i < cells.length; ++i) {
    if (Number.isNaN(cells[i])) continue;
    const [red, green, blue] = heat_colour((cells[i] - heat.low) / (heat.high - heat.low));
    image.data.set([red, green, blue, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
};

const colour_bar = (heat, left, top, width, id) => {
  const stops = kViridis.map((rgb, i) => draw('stop',
    {offset: i / (kViridis.length - 1), 'stop-color': `rgb(${rgb})`}));
  const middle = (heat.low + heat.high) / 2;
  return [draw('defs', {}, draw('linearGradient', {id}, stops)),
    draw('rect', {x: left, y: top, width, height: 12, fill: `url(#${id})`}),
    ...[[heat.low, left, 'start'], [middle, left + width / 2, 'middle'], [heat.high, left + width, 'end']]
      .map(([value, x, anchor]) =>
        draw('text', {x, y: top + 27, 'text-anchor': anchor}, String(Number(value.toPrecision(3))))),
    draw('text', {class: 'label', x: left + width / 2, y: top + 44, 'text-anchor': 'middle'},
      fitted(heat.scale, width + 80))];
};

const heat_labels = (names, from, pitch, least, place) =>
  thinned(names.map((text, i) => ({text, at: from + (i + 0.5) * pitch})), least).map(place);

const heat_view = (figure, hidden, box) => {
  const heat = figure.heat, rows = heat.rows.length, columns = heat.columns.length;
  const cells = cells_of(heat);
  const name_width = Math.min(0.28 * box.width, Math.max(...heat.rows.map(width_of)));
  const column_width = Math.max(...heat.columns.map(width_of));
  const left = name_width + 32, top = heat.groups.some((group) => group.name) ? 26 : 8;
  const width = box.width - left - 14;
  const slanted = column_width + 8 > width / columns && columns <= width / 16;
  const below = (slanted ? Math.min(110, column_width) + 10 : 20) + 24 + 62;
  let across = width, down = rows === columns ? width : clamp(rows * 26, 60, 620);
  if (rows === columns) across = down = Math.min(width, Math.max(200, box.most - top - below));
  const wide = across / columns, high = down / rows, right = left + across, bottom = top + down;
  const nodes = [];
  for (const group of heat.groups) {
    const at = {x: round(left + group.column * wide), y: round(top + group.row * high),
      width: round(group.columns * wide), height: round(group.rows * high)};
    nodes.push(draw('rect', {class: 'halo', ...at}), draw('rect', {class: 'outline', ...at}));
    if (group.name && width_of(group.name) < group.columns * wide) {
      nodes.push(draw('text', {x: round(at.x + at.width / 2), y: top - 8, 'text-anchor': 'middle'},
        group.name));
    }
  }
  if (rows <= 12 && columns <= 12 && wide > 34) {
    for (let i = 0; i < cells.length; ++i) {
      if (Number.isNaN(cells[i])) continue;
      const bright = (cells[i] - heat.low) / (heat.high - heat.low) > 0.55;
      nodes.push(draw('text', {class: bright ? 'on-bright' : 'on-dark', 'text-anchor': 'middle',
        x: round(left + (i % columns + 0.5) * wide),
        y: round(top + (Math.floor(i / columns) + 0.5) * high + 4.5)},
        String(Number(cells[i].toPrecision(3)))));
    }
  }
  nodes.push(draw('rect', {class: 'frame', x: left, y: top, width: across, height: down}));
  nodes.push(...heat_labels(heat.rows, top, high, () => 8, (one) => draw('text',
    {x: left - 6, y: round(one.at + 4.5), 'text-anchor': 'end'}, fitted(one.text, name_width))));
  nodes.push(...heat_labels(heat.columns, left, wide,
    slanted ? () => 8 : (one) => width_of(one.text) / 2 + 4, (one) => (slanted
      ? draw('text', {'text-anchor': 'end',
        transform: `translate(${round(one.at + 4)} ${bottom + 10}) rotate(-90)`}, fitted(one.text, 110))
      : draw('text', {x: round(one.at), y: bottom + 17, 'text-anchor': 'middle'}, one.text))));
  const labels = bottom + (slanted ? Math.min(110, column_width) + 10 : 20);
  nodes.push(draw('text', {class: 'label', x: round((left + right) / 2), y: labels + 16,
    'text-anchor': 'middle'}, figure.x.label));
  nodes.push(draw('text', {class: 'label', 'text-anchor': 'middle',
    transform: `translate(13 ${round((top + bottom) / 2)}) rotate(-90)`}, fitted(figure.y.label, down)));
  nodes.push(...colour_bar(heat, left + across * 0.15, labels + 28, across * 0.7, `bar-${box.id}`));
  const at = (row, column) => row * columns + column;
  return {
    nodes, canvas: heat_canvas(heat), canvas_box: {left, top, width: across, height: down},
    height: labels + 78, spots: {length: cells.length},
    nearest(x, y) {
      const column = Math.floor((x - left) / wide), row = Math.floor((y - top) / high);
      const inside = column >= 0 && row >= 0 && column < columns && row < rows;
      return inside ? at(row, column) : -1;
    },
    step(index, key) {
      if (index < 0 || key === 'Home') return 0;
      if (key === 'End') return cells.length - 1;
      const row = Math.floor(index / columns), column = index % columns;
      const [down_by, right_by] = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
        ArrowRight: [0, 1]}[key];
      return at(clamp(row + down_by, 0, rows - 1), clamp(column + right_by, 0, columns - 1));
    },
    words(index) {
      const row = Math.floor(index / columns), column = index % columns;
      const value = Number.isNaN(cells[index]) ? null : cells[index];
      const detail = heat.details ? heat.details[index] : null;
      const words = [`${figure.y.label}: ${heat.rows[row]}`, `${figure.x.label}: ${heat.columns[column]}`,
        value === null ? 'not measured' : `${heat.scale}: ${show(value)}`];
      if (value !== null && detail) {
        words.push(interval(detail[0], detail[1]), `${detail[2]} samples`);
      }
      return words;
    },
    ring(index) {
      return draw('rect', {class: 'ring', x: round(left + (index % columns) * wide),
        y: round(top + Math.floor(index / columns) * high), width: round(wide), height: round(high)});
    },
    place: (index) => ({x: left + (index % columns + 0.5) * wide,
      y: top + (Math.floor(index / columns) + 0.5) * high})};
};
