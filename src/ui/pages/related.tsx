/** Rows of another entity that refer to the shown row: their number, and the first of them. */
import { Link } from '@tanstack/react-router';
import type { Dependent, Labels } from '../host/rows.ts';
import { columnsOf } from '../pieces/columns.ts';
import { isRight, Value } from '../pieces/value.tsx';
import { keyOf, keyText, nameOf } from '../world/keys.ts';
import { findEntity, type PageEntity, type Row } from '../world/model.ts';

export const RowLink = ({ entity, row }: { entity: PageEntity; row: Row }) => (
  <Link
    to="/entities/$entity/rows/$key"
    params={{ entity: entity.name, key: keyText(entity, keyOf(entity, row)) }}
  >
    {nameOf(entity, row)}
  </Link>
);

/** Maximum number of columns besides the link to the row. */
const mostColumns = 4;

const RelatedRows = ({
  entity,
  rows,
  labels,
  without,
}: {
  entity: PageEntity;
  rows: Row[];
  labels: Labels;
  without: string[];
}) => {
  const columns = columnsOf(entity)
    .filter(({ name }) => name !== entity.title && !without.includes(name))
    .slice(0, mostColumns);
  return (
    <div className="table-around">
      <table>
        <thead>
          <tr>
            <th scope="col">{entity.title ?? entity.label}</th>
            {columns.map((field) => (
              <th key={field.name} scope="col" className={isRight(entity, field) ? 'right' : ''}>
                {field.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyText(entity, keyOf(entity, row))}>
              <td>
                <RowLink entity={entity} row={row} />
              </td>
              {columns.map((field) => (
                <td key={field.name} className={isRight(entity, field) ? 'right' : ''}>
                  <Value entity={entity} field={field} row={row} labels={labels} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

export const Related = ({ dependent }: { dependent: Dependent }) => {
  const { entity: name, fields, where, rows, labels, total } = dependent;
  const entity = findEntity(name);
  if (entity === undefined) return null;
  const by = fields.join(', ');
  const id = `by-${name}-${fields.join('-')}`;
  return (
    <section className="related" aria-labelledby={id}>
      <h2 id={id}>
        {entity.label} <span className="kind">by {by}</span>{' '}
        <span className="total">{total.toLocaleString('en')}</span>
      </h2>
      {total === 0 ? (
        <p className="nothing">
          None.{' '}
          <Link to="/entities/$entity" params={{ entity: name }} search={{ where, form: 'new' }}>
            Make one
          </Link>
        </p>
      ) : (
        <RelatedRows entity={entity} rows={rows} labels={labels} without={fields} />
      )}
      {total > rows.length ? (
        <Link to="/entities/$entity" params={{ entity: name }} search={{ where }}>
          Show all {total.toLocaleString('en')}
        </Link>
      ) : null}
    </section>
  );
};
