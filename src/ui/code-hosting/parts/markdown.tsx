/**
 * Renders Markdown that users wrote. `marked` parses it, and its tokens become React elements. HTML is never generated
 * from a text, so it cannot be injected; HTML in a text is shown as text. Images become links, because the page loads
 * nothing from other addresses. A text that is too long or too deeply nested is shown unparsed.
 */
import { Link } from '@tanstack/react-router';
import { Lexer, type Token, type Tokens } from 'marked';
import { createElement, Fragment, memo, type ReactNode } from 'react';
import type { Place } from '../api/vendor.ts';
import { decodeEntities } from '../text/entities.ts';
import { isReadable } from '../text/markdown-bounds.ts';
import { destinationOf, findReferences } from '../text/references.ts';

const mostLevels = 40;

type Around = { place: Place; level: number };

export const IssueLink = (props: { place: Place; number: number; children: ReactNode }) => (
  <Link to="/$owner/$repo/issues/$number" params={{ ...props.place, number: String(props.number) }}>
    {props.children}
  </Link>
);

/** Renders elements one after another. Their order never changes, so they need no keys. */
const inOrder = (elements: readonly ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...elements);

const showWords = (text: string, place: Place): ReactNode =>
  inOrder(
    findReferences(decodeEntities(text), place).map((piece) => {
      if (piece.kind === 'text') return piece.text;
      if (piece.kind === 'login') return createElement('b', null, piece.text);
      const { place: to, number, text: children } = piece;
      return createElement(IssueLink, { place: to, number, children });
    }),
  );

const Anchor = ({ address, children }: { address: string; children: ReactNode }) => {
  const to = destinationOf(address);
  if (to === undefined) return <span>{children}</span>;
  if ('number' in to) return <IssueLink {...to}>{children}</IssueLink>;
  return (
    <a href={to.outside} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};

const showList = (token: Tokens.List, around: Around): ReactNode => {
  const items = inOrder(
    token.items.map(({ task, tokens }) =>
      createElement('li', task ? { className: 'task' } : null, showAll(tokens, around)),
    ),
  );
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
};

const showTable = (token: Tokens.Table, around: Around): ReactNode => {
  const row = (cells: Tokens.TableCell[], element: 'th' | 'td'): ReactNode => (
    <tr>
      {inOrder(cells.map((cell) => createElement(element, null, showAll(cell.tokens, around))))}
    </tr>
  );
  return (
    <div className="table-around">
      <table>
        <thead>{row(token.header, 'th')}</thead>
        <tbody>{inOrder(token.rows.map((cells) => row(cells, 'td')))}</tbody>
      </table>
    </div>
  );
};

const elements: Record<string, string> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  strong: 'strong',
  em: 'em',
  del: 'del',
};

const show = (token: Token, around: Around): ReactNode => {
  const inner = () => showAll(('tokens' in token && token.tokens) || [], around);
  switch (token.type) {
    case 'text':
      return token.tokens === undefined ? showWords(token.text, around.place) : inner();
    case 'escape':
      return token.text;
    case 'heading':
      // Levels 1 and 2 are the page's own headings.
      return createElement(`h${Math.min(6, token.depth + 2)}`, null, inner());
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label="Done" />;
    case 'link':
      return <Anchor address={token.href}>{inner()}</Anchor>;
    case 'image':
      return <Anchor address={token.href}>{token.text || 'picture'}</Anchor>;
    case 'list':
      return showList(token as Tokens.List, around);
    case 'table':
      return showTable(token as Tokens.Table, around);
    case 'space':
    case 'def':
      return null;
    default: {
      const element = elements[token.type];
      return element === undefined ? token.raw : createElement(element, null, inner());
    }
  }
};

const showAll = (tokens: readonly Token[], { place, level }: Around): ReactNode => {
  if (level >= mostLevels) throw new RangeError('the text is nested too deeply');
  return inOrder(tokens.map((token) => show(token, { place, level: level + 1 })));
};

const render = (text: string, place: Place): ReactNode => {
  try {
    if (!isReadable(text)) return <pre>{text}</pre>;
    return showAll(new Lexer({ gfm: true, breaks: true }).lex(text), { place, level: 0 });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // a full stack throws a RangeError, too
    return <pre>{text}</pre>;
  }
};

type MarkdownProps = { text: string | null; place: Place };

export const Markdown = memo(({ text, place }: MarkdownProps) => (
  <div className="markdown">
    {text === null || text.trim() === '' ? (
      <p className="nothing">No description.</p>
    ) : (
      render(text, place)
    )}
  </div>
));
