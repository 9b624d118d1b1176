/** Page of a row: its fields, the rows that it refers to, the rows that refer to it, and the actions on it. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type Labels, type Reference, readRow, type WholeRow } from '../host/rows.ts';
import { Failure, Loading, NotHere } from '../pieces/states.tsx';
import { WholeValue } from '../pieces/value.tsx';
import { keyOf, keyText, nameOf, readKeyText, showKey } from '../world/keys.ts';
import { findEntity, type PageEntity, type Row } from '../world/model.ts';
import { DeleteRow } from './delete.tsx';
import { EditRow } from './form.tsx';
import { Related, RowLink } from './related.tsx';

/** Returns the names of the rows that the given row refers to by a single field. */
const labelsOf = (references: readonly Reference[]): Labels =>
  Object.fromEntries(
    references.flatMap(({ fields, entity: name, row }) => {
      const target = findEntity(name);
      if (target === undefined || row === null || fields.length > 1) return [];
      return [[fields[0], { [String(keyOf(target, row)[0])]: nameOf(target, row) }]];
    }),
  );

type FieldsProps = { entity: PageEntity; row: Row; labels: Labels };

const Fields = ({ entity, row, labels }: FieldsProps) => (
  <dl className="values">
    {entity.fields.map((field) => (
      <div key={field.name}>
        <dt>{field.label}</dt>
        <dd>
          <WholeValue entity={entity} field={field} row={row} labels={labels} />
        </dd>
      </div>
    ))}
  </dl>
);

const References = ({ references }: { references: readonly Reference[] }) => {
  const known = references.flatMap(({ fields, entity: name, row }) => {
    const entity = findEntity(name);
    return entity === undefined || row === null ? [] : [{ fields, entity, row }];
  });
  if (known.length === 0) return null;
  return (
    <section className="related" aria-labelledby="refers-to">
      <h2 id="refers-to">Refers to</h2>
      <ul className="references">
        {known.map(({ fields, entity, row }) => (
          <li key={fields.join()}>
            <span className="kind">
              {fields.join(', ')} · {entity.label}
            </span>
            <RowLink entity={entity} row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
};

type ShownProps = { entity: PageEntity; keyed: readonly unknown[]; whole: WholeRow };

const Shown = ({ entity, keyed, whole }: ShownProps) => {
  const { row, references, dependents } = whole;
  const { form } = useSearch({ from: '/entities/$entity/rows/$key' });
  const navigate = useNavigate({ from: '/entities/$entity/rows/$key' });
  const close = () => void navigate({ search: {} });
  return (
    <article className="row-page" aria-labelledby="title">
      <nav aria-label="Breadcrumb" className="crumbs">
        <Link to="/entities/$entity" params={{ entity: entity.name }}>
          {entity.label}
        </Link>
        <span aria-hidden="true">/</span>
        <span className="mono">{showKey(keyed)}</span>
      </nav>
      <div className="toolbar">
        <h1 id="title">{nameOf(entity, row)}</h1>
        <div className="row-actions">
          <Link to="." search={{ form: 'edit' }} className="button">
            Edit
          </Link>
          <Link to="." search={{ form: 'delete' }} className="button danger">
            Delete
          </Link>
        </div>
      </div>
      <Fields entity={entity} row={row} labels={labelsOf(references)} />
      <References references={references} />
      {dependents.map((dependent) => (
        <Related key={`${dependent.entity} ${dependent.fields.join()}`} dependent={dependent} />
      ))}
      {form === 'edit' ? <EditRow entity={entity} row={row} onClose={close} /> : null}
      {form === 'delete' ? <DeleteRow entity={entity} row={row} onClose={close} /> : null}
    </article>
  );
};

const Keyed = ({ entity, keyed }: { entity: PageEntity; keyed: readonly unknown[] }) => {
  const { data, error, refetch } = useQuery({
    queryKey: ['row', entity.name, keyText(entity, keyed)],
    queryFn: () => readRow(entity, keyed),
  });
  if (data !== undefined && error === null)
    return <Shown entity={entity} keyed={keyed} whole={data} />;
  if (error === null) return <Loading what="the row" />;
  return <Failure error={error} retry={() => void refetch()} />;
};

export const RowPage = () => {
  const { entity: name, key } = useParams({ from: '/entities/$entity/rows/$key' });
  const entity = findEntity(name);
  const keyed = entity === undefined ? undefined : readKeyText(entity, key);
  if (entity === undefined || keyed === undefined) return <NotHere />;
  return <Keyed key={`${name}/${key}`} entity={entity} keyed={keyed} />;
};
