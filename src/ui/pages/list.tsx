/**
 * List of an entity's rows: search, filters, order, and a form for a new row. The whole state of the list is in the
 * address.
 */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { type ListQuery, readRows } from '../host/rows.ts';
import { useSlash } from '../pieces/slash.ts';
import { Empty, Failure, Loading, NotHere } from '../pieces/states.tsx';
import { showCount } from '../world/keys.ts';
import type { ListSearch } from '../world/list-search.ts';
import { findEntity, type PageEntity } from '../world/model.ts';
import { FilterChips, FilterForm } from './filters.tsx';
import { NewRow } from './form.tsx';
import { Grid, listKey } from './grid.tsx';

const typingMs = 200;

type SearchProps = { value: string; onChange: (value: string) => void };

/** Search input. `/` focuses it from anywhere. Escape empties it, and a second Escape leaves it. */
const SearchBox = ({ value, onChange }: SearchProps) => {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), typingMs);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  useSlash(input);
  return (
    <label className="search">
      <span className="off-screen">Search rows</span>
      <input
        ref={input}
        type="search"
        value={text}
        placeholder="Search ( / )"
        maxLength={200}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') text === '' ? input.current?.blur() : setText('');
          if (event.key === 'ArrowDown') {
            document.querySelector<HTMLElement>('.body-row[tabindex="0"]')?.focus();
          }
        }}
      />
    </label>
  );
};

const NoRows = ({ query, onClear }: { query: ListQuery; onClear: () => void }) => {
  const isNarrowed = query.search !== '' || Object.keys(query.where).length > 0;
  if (!isNarrowed)
    return <Empty title="There are no rows yet.">Make the first one with New.</Empty>;
  return (
    <Empty title="No row matches.">
      <button type="button" onClick={onClear}>
        Clear search and filters
      </button>
    </Empty>
  );
};

const List = ({ entity }: { entity: PageEntity }) => {
  const { sort = '', search = '', where = {}, form } = useSearch({ from: '/entities/$entity' });
  const navigate = useNavigate({ from: '/entities/$entity' });
  const client = useQueryClient();
  const [isFiltering, setFiltering] = useState(false);
  const query: ListQuery = { where, search, sort };
  const first = useQuery({
    queryKey: listKey(entity, query, 0),
    queryFn: () => readRows(entity, query),
    placeholderData: keepPreviousData,
  });
  const change = (next: Partial<ListSearch>): void => {
    const isTyped = next.search !== undefined;
    void navigate({ search: (now) => ({ ...now, ...next }), replace: isTyped });
  };
  const clear = () => void navigate({ search: {} });
  const isPlain = sort === '' && search === '' && Object.keys(where).length === 0;
  const { data, error, isPlaceholderData } = first;
  return (
    <section className="list" aria-labelledby="title">
      <div className="toolbar">
        <h1 id="title">{entity.label}</h1>
        <span className="total" role="status">
          {data === undefined ? '' : showCount(data.total)}
        </span>
        <SearchBox value={search} onChange={(text) => change({ search: text })} />
        <button
          type="button"
          aria-expanded={isFiltering}
          onClick={() => setFiltering((before) => !before)}
        >
          Filter
        </button>
        <button type="button" onClick={() => void client.invalidateQueries()}>
          Refresh
        </button>
        <button type="button" className="primary" onClick={() => change({ form: 'new' })}>
          New
        </button>
      </div>
      {isFiltering ? (
        <FilterForm entity={entity} where={where} onChange={(next) => change({ where: next })} />
      ) : null}
      <FilterChips entity={entity} where={where} onChange={(next) => change({ where: next })} />
      {error !== null && data === undefined ? (
        <Failure error={error} retry={() => void first.refetch()}>
          {isPlain ? null : (
            <button type="button" onClick={clear}>
              Show all rows
            </button>
          )}
        </Failure>
      ) : data === undefined ? (
        <Loading what="rows" />
      ) : data.total === 0 ? (
        <NoRows query={query} onClear={clear} />
      ) : (
        <div className={isPlaceholderData ? 'stale fill' : 'fill'} aria-busy={isPlaceholderData}>
          <Grid
            key={JSON.stringify([search, where])}
            entity={entity}
            query={query}
            total={data.total}
            onSort={(next) => change({ sort: next })}
            onLeave={() => document.querySelector<HTMLElement>('.search input')?.focus()}
          />
        </div>
      )}
      {form === 'new' ? (
        <NewRow
          entity={entity}
          given={where}
          onClose={() => void navigate({ search: ({ form: _, ...now }) => now })}
        />
      ) : null}
    </section>
  );
};

export const ListPage = () => {
  const { entity: name } = useParams({ from: '/entities/$entity' });
  const entity = findEntity(name);
  return entity === undefined ? <NotHere /> : <List key={name} entity={entity} />;
};
