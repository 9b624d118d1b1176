/** Components for pages of dashboards, imported as `svc/dashboard`. */
import type { PlotOptions } from '@observablehq/plot';
import { Component, type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Announcer } from '../pieces/announce.tsx';
import { CopyText } from '../pieces/copy.tsx';
import { Time as Moment } from '../pieces/time.tsx';
import { showFault } from './fault.ts';
import { given } from './given.ts';
import { plot } from './plot.ts';

/**
 * Data of the page. If the dashboard has a transform, the data is its output; otherwise, it is the data of the
 * dashboard's session, tasks or world.
 */
export const data = given.data;
/** Session, tasks or world that the page shows. */
export const target = given.target;

class Watched extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override componentDidCatch(error: unknown): void {
    showFault(error);
  }
  override render(): ReactNode {
    return this.state.isBroken ? null : this.props.children;
  }
}

/** Renders a component into the page. The default export of the entrypoint is rendered automatically. */
export const mount = (Page: ComponentType): void => {
  const element = document.getElementById('dashboard');
  if (element === null) throw new Error('no element #dashboard');
  createRoot(element, { onCaughtError: () => undefined }).render(
    <Watched>
      <Announcer>
        <main className="dashboard">
          <Page />
        </main>
      </Announcer>
    </Watched>,
  );
};

type HeadProps = { title: ReactNode; children?: ReactNode };

/** Shows the title of the page, with content next to it. */
export const Head = ({ title, children }: HeadProps) => (
  <header className="dashboard-head">
    <h1>{title}</h1>
    {children}
  </header>
);

type SectionProps = { title: string; note?: ReactNode; wide?: boolean; children: ReactNode };

/** Shows a section with a heading. If `wide` is true, it takes the whole width. */
export const Section = ({ title, note, wide = false, children }: SectionProps) => (
  <section className={wide ? 'panel wide' : 'panel'}>
    <h2>
      {title}
      {note === undefined ? null : <span className="note">{note}</span>}
    </h2>
    {children}
  </section>
);

/** Arranges sections in as many columns as fit. */
export const Grid = ({ children }: { children: ReactNode }) => (
  <div className="panels">{children}</div>
);

export type Tone = 'good' | 'bad' | 'plain';
type FigureProps = { label: string; value: ReactNode; note?: ReactNode; tone?: Tone };

/** Shows one important number and its label. */
export const Figure = ({ label, value, note, tone = 'plain' }: FigureProps) => (
  <div className={`figure ${tone}`}>
    <dt>{label}</dt>
    <dd>
      {value}
      {note === undefined ? null : <span className="note">{note}</span>}
    </dd>
  </div>
);

/** Arranges figures in a row. */
export const Figures = ({ children }: { children: ReactNode }) => (
  <dl className="figures">{children}</dl>
);

/** Shows a word in a coloured frame, such as a verdict. */
export const Mark = ({ children, tone = 'plain' }: { children: ReactNode; tone?: Tone }) => (
  <span className={`mark ${tone}`}>{children}</span>
);

/** Shows a placeholder for an empty list. */
export const Nothing = ({ children }: { children: ReactNode }) => (
  <p className="nothing">{children}</p>
);

/** Shows the age of a time that is given as ISO text. The tooltip shows the exact time. */
export const Time = ({ at }: { at: string }) => <Moment time={new Date(at)} />;

/** Shows an id. A click copies the id. */
export const Id = ({ children }: { children: string }) => <CopyText text={children} />;

/** Asks the surrounding page to open a session. Without a surrounding page, it has no effect. */
export const openSession = (id: string): void => parent.postMessage({ openSession: id }, '*');

type Column<Row> = {
  title: string;
  value: (row: Row) => ReactNode;
  /** True aligns the column to the right, for numbers. */
  right?: boolean;
};
type TableProps<Row> = {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row, index: number) => string | number;
  /** Maximum number of rows that are shown at first; a button shows the rest. */
  most?: number;
};

const usualRows = 50;

/** Shows rows as a table with column titles. */
export function Table<Row>({ rows, columns, keyOf, most = usualRows }: TableProps<Row>) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? rows : rows.slice(0, most);
  return (
    <div className="table-scroll" tabIndex={-1}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, right }) => (
              <th key={title} scope="col" className={right === true ? 'right' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map(({ title, value, right }) => (
                <td key={title} className={right === true ? 'right' : ''}>
                  {value(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length ? (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {rows.length}
        </button>
      ) : null}
    </div>
  );
}

/** Colours of verdicts and of series, for the light and the dark theme. */
export const colours = {
  good: 'var(--good)',
  bad: 'var(--danger)',
  unknown: 'var(--unknown)',
  accent: 'var(--accent)',
  soft: 'var(--line-strong)',
  series: ['var(--series-1)', 'var(--series-2)', 'var(--series-3)', 'var(--series-4)'],
} as const;

type ChartProps = {
  /** Options of Observable Plot. The chart's width is set to that of the surrounding element. */
  options: PlotOptions;
  /** Description of the chart for screen readers. */
  label: string;
};

const leastWidth = 220;

/** Shows a chart as wide as the surrounding element. */
export const Chart = ({ options, label }: ChartProps) => {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watch = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const element = place.current;
    if (element === null || width === 0) return;
    try {
      const style = { background: 'none', color: 'var(--ink)', fontSize: '12px' };
      const drawn = plot({ ...options, style, width: Math.max(leastWidth, width) });
      drawn.setAttribute('aria-hidden', 'true');
      element.replaceChildren(drawn);
    } catch (error) {
      showFault(error);
    }
  }, [options, width]);
  return <div className="chart" role="img" aria-label={label} ref={place} />;
};

const msPerSecond = 1_000;

/** Formats milliseconds for people. */
export const duration = (ms: number): string => {
  if (ms === 0) return '0';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < msPerSecond) return `${Math.round(ms)} ms`;
  if (ms < 60 * msPerSecond) return `${(ms / msPerSecond).toFixed(1)} s`;
  const minutes = Math.floor(ms / (60 * msPerSecond));
  if (minutes < 60) return `${minutes} min ${Math.round((ms / msPerSecond) % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
