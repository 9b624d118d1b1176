/**
 * Changes to a world tree that a careless or malicious author might make: to values of JSON documents, to lines and
 * characters of texts, to files and their paths. The given choices decide each change.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Choices } from './choices.ts';

/** A tree whose files are changed in place. */
type Draft = { path: string; content: Uint8Array }[];

/** Placeholder in a document for text that JSON's own serialiser cannot write. */
const rawMark = '\u0001raw:';
const raw = (text: string): string => `${rawMark}${text}\u0001`;
const writeRaw = (json: string): string =>
  json.replace(/"\\u0001raw:((?:[^"\\]|\\.)*?)\\u0001"/g, (_all, text: string) =>
    String(JSON.parse(`"${text}"`)),
  );

const nest = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const oddNames = [
  '__proto__',
  'constructor',
  'toString',
  'prototype',
  '',
  'a.b',
  'a/b',
  '~1',
  '$ref',
  '$defs',
  'allOf',
  'x-svc',
  'unevaluatedProperties',
  'required',
  'sqlite_x',
  'svc_requests',
  '_key',
  'payload',
  'ID',
  'Ä',
  '\u0000',
  '\ud800',
  '\ufeff',
  'İ',
  '💥',
];

const oddPatterns = ['(a+)+$', '(', '(?=a)', '(a)\\1', '[[:alpha:]]', 'a{9999}', '\\p{Greek}', ''];

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.1,
  1e308,
  2 ** 53,
  raw('1e999'),
  raw('-0'),
  raw('12345678901234567890123'),
  raw('1.0000000000000000000001'),
  raw('"\\ud800"'),
  raw('{"a": 1, "a": 2}'),
  raw('{"__proto__": {"type": "string"}}'),
  raw(nest(70)),
  raw(nest(1_000)),
  raw('NaN'),
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\ufeff',
  'a'.repeat(2_000),
  '2025-01-01',
  '$ref',
  '__proto__',
  'id',
  'cards',
  '/author/login',
  '../x',
  [],
  [[]],
  ['id'],
  ['id', 'id'],
  ['__proto__'],
  {},
  { $ref: '#/$defs/Card' },
  { $ref: '#/$defs/Id' },
  { $ref: 'people.json#/$defs/Person' },
  { $ref: '#' },
  { $ref: 'https://example.com/x.json#/$defs/A' },
  { allOf: [{ $ref: '#/$defs/Card' }] },
  { anyOf: [{ $ref: '#/$defs/Card' }, { type: 'null' }] },
  { type: 'object', additionalProperties: false, properties: {} },
  { type: ['string', 'null'], enum: ['a', null] },
  { type: 'integer', multipleOf: 0.01 },
  { type: 'array', items: { type: 'string' }, uniqueItems: true, contains: { const: 'a' } },
  { properties: { a: true }, unevaluatedProperties: false, if: { required: ['a'] } },
  { format: 'date-time' },
  { $defs: {} },
];

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (content: Uint8Array): string => new TextDecoder().decode(content);

type Holder = Record<string | number, unknown>;
type Spot = { holder: Holder; key: string };

/** Returns every place in a document below its root, down to some depth. */
const spotsIn = (value: unknown, depth = 80): Spot[] => {
  if (typeof value !== 'object' || value === null || depth === 0) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((key) => [
    { holder, key },
    ...spotsIn(holder[key], depth - 1),
  ]);
};

const put = (holder: Holder, key: string, value: unknown): void => {
  if (Array.isArray(holder)) holder.push(value);
  else {
    const enumerable = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(holder, key, { value, ...enumerable });
  }
};

const chooseOdd = (choices: Choices, document: unknown): unknown => {
  if (choices.oneIn(8)) return { pattern: choices.of(oddPatterns) };
  if (!choices.oneIn(4)) return structuredClone(choices.of(oddValues));
  const spots = spotsIn(document);
  if (spots.length === 0) return null;
  const { holder, key } = choices.of(spots);
  return structuredClone(holder[key]);
};

