/**
 * Virtualized grid of a list. Only visible rows are rendered and only their pages are fetched, so that a list of
 * 100,000 rows costs no more than its visible part. Arrow keys move between rows; Enter opens the focused row.
 */
import { useQueries } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { type Labels, type ListQuery, pageRows, readRows } from '../host/rows.ts';
import { columnsOf, isSortable, templateOf, widthOfAll } from '../pieces/columns.ts';
import { isRight, Value } from '../pieces/value.tsx';
import { keyOf, keyText } from '../world/keys.ts';
import type { PageEntity, PageField, Row } from '../world/model.ts';

export const rowHeight = 36;
const rowsAhead = 12;
/** Maximum number of rows of the grid. Browsers do not draw elements that are much higher than these rows together. */
const mostShown = 800_000;

export const listKey = (entity: PageEntity, query: ListQuery, page: number) => [
  'rows',
  entity.name,
  query,
  page,
];

const nextSort = (field: PageField, sort: string): string => {
  if (sort === field.name) return `-${field.name}`;
  return sort === `-${field.name}` ? '' : field.name;
};

const sortOf = (field: PageField, sort: string) => {
  if (sort === field.name) return 'ascending' as const;
  return sort === `-${field.name}` ? ('descending' as const) : ('none' as const);
};

const marks = { ascending: '↑', descending: '↓', none: '' };

type HeadProps = {
  entity: PageEntity;
  columns: PageField[];
  sort: string;
  onSort: (sort: string) => void;
};

const Head = ({ entity, columns, sort, onSort }: HeadProps) => (
  <div role="rowgroup" className="grid-head">
    <div role="row" aria-rowindex={1} className="grid-row">
      {columns.map((field, index) => {
        const sorted = sortOf(field, sort);
        const side = isRight(entity, field) ? 'right' : '';
        return (
          <div
            key={field.name}
            role="columnheader"
            aria-colindex={index + 1}
            aria-sort={sorted}
            className={side}
          >
            {isSortable(field) ? (
              <button type="button" className="sort" onClick={() => onSort(nextSort(field, sort))}>
                {field.label} <span aria-hidden="true">{marks[sorted]}</span>
              </button>
            ) : (
              field.label
            )}
          </div>
        );
      })}
    </div>
  </div>
);

type RowProps = {
  entity: PageEntity;
  columns: PageField[];
  row: Row | undefined;
  labels: Labels;
  index: number;
  top: number;
  isCurrent: boolean;
  onOpen: (row: Row) => void;
  onFocus: () => void;
};

const GridRow = ({
  entity,
  columns,
  row,
  labels,
  index,
  top,
  isCurrent,
  onOpen,
  onFocus,
}: RowProps) => (
  // biome-ignore lint/a11y/useKeyWithClickEvents: the grid itself hears the keys of its rows
  <div
    role="row"
    aria-rowindex={index + 2}
    aria-busy={row === undefined}
    data-index={index}
    tabIndex={isCurrent ? 0 : -1}
    className="grid-row body-row"
    style={{ transform: `translateY(${top}px)` }}
    onFocus={onFocus}
    onClick={() => row !== undefined && onOpen(row)}
  >
    {columns.map((field, column) => (
      <div
        key={field.name}
        role="gridcell"
        aria-colindex={column + 1}
        className={isRight(entity, field) ? 'right' : ''}
      >
        {row === undefined ? (
          <span className="waiting" />
        ) : (
          <Value entity={entity} field={field} row={row} labels={labels} inList />
        )}
      </div>
    ))}
  </div>
);

/** Returns the rows of the visible pages by their index. */
const useRowsInView = (
  entity: PageEntity,
  query: ListQuery,
  { first, last }: { first: number; last: number },
) => {
  const from = Math.floor(first / pageRows);
  const pages = Array.from(
    { length: Math.floor(last / pageRows) - from + 1 },
    (_, at) => from + at,
  );
  const found = useQueries({
    queries: pages.map((page) => ({
      queryKey: listKey(entity, query, page),
      queryFn: () => readRows(entity, query, { offset: page * pageRows }),
    })),
  });
  const pageOf = (index: number) => found[Math.floor(index / pageRows) - from]?.data;
  return {
    rowAt: (index: number): Row | undefined => pageOf(index)?.rows[index % pageRows],
    labelsAt: (index: number): Labels => pageOf(index)?.labels ?? {},
  };
};

const steps = (rowsInView: number): Record<string, number> => ({
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: rowsInView,
  PageUp: -rowsInView,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
});

type GridProps = {
  entity: PageEntity;
  query: ListQuery;
  total: number;
  onSort: (sort: string) => void;
  onLeave: () => void;
};

export const Grid = ({ entity, query, total, onSort, onLeave }: GridProps) => {
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const wanted = useRef<number>(undefined);
  const count = Math.min(total, mostShown);
  const columns = columnsOf(entity);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: rowsAhead,
    paddingStart: rowHeight,
    scrollPaddingStart: rowHeight,
  });
  const items = virtual.getVirtualItems();
  const { rowAt, labelsAt } = useRowsInView(entity, query, {
    first: items[0]?.index ?? 0,
    last: items.at(-1)?.index ?? 0,
  });
  const open = (row: Row): void => {
    const key = keyText(entity, keyOf(entity, row));
    void navigate({ to: '/entities/$entity/rows/$key', params: { entity: entity.name, key } });
  };
  // A row is focused once it is rendered, which may be after the list was scrolled to it.
  useEffect(() => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"]`);
    if (row === null || row === undefined) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const element = event.target as HTMLElement;
    if (element.closest('.body-row') === null) return;
    const row = rowAt(current);
    if (event.key === 'Enter' && element.matches('.body-row') && row !== undefined) {
      event.preventDefault();
      open(row);
    }
    if (event.key === 'Escape') onLeave();
    const height = scroller.current?.clientHeight ?? 0;
    const step = steps(Math.max(1, Math.floor(height / rowHeight) - 2))[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(count - 1, current + step));
    wanted.current = next;
    setCurrent(next);
    virtual.scrollToIndex(next);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the rows in it
    <div ref={scroller} className="scroller" onKeyDown={onKeyDown}>
      <div
        role="grid"
        aria-label={entity.label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length}
        className="grid"
        style={
          {
            height: virtual.getTotalSize(),
            minWidth: widthOfAll(entity, columns) + 24,
            '--columns': templateOf(entity, columns),
          } as React.CSSProperties
        }
      >
        <Head entity={entity} columns={columns} sort={query.sort} onSort={onSort} />
        <div role="rowgroup">
          {items.map(({ index, start }) => (
            <GridRow
              key={index}
              entity={entity}
              columns={columns}
              row={rowAt(index)}
              labels={labelsAt(index)}
              index={index}
              top={start}
              isCurrent={index === Math.min(current, count - 1)}
              onOpen={open}
              onFocus={() => setCurrent(index)}
            />
          ))}
        </div>
      </div>
    </div>
  );
};
