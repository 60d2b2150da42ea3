// Elements, numbers and text widths.
const parser = document.createElement('template');
parser.innerHTML = '<svg></svg>'; // its namespace, without writing an address into the page
const kSvg = parser.content.firstChild.namespaceURI;

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  for (const child of [].concat(children ?? [])) node.append(child); // a string becomes a text node
  return node;
};
const make = (tag, attributes, children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, children) =>
  fill(document.createElementNS(kSvg, tag), attributes, children);

// A number for people; tables and copies have every digit.
const show = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return 'unknown';
  const size = Math.abs(value);
  if (size >= 1e5 && size < 1e15) return Math.round(value).toLocaleString('en-US');
  if (size !== 0 && (size < 1e-3 || size >= 1e15)) return value.toExponential(3);
  return String(Number(value.toPrecision(5)));
};
const exact = (value) => (value === null || value === undefined ? '' : String(value));
const interval = (low, high) =>
  low === null || low === undefined || high === null || high === undefined
    ? 'no interval' : `95 % interval ${show(low)} to ${show(high)}`;

const round = (value) => Math.round(value * 100) / 100;
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

const ruler = document.createElement('canvas').getContext('2d');
const kFont = 13; // pixels at the page's smallest size; a plot is scaled with the page's text
const width_of = (text) => {
  ruler.font = `${kFont}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
};
// The text cut so that it fits, with an ellipsis.
const fitted = (text, most) => {
  if (width_of(text) <= most) return text;
  let length = text.length;
  while (length > 1 && width_of(`${text.slice(0, length)}…`) > most) --length;
  return `${text.slice(0, length)}…`;
};
