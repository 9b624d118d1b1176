/** What a rich text may lead to and hold, apart from how it is shown. */
import type { Node } from '../api/bodies.ts';

/** Nodes and their depth beyond which a text is shown plain: a stranger wrote it. */
const mostNodes = 20_000;
const mostLevels = 40;

/** Where an address leads: to an issue here, out of these pages, or nowhere that a link may lead to. */
export type Destination = { key: string } | { outside: string } | undefined;

const browse = /^https:\/\/[\w.-]+\.example\/browse\/([A-Z][A-Z\d_]*-\d+)$/;

export const destinationOf = (address: unknown): Destination => {
  if (typeof address !== 'string') return undefined;
  const [, key] = browse.exec(address) ?? [];
  if (key !== undefined) return { key };
  return /^https?:\/\/[^/]|^mailto:/i.test(address) ? { outside: address } : undefined;
};

/** The nodes below a node; anything else that stands there is left out. */
export const nodesOf = (node: Node): Node[] =>
  Array.isArray(node.content)
    ? node.content.filter((one) => typeof one === 'object' && one !== null)
    : [];

/** The words of a text, without how they are set. */
export const wordsOf = (node: Node): string => {
  if (typeof node.text === 'string') return node.text;
  const said = node.attrs?.text;
  const own = typeof said === 'string' ? said : '';
  const glue = ['paragraph', 'heading'].includes(node.type) ? '' : '\n';
  return own + nodesOf(node).map(wordsOf).join(glue);
};

/** Whether a text is small and shallow enough to be shown as it is set. */
export const isShowable = (document: Node): boolean => {
  let left = mostNodes;
  const fits = (node: Node, level: number): boolean => {
    left -= 1;
    return left > 0 && level < mostLevels && nodesOf(node).every((one) => fits(one, level + 1));
  };
  return fits(document, 0);
};

/** What the markup of version 2 can say; anything else is lost when it is edited as markup. */
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

/** Whether a text is the same after it was edited as markup. */
export const isMarkup = (document: Node | null): boolean =>
  document === null || isSaid(document, false);
