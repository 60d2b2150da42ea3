// Floor plan: nested boxes. Where they lie says nothing, which caption and title say.
const floor_view = (figure, hidden, box) => {
  const boxes = figure.boxes.filter((one) => one[4] >= 0);
  const wide = Math.max(...boxes.map((one) => one[2])), high = Math.max(...boxes.map((one) => one[3]));
  const scale = Math.min((box.width - 4) / wide, Math.max(200, box.width) / high);
  const margin = (box.width - wide * scale) / 2;
  const nodes = [], cores = [];
  for (const [left, top, right, bottom, depth, core, text] of boxes) {
    const at = {x: margin + left * scale, y: 2 + top * scale, width: (right - left) * scale,
      height: (bottom - top) * scale};
    nodes.push(draw('rect', {class: core ? 'core' : `group d${Math.min(3, depth)}`, x: round(at.x),
      y: round(at.y), width: round(at.width), height: round(at.height), rx: 3}));
    if (core) cores.push({...at, left, top, right, bottom, text});
    // Where a core's box is small its kind is a letter; words and table have the whole name.
    const name = core && at.width < 7 * text.length ? text.replace(/^([a-z])[a-z]*(\d+)$/, '$1$2') : text;
    const size = core ? Math.min(12, 0.62 * at.height, 1.55 * at.width / Math.max(3, name.length))
      : Math.min(12, 0.55 * scale);
    if (name === '' || size < 4.5) continue;
    const label = draw('text', {'text-anchor': core ? 'middle' : 'start',
      x: round(core ? at.x + at.width / 2 : at.x + 0.25 * scale),
      y: round((core ? at.y + at.height / 2 : at.y + 0.35 * scale) + 0.36 * size)}, name);
    label.style.fontSize = `${round(size)}px`; // an attribute would lose against the style sheet
    nodes.push(label);
  }
  const around = (core) => boxes.filter((one) => !one[5] && one[0] <= core.left &&
    one[2] >= core.right && one[1] <= core.top && one[3] >= core.bottom && one[6] !== '');
  return {
    nodes, height: high * scale + 4, spots: cores,
    nearest: (x, y) => cores.findIndex((core) => x >= core.x && x <= core.x + core.width &&
      y >= core.y && y <= core.y + core.height),
    step(index, key) {
      if (index < 0 || key === 'Home') return 0;
      if (key === 'End') return cores.length - 1;
      const by = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
      return clamp(index + by, 0, cores.length - 1);
    },
    words: (index) => [cores[index].text, ...around(cores[index]).map((one) => `in ${one[6]}`)],
    ring(index) {
      const {x, y, width, height} = cores[index];
      return draw('rect', {class: 'ring', x: round(x), y: round(y), width: round(width),
        height: round(height), rx: 3});
    },
    place: (index) => ({x: cores[index].x + cores[index].width / 2,
      y: cores[index].y + cores[index].height / 2})};
};
