/**
 * Encodes what user code returns as JSON, and refuses values that JSON cannot represent. `JSON.stringify` silently
 * drops or alters such values: a promise and a Map become `{}`, NaN becomes null. Rows and answers would then differ
 * from what their author wrote, so such a value is refused with an error that names its place. The helpful conversions
 * of `JSON.stringify` remain: a Date becomes its text, and an undefined member is left out.
 */

/** Maximum nesting of a value. The host has a much lower limit, which it reports with its own message. */
const deepest = 500;
const mostPointerChars = 200;

/** Types of values that JSON can represent, by their names in JavaScript. */
const carried = new Set(['Object', 'Array', 'String', 'Number', 'Boolean']);

const remedies: Record<string, string> = {
  Promise: 'await it',
  Map: 'give Object.fromEntries(it)',
  Set: 'give [...it]',
  BigInt: 'give Number(it) or String(it)',
};

type Fault = { pointer: string; what: string };

const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Returns why a value, apart from its members, cannot be JSON; undefined if it can. */
const faultOfKind = (value: unknown): string | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (value === undefined || value === null) return undefined;
  const kind = kindOf(value);
  if (kind === 'Date')
    return Number.isNaN((value as Date).getTime()) ? 'an invalid Date' : undefined;
  if (carried.has(kind) || saysItself(value)) return undefined;
  const article = /^[AEIOU]/.test(kind) ? 'an' : 'a';
  return `${article} ${kind}${Object.hasOwn(remedies, kind) ? `: ${remedies[kind]}` : ''}`;
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
 * Encodes a message to the host as JSON. If a value is not JSON, throws a `TypeError` that names the value and its
 * place in the answer, or in the arguments of a store operation.
 */
export const jsonText = (message: { [field: string]: unknown }): string => {
  const fault = findFault(message, new Set());
  if (fault === undefined) return JSON.stringify(message);
  const place = fault.pointer.replace(/^\/(?:result\/value|arguments)/, '');
  throw new TypeError(`${place.slice(0, mostPointerChars) || 'it'} is ${fault.what}`);
};
