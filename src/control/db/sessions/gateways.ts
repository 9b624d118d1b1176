/**
 * Gateways, which are recorded when they request routes, and addresses from which such requests came with a wrong
 * token.
 */
import { type Queryable, statement } from '../core/database.ts';

/** Result of checking the token of a gateway. */
export type GatewayWelcome = 'seen' | 'refused';

/** Maximum number of recorded addresses with a wrong token. It is enough to find a misconfigured gateway. */
export const mostRefused = 20;

const forgetAfter = "interval '1 hour'";
/** Time, as an SQL interval, after which an address is deleted if no request from it had a valid token. */
const forgetRefusedAfter = "interval '2 minutes'";

const noteStatement = statement(
  'note_gateway',
  `with forgotten as (
     delete from gateways
      where address <> $1
        and (greatest(seen_at, refused_at) < now() - ${forgetAfter}
             or (seen_at is null and refused_at < now() - ${forgetRefusedAfter}))
   )
   insert into gateways (address, seen_at, refused_at)
   select $1, case when $2 then now() end, case when not $2 then now() end
    where $2 or exists (select from gateways where address = $1)
       or (select count(*) from gateways
            where seen_at is null and refused_at >= now() - ${forgetRefusedAfter}) < ${mostRefused}
   on conflict (address) do update
      set seen_at = coalesce(excluded.seen_at, gateways.seen_at),
          refused_at = coalesce(excluded.refused_at, gateways.refused_at)`,
);

/** Records a request from an address, and deletes old records. */
export const noteGateway = async (
  db: Queryable,
  address: string,
  welcome: GatewayWelcome,
): Promise<void> => {
  await db.query(noteStatement, [address, welcome === 'seen']);
};

// A gateway whose token was corrected since is no longer listed as refused.
const listStatement = statement(
  'list_gateways',
  `select address, coalesce(seen_at > since, false) as seen,
          coalesce(refused_at > greatest(since, seen_at), false) as refused
     from gateways, (select now() - $1 * interval '1 millisecond' as since) as window_of
    where greatest(seen_at, refused_at) > since
    order by seen desc, address limit 100`,
);

/** Address from which a gateway sent requests. `refused` is true if the latest request had a wrong token. */
export type AskingGateway = { address: string; seen: boolean; refused: boolean };

/** Lists the addresses from which requests came within the last `withinMs` milliseconds. */
export const listGateways = (db: Queryable, withinMs: number): Promise<AskingGateway[]> =>
  db.query<AskingGateway>(listStatement, [withinMs]);
