(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("browser-data").textContent);
  const form = byId("browser"), list = byId("browser-list"), more = byId("browser-more"), who = byId("browser-who");
  const STEP = 20, MOST = 6;
  let found = [], shown = 0;

  const make = (tag, text, kind) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    return node;
  };
  const choice = (select, pairs) => {
    for (const [value, label] of pairs) {
      const option = make("option", label);
      option.value = value;
      select.append(option);
    }
    return select;
  };
  const labelled = (text, control) => {
    const label = make("label");
    label.append(make("span", text), control);
    return label;
  };

  const condition = (scorer, state) => {
    const row = make("div", undefined, "condition");
    const names = choice(make("select"), [["", "any contestant"], ...data.contestants.map((one) => [one.name, one.name])]);
    const states = choice(make("select"), data.states.map((one) => [one, one]));
    names.value = scorer || "";
    states.value = state || data.states[0];
    if (names.selectedIndex < 0) names.value = "";
    if (states.selectedIndex < 0) states.selectedIndex = 0;
    row.append(labelled("Contestant", names), labelled("was", states));
    who.append(row);
    byId("browser-add").disabled = who.children.length >= MOST;
  };

  const captionText = (item, at) => {
    const matching = item.m.map((_, image) => image).filter((image) => item.g[image] && item.g[image][at]);
    if (item.m.length === 1) return matching.length ? "matches" : "foil";
    return matching.length ? "matches image " + matching.map((image) => image + 1).join(", ") : "matches none";
  };
  const number = (value) => (value === null || value === undefined ? "–" : String(value));

  const scoreTable = (item) => {
    const table = make("table"), head = make("tr"), body = make("tbody"), top = make("thead");
    const places = item.m.flatMap((_, image) => item.c.map((_, caption) => [image, caption]));
    head.append(make("th", "contestant"), make("th", "was"));
    for (const [image, caption] of places) {
      head.append(make("th", (item.m.length > 1 ? "image " + (image + 1) + ", " : "") + "caption " + (caption + 1)));
    }
    for (const cell of head.children) cell.scope = "col";
    top.append(head);
    data.contestants.forEach((one, at) => {
      const state = data.states[item.o[at]], rows = item.v[at];
      if (state === undefined && !rows) return;
      const row = make("tr"), name = make("th");
      name.scope = "row";
      name.append(make("code", one.name));
      row.append(name, make("td", state || "–"));
      for (const [image, caption] of places) {
        const line = rows && (rows.length === 1 ? rows[0] : rows[image]);
        row.append(make("td", number(line && (line.length === 1 ? line[0] : line[caption]))));
      }
      body.append(row);
    });
    table.append(top, body);
    const frame = make("div", undefined, "scroll");
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Every score of " + item.i);
    frame.append(table);
    return frame;
  };

  const card = (item) => {
    const node = make("li", undefined, "case"), head = make("p", undefined, "case-head");
    head.append(make("code", item.i), make("span", data.subsets[item.s] || "(no subset)"));
    node.append(head);
    if (item.q) node.append(make("p", item.q, "small"));
    const captions = make("ol", undefined, "captions");
    item.c.forEach((text, at) => {
      const line = make("li"), said = captionText(item, at);
      line.append(make("bdi", text || "(no text)"), make("span", said, said.startsWith("matches") && said !== "matches none" ? "yes" : "no"));
      captions.append(line);
    });
    const badges = make("ul", undefined, "badges");
    data.contestants.forEach((one, at) => {
      const state = data.states[item.o[at]];
      if (!one.lead || state === undefined) return;
      const badge = make("li", undefined, "was-" + state.split(" ")[0]);
      badge.append(make("code", one.name), make("span", state));
      badges.append(badge);
    });
    const images = make("p", undefined, "small"), details = make("details");
    images.append(item.m.length > 1 ? "images " : "image ");
    item.m.forEach((key, at) => images.append(at ? ", " : "", make("code", key || "(none)")));
    details.append(make("summary", "Every score"));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(scoreTable(item));
    });
    node.append(captions, badges, images, details);
    return node;
  };

  const conditions = () => [...who.children].map((row) => [...row.querySelectorAll("select")].map((one) => one.value))
    .filter(([scorer]) => scorer);
  const show = () => {
    const end = Math.min(shown + STEP, found.length);
    list.append(...found.slice(shown, end).map(card));
    shown = end;
    more.hidden = shown >= found.length;
    byId("browser-count").textContent = found.length
      ? found.length.toLocaleString("en") + " of " + data.items.length.toLocaleString("en") + " match" + (shown < found.length ? "; the first " + shown + " are shown." : ".")
      : "No instance in this page matches.";
  };
  const matches = () => {
    const subset = form.elements.subset.value, words = form.elements.text.value.toLowerCase();
    const wanted = conditions().map(([scorer, state]) =>
      [data.contestants.findIndex((one) => one.name === scorer), String(data.states.indexOf(state))]);
    return data.items.filter((item) =>
      (subset === "" || String(item.s) === subset) &&
      wanted.every(([at, code]) => item.o[at] === code) &&
      (words === "" || [item.i, item.q || "", ...item.c, ...item.m].join("\n").toLowerCase().includes(words)));
  };
  const address = () => {
    const parts = new URLSearchParams();
    if (form.elements.subset.value !== "") parts.append("subset", data.subsets[form.elements.subset.value]);
    if (form.elements.text.value) parts.append("text", form.elements.text.value);
    for (const pair of conditions()) parts.append("who", pair.join("~"));
    return "#instances" + (parts.size ? "?" + parts : "");
  };
  const refresh = () => {
    found = matches();
    shown = 0;
    list.replaceChildren();
    show();
  };
  const changed = () => {
    try {
      history.replaceState(null, "", address());
    } catch (error) {
      // A page without an address of its own (a mail, a frame) filters all the same.
    }
    refresh();
  };
  const obey = () => {
    const [anchor, query] = location.hash.split(/\?(.*)/s);
    if (anchor !== "#instances" || !query) return;
    const parts = new URLSearchParams(query);
    form.elements.subset.value = String(data.subsets.indexOf(parts.get("subset")));
    if (form.elements.subset.selectedIndex < 0) form.elements.subset.value = "";
    form.elements.text.value = parts.get("text") || "";
    who.replaceChildren();
    for (const pair of parts.getAll("who").slice(0, MOST)) {
      const cut = pair.lastIndexOf("~");
      condition(pair.slice(0, cut), pair.slice(cut + 1));
    }
    while (who.children.length < 2) condition();
    refresh();
    byId("instances").scrollIntoView();
  };

  choice(form.elements.subset, [["", "all"], ...data.subsets.map((name, at) => [String(at), name || "(no subset)"])]);
  condition();
  condition();
  byId("browser-off").remove();
  form.hidden = false;
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  byId("browser-add").addEventListener("click", () => {
    condition();
    who.lastElementChild.querySelector("select").focus();
  });
  byId("browser-clear").addEventListener("click", () => {
    form.reset();
    who.replaceChildren();
    condition();
    condition();
    changed();
  });
  more.addEventListener("click", () => {
    const next = list.children.length;
    show();
    const first = list.children[next];
    if (first) {
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    }
  });
  addEventListener("hashchange", obey);
  refresh();
  obey();
})();
