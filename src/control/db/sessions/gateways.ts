/** Gateways as they ask for routes, and addresses from which somebody asks with a token that is not theirs. */
import { type Queryable, statement } from '../core/database.ts';

/** Whether the token of a gateway was taken. */
export type GatewayWelcome = 'seen' | 'refused';

/** Addresses of requests with a wrong token that are kept: enough to find a gateway that is set up wrongly. */
export const mostRefused = 20;

const forgetAfter = "interval '1 hour'";
/** Of addresses that no gateway has. */
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
  `select address, coalesce(seen_at > since, false) as seen,
          coalesce(refused_at > greatest(since, seen_at), false) as refused
     from gateways, (select now() - $1 * interval '1 millisecond' as since) as window_of
    where greatest(seen_at, refused_at) > since
    order by seen desc, address limit 100`,
);

/** An address from which a gateway asked with its token, or somebody with another one since, or both. */
export type AskingGateway = { address: string; seen: boolean; refused: boolean };

/** Who asked as a gateway within the last so many milliseconds. */
export const listGateways = (db: Queryable, withinMs: number): Promise<AskingGateway[]> =>
  db.query<AskingGateway>(listStatement, [withinMs]);
