// The words beside a point. One line each, as text; read out by a screen reader when they change.
const place_tip = (tip, host, words, at, unit) => {
  tip.replaceChildren(...words.map((text, i) => make('div', {class: i === 0 ? 'first-line' : ''}, text)));
  tip.hidden = false;
  const wide = tip.offsetWidth, high = tip.offsetHeight;
  let left = at.x * unit + 14, top = at.y * unit - high - 10;
  if (left + wide > host.clientWidth) left = Math.max(0, at.x * unit - wide - 14);
  if (top < 0) top = at.y * unit + 14;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
};
