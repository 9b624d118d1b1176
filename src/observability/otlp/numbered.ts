/**
 * Reassembles lists whose elements are spread over attributes, such as `gen_ai.prompt.0.role` and
 * `llm.input_messages.1.message.content`.
 */
import type { Attributes } from './attributes.ts';
import { parseLoose } from './attributes.ts';

type Node = Map<string, Node | { value: unknown }>;

/** Maximum number of segments of a name; further segments are joined into one member. */
const mostSegments = 16;

const isNode = (one: Node | { value: unknown } | undefined): one is Node => one instanceof Map;

const put = (root: Node, path: readonly string[], value: unknown): void => {
  let node = root;
  for (const segment of path.slice(0, -1)) {
    const known = node.get(segment);
    const next: Node = isNode(known) ? known : new Map();
    if (!isNode(known)) node.set(segment, next);
    node = next;
  }
  const last = path.at(-1) ?? '';
  if (!isNode(node.get(last))) node.set(last, { value });
};

const isIndex = (text: string): boolean => /^\d{1,9}$/.test(text);

const assemble = (node: Node): unknown => {
  const members = [...node].map(([name, one]): [string, unknown] => [
    name,
    isNode(one) ? assemble(one) : parseLoose(one.value),
  ]);
  if (!members.every(([name]) => isIndex(name))) return Object.fromEntries(members);
  return members.sort(([one], [other]) => Number(one) - Number(other)).map(([, value]) => value);
};

/**
 * Returns the value assembled from the attributes under the prefix, and the names of these attributes; undefined if
 * there are none.
 */
export const gather = (
  attributes: Attributes,
  prefix: string,
): { value: unknown; names: string[] } | undefined => {
  const root: Node = new Map();
  const names: string[] = [];
  for (const [name, value] of attributes) {
    if (!name.startsWith(prefix) || !isIndex(name.slice(prefix.length).split('.', 1)[0] ?? '')) {
      continue;
    }
    const segments = name.slice(prefix.length).split('.');
    const deepest = segments.slice(mostSegments - 1).join('.');
    put(
      root,
      segments.length < mostSegments ? segments : [...segments.slice(0, mostSegments - 1), deepest],
      value,
    );
    names.push(name);
  }
  return names.length === 0 ? undefined : { value: assemble(root), names };
};
