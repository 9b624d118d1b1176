/**
 * The part of the page's script that shows what there is: the navigation, values, and rows. Texts reach
 * the document as text nodes only.
 */
export const scriptShow = `
const world = JSON.parse(document.getElementById("world").textContent);
const logic = logicOf(world);
const { own, isObject } = logic;
const main = document.getElementById("main");
const nav = document.getElementById("nav");
const filter = document.getElementById("filter");
const detail = document.getElementById("detail");
const routeNamed = new Map(world.routes.map((route) => [route.operation, route]));
const entityNamed = new Map(world.entities.map((entity) => [entity.name, entity]));

// A row that a form begins with, and the pages walked through, both for one route at a time.
let prefill = null;
let trail = { key: "", marks: [] };
let current = 0;
let ids = 0;

const h = (tag, props, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};

const announce = (text) => { document.getElementById("status").textContent = text; };
const method = (route) => h("span", { class: "method " + route.method }, route.method);

// ---- Navigation

const writes = (route) => (route.method === "GET" ? 0 : 1);
const navGroups = () => {
  const groups = world.entities.map((entity) => ({
    entity,
    routes: world.routes.filter((route) => route.entity === entity.name),
  }));
  const others = world.routes.filter((route) => !entityNamed.has(route.entity));
  return others.length === 0 ? groups : [...groups, { entity: null, routes: others }];
};

const routeLink = (route) =>
  h("li", {}, h("a", {
    class: "link", href: logic.toHash(route), title: route.method + " " + route.path,
    "data-find": (route.operation + " " + route.path + " " + (route.entity ?? "")).toLowerCase(),
  }, method(route), h("span", {}, route.operation)));

const entityHash = (name) => "#entity/" + encodeURIComponent(name);

const renderNav = () => {
  nav.replaceChildren(...navGroups().map(({ entity, routes }) =>
    h("section", { class: "group", "data-find": entity === null ? "" : entity.name.toLowerCase() },
      h("h2", {}, entity === null ? "Other routes" : h("a", { href: entityHash(entity.name) }, entity.name)),
      h("ul", {}, [...routes].sort((a, b) => writes(a) - writes(b)).map(routeLink)))));
};

const filterNav = () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const group of nav.children) {
    const links = [...group.querySelectorAll(".link")];
    for (const link of links) link.parentElement.hidden = !link.dataset.find.includes(wanted);
    const isAny = links.some((link) => !link.parentElement.hidden);
    group.hidden = wanted !== "" && !isAny && !group.dataset.find.includes(wanted);
  }
};

const markNav = (kind, name) => {
  const wanted = kind === "route" ? "#route/" + encodeURIComponent(name) : entityHash(name);
  for (const link of nav.querySelectorAll("a")) {
    if (link.getAttribute("href") === wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
};

// ---- Values

const scalar = (value) => {
  if (value === null) return h("span", { class: "faint mono" }, "null");
  if (typeof value === "number" || typeof value === "boolean") {
    return h("span", { class: "number" }, String(value));
  }
  return document.createTextNode(String(value));
};

const longestCell = 160;
const mostChips = 6;

const cell = (value) => {
  if (value === undefined) return "";
  if (typeof value === "string" && value.length > longestCell) {
    return h("span", { title: value.slice(0, 2000) }, value.slice(0, longestCell).trimEnd() + "…");
  }
  if (typeof value !== "object" || value === null) return scalar(value);
  if (!Array.isArray(value)) return h("span", {}, logic.shortOf(value));
  if (value.length === 0) return h("span", { class: "faint" }, "none");
  const chips = value.slice(0, mostChips).map((item) =>
    h("span", { class: "chip" }, logic.shortOf(item).slice(0, 60)));
  return [...chips, value.length > mostChips ? h("span", { class: "faint" }, "and " + (value.length - mostChips) + " more") : ""];
};

const deepest = 8;

const tree = (value, depth = 0) => {
  if (typeof value !== "object" || value === null) return value === "" ? h("span", { class: "faint" }, "empty") : scalar(value);
  if (depth >= deepest) return h("code", {}, JSON.stringify(value));
  if (Array.isArray(value)) {
    if (value.length === 0) return h("span", { class: "faint" }, "none");
    if (value.every((item) => typeof item !== "object")) {
      return h("span", {}, value.map((item) => h("span", { class: "chip" }, String(item))));
    }
    return h("ol", {}, value.map((item) => h("li", {}, tree(item, depth + 1))));
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return h("span", { class: "faint" }, "empty");
  return h("dl", {}, entries.map(([key, inner]) => [h("dt", {}, key), h("dd", {}, tree(inner, depth + 1))]));
};

const rawJson = (value) =>
  h("details", {}, h("summary", {}, "JSON"), h("pre", { tabindex: "0" }, JSON.stringify(value, null, 2)));

// ---- A row by itself

const openRow = (route, row) => {
  const near = logic.routesForRow(route, row);
  const close = () => detail.close();
  detail.replaceChildren(h("div", { class: "inside" },
    h("div", { class: "top" },
      h("h2", { id: "detail-title" }, logic.shortOf(row).slice(0, 200)),
      h("button", { type: "button", onclick: close }, "Close")),
    near.length === 0 ? "" : h("div", { class: "row" }, near.map((other) =>
      h("button", {
        type: "button",
        onclick: () => {
          prefill = { operation: other.route.operation, row };
          close();
          location.hash = logic.toHash(other.route, other.values);
        },
      }, method(other.route), " ", other.route.operation))),
    tree(row),
    rawJson(row)));
  detail.showModal();
};
detail.addEventListener("click", (event) => { if (event.target === detail) detail.close(); });

const rowsTable = (route, rows) => {
  if (rows.length === 0) return h("p", { class: "panel faint" }, "No rows.");
  const columns = logic.columnsOf(route, rows);
  const isPlain = columns.length === 0;
  const heads = isPlain ? ["value"] : columns;
  const opener = (row, content) =>
    h("button", { class: "plain", type: "button", title: "Show this row", onclick: () => openRow(route, row) }, content);
  const cells = (row) => {
    if (isPlain || !isObject(row)) return heads.map((_, index) => h("td", {}, index === 0 ? cell(row) : ""));
    return columns.map((column, index) => {
      const value = own(row, column);
      const isShort = typeof value === "string" || typeof value === "number";
      return h("td", {}, index === 0
        ? opener(row, isShort && value !== "" ? String(value).slice(0, 60) : "open")
        : cell(value));
    });
  };
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, h("table", {},
    h("thead", {}, h("tr", {}, heads.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row))))));
};
`;
