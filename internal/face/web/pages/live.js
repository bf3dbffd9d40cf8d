// Follows what this page shows: when it changes, the page is asked for again and
// what differs is put in its place, all of it at once.
(() => {
  "use strict";
  const where = document.body.dataset.live;
  if (!where || !window.EventSource) return;
  const note = document.getElementById("live");
  const say = (text, state) => { note.textContent = text; note.dataset.state = state; };
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  let seen = document.body.dataset.seen, stream, asking = false, again = false;
  const made = new Map();
  for (const part of document.querySelectorAll("[data-part]")) made.set(part.id, part.outerHTML);

  const put = (fresh) => {
    const newer = fresh.body.dataset.seen;
    if (Number(newer) < Number(seen)) return; // lines of a log are in order; digests are not
    seen = newer;
    const focused = document.activeElement?.closest("[data-part]") ? document.activeElement : null;
    const key = focused && (focused.id ? "#" + CSS.escape(focused.id) : focused.getAttribute("href") && `[href="${CSS.escape(focused.getAttribute("href"))}"]`);
    for (const part of fresh.querySelectorAll("[data-part]")) {
      const old = document.getElementById(part.id), html = part.outerHTML;
      if (!old || made.get(part.id) === html) continue;
      made.set(part.id, html);
      for (const d of part.querySelectorAll("details[id]")) {
        const was = document.getElementById(d.id);
        if (was) d.open = was.open;
      }
      old.replaceWith(document.adoptNode(part));
    }
    if (key && !document.contains(focused)) document.querySelector(key)?.focus({preventScroll: true});
    document.body.dataset.seen = seen;
    if (!fresh.body.dataset.live) { stream?.close(); stream = null; document.body.removeAttribute("data-live"); say("ended", "ended"); }
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
    stream.addEventListener("open", () => say("live", "live"));
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
  follow();
})();
