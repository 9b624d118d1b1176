/**
 * Renders rich text that users wrote, which is a document of the tracker. Its nodes become React elements one by one.
 * HTML is never generated from a text, so it cannot be injected. Of images and files only the names are shown, because
 * the page loads nothing from other addresses. Of unknown nodes only the content is shown.
 */
import { Link } from '@tanstack/react-router';
import { createElement, Fragment, memo, type ReactNode } from 'react';
import type { Node } from '../api/bodies.ts';
import { destinationOf, isShowable, nodesOf, wordsOf } from '../text/rich-text.ts';

/** Renders elements one after another. Their order never changes, so they need no keys. */
const inOrder = (elements: readonly ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...elements);

const attr = (node: Node, name: string): string => {
  const value = node.attrs?.[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

const Anchor = ({ address, children }: { address: unknown; children: ReactNode }) => {
  const to = destinationOf(address);
  if (to === undefined) return <span>{children}</span>;
  if ('key' in to) {
    return (
      <Link to="/browse/$key" params={to}>
        {children}
      </Link>
    );
  }
  return (
    <a href={to.outside} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};

/**
 * HTML elements by the name of a text mark. The names are untrusted, so this is a Map: an object would also have
 * inherited names.
 */
const markElements = new Map([
  ['strong', 'strong'],
  ['em', 'em'],
  ['code', 'code'],
  ['strike', 'del'],
  ['underline', 'u'],
]);

const showText = ({ text = '', marks = [] }: Node): ReactNode =>
  marks.reduce<ReactNode>((shown, { type, attrs }) => {
    if (type === 'link') return <Anchor address={attrs?.href}>{shown}</Anchor>;
    if (type === 'subsup') return createElement(attrs?.type === 'sup' ? 'sup' : 'sub', null, shown);
    const element = markElements.get(type);
    return element === undefined ? shown : createElement(element, null, shown);
  }, text);

const isHead = (row: Node): boolean =>
  nodesOf(row).length > 0 && nodesOf(row).every(({ type }) => type === 'tableHeader');

const showTable = (table: Node): ReactNode => {
  const rows = nodesOf(table);
  const heads = isHead(rows[0] ?? table) ? rows.slice(0, 1) : [];
  return (
    <div className="table-around">
      <table>
        {heads.length === 0 ? null : <thead>{inOrder(heads.map(show))}</thead>}
        <tbody>{inOrder(rows.slice(heads.length).map(show))}</tbody>
      </table>
    </div>
  );
};

const showTask = (node: Node): ReactNode => (
  <li className="task">
    <input type="checkbox" checked={attr(node, 'state') === 'DONE'} disabled aria-label="Done" />
    {showAll(node)}
  </li>
);

const dayOf = (text: string): string => {
  const time = new Date(Number(text));
  return Number.isNaN(time.getTime()) ? text : time.toISOString().slice(0, 10);
};

/** HTML elements by the name of a node; each contains the content of the node. */
const elements = new Map([
  ['paragraph', 'p'],
  ['blockquote', 'blockquote'],
  ['bulletList', 'ul'],
  ['orderedList', 'ol'],
  ['listItem', 'li'],
  ['taskList', 'ul'],
  ['tableRow', 'tr'],
  ['tableHeader', 'th'],
  ['tableCell', 'td'],
]);

const showAll = (node: Node): ReactNode => inOrder(nodesOf(node).map(show));

const levelOf = (node: Node): number => Math.min(6, Math.max(1, Number(attr(node, 'level')) || 1));

const show = (node: Node): ReactNode => {
  switch (node.type) {
    case 'text':
      return showText(node);
    case 'heading':
      // Levels 1 and 2 are the page's own headings.
      return createElement(`h${Math.min(6, levelOf(node) + 2)}`, null, showAll(node));
    case 'codeBlock':
      return (
        <pre>
          <code>{wordsOf(node)}</code>
        </pre>
      );
    case 'hardBreak':
      return <br />;
    case 'rule':
      return <hr />;
    case 'mention':
      return <b>{attr(node, 'text') || '@somebody'}</b>;
    case 'emoji':
      return attr(node, 'text') || attr(node, 'shortName');
    case 'status':
      return <span className="choice">{attr(node, 'text')}</span>;
    case 'date':
      return dayOf(attr(node, 'timestamp'));
    case 'inlineCard':
    case 'blockCard':
    case 'embedCard':
      return <Anchor address={node.attrs?.url}>{attr(node, 'url')}</Anchor>;
    case 'media':
      return <span className="nothing">{attr(node, 'alt') || 'A file'}</span>;
    case 'table':
      return showTable(node);
    case 'taskItem':
    case 'decisionItem':
      return showTask(node);
    case 'panel':
      return (
        <div className={`panel ${/^[a-z]+$/.exec(attr(node, 'panelType'))?.[0] ?? ''}`}>
          {showAll(node)}
        </div>
      );
    case 'expand':
    case 'nestedExpand':
      return (
        <details>
          <summary>{attr(node, 'title') || 'More'}</summary>
          {showAll(node)}
        </details>
      );
    default: {
      const element = elements.get(node.type);
      return element === undefined ? showAll(node) : createElement(element, null, showAll(node));
    }
  }
};

type RichTextProps = { document: Node | null | undefined; none?: string };

export const RichText = memo(({ document, none = 'No description.' }: RichTextProps) => (
  <div className="markdown">
    {document === null || document === undefined || nodesOf(document).length === 0 ? (
      <p className="nothing">{none}</p>
    ) : isShowable(document) ? (
      showAll(document)
    ) : (
      <p className="nothing">This text is too long or too deep to be shown.</p>
    )}
  </div>
));
