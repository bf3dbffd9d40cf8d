// What pages can do with a script: follow what they show, copy, and say when a run is over.
(() => {
  "use strict";
  document.documentElement.classList.add("js");

  // Copies the text that a button names, or that stands before it.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button[data-copy]");
    if (!button) return;
    const link = button.dataset.link, text = link ? new URL(link, location.href).href : button.dataset.copy || button.previousElementSibling.textContent;
    try { await navigator.clipboard.writeText(text); button.dataset.done = "yes"; } catch { button.dataset.done = "no"; }
    setTimeout(() => delete button.dataset.done, 2000);
  });
  // A sentence is chosen by a click or by a key; its address shows what stands beside it.
  const choose = (id, stay) => {
    const y = scrollY;
    location.hash = id;
    if (stay && innerWidth >= 960) scrollTo({top: y, behavior: "instant"});
  };
  document.addEventListener("click", (event) => {
    const sentence = event.target.closest?.("article .s[id], .answer .s[id]");
    if (sentence && !event.target.closest("a, button, .ev") && !String(getSelection())) choose(sentence.id, true);
  });
  const firm = ["stands", "inferred", "calculated"];
  const step = (forward, wanted) => {
    const shown = document.querySelector(".chips :checked")?.id.slice(5);
    const all = [...document.querySelectorAll(".doc .s[id][data-state]")].filter((s) => wanted ? wanted(s) : !shown || shown === "all" || s.dataset.state === shown);
    const here = document.querySelector(".s:target"), follows = (s) => here ? here.compareDocumentPosition(s) & (forward ? 4 : 2) : true;
    const next = forward ? all.find(follows) : all.findLast(follows);
    if (next) choose(next.id);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), textarea, select")) return;
    const act = {j: () => step(true), k: () => step(false), n: () => step(true, (s) => !firm.includes(s.dataset.state)), "/": () => document.getElementById("omni")?.focus(),
      "?": () => document.getElementById("keys")?.togglePopover(), Escape: () => document.querySelector(".s:target") && choose("-", true)}[event.key];
    if (act) { if (event.key !== "Escape") event.preventDefault(); act(); }
  });
  // A file that is dropped anywhere is the one to be checked.
  const file = document.getElementById("f-report");
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => {
    if (!file || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (kind === "drop") { file.files = event.dataTransfer.files; file.form.requestSubmit(); }
  });

  const where = document.body.dataset.live;
  if (!where || !window.EventSource) return;
  const note = document.getElementById("live");
  const say = (text, state) => { note.textContent = text; note.dataset.state = state; };
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  const loaded = Date.now(), asOf = Date.parse(document.body.dataset.now) || loaded;
  let seen = document.body.dataset.seen, stream, asking = false, again = false, heard = 0;

  // A node as the server made it: clocks go on, and people open and close parts.
  const made = (node) => node.nodeType !== 1 ? node.nodeName + node.data :
    node.outerHTML.replace(/(<time[^>]*>|<span data-since[^>]*>)[^<]*/g, "$1").replace(/ open=""/g, "");
  const clock = (node) => node.localName === "time" || node.dataset?.since !== undefined;
  const alike = (a, b) => a.nodeName === b.nodeName && (a.id ?? "") === (b.id ?? "");

  // Makes a node into another and leaves alone what both have, so that a selection, the
  // focus, the scrolling and what is open stay as they are.
  const become = (old, fresh) => {
    if (old.nodeType !== 1) { if (old.data !== fresh.data) old.data = fresh.data; return; }
    const kept = (name) => name === "open" && old.localName === "details";
    for (const {name, value} of fresh.attributes) if (!kept(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const {name} of [...old.attributes]) if (!kept(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
    if (clock(old)) return;
    const has = [...old.childNodes], wants = [...fresh.childNodes];
    const hasMade = has.map(made), wantsMade = wants.map(made);
    let at = 0;
    wants.forEach((want, i) => {
      // White space is alike everywhere, and must not be found behind what is kept.
      let same = want.nodeType === 1 ? hasMade.indexOf(wantsMade[i], at) : hasMade[at] === wantsMade[i] ? at : -1;
      if (same < 0 && want.id) same = has.findIndex((n, j) => j >= at && alike(n, want));
      if (same >= 0) {
        for (; at < same; at++) has[at].remove();
        if (hasMade[at] !== wantsMade[i]) become(has[at], want);
        at++;
      } else if (at < has.length && alike(has[at], want) && !wantsMade.includes(hasMade[at], i)) {
        become(has[at++], want);
      } else {
        old.insertBefore(document.importNode(want, true), has[at] ?? null);
      }
    });
    for (; at < has.length; at++) has[at].remove();
  };

  const put = (fresh) => {
    const newer = fresh.body.dataset.seen;
    if (Number(newer) < Number(seen)) return; // lines of a log are in order; digests are not
    seen = newer;
    const stood = document.getElementById("main").dataset.layout;
    document.title = fresh.title;
    document.getElementById("icon").href = fresh.getElementById("icon").getAttribute("href");
    for (const id of ["everything", "main"]) {
      const old = document.getElementById(id), next = fresh.getElementById(id);
      if (old && next && made(old) !== made(next)) become(old, next);
    }
    tick();
    document.body.dataset.seen = seen;
    const ended = !fresh.body.dataset.live, layout = fresh.getElementById("main").dataset.layout;
    // The page is asked for once more where a line comes while its end is on the way.
    const first = "live" in document.body.dataset;
    if (first && (ended || layout === "needs" && stood !== "needs")) tellThem(fresh);
    if (ended) { stream?.close(); stream = null; document.body.removeAttribute("data-live"); say("ended", "ended"); tell?.remove(); }
  };

  // Tells a person who asked for it that the run is over or needs them.
  const tell = window.Notification && Notification.permission !== "denied" ? document.getElementById("tell") : null;
  let telling = false;
  const tellThem = (fresh) => {
    if (telling) new Notification(fresh.title, {body: fresh.querySelector("h1")?.textContent ?? "", tag: location.pathname});
  };
  if (tell) {
    const show = () => tell.setAttribute("aria-pressed", String(telling));
    telling = Notification.permission === "granted" && sessionStorage.getItem("tell") === "yes";
    show();
    tell.addEventListener("click", async () => {
      telling = !telling && await Notification.requestPermission() === "granted";
      sessionStorage.setItem("tell", telling ? "yes" : "no");
      show();
    });
  } else document.getElementById("tell")?.remove();

  // Clocks go on between two updates.
  const units = [[1, "s"], [60, "min"], [3600, "h"]];
  const spell = (seconds) => {
    const [size, unit] = units.findLast(([n]) => seconds >= n) ?? units[0];
    return `${Math.floor(seconds / size)} ${unit}`;
  };
  const write = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const tick = () => {
    const skew = Date.now() - loaded;
    for (const t of document.querySelectorAll("time[datetime]")) {
      const gone = (asOf + skew - Date.parse(t.dateTime)) / 1000;
      if (gone >= 0 && gone < 48 * 3600) write(t, spell(gone) + " ago");
    }
    for (const t of document.querySelectorAll("[data-since]")) write(t, spell(Math.max(0, (asOf + skew - Date.parse(t.dataset.since)) / 1000)));
  };

  const ask = async () => {
    if (asking) { again = true; return; }
    asking = true;
    let pause = 250;
    do {
      again = false;
      try {
        const answer = await fetch(location.href, {cache: "no-store", headers: {Accept: "text/html"}});
        if (answer.status === 401) say("open the address that the server printed", "lost");
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
      say("the server is gone: trying again", "lost");
      if (stream.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
      stream = null;
      await ask(); // it says why, where the server is there
      await later(2000);
      follow();
    });
  };
  // A tab that nobody sees follows nothing: browsers open six connections to a
  // server and no more. One that is to tell somebody looks now and then.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { stream?.close(); stream = null; say("paused", "lost"); }
    else { follow(); ask(); }
  });
  setInterval(() => { if (document.hidden && telling && document.body.dataset.live) ask(); }, 5000);
  setInterval(() => {
    if (document.hidden) return;
    tick();
    if (stream && Date.now() - heard > 7000 && note.dataset.state === "live") say("the server does not answer", "lost");
  }, 1000);
  follow();
})();
