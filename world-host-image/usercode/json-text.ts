/**
 * What user code hands over, as JSON. `JSON.stringify` drops or alters without a word what JSON has no
 * form for: a promise and a Map become `{}`, NaN becomes null. Rows and answers would hold something
 * else than their author wrote, so that is refused here, with its place. What it does to be kind stays:
 * a Date is its text, a member that is undefined is left out.
 */

/** Levels that a value may nest; the host refuses what is far less deep, in words of its own. */
const deepest = 500;
const mostPointerChars = 200;

/** What JSON carries, by the name that the language has for it. */
const carried = new Set(['Object', 'Array', 'String', 'Number', 'Boolean']);

const ways: Record<string, string> = {
  Promise: 'await it',
  Map: 'give Object.fromEntries(it)',
  Set: 'give [...it]',
  BigInt: 'give Number(it) or String(it)',
};

type Fault = { pointer: string; what: string };

const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Why a value by itself is not JSON; undefined when it may be. */
const faultOfKind = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (value === undefined || value === null) return undefined;
  const kind = kindOf(value);
  if (kind === 'Date')
    return Number.isNaN((value as Date).getTime()) ? 'an invalid Date' : undefined;
  if (carried.has(kind) || saysItself(value)) return undefined;
  const article = /^[AEIOU]/.test(kind) ? 'an' : 'a';
  return `${article} ${kind}${Object.hasOwn(ways, kind) ? `: ${ways[kind]}` : ''}`;
};

const saysItself = (value: unknown): boolean =>
  typeof (value as { toJSON?: unknown }).toJSON === 'function';

const escapeSegment = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const findFault = (value: unknown, holders: Set<object>): Fault | undefined => {
  const what = faultOfKind(value);
  if (what !== undefined) return { pointer: '', what };
  if (typeof value !== 'object' || value === null || saysItself(value)) return undefined;
  if (holders.has(value)) return { pointer: '', what: 'an object that holds itself' };
  if (holders.size >= deepest) return { pointer: '', what: `nested over ${deepest} levels` };
  holders.add(value);
  for (const [name, member] of Object.entries(value)) {
    const fault = findFault(member, holders);
    if (fault === undefined) continue;
    return { ...fault, pointer: `/${escapeSegment(name)}${fault.pointer}` };
  }
  holders.delete(value);
  return undefined;
};

/**
 * The JSON of a message to the host. Throws a `TypeError` that says what in it is not JSON, and where in
 * the answer, or in the arguments of a use of the store, it stands.
 */
export const jsonText = (message: { [field: string]: unknown }): string => {
  const fault = findFault(message, new Set());
  if (fault === undefined) return JSON.stringify(message);
  const place = fault.pointer.replace(/^\/(?:result\/value|arguments)/, '');
  throw new TypeError(`${place.slice(0, mostPointerChars) || 'it'} is ${fault.what}`);
};
