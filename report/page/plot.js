// One plot: draws the view that fits its figure, follows pointer and keys, redraws on a new width.
const view_of = (figure) => (figure.heat ? heat_view : figure.boxes ? floor_view : series_view);

class Plot {
  constructor(host, id) {
    this.host = host;
    this.id = id;
    this.hidden = new Set();
    this.index = -1;
    this.tip = make('div', {class: 'tip', hidden: true});
    this.chosen = make('output', {class: 'chosen', hidden: true, 'aria-live': 'polite'});
    fill(host, {tabindex: 0, role: 'application'});
    host.after(this.chosen);
    host.addEventListener('pointermove', (event) => this.follow(event));
    host.addEventListener('pointerleave', () => this.leave());
    host.addEventListener('click', (event) => { this.follow(event); this.choose(); });
    host.addEventListener('blur', () => this.leave());
    host.addEventListener('keydown', (event) => this.key(event));
    this.draw();
    this.width = host.clientWidth;
    new ResizeObserver(() => {
      if (host.clientWidth !== this.width && host.clientWidth > 0) {
        this.width = host.clientWidth;
        this.draw();
      }
    }).observe(host);
  }
  get figure() { return figures[this.id]; }
  draw() {
    // Plots grow with the page's text, so that they read as well on a large screen.
    this.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const width = Math.max(240, (this.host.clientWidth || 640) / this.unit);
    const box = {width, height: clamp(0.58 * width, 250, 470), most: clamp(0.9 * width, 300, 640),
      id: this.id};
    this.view = view_of(this.figure)(this.figure, this.hidden, box);
    const height = this.view.height || box.height;
    this.svg = draw('svg', {viewBox: `0 0 ${round(width)} ${round(height)}`, role: 'img',
      'aria-label': this.figure.title}, this.view.nodes);
    this.host.replaceChildren(...(this.view.canvas ? [this.view.canvas] : []), this.svg, this.tip);
    this.host.setAttribute('aria-label', `${this.figure.title}. Arrow keys step through the ` +
      'points, Enter keeps one, Escape lets go.');
    if (this.view.canvas) {
      const {left, top, width: wide, height: high} = this.view.canvas_box;
      const style = this.view.canvas.style;
      style.left = `${100 * left / width}%`;
      style.top = `${100 * top / height}%`;
      style.width = `${100 * wide / width}%`;
      style.height = `${100 * high / height}%`;
    }
    this.leave();
  }
  follow(event) {
    const box = this.svg.getBoundingClientRect();
    this.select(this.view.nearest((event.clientX - box.left) / this.unit,
      (event.clientY - box.top) / this.unit));
  }
  select(index) {
    if (index === this.index && !this.tip.hidden) return;
    this.leave();
    if (index < 0) return;
    this.index = index;
    this.ring = this.view.ring(index);
    this.svg.append(this.ring);
    place_tip(this.tip, this.host, this.view.words(index), this.view.place(index), this.unit);
  }
  choose() {
    this.chosen.hidden = this.index < 0;
    this.chosen.textContent = this.index < 0 ? '' : this.view.words(this.index).join(' · ');
  }
  leave() {
    if (this.ring) this.ring.remove();
    this.tip.hidden = true;
    this.index = -1;
  }
  key(event) {
    if (event.key === 'Escape') { this.leave(); this.choose(); return; }
    if (event.key === 'Enter') { this.choose(); return; }
    if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) return;
    event.preventDefault();
    this.select(this.view.step(this.index, event.key));
    this.choose(); // the line below is what a screen reader says
  }
  toggle(index) {
    if (!this.hidden.delete(index)) this.hidden.add(index);
    this.draw();
  }
  display(id) {
    this.id = id;
    this.hidden.clear();
    this.draw();
  }
}
