// What scrolls can be reached by the keyboard.
function reachable() {
  for (const e of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    if (e.scrollWidth > e.clientWidth) e.tabIndex = 0;
  }
}
new MutationObserver(reachable).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", reachable);
addEventListener("load", reachable);
