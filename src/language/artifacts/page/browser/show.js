/**
 * The part of the page's script that shows what there is: the navigation, values, and rows. Texts reach
 * the document as text nodes only.
 */
import { logicOf } from './logic.js';

/**
 * An element of the page as html.ts writes it, of the class that it has there.
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
const elementAt = (id, kind) => {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${id}`);
};

/** @type {import('../model.ts').PageModel} */
export const world = JSON.parse(elementAt('world', HTMLScriptElement).text);
export const logic = logicOf(world);
export const { own, isObject } = logic;
export const main = elementAt('main', HTMLElement);
const nav = elementAt('nav', HTMLElement);
export const filter = elementAt('filter', HTMLInputElement);
const detail = elementAt('detail', HTMLDialogElement);
const status = elementAt('status', HTMLElement);
export const routeNamed = new Map(world.routes.map((route) => [route.operation, route]));
export const entityNamed = new Map(world.entities.map((entity) => [entity.name, entity]));

/**
 * A row that the form of an operation is to begin with.
 * @type {{ operation: string, row: any } | null}
 */
let prefill = null;

export const prefillForm = (operation, row) => {
  prefill = { operation, row };
};

/** The row that the form of an operation begins with, once; none when the form of another is opened. */
export const takePrefill = (operation) => {
  const row = prefill !== null && prefill.operation === operation ? prefill.row : undefined;
  prefill = null;
  return row;
};

export const h = (tag, props, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.className = value;
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== ''),
  );
  return element;
};

export const announce = (text) => {
  status.textContent = text;
};
export const method = (route) => h('span', { class: `method ${route.method}` }, route.method);

// ---- Navigation

const writes = (route) => (route.method === 'GET' ? 0 : 1);
export const navGroups = () => {
  const groups = world.entities.map((entity) => ({
    entity,
    routes: world.routes.filter((route) => route.entity === entity.name),
  }));
  const others = world.routes.filter(
    (route) => route.entity === null || !entityNamed.has(route.entity),
  );
  return others.length === 0 ? groups : [...groups, { entity: null, routes: others }];
};

export const routeLink = (route) =>
  h(
    'li',
    { 'data-find': `${route.operation} ${route.path} ${route.entity ?? ''}`.toLowerCase() },
    h(
      'a',
      { class: 'link', href: logic.toHash(route), title: `${route.method} ${route.path}` },
      method(route),
      h('span', {}, route.operation),
    ),
  );

export const entityHash = (name) => `#entity/${encodeURIComponent(name)}`;

export const renderNav = () => {
  nav.replaceChildren(
    ...navGroups().map(({ entity, routes }) =>
      h(
        'section',
        { class: 'group', 'data-find': entity === null ? '' : entity.name.toLowerCase() },
        h(
          'h2',
          {},
          entity === null ? 'Other routes' : h('a', { href: entityHash(entity.name) }, entity.name),
        ),
        h('ul', {}, [...routes].sort((a, b) => writes(a) - writes(b)).map(routeLink)),
      ),
    ),
  );
};

export const filterNav = () => {
  const wanted = filter.value.trim().toLowerCase();
  /** @param {HTMLElement} element */
  const isFound = (element) => (element.dataset.find ?? '').includes(wanted);
  /** @type {NodeListOf<HTMLElement>} */
  const groups = nav.querySelectorAll('.group');
  for (const group of groups) {
    /** @type {HTMLElement[]} */
    const items = [...group.querySelectorAll('li')];
    for (const item of items) item.hidden = !isFound(item);
    const isAny = items.some((item) => !item.hidden);
    group.hidden = wanted !== '' && !isAny && !isFound(group);
  }
};

