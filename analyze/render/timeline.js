"use strict";
// One step by stream, at any size: a choice of rank and step, zoom, pan, and what is pointed at.
(() => {
  const section = document.getElementById("timeline"), source = document.getElementById("timelines");
  if (!section || !source) return;
  const lines = JSON.parse(source.textContent);
  if (lines.length === 0) return;
  for (const line of lines) {
    for (const strip of line.strips) { // gaps and lengths become starts and ends
      let at = 0;
      strip.spans = strip.spans.map((n, i) => (at += n, at * line.unit));
    }
  }
  const make = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };
  const option = value => make("option", { value }, String(value));
  const rank = make("select", { "aria-label": "rank" }), step = make("select", { "aria-label": "step" });
  rank.append(...[...new Set(lines.map(l => l.rank))].map(option));
  const canvas = make("canvas", { tabindex: "0", role: "img" });
  const range = make("output", { "aria-live": "polite" });
  const keys = make("p", { class: "keys" }), tip = make("div", { class: "tip", hidden: "" });
  const ms = ns => (ns / 1e6).toFixed(3) + " ms";
  let line, from, to, drawn = [];

  const rowHeight = 34, top = 4, bottom = 24;
  let left = 90;
  const width = () => canvas.clientWidth, scale = () => (width() - left - 8) / (to - from);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--p-" + name).trim();
  const tickStep = () => {
    const rough = (to - from) / Math.max(2, width() / 110), ten = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(f => f * ten).find(s => s >= rough) || 10 * ten;
  };
  const axis = (c, height) => {
    const every = tickStep(), digits = Math.max(0, 6 - Math.floor(Math.log10(every)));
    c.font = "12px Arial, Helvetica, 'Liberation Sans', sans-serif";
    for (let t = Math.ceil(from / every) * every; t <= to; t += every) {
      const x = left + (t - from) * scale();
      c.fillStyle = colour("grid");
      c.fillRect(x, top, 1, height - bottom);
      c.fillStyle = colour("text");
      c.textAlign = "center";
      c.fillText((t / 1e6).toFixed(digits) + " ms", Math.min(x, width() - 26), height - 6);
    }
  };
  const strips = c => {
    const k = scale();
    drawn = [];
    for (const s of line.strips) {
      const low = s.low ? rowHeight * 0.38 : 0, y = top + s.row * rowHeight + 4 + low, h = rowHeight - 8 - low;
      c.fillStyle = colour(s.ink);
      for (let i = 0; i < s.spans.length; i += 2) {
        const a = Math.max(s.spans[i], from), b = Math.min(s.spans[i + 1], to);
        if (b > a) c.fillRect(left + (a - from) * k, y, Math.max(0.5, (b - a) * k), h);
      }
      drawn.push({ strip: s, y, h });
    }
  };
  const draw = () => {
    const height = top + line.rows.length * rowHeight + bottom, dots = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    left = width() < 500 ? 64 : 100;
    canvas.width = width() * dots;
    canvas.height = height * dots;
    const c = canvas.getContext("2d");
    c.scale(dots, dots);
    axis(c, height);
    strips(c);
    c.fillStyle = colour("text");
    c.textAlign = "right";
    line.rows.forEach((name, i) => {
      const short = width() < 500 ? name.replace(/^stream /, "").slice(0, 10) : name.slice(0, 16);
      c.fillText(short, left - 6, top + i * rowHeight + rowHeight / 2 + 4);
    });
    range.textContent = ms(from) + " to " + ms(to);
    canvas.setAttribute("aria-label", `Step ${line.step} of rank ${line.rank} by stream, ${range.textContent}. ` +
      "Arrow keys move, plus and minus zoom, 0 shows all. " + line.text);
  };
  const look = (a, b) => { // keeps the piece within the step
    const length = Math.min(Math.max(b - a, Math.max(1000, line.duration / 2000)), line.duration);
    from = Math.min(Math.max(0, a), line.duration - length);
    to = from + length;
    tip.hidden = true;
    draw();
  };
  const zoom = (factor, at = (from + to) / 2) => look(at - (at - from) * factor, at + (to - at) * factor);
  const pan = part => look(from + part * (to - from), to + part * (to - from));
  const choose = () => {
    line = lines.find(l => String(l.rank) === rank.value && String(l.step) === step.value);
    keys.replaceChildren(...line.keys.flatMap(([ink, label]) => {
      const box = make("i", { class: "box", style: `background:var(--p-${ink})` });
      return [make("span", {}, box, " " + label), " "];
    }));
    look(0, line.duration);
  };
  const steps = () => {
    const before = step.value, of = lines.filter(l => String(l.rank) === rank.value).map(l => l.step);
    step.replaceChildren(...[...of].sort((a, b) => a - b).map(option));
    step.value = of.map(String).includes(before) ? before : String(of[0]);
    choose();
  };
  const at = e => {
    const box = canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const timeAt = x => from + (x - left) / scale();
  const hit = ({ x, y }) => { // what is drawn last is on top
    const t = timeAt(x), near = 2 / scale();
    for (const slack of [0, near]) {
      for (const { strip, y: y0, h } of [...drawn].reverse()) {
        if (y < y0 || y > y0 + h || x < left) continue;
        for (let i = 0; i < strip.spans.length; i += 2) {
          if (strip.spans[i] - slack <= t && t <= strip.spans[i + 1] + slack) return { strip, i };
        }
      }
    }
    return null;
  };
  const nameOf = (strip, a, b) => { // of the longest piece; what is exposed has that of what it is a part of
    for (const s of line.strips) {
      if (!s.names || s.row !== strip.row || (strip.names && s !== strip)) continue;
      const i = s.spans.findIndex((start, i) => i % 2 === 0 && start <= a && b <= s.spans[i + 1]);
      if (i >= 0) return line.names[s.names.charCodeAt(i / 2) - 64] || "";
    }
    return "";
  };
  const point = e => {
    const p = at(e), found = hit(p);
    tip.hidden = !found;
    if (!found) return;
    const a = found.strip.spans[found.i], b = found.strip.spans[found.i + 1];
    const ts = BigInt(line.start) + BigInt(Math.round(a)), micros = String(ts % 1000n).padStart(3, "0");
    const name = nameOf(found.strip, a, b);
    tip.replaceChildren(make("b", {}, found.strip.label), make("br", {}), line.rows[found.strip.row],
      ...(name ? [make("br", {}), name] : []), make("br", {}), `${ms(b - a)}, from ${ms(a)}`, make("br", {}), `ts ${ts / 1000n}.${micros} µs`);
    tip.style.left = Math.max(0, Math.min(p.x + 12, width() - tip.offsetWidth)) + "px";
    tip.style.top = p.y + 16 + "px";
  };
  const held = new Map();
  let pinch = 0;
  canvas.addEventListener("pointerdown", e => {
    held.set(e.pointerId, e.clientX);
    canvas.setPointerCapture(e.pointerId);
    point(e);
  });
  canvas.addEventListener("pointermove", e => {
    const before = held.get(e.pointerId);
    if (before === undefined) return point(e);
    held.set(e.pointerId, e.clientX);
    if (held.size === 2) {
      const [p, q] = held.values(), apart = Math.abs(p - q);
      if (pinch > 0 && apart > 0) zoom(pinch / apart);
      pinch = apart;
    } else if (e.clientX !== before) {
      pan((before - e.clientX) / (width() - left));
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, e => { held.delete(e.pointerId); pinch = 0; });
  }
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", e => zoom(0.5, timeAt(at(e).x)));
  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
    e.preventDefault();
    if (e.shiftKey) pan((e.deltaY || e.deltaX) / 1000);
    else zoom(Math.exp(e.deltaY / 400), timeAt(at(e).x));
  }, { passive: false });
  const actions = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => look(0, line.duration),
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), Home: () => look(0, to - from),
    End: () => look(line.duration - (to - from), line.duration),
  };
  canvas.addEventListener("keydown", e => {
    const act = !e.ctrlKey && !e.metaKey && actions[e.key];
    if (!act) return;
    e.preventDefault();
    act();
  });
  const button = (label, text, act) => {
    const b = make("button", { type: "button", "aria-label": label, title: label }, text);
    b.addEventListener("click", act);
    return b;
  };
  rank.addEventListener("change", steps);
  step.addEventListener("change", choose);
  const tools = make("div", { class: "tools" }, make("label", {}, "rank ", rank), make("label", {}, "step ", step),
    button("zoom in", "+", () => zoom(0.5)), button("zoom out", "−", () => zoom(2)),
    button("earlier", "◀", () => pan(-0.5)), button("later", "▶", () => pan(0.5)),
    button("show all of the step", "all", () => look(0, line.duration)), range);
  const hint = make("p", { class: "remark" }, "Drag to move, double-click or Ctrl and wheel to zoom; with the " +
    "keyboard: arrows, +, −, 0. Communication is high where nothing hides it, low and pale where something does.");
  section.querySelector("h2").after(make("div", { class: "viewer" }, tools, keys,
    make("div", { class: "stage" }, canvas, tip), hint));
  section.classList.add("replaced");
  steps();
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
