/**
 * Bodies of type `application/x-www-form-urlencoded`, with the notation of nested values that vendors
 * share: `a[b]=c` is an object, `a[]=x&a[]=y` and `a[0]=x&a[1]=y` are lists, `a[][b]=1&a[][c]=2` is a
 * list of objects, each as long as no key repeats. A value that is given twice is the last one.
 *
 * Leaves are texts; `written-fields.ts` reads them as the fields that they are written into.
 */
import type { Row } from '#language/contract.ts';

type Branch = Map<string, Node>;
type Node = string | Branch;

/** What is nested deeper is no form of any vendor. */
const maxDepth = 16;

/** Thrown for a name that is a value and holds values. */
class FormConflict extends Error {}

/** `a[b][]` as `a`, `b` and an empty step; a name whose brackets do not fit stays whole. */
const stepsOf = (name: string): string[] => {
  const [, first, rest] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  if (first === undefined || rest === undefined) return [name];
  const steps = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step)];
  return steps.length > maxDepth ? [name] : steps;
};

/** The step that an empty one stands for: the last item while it still lacks the key, or a new one. */
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

/** The fields of a form; undefined when it says two things of one name. */
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
