/**
 * The part of the page's script that asks: the forms of parameters and bodies, the requests made of
 * them, and what came back.
 */
import {
  announce,
  h,
  isObject,
  logic,
  own,
  prefillForm,
  rawJson,
  rowsTable,
  tree,
  world,
} from './show.js';

// Fields that were made, of which each has an identifier.
let ids = 0;

/**
 * The cursors of the pages walked through, for one route and its values at a time.
 * @type {{ key: string, marks: string[] }}
 */
let trail = { key: '', marks: [] };

// ---- Forms

const control = (input, props) => {
  if (input.kind === 'choice' || input.kind === 'boolean') {
    const choices = input.kind === 'boolean' ? [true, false] : input.choices;
    return h(
      'select',
      props,
      h('option', { value: '' }, ''),
      choices.map((choice) => h('option', { value: JSON.stringify(choice) }, String(choice))),
    );
  }
  if (input.kind === 'json')
    return h('textarea', { ...props, rows: '1', spellcheck: 'false', placeholder: 'JSON' });
  if (props.multiline) return h('textarea', { ...props, multiline: null, rows: '1' });
  const mode =
    input.kind === 'integer' ? 'numeric' : input.kind === 'number' ? 'decimal' : undefined;
  return h('input', {
    ...props,
    multiline: null,
    type: 'text',
    inputmode: mode,
    autocomplete: 'off',
  });
};

// A label with its control; text() is what was entered, fault(words) says what is wrong with it.
const field = (input, label, { multiline = false, hint = '', value = '' } = {}) => {
  ids += 1;
  const id = `field-${ids}`;
  const element = control(input, {
    id,
    multiline,
    'aria-describedby': `${id}-hint`,
    required: input.required,
  });
  element.value = value;
  const words = h('small', { id: `${id}-hint` }, hint);
  const box = h(
    'div',
    { class: 'field' },
    h(
      'label',
      { for: id },
      label,
      input.required ? h('span', { class: 'need', 'aria-hidden': 'true' }, ' *') : '',
    ),
    element,
    words,
  );
  return {
    box,
    input,
    element,
    text: () => element.value,
    fault: (message) => {
      element.setAttribute('aria-invalid', message === undefined ? 'false' : 'true');
      words.className = message === undefined ? '' : 'fault';
      words.textContent = message ?? hint;
    },
  };
};

const exampleText = (example) =>
  example === undefined ? '' : `For example ${[example].flat().map(logic.textOf).join(', ')}`;

export const parameterFields = (route, values) =>
  route.parameters
    .filter((parameter) => !logic.isPageParameter(route, parameter))
    .map((parameter) => {
      const hint = [
        parameter.description,
        parameter.repeated ? 'One per line.' : '',
        exampleText(parameter.example),
      ];
      const asText = (text) => {
        if (parameter.kind !== 'choice' || parameter.repeated) return text;
        const choice = parameter.choices.find((one) => String(one) === text);
        return choice === undefined ? '' : JSON.stringify(choice);
      };
      const key = `${parameter.in}:${parameter.name}`;
      const shown = (own(values, key) ?? []).map(asText).join('\n');
      const input = parameter.repeated ? { ...parameter, kind: 'text' } : parameter;
      const made = field(input, parameter.name, {
        multiline: parameter.repeated,
        hint: hint.filter((part) => part).join(' '),
        value: shown,
      });
      const toTexts = () => {
        if (parameter.repeated)
          return made
            .text()
            .split('\n')
            .map((text) => text.trim());
        const isChoice = parameter.kind === 'choice' && made.text() !== '';
        return [isChoice ? String(JSON.parse(made.text())) : made.text()];
      };
      return { ...made, key, toTexts };
    });

export const valuesOf = (fields) =>
  Object.fromEntries(
    fields
      .map(({ key, toTexts }) => [key, toTexts().filter((text) => text !== '')])
      .filter(([, texts]) => texts.length > 0),
  );

export const bodyEditor = (route, row) => {
  if (route.body === null) return null;
  const inputs = logic.bodyInputs(route);
  const isUpdate = route.action === 'update';
  const fields = inputs.map((input) => {
    const was = row === undefined || !isUpdate ? undefined : logic.at(row, input.field);
    const value = logic.showInput(input, was);
    const hint =
      input.kind === 'integer' ? 'Whole number' : input.kind === 'number' ? 'Number' : '';
    return {
      ...field(input, input.from.join('.'), { multiline: input.kind === 'text', hint, value }),
      first: value,
    };
  });
  // Of a row that is changed, only what differs is sent.
  const changed = () => fields.filter(({ first, text }) => first === '' || text() !== first);
  const made = (some) => logic.bodyOfFields(some.map(({ input, text }) => [input, text()]));
  const code = h('textarea', { class: 'code', spellcheck: 'false', 'aria-label': 'Body as JSON' });
  const fault = h('small', { class: 'fault' });
  const codeBox = h('div', { class: 'field wide' }, code, fault);
  const fieldBox = h(
    'div',
    { class: 'fields' },
    fields.map(({ box }) => box),
  );
  let asJson = fields.length === 0;
  const toggle = h(
    'button',
    {
      type: 'button',
      onclick: () => {
        asJson = !asJson;
        if (asJson) code.value = JSON.stringify(made(fields).body, null, 2);
        show();
      },
    },
    'Edit as JSON',
  );
  const show = () => {
    fieldBox.hidden = asJson;
    codeBox.hidden = !asJson;
    toggle.setAttribute('aria-pressed', String(asJson));
  };
  if (asJson) code.value = route.body.kind === 'any' ? '' : '{}';
  show();
  const readCode = () => {
    fault.textContent = '';
    if (code.value.trim() === '') return {};
    try {
      return { body: JSON.parse(code.value) };
    } catch (error) {
      fault.textContent = `This is not valid JSON: ${error instanceof Error ? error.message : error}`;
      return { isFaulty: true };
    }
  };
  const readFields = () => {
    const { body, faults } = made(changed());
    for (const one of fields) one.fault(faults.get(one.input));
    return faults.size > 0 ? { isFaulty: true } : { body };
  };
  const element = h(
    'fieldset',
    {},
    h('legend', {}, 'Body'),
    fieldBox,
    codeBox,
    fields.length === 0 ? '' : h('div', { class: 'row' }, toggle),
  );
  return { element, read: () => (asJson ? readCode() : readFields()) };
};

