"use strict";
// What a page can do beyond being read: sort its tables, be searched, and show a step by stream
// at any size. Names of a trace are only ever set as text. Without this the page says the same.
(() => {
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const make = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };
  document.documentElement.classList.add("live");

  // Tables: a click on a heading sorts, a second one the other way. Blank cells come last.
  const amount = text => {
    const m = /^[-+]?\d[\d.]*/.exec(text);
    return m ? parseFloat(m[0]) : NaN;
  };
  const blank = text => text === "" || text === "-" || text === "?";
  const compare = (a, b) => {
    const x = amount(a), y = amount(b);
    if (!isNaN(x) && !isNaN(y) && x !== y) return x - y;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const named = rows => rows.forEach((r, i) => { // a blank first cell means the one above
    if (i > 0 && r.cells[0].textContent === "") r.cells[0].textContent = rows[i - 1].cells[0].textContent;
  });
  const sortBy = (table, column, down) => {
    const rows = [...table.tBodies[0].rows], text = r => r.cells[column].textContent;
    named(rows);
    rows.sort((r, s) => {
      const a = text(r), b = text(s);
      if (blank(a) || blank(b)) return blank(a) - blank(b);
      return down ? compare(b, a) : compare(a, b);
    });
    table.tBodies[0].append(...rows);
  };
  for (const table of all(".scroll table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, column) => {
      const text = th.textContent;
      if (!text) return;
      const sort = make("button", { type: "button", class: "sort" }, text);
      sort.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach(h => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        sortBy(table, column, down);
      });
      th.replaceChildren(sort);
    });
  }

  // A table that is wider than the screen says so, as long as its end is not seen.
  const cue = box => {
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  for (const box of all(".scroll")) {
    cue(box);
    box.addEventListener("scroll", () => cue(box), { passive: true });
    new ResizeObserver(() => cue(box)).observe(box);
  }

  // Search: what does not match is hidden, what is folded and matches is opened.
  const opened = new Set();
  const search = (wanted, said) => {
    let hits = 0;
    const has = e => e.textContent.toLowerCase().includes(wanted);
    const show = (e, yes) => e.classList.toggle("miss", !yes);
    for (const section of all(".content > section")) {
      let inside = 0;
      for (const e of all("tbody tr, article, dd", section)) {
        const yes = !wanted || has(e) || (e.tagName === "DD" && has(e.previousElementSibling));
        if (e.tagName !== "DD" || section.id === "definitions") show(e, yes);
        if (e.tagName === "DD" && section.id === "definitions") show(e.previousElementSibling, yes);
        if (yes && wanted && e.tagName !== "ARTICLE") inside++;
      }
      const own = wanted ? all("h2, h3, p, summary, figcaption", section).filter(has).length : 0;
      hits += inside + own;
      show(section, !wanted || inside + own > 0);
      if (wanted && inside === 0) all("tbody tr", section).forEach(e => show(e, true));
      for (const d of all("details", section)) {
        const yes = wanted && all("tbody tr:not(.miss)", d).some(has);
        if (yes && !d.open) opened.add(d);
        if (yes || opened.has(d)) d.open = Boolean(yes);
      }
    }
    if (!wanted) opened.clear();
    said.textContent = !wanted ? "" : hits === 0 ? "nothing found" : hits === 1 ? "1 match" : hits + " matches";
  };
  const nav = document.querySelector("nav[aria-label=Contents]");
  if (nav) {
    const said = make("output", { "aria-live": "polite" });
    const input = make("input", { type: "search", placeholder: "Search  /", "aria-label": "Search this page" });
    input.addEventListener("input", () => search(input.value.trim().toLowerCase(), said));
    nav.prepend(make("div", { role: "search" }, input, said));
    document.addEventListener("keydown", e => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
      if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) {
        e.preventDefault();
        input.focus();
      } else if (e.key === "Escape" && e.target === input) {
        input.value = "";
        search("", said);
        input.blur();
      }
    });
  }

  // Links into what is folded open it.
  const unfold = () => {
    const to = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let e = to; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