const remove = ({ holder, key }: Spot): void => {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
};

const changeDocument = (document: unknown, choices: Choices): void => {
  const spots = spotsIn(document);
  if (spots.length === 0) return;
  const spot = choices.of(spots);
  const { holder, key } = spot;
  const value = chooseOdd(choices, document);
  switch (choices.below(6)) {
    case 0:
    case 1:
      holder[key] = value;
      return;
    case 2:
      remove(spot);
      return;
    case 3:
      put(holder, choices.of(oddNames), value);
      return;
    case 4: {
      const held = holder[key];
      remove(spot);
      put(holder, choices.oneIn(2) ? choices.of(oddNames) : `${key}x`, held);
      return;
    }
    default:
      put(holder, `${key}2`, structuredClone(holder[key]));
  }
};

const changeJson = (text: string, choices: Choices): string => {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return changeText(text, choices);
  }
  const root = { root: document };
  changeDocument(choices.oneIn(40) ? root : document, choices);
  return writeRaw(JSON.stringify(root.root, null, choices.of([0, 2])) ?? '');
};

const oddLines = [
  '[x]',
  '[[operations]]',
  '[operations.api]',
  '[operations.ingest]',
  '[__proto__]',
  '__proto__ = 1',
  'constructor.prototype = 1',
  'name = "a"',
  'path = "/x/{x}/{x}"',
  'params = ["x", "x[]"]',
  'action = "create"',
  'sample = { a = "1" }',
  '"\\u0000" = 1',
  'when = 2025-01-01T00:00:00Z',
  'big = 1e999',
  'number = 9223372036854775807',
  `deep = ${nest(70)}`,
  `deep = ${nest(1_000)}`,
  '"""',
  "x = '''",
  '# \u0001',
  'hash = ["author"]',
  'generated = true',
  'static = "../ui"',
];
const oddLiterals = [
  '""',
  '"\\u0000"',
  '-1',
  '1e999',
  'nan',
  'inf',
  'true',
  '[]',
  '[[]]',
  '{}',
  '{ a = 1 }',
  '["a", "a"]',
  '"../x"',
  '"/"',
  '"{"',
  '"a\\u007f"',
  '2025-01-01',
  '""""""',
  '"__proto__"',
];
const letters = ['"', '[', ']', '=', '{', '}', '\n', '\r', '\t', '\u0000', '\ufeff', '\ud800', 'é'];

const changeLines = (text: string, choices: Choices): string => {
  const lines = text.split('\n');
  const at = choices.below(lines.length);
  const line = lines[at] ?? '';
  const swapped = choices.below(lines.length);
  switch (choices.below(7)) {
    case 0:
      lines.splice(at, 0, line);
      break;
    case 1:
      lines.splice(at, 1);
      break;
    case 2:
      lines[at] = lines[swapped] ?? '';
      lines[swapped] = line;
      break;
    case 3:
      lines.splice(at, 0, choices.of(oddLines));
      break;
    case 4:
      lines[at] = line.replace(/=.*/, () => `= ${choices.of(oddLiterals)}`);
      break;
    case 5:
      lines[at] = line.replace(/^\s*[\w.]+(?=\s*=)/, (key) =>
        choices.oneIn(2) ? `${key}x` : JSON.stringify(choices.of(oddNames)),
      );
      break;
    default:
      lines[at] = line.replace(/"[^"]*"/, () => JSON.stringify(choices.of(oddNames)));
  }
  return lines.join('\n');
};

const changeText = (text: string, choices: Choices): string => {
  if (!choices.oneIn(4)) return changeLines(text, choices);
  const at = choices.below(text.length + 1);
  const end = at + choices.below(12);
  return text.slice(0, at) + choices.of(letters) + text.slice(end);
};