// ---- Requests

export const send = async (route, url, body) => {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: route.method,
    credentials: 'same-origin',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let value = text;
  try {
    value = text === '' ? undefined : JSON.parse(text);
  } catch {
    value = text;
  }
  const header = (name) =>
    name === undefined || name === null ? null : response.headers.get(name);
  return {
    status: response.status,
    isGood: response.ok,
    value,
    header,
    ms: Math.round(performance.now() - startedAt),
  };
};

export const failure = (title, words, value) =>
  h(
    'div',
    { class: 'panel error', role: 'alert' },
    h('h2', {}, title),
    words === undefined ? '' : h('p', {}, words),
    value === undefined || value === words
      ? ''
      : h(
          'pre',
          { tabindex: '0' },
          typeof value === 'string' ? value : JSON.stringify(value, null, 2),
        ),
  );

const countWords = (answer) => {
  const count = answer.rows.length;
  if (answer.first !== undefined && count > 0) {
    const range = `${answer.first} to ${answer.first + count - 1}`;
    return answer.total === undefined ? `Rows ${range}` : `Rows ${range} of ${answer.total}`;
  }
  const words = count === 1 ? '1 row' : `${count} rows`;
  return answer.total === undefined || answer.total === count
    ? words
    : `${words} of ${answer.total}`;
};

const pageButtons = (route, answer, values) => {
  const { paging } = world;
  if (route.page === 'none' || paging === null) return '';
  const key = logic.toHash(
    route,
    Object.fromEntries(
      Object.entries(values).filter(([name]) => name !== `query:${paging.cursorParam}`),
    ),
  );
  if (trail.key !== key) trail = { key, marks: [] };
  const here = own(values, `query:${paging.cursorParam}`) ?? [];
  const step = (target, marks) => () => {
    trail = { key, marks };
    const moved = Object.fromEntries(
      Object.entries(target).map(([name, text]) => [`query:${name}`, [text]]),
    );
    location.hash = logic.toHash(route, { ...values, ...moved });
  };
  const isCursor = route.page === 'cursor';
  const back =
    isCursor && trail.marks.length > 0
      ? step({ [paging.cursorParam]: trail.marks.at(-1) }, trail.marks.slice(0, -1))
      : answer.previous && step(answer.previous, []);
  const ahead = answer.next && step(answer.next, isCursor ? [...trail.marks, here[0] ?? ''] : []);
  const button = (label, go) =>
    h('button', { type: 'button', disabled: !go, onclick: go || undefined }, label);
  return h(
    'div',
    { class: 'row push', role: 'group', 'aria-label': 'Pages' },
    button('Previous', back),
    button('Next', ahead),
  );
};

export const showAnswer = (route, values, response) => {
  const { status, isGood, value, header, ms } = response;
  const tag = h('span', { class: isGood ? 'tag' : 'tag bad' }, String(status));
  const took = h('span', { class: 'faint' }, `${ms} ms`);
  if (!isGood) {
    announce(`The API refused: ${status}`);
    return [failure(`The API refused: ${status}`, logic.errorWords(value), value)];
  }
  if (value === undefined) {
    announce('Done');
    return [h('div', { class: 'head' }, tag, 'Done.', took)];
  }
  const answer = logic.readAnswer(route, value, header, values);
  if (answer.rows !== undefined) {
    announce(countWords(answer));
    return [
      h(
        'div',
        { class: 'head' },
        tag,
        h('span', {}, countWords(answer)),
        took,
        pageButtons(route, answer, values),
      ),
      rowsTable(route, answer.rows),
      rawJson(value),
    ];
  }
  announce('Done');
  const near = isObject(answer.value) ? logic.routesForRow(route, answer.value) : [];
  const links = near.map((other) =>
    h(
      'a',
      {
        href: logic.toHash(other.route, other.values),
        onclick: () => {
          prefillForm(other.route.operation, answer.value);
        },
      },
      other.route.operation,
    ),
  );
  return [
    h('div', { class: 'head' }, tag, took, links),
    h('div', { class: 'panel' }, tree(answer.value)),
    rawJson(value),
  ];
};
