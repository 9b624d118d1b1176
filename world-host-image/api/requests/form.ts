/**
 * Parses bodies of type `application/x-www-form-urlencoded`, with the notation of nested values that vendors share.
 * `a[b]=c` is an object; `a[]=x&a[]=y` and `a[0]=x&a[1]=y` are lists. `a[][b]=1&a[][c]=2` is a list of objects, in
 * which a repeated key begins the next object. If a value is given twice, the last one counts.
 *
 * Leaves are strings; `written-fields.ts` converts them to the types of the fields.
 */
import type { Row } from '#language/contract.ts';

type Branch = Map<string, Node>;
type Node = string | Branch;

/** Maximum nesting of a name; no vendor's form goes deeper. */
const maxDepth = 16;

/** Error for a name that has both a value and members. */
class FormConflict extends Error {}

/** Splits `a[b][]` into `a`, `b` and an empty step. A name with unbalanced brackets is not split. */
const stepsOf = (name: string): string[] => {
  const [, first, rest] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  if (first === undefined || rest === undefined) return [name];
  const steps = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step)];
  return steps.length > maxDepth ? [name] : steps;
};

/**
 * Returns the list index for an empty step: the last item if it does not have the key `next` yet, otherwise a new item.
 */
const itemStep = (branch: Branch, next: string | undefined): string => {
  const last = String(branch.size - 1);
  const item = branch.get(last);
  const isOpen = next !== undefined && next !== '' && item instanceof Map && !item.has(next);
  return isOpen ? last : String(branch.size);
};

const put = (root: Branch, steps: readonly string[], value: string): void => {
  let branch = root;
  for (const [index, written] of steps.entries()) {
    const next = steps[index + 1];
    const step = written === '' && index > 0 ? itemStep(branch, next) : written;
    const found = branch.get(step);
    if (next === undefined) {
      if (found instanceof Map) throw new FormConflict();
      branch.set(step, value);
      return;
    }
    if (typeof found === 'string') throw new FormConflict();
    const inner: Branch = found ?? new Map();
    branch.set(step, inner);
    branch = inner;
  }
};

const isPosition = (key: string): boolean => /^(?:0|[1-9]\d{0,6})$/.test(key);

const toValue = (node: Node): unknown => {
  if (typeof node === 'string') return node;
  const members = [...node].map(([key, inner]): [string, unknown] => [key, toValue(inner)]);
  if (!members.every(([key]) => isPosition(key))) return Object.fromEntries(members);
  return members.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
};

/** Parses the fields of a form; undefined if a name has both a value and members. */
export const parseForm = (text: string): Row | undefined => {
  const root: Branch = new Map();
  try {
    for (const [name, value] of new URLSearchParams(text)) put(root, stepsOf(name), value);
  } catch (error) {
    if (error instanceof FormConflict) return undefined;
    throw error;
  }
  return Object.fromEntries([...root].map(([name, node]) => [name, toValue(node)]));
};
