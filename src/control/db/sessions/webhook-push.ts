/**
 * Settings for the push of webhooks. A project sets whether the service itself posts the deliveries to their receivers.
 * A world may have destinations, to which deliveries are sent in place of the registered URLs.
 */
import { type Queryable, statement } from '../core/database.ts';

const findSettingStatement = statement(
  'find_webhook_push',
  'select webhook_push_since as "since" from projects where id = $1',
);

/** Returns the time since which the project's deliveries are pushed; null if they are not. */
export const findWebhookPush = async (db: Queryable, projectId: string): Promise<Date | null> =>
  (await db.query<{ since: Date | null }>(findSettingStatement, [projectId]))[0]?.since ?? null;

export type DestinationRow = { url: string; destination: string; setAt: Date };

/** Maximum number of URLs of one world that may have a destination. */
export const mostDestinations = 100;

const columns = 'url, destination, set_at as "setAt"';

const listStatement = statement(
  'list_webhook_destinations',
  `select ${columns} from webhook_destinations where world_id = $1 order by url`,
);

/** Lists the destinations of a world, sorted by the registered URLs. */
export const listDestinations = (db: Queryable, worldId: string): Promise<DestinationRow[]> =>
  db.query<DestinationRow>(listStatement, [worldId]);

const setStatement = statement(
  'set_webhook_destination',
  `insert into webhook_destinations (world_id, url, destination)
   select :worldId, :url, :destination
    where exists (select from webhook_destinations where world_id = :worldId and url = :url)
       or (select count(*) from webhook_destinations where world_id = :worldId) < ${mostDestinations}
   on conflict (world_id, url) do update set destination = excluded.destination, set_at = now()
   returning ${columns}`,
);

/** Sets the destination for a URL. Returns undefined if the world has the maximum number of destinations. */
export const setDestination = async (
  db: Queryable,
  of: { worldId: string; url: string; destination: string },
): Promise<DestinationRow | undefined> => (await db.query<DestinationRow>(setStatement, of))[0];

const removeStatement = statement(
  'remove_webhook_destination',
  `delete from webhook_destinations where world_id = $1 and url = $2 returning ${columns}`,
);

/**
 * Removes the destination for a URL, so that its deliveries are sent to the registered URL again. Returns the removed
 * destination; undefined if there was none.
 */
export const removeDestination = async (
  db: Queryable,
  worldId: string,
  url: string,
): Promise<DestinationRow | undefined> =>
  (await db.query<DestinationRow>(removeStatement, [worldId, url]))[0];
