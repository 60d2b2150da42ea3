// Axes with the ticks that came with the data, so that page and gnuplot agree.
const scale_of = (axis, from, to) => {
  const low = axis.log ? Math.log(axis.low) : axis.low;
  const high = axis.log ? Math.log(axis.high) : axis.high;
  return (value) => from + (to - from) * ((axis.log ? Math.log(value) : value) - low) / (high - low);
};

// Every n-th label, so that neighbours do not touch: `extent` is a label's half size along the axis.
const thinned = (labels, extent) => {
  for (let every = 1; every <= labels.length; ++every) {
    const some = labels.filter((_, i) => i % every === 0);
    if (some.every((one, i) => i === 0 ||
        Math.abs(one.at - some[i - 1].at) >= extent(one) + extent(some[i - 1]))) {
      return some;
    }
  }
  return labels.slice(0, 1);
};

const labels_of = (axis, scale) => axis.ticks.filter(([, text]) => text !== '')
  .map(([value, text]) => ({at: scale(value), text}));

// Room around the plot: what its own labels need.
const margins_of = (figure) => ({
  left: 34 + Math.max(20, ...figure.y.ticks.map(([, text]) => width_of(text))),
  right: 18, top: 12, bottom: 48});

const draw_axes = (figure, box, x, y) => {
  const group = draw('g', {class: 'axes'});
  let grid = '', minor = '';
  for (const [value, text] of figure.x.ticks) {
    const at = round(x(value));
    if (text !== '') grid += `M${at} ${box.top}V${box.bottom}`;
    else minor += `M${at} ${box.bottom}v-5`;
  }
  for (const [value, text] of figure.y.ticks) {
    const at = round(y(value));
    if (text !== '') grid += `M${box.left} ${at}H${box.right}`;
    else minor += `M${box.left} ${at}h5`;
  }
  group.append(draw('path', {class: 'grid', d: grid}), draw('path', {class: 'frame', d: minor}),
    draw('path', {class: 'frame', d: `M${box.left} ${box.top}V${box.bottom}H${box.right}`}));
  for (const one of thinned(labels_of(figure.x, x), (label) => width_of(label.text) / 2 + 4)) {
    const half = width_of(one.text) / 2;
    group.append(draw('text', {x: round(clamp(one.at, half, box.width - half)),
      y: box.bottom + 18, 'text-anchor': 'middle'}, one.text));
  }
  for (const one of thinned(labels_of(figure.y, y), () => 8)) {
    group.append(draw('text', {x: box.left - 7, y: round(one.at + 4.5), 'text-anchor': 'end'},
      one.text));
  }
  const label = fitted(figure.x.label, box.width - 8), half = width_of(label) / 2 + 4;
  group.append(draw('text', {class: 'label', x: round(clamp((box.left + box.right) / 2, half,
    Math.max(half, box.width - half))), y: box.bottom + 39, 'text-anchor': 'middle'}, label));
  group.append(draw('text', {class: 'label', 'text-anchor': 'middle',
    transform: `translate(15 ${round((box.top + box.bottom) / 2)}) rotate(-90)`},
    fitted(figure.y.label, box.bottom - box.top + 40)));
  return group;
};
