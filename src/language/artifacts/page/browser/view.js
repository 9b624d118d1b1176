/**
 * The part of the page's script that puts a view together. What is shown is named by the fragment of
 * the page's address, so that back and forward work.
 */
import { bodyEditor, failure, parameterFields, send, showAnswer, valuesOf } from './forms.js';
import {
  entityHash,
  entityNamed,
  filter,
  filterNav,
  h,
  logic,
  main,
  markNav,
  method,
  navGroups,
  own,
  renderNav,
  routeLink,
  routeNamed,
  takePrefill,
  world,
} from './show.js';

// Counts what was asked for, so that a late answer does not replace a newer one.
let current = 0;

// ---- Views

const pathWords = (route) =>
  route.segments.length === 0
    ? '/'
    : route.segments.flatMap((segment) => [
        '/',
        ...logic
          .partsOf(segment)
          .map(
            (part) =>
              own(part, 'literal') ??
              h('b', {}, `{${part.argument}${segment.rest === true ? '...' : ''}}`),
          ),
      ]);

const submitLabel = {
  read: 'Show',
  create: 'Create',
  update: 'Save',
  delete: 'Delete',
  handler: 'Send',
};

const renderRoute = (route, values) => {
  const row = takePrefill(route.operation);
  const isRead = route.method === 'GET';
  const parameters = parameterFields(route, values);
  const body = bodyEditor(route, row);
  const results = h('section', { class: 'answer', 'aria-label': 'Answer' });
  const label = isRead ? 'Show' : submitLabel[route.action];
  const button = h(
    'button',
    { type: 'submit', class: route.action === 'delete' ? 'danger' : 'main' },
    label,
  );

  const run = async (given) => {
    const { faults, url } = logic.requestUrl(route, given);
    for (const one of parameters) one.fault(own(faults, one.key));
    const read = body === null ? {} : body.read();
    if (Object.keys(faults).length > 0 || read.isFaulty) return;
    current += 1;
    const turn = current;
    results.setAttribute('aria-busy', 'true');
    button.disabled = true;
    const shown = await send(route, url, read.body).then(
      (response) => showAnswer(route, given, response),
      (error) => [failure('The API did not answer', error.message)],
    );
    button.disabled = false;
    results.removeAttribute('aria-busy');
    if (turn === current) results.replaceChildren(...shown);
  };

  const onsubmit = (event) => {
    event.preventDefault();
    const given = valuesOf(parameters);
    if (route.action === 'delete' && !confirm('Delete for good?')) return;
    if (!isRead) {
      run(given);
      return;
    }
    const hash = logic.toHash(route, given);
    if (hash === location.hash) run(given);
    else location.hash = hash;
  };

  const isBare = parameters.length === 0 && body === null;
  main.replaceChildren(
    h(
      'div',
      { class: 'title' },
      h('h1', {}, route.operation),
      h('div', { class: 'path' }, method(route), h('span', {}, pathWords(route))),
      h('p', { class: 'faint' }, route.summary),
    ),
    h(
      'form',
      { class: isBare ? '' : 'panel', novalidate: true, onsubmit },
      parameters.length === 0
        ? ''
        : h(
            'div',
            { class: 'fields' },
            parameters.map(({ box }) => box),
          ),
      body === null ? '' : body.element,
      h('div', { class: 'row' }, button),
    ),
    results,
  );
  const isReady = route.parameters.every(
    ({ name, in: place, required }) =>
      !required || (own(values, `${place}:${name}`) ?? []).length > 0,
  );
  if (isRead && isReady) run(values);
};

const inputWords = (input) =>
  input.kind === 'choice'
    ? input.choices.map(String).join(' or ')
    : input.kind === 'json'
      ? (input.of ?? 'anything')
      : input.kind;

const renderEntity = (entity) => {
  const routes = world.routes.filter((route) => route.entity === entity.name);
  const marks = (field) => [
    ...(entity.key.includes(field.name) ? ['key'] : []),
    ...entity.references
      .filter(({ fields }) => fields.includes(field.name))
      .map(({ target }) => h('a', { href: entityHash(target) }, target)),
  ];
  main.replaceChildren(
    h(
      'div',
      { class: 'title' },
      h('h1', {}, entity.name),
      h('p', { class: 'faint' }, 'Key: ', h('code', {}, entity.key.join(', '))),
    ),
    routes.length === 0
      ? ''
      : h(
          'div',
          { class: 'cards' },
          h(
            'section',
            { class: 'panel' },
            h('h2', {}, 'Routes'),
            h('ul', {}, routes.map(routeLink)),
          ),
        ),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Fields' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ['Field', 'Type', 'Required', 'Nullable', 'Marks'].map((name) =>
              h('th', { scope: 'col' }, name),
            ),
          ),
        ),
        h(
          'tbody',
          {},
          entity.fields.map((field) =>
            h(
              'tr',
              {},
              h('td', {}, h('code', {}, field.name)),
              h('td', {}, inputWords(field)),
              h('td', {}, field.required ? 'yes' : h('span', { class: 'faint' }, 'no')),
              h('td', {}, field.nullable ? 'yes' : h('span', { class: 'faint' }, 'no')),
              h(
                'td',
                {},
                marks(field).flatMap((mark, index) => (index === 0 ? [mark] : [', ', mark])),
              ),
            ),
          ),
        ),
      ),
    ),
  );
};

const renderHome = () => {
  const groups = navGroups().filter(({ routes, entity }) => routes.length > 0 || entity !== null);
  main.replaceChildren(
    h(
      'div',
      { class: 'title' },
      h('h1', {}, world.title),
      h(
        'p',
        { class: 'faint' },
        world.routes.length === 0
          ? 'This world serves no routes. These are its entities.'
          : 'Choose what to look at.',
      ),
    ),
    h(
      'div',
      { class: 'cards' },
      groups.map(({ entity, routes }) =>
        h(
          'section',
          { class: 'panel' },
          h(
            'h2',
            {},
            entity === null
              ? 'Other routes'
              : h('a', { href: entityHash(entity.name) }, entity.name),
          ),
          entity === null
            ? ''
            : h(
                'p',
                { class: 'faint' },
                entity.fields.length + (entity.fields.length === 1 ? ' field' : ' fields'),
              ),
          h('ul', {}, routes.filter(({ method: verb }) => verb === 'GET').map(routeLink)),
        ),
      ),
    ),
  );
};

const render = () => {
  const { kind, name, values } = logic.fromHash(location.hash);
  if (location.hash === '#main') return;
  current += 1;
  const route = kind === 'route' ? routeNamed.get(name) : undefined;
  const entity = kind === 'entity' ? entityNamed.get(name) : undefined;
  markNav(kind, name);
  if (route !== undefined) renderRoute(route, values);
  else if (entity !== undefined) renderEntity(entity);
  else renderHome();
  document.title = kind === 'home' ? world.title : `${name} · ${world.title}`;
};

renderNav();
filter.addEventListener('input', filterNav);
addEventListener('hashchange', () => {
  render();
  main.focus({ preventScroll: true });
});
render();
