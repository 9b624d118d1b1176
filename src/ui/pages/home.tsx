/** Start page: every entity with the number of its rows. */
import { Link } from '@tanstack/react-router';
import { Empty, Failure } from '../pieces/states.tsx';
import { showCount } from '../world/keys.ts';
import { world } from '../world/model.ts';
import { useCounts } from './shell.tsx';

export const HomePage = () => {
  const { data = [], error, refetch } = useCounts();
  const counts = new Map(data.map(({ name, rows }) => [name, rows]));
  const { entities, title } = world();
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (entities.length === 0) return <Empty title="This world has no entities." />;
  return (
    <div className="home">
      <h1>{title}</h1>
      <ul className="tiles">
        {entities.map(({ name, label, fields }) => (
          <li key={name}>
            <Link to="/entities/$entity" params={{ entity: name }}>
              <span className="tile-name">{label}</span>
              <span className="tile-rows">
                {counts.has(name) ? showCount(counts.get(name) ?? 0) : '…'}
              </span>
              <span className="tile-fields">{fields.length} fields</span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
};
