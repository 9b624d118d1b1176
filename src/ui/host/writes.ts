/**
 * Writes rows by a route of the world. If the world has no route for it, the host writes the row by the conventional
 * tool or the contract. A vendor's error seldom names the field at fault, so the host is then asked to check the
 * fields.
 */
import { keyOf } from '../world/keys.ts';
import { type PageEntity, type PageRoute, type Row, world } from '../world/model.ts';
import { AskError, ask, type FieldProblem } from './ask.ts';
import { addressOf, readRow } from './rows.ts';

/** Change of a row. Its key is that of `row`, the current row. */
export type Change = { entity: PageEntity; row: Row; fields: Row };

type Part = { literal?: string; argument?: string };

const textOfPart = ({ literal, argument }: Part, { fills }: PageRoute, row: Row): string => {
  if (literal !== undefined) return literal;
  return encodeURIComponent(String(row[fills[argument ?? ''] ?? ''] ?? ''));
};

/** Returns the address of a route for a row. In an argument that may take several segments, slashes are not encoded. */
export const routeAddress = (route: PageRoute, row: Row): string => {
  const segments = route.segments.map((segment) => {
    const parts: readonly Part[] = 'parts' in segment ? segment.parts : [segment];
    const text = parts.map((part) => textOfPart(part, route, row)).join('');
    return 'rest' in segment ? text.replaceAll('%2F', '/') : text;
  });
  return `${world().apiPath}/${segments.join('/')}`;
};

/**
 * Sets a value at a path of a body. It sets own properties only, so that a path such as `__proto__` cannot reach a
 * prototype.
 */
const setAt = (body: Row, [name = '', ...rest]: readonly string[], value: unknown): void => {
  const own = Object.hasOwn(body, name) ? body[name] : undefined;
  const inner = typeof own === 'object' && own !== null ? (own as Row) : {};
  if (rest.length > 0) setAt(inner, rest, value);
  const set = rest.length > 0 ? inner : value;
  Object.defineProperty(body, name, {
    value: set,
    enumerable: true,
    writable: true,
    configurable: true,
  });
};

export const bodyOf = (route: PageRoute, fields: Row): Row => {
  const body: Row = {};
  for (const { field, from } of route.body) {
    if (Object.hasOwn(fields, field)) setAt(body, from, fields[field]);
  }
  return body;
};

/** Asks the host for the problems of the entered fields. */
const problemsOf = async ({ entity, row, fields }: Change): Promise<FieldProblem[]> => {
  const key = Object.keys(row).length === 0 ? {} : { key: JSON.stringify(keyOf(entity, row)) };
  const answer = (await ask('POST', addressOf(entity, 'check', key), fields)) as {
    problems: FieldProblem[];
  };
  return answer.problems.filter(({ field }) => Object.hasOwn(fields, field));
};

const byRoute = async (route: PageRoute, change: Change): Promise<unknown> => {
  const { method } = route;
  const address = routeAddress(route, { ...change.fields, ...change.row });
  try {
    return await ask(
      method,
      address,
      method === 'DELETE' ? undefined : bodyOf(route, change.fields),
    );
  } catch (error) {
    const isRefused = error instanceof AskError && error.status >= 400 && error.status < 500;
    if (!isRefused || method === 'DELETE') throw error;
    throw new AskError(error.status, error.message, await problemsOf(change));
  }
};

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the key of the row in an answer; undefined if the answer does not contain it. */
const keyIn = (entity: PageEntity, answer: unknown, envelope: string): unknown[] | undefined => {
  const held = envelope === '' || !isRow(answer) ? answer : answer[envelope];
  if (!isRow(held)) return undefined;
  const key = keyOf(entity, held);
  return key.every((part) => part !== null && part !== undefined && typeof part !== 'object')
    ? key
    : undefined;
};

/** Creates a row and returns its key, if that is known. Throws `AskError`. */
export const createRow = async (
  entity: PageEntity,
  fields: Row,
): Promise<unknown[] | undefined> => {
  const route = entity.routes.create;
  if (route !== undefined) {
    return keyIn(entity, await byRoute(route, { entity, row: {}, fields }), route.envelope);
  }
  return keyIn(entity, await ask('POST', addressOf(entity, 'rows', {}), fields), 'row');
};

const isNotFound = (error: unknown): error is AskError =>
  error instanceof AskError && error.status === 404;

/** Returns true if the host has no such row. */
const isGone = (entity: PageEntity, row: Row): Promise<boolean> =>
  readRow(entity, keyOf(entity, row)).then(() => false, isNotFound);

/**
 * Writes to an existing row. A 404 may mean that the row was deleted meanwhile, but a vendor's 404 may also concern
 * another object. So the host is asked for the row, and if it is gone, the error says so.
 */
const onRow = async (
  entity: PageEntity,
  row: Row,
  write: () => Promise<unknown>,
  nothing: string,
): Promise<void> => {
  try {
    await write();
  } catch (error) {
    if (!isNotFound(error) || !(await isGone(entity, row))) throw error;
    const message = `This row was deleted meanwhile, so ${nothing}.`;
    const hint = `Close this, and go back to ${entity.label}: the list has the rows that are there.`;
    throw new AskError(404, message, [], { answer: error.answer, hint });
  }
};

/** Changes fields of a row. Throws `AskError`. */
export const updateRow = ({ entity, row, fields }: Change): Promise<void> => {
  const route = entity.routes.update;
  const key = JSON.stringify(keyOf(entity, row));
  const write = (): Promise<unknown> =>
    route === undefined
      ? ask('PATCH', addressOf(entity, 'row', { key }), fields)
      : byRoute(route, { entity, row, fields });
  return onRow(entity, row, write, 'nothing was saved');
};

/** Deletes a row. Throws `AskError`. */
export const deleteRow = (entity: PageEntity, row: Row): Promise<void> => {
  const route = entity.routes.delete;
  const key = JSON.stringify(keyOf(entity, row));
  const write = (): Promise<unknown> =>
    route === undefined
      ? ask('DELETE', addressOf(entity, 'row', { key }))
      : byRoute(route, { entity, row, fields: {} });
  return onRow(entity, row, write, 'there is nothing to delete');
};

/**
 * Returns the names of the fields that a form offers: the fields of the route, or all if there is no route. A form for
 * an update does not offer the key.
 */
export const writableFields = (entity: PageEntity, verb: 'create' | 'update'): string[] => {
  const route = entity.routes[verb];
  if (route === undefined) {
    const names = entity.fields.map(({ name }) => name);
    return verb === 'create' ? names : names.filter((name) => !entity.key.includes(name));
  }
  const inPath = verb === 'create' ? Object.values(route.fills) : [];
  return [...new Set([...inPath, ...route.body.map(({ field }) => field)])];
};
