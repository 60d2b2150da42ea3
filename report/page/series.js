// Points, lines, intervals, marks and bands of a figure: one path a series and kind.
const kShapes = [
  (x, y, r) => `M${round(x - r)} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  (x, y, r) => `M${round(x - 0.9 * r)} ${round(y - 0.9 * r)}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
  (x, y, r) => `M${x} ${round(y - 1.2 * r)}l${1.1 * r} ${2 * r}h${-2.2 * r}z`,
  (x, y, r) => `M${x} ${round(y + 1.2 * r)}l${1.1 * r} ${-2 * r}h${-2.2 * r}z`,
  (x, y, r) => `M${x} ${round(y - 1.25 * r)}l${r} ${1.25 * r}l${-r} ${1.25 * r}l${-r} ${-1.25 * r}z`,
  (x, y, r) => `M${x} ${round(y - 1.1 * r)}l${1.05 * r} ${0.8 * r}l${-0.4 * r} ${1.2 * r}` +
    `h${-1.3 * r}l${-0.4 * r} ${-1.2 * r}z`];

// Colours in the order of the series, as gnuplot's; those with emphasis have one of their own.
const dressed = (figure) => {
  let next = 0;
  return figure.series.map((series, index) => {
    const shape = next % kShapes.length;
    const colour = series.emphasis ? 'ce' : `c${shape}`;
    if (!series.emphasis && series.points.length > 0) ++next;
    return {...series, index, colour, shape};
  });
};

const draw_one = (series, x, y) => {
  const group = draw('g', {class: `series ${series.colour}`, 'data-series': series.index});
  const count = series.points.length;
  const radius = count > 200 ? 2.4 : count > 60 ? 3.2 : 4.2;
  let line = '', dots = '', bars = '';
  series.points.forEach(([px, py, low, high], i) => {
    const at = round(x(px)), up = round(y(py));
    if (series.line) line += `${i === 0 ? 'M' : 'L'}${at} ${up}`;
    if (series.dots) dots += kShapes[series.shape](at, up, radius);
    if (series.bars && low !== null && high !== null) {
      bars += `M${at - 3} ${round(y(low))}h6m-3 0V${round(y(high))}m-3 0h6`;
    }
  });
  if (bars) group.append(draw('path', {class: 'bars', d: bars}));
  if (line) group.append(draw('path', {class: series.dashed ? 'line dashed' : 'line', d: line}));
  if (dots) {
    group.append(draw('path', {class: !series.line && count > 200 ? 'dots many' : 'dots', d: dots}));
  }
  return group;
};

const draw_marks = (figure, box, x, y) => {
  const back = draw('g', {class: 'bands'}), front = draw('g', {class: 'marks'});
  const inside = (value, axis) => value !== null && value >= axis.low && value <= axis.high;
  let lane = 0;
  for (const mark of figure.marks) {
    if (!inside(mark.at, mark.vertical ? figure.x : figure.y)) continue;
    const at = round((mark.vertical ? x : y)(mark.at));
    if (mark.to !== null) {
      const to = (mark.vertical ? x : y)(clamp(mark.to, mark.vertical ? figure.x.low : figure.y.low,
        mark.vertical ? figure.x.high : figure.y.high));
      back.append(draw('rect', mark.vertical
        ? {x: Math.min(at, to), y: box.top, width: Math.max(1, Math.abs(to - at)),
          height: box.bottom - box.top}
        : {x: box.left, y: Math.min(at, to), width: box.right - box.left,
          height: Math.max(1, Math.abs(to - at))}));
    }
    const spans = !mark.vertical && inside(mark.from, figure.x) && inside(mark.until, figure.x);
    const from = spans ? round(x(mark.from)) : box.left, until = spans ? round(x(mark.until)) : box.right;
    front.append(draw('path', {class: mark.vertical ? 'mark upright' : 'mark',
      d: mark.vertical ? `M${at} ${box.top}V${box.bottom}` : `M${from} ${at}H${until}`}));
    if (!mark.text) continue;
    const text = fitted(mark.text, box.right - box.left);
    const length = width_of(text);
    let left = mark.vertical ? at + 6 : from;
    if (left + length > box.right) left = mark.vertical ? at - 6 - length : until - length;
    front.append(draw('text', {class: mark.vertical ? 'upright' : '',
      x: round(clamp(left, box.left + 2, box.right - length)),
      y: mark.vertical ? box.top + 14 + 17 * (lane++ % 6) : at - 7 > box.top + 12 ? at - 7 : at + 19},
      text));
  }
  return [back, front];
};

// A view of a figure with series: what the plot shows and what it says of each point.
const series_view = (figure, hidden, box) => {
  const room = margins_of(figure);
  const plot = {width: box.width, left: room.left, right: box.width - room.right, top: room.top,
    bottom: box.height - room.bottom};
  const x = scale_of(figure.x, plot.left, plot.right), y = scale_of(figure.y, plot.bottom, plot.top);
  const all = dressed(figure), spots = [];
  const [bands, marks] = draw_marks(figure, plot, x, y);
  const nodes = [bands, draw_axes(figure, plot, x, y)];
  for (const series of all) {
    if (hidden.has(series.index)) continue;
    nodes.push(draw_one(series, x, y));
    series.points.forEach((point, i) =>
      spots.push({x: x(point[0]), y: y(point[1]), series, point, order: i}));
  }
  nodes.push(marks);
  if (spots.length === 0) {
    nodes.push(draw('text', {x: (plot.left + plot.right) / 2, y: (plot.top + plot.bottom) / 2,
      'text-anchor': 'middle'}, 'no point to draw'));
  }
  const walk = spots.map((_, i) => i).sort((a, b) =>
    spots[a].series.index - spots[b].series.index || spots[a].point[0] - spots[b].point[0] ||
    spots[a].point[1] - spots[b].point[1]);
  return {
    nodes, spots,
    nearest(at, up) {
      let best = -1, least = 40 * 40;
      spots.forEach((spot, i) => {
        const far = (spot.x - at) ** 2 + (spot.y - up) ** 2;
        if (far < least) { least = far; best = i; }
      });
      return best;
    },
    step(index, key) {
      if (spots.length === 0) return -1;
      const place = walk.indexOf(index), last = walk.length - 1;
      if (index < 0 || key === 'Home') return walk[0];
      if (key === 'End') return walk[last];
      if (key === 'ArrowRight') return walk[Math.min(last, place + 1)];
      if (key === 'ArrowLeft') return walk[Math.max(0, place - 1)];
      // Up and down: the nearest point of the next or previous series.
      const ids = [...new Set(walk.map((i) => spots[i].series.index))];
      const next = ids[ids.indexOf(spots[index].series.index) + (key === 'ArrowDown' ? 1 : -1)];
      if (next === undefined) return index;
      return walk.filter((i) => spots[i].series.index === next).reduce((a, b) =>
        (Math.abs(spots[b].x - spots[index].x) < Math.abs(spots[a].x - spots[index].x) ? b : a));
    },
    words(index) {
      const {series, point} = spots[index];
      const [px, py, low, high, label] = point;
      return [[label, series.name].filter((text) => text !== '').join(' · '),
        `${figure.y.label}: ${show(py)}`, interval(low, high),
        `${figure.x.label}: ${show(px)}`].filter((text) => text !== '');
    },
    ring(index) {
      return draw('circle', {class: 'ring', cx: round(spots[index].x), cy: round(spots[index].y),
        r: 7});
    },
    place: (index) => spots[index]};
};
