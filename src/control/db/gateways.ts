/** Gateways as they ask for routes: when each was last answered, and last refused. */
import { type Queryable, statement } from './pool.ts';

/** Whether a gateway's token was taken. */
export type GatewayWelcome = 'seen' | 'refused';

const forgetAfter = "interval '1 hour'";

const noteStatement = statement(
  'note_gateway',
  `with forgotten as (
     delete from gateways
      where address <> $1 and greatest(seen_at, refused_at) < now() - ${forgetAfter}
   )
   insert into gateways (address, seen_at, refused_at)
   values ($1, case when $2 then now() end, case when not $2 then now() end)
   on conflict (address) do update
      set seen_at = coalesce(excluded.seen_at, gateways.seen_at),
          refused_at = coalesce(excluded.refused_at, gateways.refused_at)`,
);

/** Notes that one asked from an address just now; those of long ago are forgotten. */
export const noteGateway = async (
  db: Queryable,
  address: string,
  welcome: GatewayWelcome,
): Promise<void> => {
  await db.query(noteStatement, [address, welcome === 'seen']);
};

// One whose token was changed for the better is refused no more.
const listStatement = statement(
  'list_gateways',
  `select address, coalesce(refused_at > coalesce(seen_at, '-infinity'), false) as refused
     from gateways where greatest(seen_at, refused_at) > now() - $1 * interval '1 millisecond'
    order by address limit 100`,
);

export type AskingGateway = { address: string; refused: boolean };

/** Gateways that asked within the last so many milliseconds, and how the last answer to each was. */
export const listGateways = (db: Queryable, withinMs: number): Promise<AskingGateway[]> =>
  db.query<AskingGateway>(listStatement, [withinMs]);
