/**
 * The part of the page's script that shows things. Texts reach the document as text nodes only; what is
 * shown is named by the address's fragment, so that back and forward work.
 */
export const scriptView = String.raw`
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

// ---- Forms

const control = (input, props) => {
  if (input.kind === "choice" || input.kind === "boolean") {
    const choices = input.kind === "boolean" ? [true, false] : input.choices;
    return h("select", props, h("option", { value: "" }, ""), choices.map((choice) =>
      h("option", { value: JSON.stringify(choice) }, String(choice))));
  }
  if (input.kind === "json") return h("textarea", { ...props, rows: "1", spellcheck: "false", placeholder: "JSON" });
  if (props.multiline) return h("textarea", { ...props, multiline: null, rows: "1" });
  const mode = input.kind === "integer" ? "numeric" : input.kind === "number" ? "decimal" : undefined;
  return h("input", { ...props, multiline: null, type: "text", inputmode: mode, autocomplete: "off" });
};

// A label with its control; text() is what was entered, fault(words) says what is wrong with it.
const field = (input, label, { multiline = false, hint = "", value = "" } = {}) => {
  ids += 1;
  const id = "field-" + ids;
  const element = control(input, { id, multiline, "aria-describedby": id + "-hint", required: input.required });
  element.value = value;
  const words = h("small", { id: id + "-hint" }, hint);
  const box = h("div", { class: "field" },
    h("label", { for: id }, label, input.required ? h("span", { class: "need", "aria-hidden": "true" }, " *") : ""),
    element, words);
  return {
    box, input, element,
    text: () => element.value,
    fault: (message) => {
      element.setAttribute("aria-invalid", message === undefined ? "false" : "true");
      words.className = message === undefined ? "" : "fault";
      words.textContent = message ?? hint;
    },
  };
};

const exampleText = (example) =>
  example === undefined ? "" : "For example " + [example].flat().map(logic.textOf).join(", ");

const parameterFields = (route, values) =>
  route.parameters
    .filter((parameter) => !logic.isPageParameter(route, parameter))
    .map((parameter) => {
      const hint = [parameter.description, parameter.repeated ? "One per line." : "", exampleText(parameter.example)];
      const asText = (text) => {
        if (parameter.kind !== "choice" || parameter.repeated) return text;
        const choice = parameter.choices.find((one) => String(one) === text);
        return choice === undefined ? "" : JSON.stringify(choice);
      };
      const key = parameter.in + ":" + parameter.name;
      const shown = (own(values, key) ?? []).map(asText).join("\n");
      const input = parameter.repeated ? { ...parameter, kind: "text" } : parameter;
      const made = field(input, parameter.name, {
        multiline: parameter.repeated, hint: hint.filter((part) => part).join(" "), value: shown,
      });
      const toTexts = () => {
        if (parameter.repeated) return made.text().split("\n").map((text) => text.trim());
        const isChoice = parameter.kind === "choice" && made.text() !== "";
        return [isChoice ? String(JSON.parse(made.text())) : made.text()];
      };
      return { ...made, key, toTexts };
    });

const valuesOf = (fields) =>
  Object.fromEntries(fields.map(({ key, toTexts }) => [key, toTexts().filter((text) => text !== "")])
    .filter(([, texts]) => texts.length > 0));

const bodyEditor = (route, row) => {
  if (route.body === null) return null;
  const inputs = logic.bodyInputs(route);
  const isUpdate = route.action === "update";
  const fields = inputs.map((input) => {
    const was = row === undefined || !isUpdate ? undefined : logic.at(row, input.field);
    const value = logic.showInput(input, was);
    const hint = input.kind === "integer" ? "Whole number" : input.kind === "number" ? "Number" : "";
    return { ...field(input, input.from.join("."), { multiline: input.kind === "text", hint, value }), first: value };
  });
  // Of a row that is changed, only what differs is sent.
  const changed = () => fields.filter(({ first, text }) => first === "" || text() !== first);
  const made = (some) => logic.bodyOfFields(some.map(({ input, text }) => [input, text()]));
  const code = h("textarea", { class: "code", spellcheck: "false", "aria-label": "Body as JSON" });
  const fault = h("small", { class: "fault" });
  const codeBox = h("div", { class: "field wide" }, code, fault);
  const fieldBox = h("div", { class: "fields" }, fields.map(({ box }) => box));
  let asJson = fields.length === 0;
  const toggle = h("button", {
    type: "button",
    onclick: () => {
      asJson = !asJson;
      if (asJson) code.value = JSON.stringify(made(fields).body, null, 2);
      show();
    },
  }, "Edit as JSON");
  const show = () => {
    fieldBox.hidden = asJson;
    codeBox.hidden = !asJson;
    toggle.setAttribute("aria-pressed", String(asJson));
  };
  if (asJson) code.value = route.body.kind === "any" ? "" : "{}";
  show();
  const readCode = () => {
    fault.textContent = "";
    if (code.value.trim() === "") return {};
    try {
      return { body: JSON.parse(code.value) };
    } catch (error) {
      fault.textContent = "This is not valid JSON: " + error.message;
      return { isFaulty: true };
    }
  };
  const readFields = () => {
    const { body, faults } = made(changed());
    for (const one of fields) one.fault(faults.get(one.input));
    return faults.size > 0 ? { isFaulty: true } : { body };
  };
  const element = h("fieldset", {},
    h("legend", {}, "Body"),
    fieldBox, codeBox,
    fields.length === 0 ? "" : h("div", { class: "row" }, toggle));
  return { element, read: () => (asJson ? readCode() : readFields()) };
};

// ---- Requests

const send = async (route, url, body) => {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: route.method,
    credentials: "same-origin",
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let value = text;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    value = text;
  }
  const header = (name) => (name === undefined || name === null ? null : response.headers.get(name));
  return { status: response.status, isGood: response.ok, value, header, ms: Math.round(performance.now() - startedAt) };
};

const failure = (title, words, value) =>
  h("div", { class: "panel error", role: "alert" },
    h("h2", {}, title),
    words === undefined ? "" : h("p", {}, words),
    value === undefined || value === words ? "" : h("pre", { tabindex: "0" }, typeof value === "string" ? value : JSON.stringify(value, null, 2)));

const countWords = (answer) => {
  const count = answer.rows.length;
  if (answer.first !== undefined && count > 0) {
    const range = answer.first + " to " + (answer.first + count - 1);
    return answer.total === undefined ? "Rows " + range : "Rows " + range + " of " + answer.total;
  }
  const words = count === 1 ? "1 row" : count + " rows";
  return answer.total === undefined || answer.total === count ? words : words + " of " + answer.total;
};

const pageButtons = (route, answer, values) => {
  if (route.page === "none") return "";
  const key = logic.toHash(route, Object.fromEntries(Object.entries(values).filter(([name]) => name !== "query:" + world.paging.cursorParam)));
  if (trail.key !== key) trail = { key, marks: [] };
  const here = own(values, "query:" + world.paging.cursorParam) ?? [];
  const step = (target, marks) => () => {
    trail = { key, marks };
    const moved = Object.fromEntries(Object.entries(target).map(([name, text]) => ["query:" + name, [text]]));
    location.hash = logic.toHash(route, { ...values, ...moved });
  };
  const isCursor = route.page === "cursor";
  const back = isCursor && trail.marks.length > 0
    ? step({ [world.paging.cursorParam]: trail.marks.at(-1) }, trail.marks.slice(0, -1))
    : answer.previous && step(answer.previous, []);
  const ahead = answer.next && step(answer.next, isCursor ? [...trail.marks, here[0] ?? ""] : []);
  const button = (label, go) => h("button", { type: "button", disabled: !go, onclick: go || undefined }, label);
  return h("div", { class: "row push", role: "group", "aria-label": "Pages" }, button("Previous", back), button("Next", ahead));
};

const showAnswer = (route, values, response) => {
  const { status, isGood, value, header, ms } = response;
  const tag = h("span", { class: isGood ? "tag" : "tag bad" }, String(status));
  const took = h("span", { class: "faint" }, ms + " ms");
  if (!isGood) {
    announce("The API refused: " + status);
    return [failure("The API refused: " + status, logic.errorWords(value), value)];
  }
  if (value === undefined) {
    announce("Done");
    return [h("div", { class: "head" }, tag, "Done.", took)];
  }
  const answer = logic.readAnswer(route, value, header, values);
  if (answer.rows !== undefined) {
    announce(countWords(answer));
    return [
      h("div", { class: "head" }, tag, h("span", {}, countWords(answer)), took, pageButtons(route, answer, values)),
      rowsTable(route, answer.rows),
      rawJson(value),
    ];
  }
  announce("Done");
  const near = isObject(answer.value) ? logic.routesForRow(route, answer.value) : [];
  const links = near.map((other) => h("a", {
    href: logic.toHash(other.route, other.values),
    onclick: () => { prefill = { operation: other.route.operation, row: answer.value }; },
  }, other.route.operation));
  return [
    h("div", { class: "head" }, tag, took, links),
    h("div", { class: "panel" }, tree(answer.value)),
    rawJson(value),
  ];
};

// ---- Views

const pathWords = (route) =>
  route.segments.length === 0 ? "/" : route.segments.flatMap((segment) => [
    "/", own(segment, "literal") ?? h("b", {}, "{" + segment.argument + "}"),
  ]);

const submitLabel = { read: "Show", create: "Create", update: "Save", delete: "Delete", handler: "Send" };

const renderRoute = (route, values) => {
  const row = prefill !== null && prefill.operation === route.operation ? prefill.row : undefined;
  prefill = null;
  const isRead = route.method === "GET";
  const parameters = parameterFields(route, values);
  const body = bodyEditor(route, row);
  const results = h("section", { class: "answer", "aria-label": "Answer" });
  const label = isRead ? "Show" : submitLabel[route.action];
  const button = h("button", { type: "submit", class: route.action === "delete" ? "danger" : "main" }, label);

  const run = async (given) => {
    const { faults, url } = logic.requestUrl(route, given);
    for (const one of parameters) one.fault(own(faults, one.key));
    const read = body === null ? {} : body.read();
    if (Object.keys(faults).length > 0 || read.isFaulty) return;
    current += 1;
    const turn = current;
    results.setAttribute("aria-busy", "true");
    button.disabled = true;
    const shown = await send(route, url, read.body).then(
      (response) => showAnswer(route, given, response),
      (error) => [failure("The API did not answer", error.message)],
    );
    button.disabled = false;
    results.removeAttribute("aria-busy");
    if (turn === current) results.replaceChildren(...shown);
  };

  const onsubmit = (event) => {
    event.preventDefault();
    const given = valuesOf(parameters);
    if (route.action === "delete" && !confirm("Delete for good?")) return;
    if (!isRead) { run(given); return; }
    const hash = logic.toHash(route, given);
    if (hash === location.hash) run(given);
    else location.hash = hash;
  };

  const isBare = parameters.length === 0 && body === null;
  main.replaceChildren(
    h("div", { class: "title" },
      h("h1", {}, route.operation),
      h("div", { class: "path" }, method(route), h("span", {}, pathWords(route))),
      h("p", { class: "faint" }, route.summary)),
    h("form", { class: isBare ? "" : "panel", novalidate: true, onsubmit },
      parameters.length === 0 ? "" : h("div", { class: "fields" }, parameters.map(({ box }) => box)),
      body === null ? "" : body.element,
      h("div", { class: "row" }, button)),
    results);
  const isReady = route.parameters.every(({ name, in: place, required }) =>
    !required || (own(values, place + ":" + name) ?? []).length > 0);
  if (isRead && isReady) run(values);
};

const inputWords = (input) =>
  input.kind === "choice" ? input.choices.map(String).join(" or ") : input.kind === "json" ? (input.of ?? "anything") : input.kind;

const renderEntity = (entity) => {
  const routes = world.routes.filter((route) => route.entity === entity.name);
  const marks = (field) => [
    ...(entity.key.includes(field.name) ? ["key"] : []),
    ...entity.references.filter(({ fields }) => fields.includes(field.name))
      .map(({ target }) => h("a", { href: entityHash(target) }, target)),
  ];
  main.replaceChildren(
    h("div", { class: "title" },
      h("h1", {}, entity.name),
      h("p", { class: "faint" }, "Key: ", h("code", {}, entity.key.join(", ")))),
    routes.length === 0 ? "" : h("div", { class: "cards" }, h("section", { class: "panel" },
      h("h2", {}, "Routes"), h("ul", {}, routes.map(routeLink)))),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Field", "Type", "Required", "Nullable", "Marks"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, entity.fields.map((field) => h("tr", {},
        h("td", {}, h("code", {}, field.name)),
        h("td", {}, inputWords(field)),
        h("td", {}, field.required ? "yes" : h("span", { class: "faint" }, "no")),
        h("td", {}, field.nullable ? "yes" : h("span", { class: "faint" }, "no")),
        h("td", {}, marks(field).flatMap((mark, index) => (index === 0 ? [mark] : [", ", mark])))))))));
};

const renderHome = () => {
  const groups = navGroups().filter(({ routes, entity }) => routes.length > 0 || entity !== null);
  main.replaceChildren(
    h("div", { class: "title" },
      h("h1", {}, world.title),
      h("p", { class: "faint" }, world.routes.length === 0
        ? "This world serves no routes. These are its entities."
        : "Choose what to look at.")),
    h("div", { class: "cards" }, groups.map(({ entity, routes }) => h("section", { class: "panel" },
      h("h2", {}, entity === null ? "Other routes" : h("a", { href: entityHash(entity.name) }, entity.name)),
      entity === null ? "" : h("p", { class: "faint" }, entity.fields.length + (entity.fields.length === 1 ? " field" : " fields")),
      h("ul", {}, routes.filter(({ method: verb }) => verb === "GET").map(routeLink))))));
};

const render = () => {
  const { kind, name, values } = logic.fromHash(location.hash);
  if (location.hash === "#main") return;
  current += 1;
  const route = kind === "route" ? routeNamed.get(name) : undefined;
  const entity = kind === "entity" ? entityNamed.get(name) : undefined;
  markNav(kind, name);
  if (route !== undefined) renderRoute(route, values);
  else if (entity !== undefined) renderEntity(entity);
  else renderHome();
  document.title = kind === "home" ? world.title : name + " · " + world.title;
};

renderNav();
filter.addEventListener("input", filterNav);
addEventListener("hashchange", () => { render(); main.focus({ preventScroll: true }); });
render();
`;
