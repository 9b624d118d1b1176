/** Shows a field's value in the form for its kind: ids, times, numbers, references and others. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Labels } from '../host/rows.ts';
import { keyText } from '../world/keys.ts';
import { type PageEntity, type PageField, type Row, targetOf } from '../world/model.ts';
import { readTime } from '../world/times.ts';
import { CopyText } from './copy.tsx';
import { WorldTime } from './time.tsx';

/** Maximum number of characters of a text that a list shows. */
const listChars = 200;

const shorten = (text: string): string =>
  text.length > listChars ? `${text.slice(0, listChars)}…` : text;

const looksLikeId = (field: string, value: unknown): boolean =>
  field === 'id' ||
  (typeof value === 'string' &&
    /(^|_)(id|uuid|sha|key)$/.test(field) &&
    /^[\w\-:.]{6,80}$/.test(value));

const Plain = ({ field, value }: { field: PageField; value: unknown }): ReactNode => {
  if (typeof value === 'boolean')
    return <span className={`flag ${value}`}>{value ? 'yes' : 'no'}</span>;
  if (typeof value === 'number') return <span className="number">{value}</span>;
  if (typeof value !== 'string')
    return <code className="json">{shorten(JSON.stringify(value))}</code>;
  const time = field.format === 'time' ? readTime(value) : undefined;
  if (time !== undefined) return <WorldTime time={time} />;
  if (field.kind === 'choice') return <span className="choice">{value}</span>;
  return shorten(value);
};

type ValueProps = {
  entity: PageEntity;
  field: PageField;
  row: Row;
  /** Names of the rows that the value refers to. */
  labels?: Labels;
  /** True in a list, whose rows are reached by arrow keys: links and buttons are then left out of the tab order. */
  inList?: boolean;
};

export const Value = ({
  entity,
  field,
  row,
  labels = {},
  inList = false,
}: ValueProps): ReactNode => {
  const value = row[field.name];
  const tabIndex = inList ? -1 : 0;
  if (value === null || value === undefined) {
    return (
      <span className="none">
        <span aria-hidden="true">–</span>
        <span className="off-screen">none</span>
      </span>
    );
  }
  const target = targetOf(entity, field.name);
  if (target !== undefined && typeof value !== 'object') {
    const label = labels[field.name]?.[String(value)];
    return (
      <Link
        title={String(value)}
        to="/entities/$entity/rows/$key"
        params={{ entity: target.name, key: keyText(target, [value]) }}
        tabIndex={tabIndex}
        className="reference"
        onClick={(event) => event.stopPropagation()}
      >
        {label ?? String(value)}
      </Link>
    );
  }
  const isId = entity.key.includes(field.name) || looksLikeId(field.name, value);
  if (isId && typeof value !== 'object')
    return <CopyText text={String(value)} tabIndex={tabIndex} />;
  return <Plain field={field} value={value} />;
};

/** Shows a value in full, for the page of its row. */
export const WholeValue = (props: ValueProps): ReactNode => {
  const value = props.row[props.field.name];
  if (typeof value === 'object' && value !== null) {
    return <pre className="json-block">{JSON.stringify(value, null, 2)}</pre>;
  }
  const isLong = typeof value === 'string' && (value.length > listChars || value.includes('\n'));
  return isLong ? <div className="long-text">{value}</div> : <Value {...props} />;
};

/**
 * Returns true for numbers, which are aligned to the right so that digits line up. A reference that is shown by a row's
 * name is not aligned so.
 */
export const isRight = (entity: PageEntity, { kind, name }: PageField): boolean =>
  (kind === 'integer' || kind === 'number') && !targetOf(entity, name)?.title;
