/** Rules for the links, contents and size of rich text, without its rendering. */
import type { Node } from '../api/bodies.ts';

/**
 * Maximum number of nodes, and maximum depth, of a text that is rendered. A larger text is shown plain, since texts are
 * untrusted.
 */
const mostNodes = 20_000;
const mostLevels = 40;

/** Target of a link: an issue of these pages, an outside address, or undefined if it must not be a link. */
export type Destination = { key: string } | { outside: string } | undefined;

const browse = /^https:\/\/[\w.-]+\.example\/browse\/([A-Z][A-Z\d_]*-\d+)$/;

export const destinationOf = (address: unknown): Destination => {
  if (typeof address !== 'string') return undefined;
  const [, key] = browse.exec(address) ?? [];
  if (key !== undefined) return { key };
  return /^https?:\/\/[^/]|^mailto:/i.test(address) ? { outside: address } : undefined;
};

/** Returns the child nodes of a node. Skips everything that is not an object. */
export const nodesOf = (node: Node): Node[] =>
  Array.isArray(node.content)
    ? node.content.filter((one) => typeof one === 'object' && one !== null)
    : [];

/** Returns the plain text of a document. */
export const wordsOf = (node: Node): string => {
  if (typeof node.text === 'string') return node.text;
  const said = node.attrs?.text;
  const own = typeof said === 'string' ? said : '';
  const glue = ['paragraph', 'heading'].includes(node.type) ? '' : '\n';
  return own + nodesOf(node).map(wordsOf).join(glue);
};

/** Returns true if a text is small and shallow enough to be rendered. */
export const isShowable = (document: Node): boolean => {
  let left = mostNodes;
  const fits = (node: Node, level: number): boolean => {
    left -= 1;
    return left > 0 && level < mostLevels && nodesOf(node).every((one) => fits(one, level + 1));
  };
  return fits(document, 0);
};

/** Nodes that the markup of API version 2 can express. All other nodes are lost when a text is edited as markup. */
const sayable = new Set([
  ...['doc', 'paragraph', 'text', 'heading', 'codeBlock', 'blockquote', 'rule', 'hardBreak'],
  ...['bulletList', 'orderedList', 'listItem', 'mention'],
]);
const sayableMarks = new Set(['strong', 'em', 'code', 'link']);

const isSaid = (node: Node, isInItem: boolean): boolean => {
  const isList = node.type === 'bulletList' || node.type === 'orderedList';
  if (!sayable.has(node.type) || (isList && isInItem)) return false;
  if ((node.marks ?? []).some(({ type }) => !sayableMarks.has(type))) return false;
  const inner = isInItem || node.type === 'listItem';
  return nodesOf(node).every((one) => isSaid(one, inner));
};

/** Returns true if a text stays unchanged when it is edited as markup. */
export const isMarkup = (document: Node | null): boolean =>
  document === null || isSaid(document, false);
