/**
 * Measures how long an orchestrator waits for the view of 10,000 hosts, and for its revision alone. It asks over HTTP,
 * and the control plane's real database has had 100,000 hosts before. The floor is a bare statement that reads the
 * rows, or counts them.
 */
import pg from 'pg';
import { createClient } from '#wire/client.ts';
import { observePool } from '#wire/pool-api/operations.ts';
import { startTestControl } from '../../test/support/control/control.ts';
import { execute } from '../../test/support/database/sql.ts';
import { type Figure, median, sample } from './figure.ts';

const installation = 'bench';
const runs = 40;

const addHosts = async (databaseUrl: string): Promise<void> => {
  const add = `insert into hosts (id, installation, pool, runtime, state, tier, isolation, size,
                                  launched_at, uses)
     select 'hst_' || md5(n::text), $1, 'pool-' || n % 10, 'process',
            case when n <= 10000 then 'warm' else 'gone' end, 'standard', 'process', 'standard',
            now(), n % 7
       from generate_series(1, 110000) as n`;
  await execute(databaseUrl, add, [installation]);
  await execute(databaseUrl, `insert into beats select id, now() from hosts where state = 'warm'`);
  await execute(databaseUrl, 'vacuum analyze hosts, beats');
};

const typical = async (work: () => Promise<unknown>): Promise<number> => {
  await sample(runs / 4, work);
  return median(await sample(runs, work));
};

const measureFloor = async (databaseUrl: string) => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const time = (name: string, columns: string): Promise<number> => {
    const text = `select ${columns} from hosts h where installation = $1 and state <> 'gone'`;
    return typical(() => client.query({ name, text, values: [installation] }));
  };
  const columns = 'id, pool, state, session_id, state_since, created_at, launched_at, uses';
  try {
    return { rows: await time('rows', columns), count: await time('count', 'count(*)') };
  } finally {
    await client.end();
  }
};

/** Measures one read in milliseconds; returns medians. */
export const benchPoolView = async (databaseUrl: string): Promise<Figure[]> => {
  const control = await startTestControl({ databaseUrl });
  try {
    await addHosts(databaseUrl);
    const client = createClient({
      baseUrl: `${control.running.addresses.internal[0]}/api/pool`,
      authorization: `Bearer ${control.config.poolToken.reveal()}`,
    });
    const look = (brief: boolean): Promise<number> =>
      typical(() => client.send(observePool, { query: { installation, brief } }));
    const floor = await measureFloor(databaseUrl);
    const common = { unit: 'ms', peer: null, target: null, better: 'lower' } as const;
    return [
      { name: 'orchestrator.view.10k', value: await look(false), floor: floor.rows, ...common },
      {
        name: 'orchestrator.view.10k.brief',
        value: await look(true),
        floor: floor.count,
        ...common,
      },
    ];
  } finally {
    await control.stop();
  }
};
