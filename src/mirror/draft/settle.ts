/**
 * Makes a draft compile. Documents of vendors contain parts that the world language refuses, usually a few among
 * hundreds of routes. Whatever the compiler refuses is removed, in the smallest unit that helps: a member of a route's
 * table, then the serving of the route, then the route; a row; a field, then its entity. Each removal is marked.
 */
import { isObject, parsePointer } from '#domain/json.ts';
import type { TreeFile } from '#domain/world.ts';
import { compileTree, replaceFiles } from '#language/compile/compile.ts';
import type { Row } from '#language/contract.ts';
import type { Problem } from '#language/problem.ts';
import type { Mark } from './api.ts';
import type { DraftEntity } from './entities.ts';
import type { Table } from './operations.ts';

/** Parts of a draft that can be removed one by one. */
export type DraftParts = {
  title: string;
  slug: string;
  baseUrl: string;
  /** Tables of connector.toml other than its operations: `auth`, `capture`, `api`. */
  tables: Table;
  entities: DraftEntity[];
  operations: Table[];
  rows: Map<string, Row[]>;
  marks: Mark[];
};

/** A problem of the draft, with the keys that lead to its place. */
type Placed = { problem: Problem; keys: string[] };

const placed = (problem: Problem): Placed => ({ problem, keys: parsePointer(problem.pointer) });

const operationMark = (operation: Table, message: string): Mark => ({
  place: `operation ${String(operation.name)}`,
  message,
});

/** Returns true if the keys lead to an optional member of an operation. */
const isMember = (keys: readonly string[]): boolean =>
  keys[0] === 'params'
    ? keys.length === 2
    : keys.length === 3 &&
      [
        'ingest drop',
        'ingest carry_args',
        'api filter',
        'api sample',
        'api body',
        'api generate',
      ].includes(keys.slice(0, 2).join(' '));

/** Removes one member from a table within an operation. Returns false if the member does not exist. */
const takeMember = (operation: Table, keys: readonly string[]): boolean => {
  const holder = keys
    .slice(0, -1)
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), operation);
  const last = keys.at(-1) ?? '';
  if (Array.isArray(holder)) return holder.splice(Number(last), 1).length > 0;
  if (!isObject(holder) || !Object.hasOwn(holder, last)) return false;
  delete holder[last];
  return true;
};

const isServed = (operation: Table): boolean => operation.entity !== undefined;

/** Removes refused parts of one operation. Returns the rest; undefined if nothing is left. */
const settleOperation = (
  operation: Table,
  [first, ...others]: readonly Placed[],
  marks: Mark[],
): Table | undefined => {
  if (first === undefined) return operation;
  const { message } = first.problem;
  const pointers = new Map([first, ...others].map((one) => [one.problem.pointer, one.keys]));
  const inside = [...pointers.values()].map((keys) => keys.slice(2));
  if (inside.every(isMember)) {
    // The last ones first, so that the indexes of the others stay valid.
    const inOrder = inside.toSorted((a, b) => Number(b.at(-1)) - Number(a.at(-1)) || 0);
    if (inOrder.map((keys) => takeMember(operation, keys)).every(Boolean)) {
      const what = inside.map((keys) => keys.slice(0, -1).join('.')).at(0);
      marks.push(
        operationMark(operation, `a part of its ${what} was refused and left out: ${message}`),
      );
      return operation;
    }
  }
  const { name, method, path, params } = operation;
  const bare = Object.fromEntries(
    Object.entries({ name, method, path, params }).filter(([, value]) => value !== undefined),
  );
  if (isServed(operation)) {
    marks.push(
      operationMark(operation, `it is not served, because its route was refused: ${message}`),
    );
    return bare;
  }
  marks.push(operationMark(operation, `it was left out: ${message}`));
  return undefined;
};

const settleOperations = (parts: DraftParts, problems: readonly Placed[]): void => {
  const byIndex = Map.groupBy(problems, ({ keys }) => Number(keys[1]));
  parts.operations = parts.operations.flatMap((operation, index): Table[] => {
    const left = settleOperation(operation, byIndex.get(index) ?? [], parts.marks);
    return left === undefined ? [] : [left];
  });
};

/** Removes refused tables other than the operations. Tables that every connector must have are replaced. */
const settleConnector = (parts: DraftParts, { problem, keys }: Placed): void => {
  const [table = '', key = ''] = keys;
  const place = `[${table}]${key === '' ? '' : ` ${key}`}`;
  if (table === 'connector' && key === 'base_url') {
    parts.baseUrl = 'https://api.example.invalid';
    parts.marks.push({ place, message: `${problem.message}; a placeholder was written` });
  }
  if (!Object.hasOwn(parts.tables, table)) return;
  delete parts.tables[table];
  parts.marks.push({ place, message: `it was left out: ${problem.message}` });
};

