/**
 * The part of the page's script that touches no document: it reads what was entered, makes requests of
 * it, and understands answers.
 */

/** @param {import('../model.ts').PageModel} world */
export const logicOf = (world) => {
  const own = (value, key) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? value[key]
      : undefined;
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const at = (value, path) => path.reduce((inner, key) => own(inner, key), value);

  const longestList = 1000;

  // Own properties alone, so that no name of a field reaches into a prototype.
  const assign = (target, path, value) => {
    const [key, ...rest] = path;
    const put = (inner) =>
      Object.defineProperty(target, key, {
        value: inner,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    if (Array.isArray(target) && !(Number(key) < longestList)) return;
    if (rest.length === 0) return put(value);
    const there = own(target, key);
    const inner =
      typeof there === 'object' && there !== null ? there : /^\d+$/.test(rest[0]) ? [] : {};
    put(inner);
    assign(inner, rest, value);
  };

  // What was entered as a value: {value}, {fault}, or nothing for an empty text.
  const readInput = (input, text) => {
    if (text === '') return {};
    switch (input.kind) {
      case 'integer':
        return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text))
          ? { value: Number(text) }
          : { fault: 'Enter a whole number.' };
      case 'number':
        return text.trim() !== '' && Number.isFinite(Number(text))
          ? { value: Number(text) }
          : { fault: 'Enter a number.' };
      case 'boolean':
        return { value: text === 'true' };
      case 'choice':
      case 'json':
        try {
          return { value: JSON.parse(text) };
        } catch {
          return { fault: 'This is not valid JSON.' };
        }
      default:
        return { value: text };
    }
  };

  // A value as the text that readInput reads back.
  const showInput = (input, value) => {
    if (value === undefined || value === null) return '';
    if (input.kind === 'choice') return JSON.stringify(value);
    if (input.kind === 'json') return JSON.stringify(value, null, 2);
    return typeof value === 'string' ? value : JSON.stringify(value);
  };

  const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

  const namesOfPages = () => {
    const paging = world.paging;
    return paging === null ? [] : [paging.offsetParam, paging.cursorParam];
  };
  const isPageParameter = (route, parameter) =>
    route.page !== 'none' && parameter.in === 'query' && namesOfPages().includes(parameter.name);

  // A segment of a path as its parts: texts, and arguments in their places.
  const partsOf = (segment) => own(segment, 'parts') ?? [segment];

  // The URL of a request; values by the parameter's place and name, each a list of texts.
  const requestUrl = (route, values) => {
    const faults = {};
    const given = (place, name) =>
      (own(values, `${place}:${name}`) ?? []).filter((text) => text !== '');
    // A text that may hold slashes is as many segments as it has between them.
    const fill = (part, isRest) => {
      if (own(part, 'literal') !== undefined) return encodeURIComponent(part.literal);
      const [text = ''] = given('path', part.argument);
      const segments = isRest ? text.split('/') : [text];
      if (['', '.', '..'].some((none) => segments.includes(none)))
        faults[`path:${part.argument}`] = 'Enter a value.';
      return segments.map(encodeURIComponent).join('/');
    };
    const path = route.segments
      .map((segment) =>
        partsOf(segment)
          .map((part) => fill(part, segment.rest === true))
          .join(''),
      )
      .join('/');
    const query = new URLSearchParams();
    for (const parameter of route.parameters) {
      if (parameter.in !== 'query') continue;
      const texts = given('query', parameter.name);
      if (parameter.required && texts.length === 0)
        faults[`query:${parameter.name}`] = 'Enter a value.';
      for (const text of texts) query.append(parameter.name, text);
    }
    const search = query.toString();
    return { faults, url: `${world.apiPath}/${path}${search === '' ? '' : `?${search}`}` };
  };

  const bodyInputs = (route) => {
    if (route.body === null || route.body.kind === 'any') return [];
    if (route.body.kind === 'mapped') return route.body.fields;
    const entity = world.entities.find(({ name }) => name === route.entity);
    return (entity?.fields ?? []).map((field) => ({
      ...field,
      from: [field.name],
      field: [field.name],
      required: route.body.required.includes(field.name),
    }));
  };

  // The body that fields make; entries is a list of [input, text].
  const bodyOfFields = (entries) => {
    const body = {};
    const faults = new Map();
    for (const [input, text] of entries) {
      const read = readInput(input, text);
      if (read.fault !== undefined) faults.set(input, read.fault);
      else if ('value' in read) assign(body, input.from, read.value);
      else if (input.required) faults.set(input, 'Enter a value.');
    }
    return { body, faults };
  };

  const pageOfUrl = (text, name) => {
    try {
      return new URL(text, 'http://page.invalid').searchParams.get(name) ?? text;
    } catch {
      return text;
    }
  };
  const mark = (value, name) => {
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    const text = String(value);
    if (text === '') return undefined;
    return world.paging?.links ? pageOfUrl(text, name) : text;
  };

  // The rows of an answer, how many there are in all, and where the pages beside it begin.
  const readAnswer = (route, body, header, values) => {
    const content = route.envelope === '' ? body : (own(body, route.envelope) ?? body);
    const answer = Array.isArray(content) ? { rows: content } : { value: content };
    const { paging } = world;
    if (route.page === 'none' || paging === null || answer.rows === undefined) return answer;
    const total = own(body, paging.hitsKey) ?? Number(header(paging.headers.total) || NaN);
    if (Number.isFinite(total)) answer.total = total;
    const number = (name, otherwise) => {
      const [text = ''] = own(values, `query:${name}`) ?? [];
      return /^\d+$/.test(text) ? Number(text) : otherwise;
    };
    if (route.page === 'offset') {
      const limit = number(paging.limitParam, paging.pageSize);
      const offset = number(paging.offsetParam, 0);
      const reached = offset + answer.rows.length;
      const isMore =
        answer.total === undefined ? answer.rows.length >= limit : reached < answer.total;
      answer.first = offset + 1;
      if (isMore && answer.rows.length > 0) answer.next = { [paging.offsetParam]: String(reached) };
      if (offset > 0)
        answer.previous = { [paging.offsetParam]: String(Math.max(0, offset - limit)) };
      return answer;
    }
    const side = (key, headerName) =>
      mark(header(headerName), paging.cursorParam) ??
      (key === null ? undefined : mark(own(body, key), paging.cursorParam));
    const next = side(paging.cursorKey, paging.headers.cursor);
    const previous = side(paging.previousKey, paging.headers.previous);
    if (next !== undefined) answer.next = { [paging.cursorParam]: next };
    if (previous !== undefined) answer.previous = { [paging.cursorParam]: previous };
    return answer;
  };

  // What an error says in words, when it says so in one of the usual places.
  const errorWords = (body) => {
    if (typeof body === 'string') return body.slice(0, 500);
    const inner = own(body, 'error');
    const found = [
      own(body, 'message'),
      own(inner, 'message'),
      inner,
      own(body, 'detail'),
      own(body, 'title'),
    ];
    return found.find((text) => typeof text === 'string' && text !== '');
  };

  const mostColumns = 40;
  const columnsOf = (route, rows) => {
    const found = new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])));
    const entity = world.entities.find(({ name }) => name === route.entity);
    const known = (entity?.fields ?? []).map(({ name }) => name).filter((name) => found.has(name));
    return [...new Set([...known, ...found])].slice(0, mostColumns);
  };

  // An object in a few words: its name, if it has one, or its first values.
  const shortOf = (value) => {
    if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
    if (!isObject(value)) return textOf(value);
    const label = ['name', 'title', 'login', 'label', 'email', 'id'].find((key) =>
      ['string', 'number'].includes(typeof own(value, key)),
    );
    if (label !== undefined) return String(value[label]);
    const parts = Object.entries(value)
      .slice(0, 3)
      .map(
        ([key, inner]) =>
          `${key}: ${typeof inner === 'object' && inner !== null ? '…' : textOf(inner)}`,
      );
    return parts.join(', ') || '{}';
  };

  // Routes about a row whose path the row can fill, with the arguments it gives them.
  const routesForRow = (route, row) =>
    world.routes.flatMap((other) => {
      const inPath = other.segments
        .flatMap(partsOf)
        .flatMap((part) => (own(part, 'argument') === undefined ? [] : [part.argument]));
      if (other.entity === null || other.entity !== route.entity || inPath.length === 0) return [];
      if (other.action === 'create' || (other.operation === route.operation && route.single))
        return [];
      const values = inPath.flatMap((name) => {
        const field = own(other.fills, name);
        const value = field === undefined ? undefined : at(row, field);
        return ['string', 'number', 'boolean'].includes(typeof value) && value !== ''
          ? [[`path:${name}`, [String(value)]]]
          : [];
      });
      return values.length < inPath.length
        ? []
        : [{ route: other, values: Object.fromEntries(values) }];
    });

  // The fragment of the page's address that shows a route with values, and back.
  const toHash = (route, values = {}) => {
    const query = new URLSearchParams();
    for (const [key, texts] of Object.entries(values)) {
      for (const text of texts) if (text !== '') query.append(key, text);
    }
    const search = query.toString();
    return `#route/${encodeURIComponent(route.operation)}${search === '' ? '' : `?${search}`}`;
  };
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const fromHash = (hash) => {
    const [, kind, name, search = ''] = /^#(route|entity)\/([^?]*)(?:\?(.*))?$/s.exec(hash) ?? [];
    const values = {};
    for (const [key, text] of new URLSearchParams(search)) {
      Object.defineProperty(values, key, {
        value: [...(own(values, key) ?? []), text],
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return { kind: kind ?? 'home', name: decode(name ?? ''), values };
  };

  return {
    assign,
    at,
    bodyInputs,
    bodyOfFields,
    columnsOf,
    errorWords,
    fromHash,
    isObject,
    isPageParameter,
    own,
    partsOf,
    readAnswer,
    readInput,
    requestUrl,
    routesForRow,
    shortOf,
    showInput,
    textOf,
    toHash,
  };
};