const changeContent = (file: Draft[number], choices: Choices): void => {
  const text = decode(file.content);
  const isJson = file.path.endsWith('.json');
  file.content = encode(isJson ? changeJson(text, choices) : changeText(text, choices));
};

/** Chooses a file; schemas and TOML files are chosen more often than rows and code. */
const chooseFile = (draft: Draft, choices: Choices): Draft[number] | undefined => {
  const authored = draft.filter(({ path }) => /^schema\/|\.toml$/.test(path));
  const files = authored.length > 0 && !choices.oneIn(4) ? authored : draft;
  return files.length === 0 ? undefined : choices.of(files);
};

const changeBytes = (file: Draft[number], choices: Choices): void => {
  const text = decode(file.content);
  switch (choices.below(6)) {
    case 0:
      file.content = encode(`\ufeff${text}`);
      break;
    case 1:
      file.content = encode(text.replaceAll('\n', '\r\n'));
      break;
    case 2:
      file.content = new Uint8Array([...file.content, 0]);
      break;
    case 3:
      file.content = new Uint8Array([...file.content.slice(0, 5), 0xff, ...file.content.slice(5)]);
      break;
    case 4:
      file.content = new Uint8Array();
      break;
    default:
      file.content = file.content.slice(0, choices.below(file.content.length + 1));
  }
};

const oddPaths: readonly ((path: string) => string)[] = [
  (path) => `../${path}`,
  (path) => `/${path}`,
  (path) => path.replace('/', '\\'),
  (path) => `${path}\0`,
  (path) => `C:${path}`,
  (path) => path.replace('/', '//'),
  (path) => `./${path}`,
  (path) => `a/../${path}`,
  () => '',
  () => '.',
  (path) => path.toUpperCase(),
  (path) => `${path}/below`,
  (path) => path.slice(0, Math.max(1, path.lastIndexOf('/'))),
  (path) => `é${path}`.normalize('NFD'),
  (path) => `${'a/'.repeat(300)}${path}`,
  (path) => `\ud800${path}`,
  (path) => `__proto__/${path}`,
  () => 'data/__proto__.json',
  () => 'data/constructor.json',
  () => 'scenarios/__proto__/scenario.toml',
  () => 'schema/lock.json',
  () => 'schema/runtime.json',
  () => 'tasks.json',
  () => 'verifiers/a.sql',
  () => 'captures/get_card/1.json',
  () => 'dist/index.html',
  () => 'ui/index.html',
];

const changeFiles = (draft: Draft, choices: Choices): void => {
  const file = chooseFile(draft, choices);
  if (file === undefined) return;
  const path = choices.of(oddPaths)(file.path);
  switch (choices.below(4)) {
    case 0:
      draft.splice(draft.indexOf(file), 1);
      break;
    case 1:
      draft.push({ path, content: file.content });
      break;
    case 2:
      file.path = path;
      break;
    default:
      draft.push({ path, content: choices.of(draft).content });
  }
};

/** Returns the tree after the chosen changes, of which there are none to four. */
export const mutateTree = (files: readonly TreeFile[], choices: Choices): TreeFile[] => {
  const draft: Draft = files.map(({ path, content }) => ({ path, content }));
  for (let left = choices.below(5); left > 0; left -= 1) {
    const kind = choices.below(10);
    const file = chooseFile(draft, choices);
    if (kind === 9) changeFiles(draft, choices);
    else if (kind === 8 && file !== undefined) changeBytes(file, choices);
    else if (file !== undefined) changeContent(file, choices);
  }
  return draft;
};

/** Returns the files in another order. */
export const shuffle = (files: readonly TreeFile[], choices: Choices): TreeFile[] => {
  const shuffled = [...files];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = choices.below(last + 1);
    const moved = shuffled[last] as TreeFile;
    shuffled[last] = shuffled[other] as TreeFile;
    shuffled[other] = moved;
  }
  return shuffled;
};
