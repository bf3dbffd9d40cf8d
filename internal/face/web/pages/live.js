// Follows what this page shows: when it changes, the page is asked for again and
// what differs is put in its place, all of it at once.
(() => {
  "use strict";
  const where = document.body.dataset.live;
  if (!where || !window.EventSource) return;
  const note = document.getElementById("live");
  const say = (text, state) => { note.textContent = text; note.dataset.state = state; };
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  const loaded = Date.now(), asOf = Date.parse(document.body.dataset.now) || loaded;
  let seen = document.body.dataset.seen, stream, asking = false, again = false, heard = 0;
  const made = new Map();
  for (const part of document.querySelectorAll("[data-part]")) made.set(part.id, part.outerHTML);

  const put = (fresh) => {
    const newer = fresh.body.dataset.seen;
    if (Number(newer) < Number(seen)) return; // lines of a log are in order; digests are not
    seen = newer;
    const focused = document.activeElement?.closest("[data-part]") ? document.activeElement : null;
    const key = focused && (focused.id ? "#" + CSS.escape(focused.id) : focused.getAttribute("href") && `[href="${CSS.escape(focused.getAttribute("href"))}"]`);
    document.title = fresh.title;
    document.getElementById("icon").href = fresh.getElementById("icon").getAttribute("href");
    const main = document.getElementById("main"), next = fresh.getElementById("main");
    const moved = main.dataset.layout !== next.dataset.layout; // another state has another order
    for (const part of fresh.querySelectorAll(moved ? "header [data-part]" : "[data-part]")) {
      const old = document.getElementById(part.id), html = part.outerHTML;
      if (!old || made.get(part.id) === html) continue;
      made.set(part.id, html);
      for (const d of part.querySelectorAll("details[id]")) {
        const was = document.getElementById(d.id);
        if (was) d.open = was.open;
      }
      old.replaceWith(document.adoptNode(part));
    }
    if (moved) {
      for (const part of next.querySelectorAll("[data-part]")) made.set(part.id, part.outerHTML);
      main.replaceWith(document.adoptNode(next));
    }
    tick();
    if (key && !document.contains(focused)) document.querySelector(key)?.focus({preventScroll: true});
    document.body.dataset.seen = seen;
    if (!fresh.body.dataset.live) { stream?.close(); stream = null; document.body.removeAttribute("data-live"); say("ended", "ended"); }
  };

  // Clocks go on between two updates.
  const units = [[1, "s"], [60, "min"], [3600, "h"]];
  const spell = (seconds) => {
    const [size, unit] = units.findLast(([n]) => seconds >= n) ?? units[0];
    return `${Math.floor(seconds / size)} ${unit}`;
  };
  const tick = () => {
    const skew = Date.now() - loaded;
    for (const t of document.querySelectorAll("time[datetime]")) {
      const gone = (asOf + skew - Date.parse(t.dateTime)) / 1000;
      if (gone >= 0 && gone < 48 * 3600) t.textContent = spell(gone) + " ago";
    }
    for (const t of document.querySelectorAll("[data-since]")) t.textContent = spell(Math.max(0, (asOf + skew - Date.parse(t.dataset.since)) / 1000));
  };

  const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    let pause = 250;
    do {
      again = false;
      try {
        const answer = await fetch(location.href, {cache: "no-store", headers: {Accept: "text/html"}});
        const fresh = answer.ok || answer.status === 503 ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
        // A page that took long says only in its text that something is wrong.
        if (fresh && "problem" in fresh.body.dataset) { again = true; await later(pause = Math.min(2 * pause, 10000)); }
        else if (fresh) put(fresh);
      } catch { /* the stream says when the server is there again */ }
    } while (again);
    asking = false;
  };

  const follow = () => {
    if (stream || document.hidden || !document.body.dataset.live) return;
    const from = new URL(where, location.href);
    from.searchParams.set("after", seen);
    stream = new EventSource(from);
    heard = Date.now();
    const hear = () => { heard = Date.now(); if (note.dataset.state !== "live") say("live", "live"); };
    for (const kind of ["open", "beat", "line"]) stream.addEventListener(kind, hear);
    stream.addEventListener("line", ask);
    stream.addEventListener("broken", () => { stream.close(); say("the log was changed by hand: reload", "lost"); });
    stream.addEventListener("error", async () => {
      if (!stream) return;
      say("reconnecting", "lost");
      if (stream.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      stream = null;
      await later(2000);
      follow();
    });
  };
  // A tab that nobody sees follows nothing: browsers open six connections to a
  // server and no more.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream?.close(); stream = null; say("paused", "lost"); }
    else { follow(); ask(); }
  });
  setInterval(() => {
    tick();
    if (stream && Date.now() - heard > 7000 && note.dataset.state === "live") say("the server does not answer", "lost");
  }, 1000);
  follow();
})();