export const markNav = (kind, name) => {
  const wanted = kind === 'route' ? `#route/${encodeURIComponent(name)}` : entityHash(name);
  for (const link of nav.querySelectorAll('a')) {
    if (link.getAttribute('href') === wanted) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
};

// ---- Values

const scalar = (value) => {
  if (value === null) return h('span', { class: 'faint mono' }, 'null');
  if (typeof value === 'number' || typeof value === 'boolean') {
    return h('span', { class: 'number' }, String(value));
  }
  return document.createTextNode(String(value));
};

const longestCell = 160;
const mostChips = 6;

const cell = (value) => {
  if (value === undefined) return '';
  if (typeof value === 'string' && value.length > longestCell) {
    return h('span', { title: value.slice(0, 2000) }, `${value.slice(0, longestCell).trimEnd()}…`);
  }
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (!Array.isArray(value)) return h('span', {}, logic.shortOf(value));
  if (value.length === 0) return h('span', { class: 'faint' }, 'none');
  const chips = value
    .slice(0, mostChips)
    .map((item) => h('span', { class: 'chip' }, logic.shortOf(item).slice(0, 60)));
  return [
    ...chips,
    value.length > mostChips
      ? h('span', { class: 'faint' }, `and ${value.length - mostChips} more`)
      : '',
  ];
};

const deepest = 8;

export const tree = (value, depth = 0) => {
  if (typeof value !== 'object' || value === null)
    return value === '' ? h('span', { class: 'faint' }, 'empty') : scalar(value);
  if (depth >= deepest) return h('code', {}, JSON.stringify(value));
  if (Array.isArray(value)) {
    if (value.length === 0) return h('span', { class: 'faint' }, 'none');
    if (value.every((item) => typeof item !== 'object')) {
      return h(
        'span',
        {},
        value.map((item) => h('span', { class: 'chip' }, String(item))),
      );
    }
    return h(
      'ol',
      {},
      value.map((item) => h('li', {}, tree(item, depth + 1))),
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return h('span', { class: 'faint' }, 'empty');
  return h(
    'dl',
    {},
    entries.map(([key, inner]) => [h('dt', {}, key), h('dd', {}, tree(inner, depth + 1))]),
  );
};

export const rawJson = (value) =>
  h(
    'details',
    {},
    h('summary', {}, 'JSON'),
    h('pre', { tabindex: '0' }, JSON.stringify(value, null, 2)),
  );

// ---- A row by itself

const openRow = (route, row) => {
  const near = logic.routesForRow(route, row);
  const close = () => detail.close();
  detail.replaceChildren(
    h(
      'div',
      { class: 'inside' },
      h(
        'div',
        { class: 'top' },
        h('h2', { id: 'detail-title' }, logic.shortOf(row).slice(0, 200)),
        h('button', { type: 'button', onclick: close }, 'Close'),
      ),
      near.length === 0
        ? ''
        : h(
            'div',
            { class: 'row' },
            near.map((other) =>
              h(
                'button',
                {
                  type: 'button',
                  onclick: () => {
                    prefillForm(other.route.operation, row);
                    close();
                    location.hash = logic.toHash(other.route, other.values);
                  },
                },
                method(other.route),
                ' ',
                other.route.operation,
              ),
            ),
          ),
      tree(row),
      rawJson(row),
    ),
  );
  detail.showModal();
};
detail.addEventListener('click', (event) => {
  if (event.target === detail) detail.close();
});

export const rowsTable = (route, rows) => {
  if (rows.length === 0) return h('p', { class: 'panel faint' }, 'No rows.');
  const columns = logic.columnsOf(route, rows);
  const isPlain = columns.length === 0;
  const heads = isPlain ? ['value'] : columns;
  const opener = (row, content) =>
    h(
      'button',
      {
        class: 'plain',
        type: 'button',
        title: 'Show this row',
        onclick: () => openRow(route, row),
      },
      content,
    );
  const cells = (row) => {
    if (isPlain || !isObject(row))
      return heads.map((_, index) => h('td', {}, index === 0 ? cell(row) : ''));
    return columns.map((column, index) => {
      const value = own(row, column);
      const isShort = typeof value === 'string' || typeof value === 'number';
      return h(
        'td',
        {},
        index === 0
          ? opener(row, isShort && value !== '' ? String(value).slice(0, 60) : 'open')
          : cell(value),
      );
    });
  };
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Rows' },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          heads.map((name) => h('th', { scope: 'col' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map((row) => h('tr', {}, cells(row))),
      ),
    ),
  );
};