const removeEntity = (parts: DraftParts, entity: DraftEntity, message: string): void => {
  parts.entities = parts.entities.filter((one) => one !== entity);
  for (const other of parts.entities) {
    other.relationships = other.relationships.filter(({ target }) => target !== entity.name);
  }
  parts.rows.delete(entity.name);
  parts.marks.push({ place: `entity ${entity.name}`, message: `it was left out: ${message}` });
};

/** Removes a field from an entity and its rows. The field is then also left out of captured answers. */
const removeField = (parts: DraftParts, entity: DraftEntity, field: string, message: string) => {
  delete entity.properties[field];
  entity.required = entity.required.filter((name) => name !== field);
  entity.relationships = entity.relationships.filter((one) => one.field !== field);
  for (const row of parts.rows.get(entity.name) ?? []) delete row[field];
  for (const operation of parts.operations) {
    if (operation.entity !== entity.name || (operation.method ?? 'GET') !== 'GET') continue;
    const ingest = isObject(operation.ingest) ? operation.ingest : {};
    const drop = Array.isArray(ingest.drop) ? ingest.drop : [];
    operation.ingest = { ...ingest, drop: [...drop, field] };
  }
  const place = `entity ${entity.name}`;
  parts.marks.push({ place, message: `its field "${field}" was left out: ${message}` });
};

const settleEntity = (parts: DraftParts, { problem, keys }: Placed): void => {
  const [, kind, name, , inside, field = ''] = keys;
  const entity = parts.entities.find((one) => one.name === name);
  // An earlier problem of this round may have removed it already.
  if (kind !== 'entities' || entity === undefined) return;
  const isField = inside === 'properties' && Object.hasOwn(entity.properties, field);
  if (isField && !entity.key.includes(field)) removeField(parts, entity, field, problem.message);
  else removeEntity(parts, entity, problem.message);
};

const settleRows = (parts: DraftParts, file: string, problems: readonly Placed[]): void => {
  const name = file.slice('data/'.length, -'.json'.length);
  const refused = new Set(problems.map(({ keys }) => Number(keys[0])));
  const isWhole = problems.some(({ keys }) => keys.length === 0);
  const rows = parts.rows.get(name) ?? [];
  const kept = isWhole ? [] : rows.filter((_, index) => !refused.has(index));
  if (kept.length > 0) parts.rows.set(name, kept);
  else parts.rows.delete(name);
  const message = `${rows.length - kept.length} of its rows were left out: ${problems[0]?.problem.message}`;
  parts.marks.push({ place: `entity ${name}`, message });
};

const settleRound = (parts: DraftParts, problems: readonly Problem[]): void => {
  for (const [file, found] of Map.groupBy(problems, (problem) => problem.file)) {
    const all = found.map(placed);
    if (file === 'connector.toml') {
      const isOperation = ({ keys }: Placed): boolean => keys[0] === 'operations';
      for (const one of all.filter((other) => !isOperation(other))) settleConnector(parts, one);
      settleOperations(parts, all.filter(isOperation));
    } else if (file === 'schema/world.json') {
      for (const one of all) settleEntity(parts, one);
    } else if (/^data\/[^/]+\.json$/.test(file)) {
      settleRows(parts, file, all);
    }
  }
};

/** Returns the contents of a draft as one text, without its marks. */
const contentOf = ({ marks: _, rows, ...parts }: DraftParts): string =>
  JSON.stringify([parts, [...rows]]);

/** Files of a draft, including those that compiling writes; or the remaining problems. */
export type Settled = { files: TreeFile[]; problems: Problem[] };

/** Removes refused parts until the files compile that `write` creates from the parts. */
export const settleDraft = (
  parts: DraftParts,
  write: (parts: DraftParts) => TreeFile[],
): Settled => {
  for (;;) {
    const files = write(parts);
    const compiled = compileTree(files);
    if (compiled.ok) {
      const whole = replaceFiles(files, compiled.rewritten).concat(compiled.generated);
      return { files: whole, problems: [] };
    }
    // Each round removes a part, so the loop ends.
    const before = contentOf(parts);
    settleRound(parts, compiled.problems);
    if (contentOf(parts) === before) return { files, problems: compiled.problems };
  }
};
