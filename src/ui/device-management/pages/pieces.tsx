/**
 * Components that the pages share: a list with its loading and error states, pairs of names and values, an error, a
 * choice of building or department.
 */
import type { ReactNode } from 'react';
import { AskError } from '../../host/ask.ts';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { titleOf } from '../../pieces/title.ts';
import { When } from '../../pieces/when.tsx';
import { type Named, type Page, useRead, type Values } from '../api/vendor.ts';

export const useTitle = titleOf('Device manager');

type ListProps<T> = {
  what: string;
  read: { data: T[] | undefined; error: Error | null; isStale: boolean; retry: () => void };
  row: (item: T) => ReactNode;
  onAll?: (() => void) | undefined;
};

export const List = <T,>({ what, read, row, onAll }: ListProps<T>) => {
  const { data, error, isStale, retry } = read;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (data === undefined) return <Loading what={what} />;
  if (data.length > 0) {
    return (
      <ul className={isStale ? 'items stale' : 'items'} aria-busy={isStale}>
        {data.map(row)}
      </ul>
    );
  }
  return (
    <Empty title={`No ${what} match.`}>
      {onAll === undefined ? null : (
        <button type="button" onClick={onAll}>
          Show all {what}
        </button>
      )}
    </Empty>
  );
};

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value);

/** Returns true if a value is a constant of the vendor, such as `ALL_ENCRYPTED`. */
const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Z]+(_[A-Z]+)+$/.test(value);

const wordsOf = (name: string): string =>
  `${name.slice(0, 1)}${name.slice(1).toLowerCase().replaceAll('_', ' ')}`;

const Shown = ({ value }: { value: unknown }) => {
  if (value === null || value === undefined || value === '')
    return <span className="none">none</span>;
  if (isTime(value)) return <When at={value} />;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'number') return value.toLocaleString('en');
  return isName(value) ? wordsOf(value) : String(value);
};

type PairsProps = { title: string; pairs: readonly (readonly [words: string, value: unknown])[] };

/** Shows a section of the inventory: names and values. */
export const Pairs = ({ title, pairs }: PairsProps) => (
  <section aria-label={title}>
    <h2 className="device-section">{title}</h2>
    <dl className="values">
      {pairs.map(([words, value]) => (
        <div key={words}>
          <dt>{words}</dt>
          <dd>
            <Shown value={value} />
          </dd>
        </div>
      ))}
    </dl>
  </section>
);

type Wrong = { description?: string; field?: string | null };

/** Shows the vendor's error in its own words. If the error is an HTML page, its paragraph is the message. */
export const Refusal = ({ error }: { error: Error | null }) => {
  if (error === null) return null;
  const { errors } = ((error instanceof AskError ? error.answer : undefined) ?? {}) as {
    errors?: Wrong[];
  };
  const [, said] = /<p>(?:Error: )?(.*?)<\/p>\s*<p>You/s.exec(error.message) ?? [];
  const words = errors?.[0]?.description ?? said ?? error.message;
  return (
    <p role="alert" className="form-fault">
      {words}
    </p>
  );
};

type ChoiceProps = { kind: 'buildings' | 'departments'; label: string; value: unknown };

/** Shows a form field for a building or a department. */
export const PlaceChoice = ({ kind, label, value }: ChoiceProps) => {
  const { data } = useRead<Page<Named>>(`/api/v1/${kind}`, { 'page-size': 200, sort: 'name:asc' });
  return (
    <label>
      {label}
      <select
        name={kind}
        key={data === undefined ? 'waiting' : 'there'}
        defaultValue={String(value ?? '-1')}
      >
        <option value="-1">None</option>
        {(data?.results ?? []).map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
};

/** Returns the texts of a form, by field name. */
export const textsOf = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

export const textOf = (values: Values, name: string): string => String(values[name] ?? '');
