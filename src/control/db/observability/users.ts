/** Users of agents: their profiles and their events. */
import { type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, countUpTo, listPage } from '../core/where.ts';

/** Profile of a user. Attributes are JSON text. */
export type ProfileRow = {
  userId: string;
  displayName: string | null;
  email: string | null;
  attributes: string;
  notes: string | null;
  createdAt: Date;
  updatedAt: Date;
};

const profileColumns = `user_id as "userId", display_name as "displayName", email, attributes, notes,
  created_at as "createdAt", updated_at as "updatedAt"`;

const findProfileStatement = statement(
  'find_user_profile',
  `select ${profileColumns} from user_profiles where key = $1`,
);

export const findProfile = async (db: Queryable, key: string): Promise<ProfileRow | undefined> =>
  (await db.query<ProfileRow>(findProfileStatement, [key]))[0];

const lockProfileStatement = statement(
  'lock_user_profile',
  `select ${profileColumns} from user_profiles where key = $1 for update`,
);

/**
 * Locks the profile and returns it. No other transaction can write the profile until this transaction ends. Throws if
 * there is no such profile.
 */
export const lockProfile = async (tx: Queryable, key: string): Promise<ProfileRow> => {
  const [profile] = await tx.query<ProfileRow>(lockProfileStatement, [key]);
  if (profile === undefined) throw new Error(`the database has no profile with the key ${key}`);
  return profile;
};

export type ProfileWrite = Omit<ProfileRow, 'createdAt' | 'updatedAt'> & {
  key: string;
  projectId: string;
};

const insertProfileStatement = statement(
  'insert_user_profile',
  `insert into user_profiles (key, project_id, user_id, display_name, email, attributes, notes)
   values (:key, :projectId, :userId, :displayName, :email, :attributes, :notes)
   on conflict (key) do nothing returning ${profileColumns}`,
);

/**
 * Inserts a profile. Returns undefined if it exists already. Waits for a concurrent transaction that inserts the same
 * profile.
 */
export const insertProfile = async (
  db: Queryable,
  profile: ProfileWrite,
): Promise<ProfileRow | undefined> =>
  (await db.query<ProfileRow>(insertProfileStatement, profile))[0];

// Replicas of an earlier release compare the revision with the one that they read.
const updateProfileStatement = statement(
  'update_user_profile',
  `update user_profiles
      set display_name = :displayName, email = :email, attributes = :attributes, notes = :notes,
          revision = revision + 1, updated_at = date_trunc('milliseconds', now())
    where key = :key returning ${profileColumns}`,
);

/** Updates a profile that the transaction has locked. */
export const updateProfile = async (
  tx: Queryable,
  { projectId: _project, userId: _user, ...values }: ProfileWrite,
): Promise<ProfileRow> => {
  const [written] = await tx.query<ProfileRow>(updateProfileStatement, values);
  if (written === undefined)
    throw new Error(`the database returned no row for the updated profile ${values.key}`);
  return written;
};

export type EventSumRow = {
  event: string;
  count: number;
  value: number;
  firstAt: Date;
  lastAt: Date;
};

const mostSums = 1_000;

const sumsStatement = statement(
  'list_user_event_sums',
  `select event, events::float8 as count, value::float8 as value, first_at as "firstAt", last_at as "lastAt"
     from user_event_sums where user_key = $1 order by events desc, event limit ${mostSums}`,
);

/** Lists the counts of a user's events by name, the most frequent first. */
export const listEventSums = (db: Queryable, userKey: string): Promise<EventSumRow[]> =>
  db.query<EventSumRow>(sumsStatement, [userKey]);

/** Event of a user. */
export type UserEventRow = {
  id: string;
  userId: string;
  event: string;
  value: number | null;
  /** Metadata of the event as JSON text; null if it has none. */
  metadata: string | null;
  traceId: string | null;
  sessionId: string | null;
  happenedAt: Date;
  createdAt: Date;
};

const eventColumns = `e.id, e.user_id as "userId", e.event, e.value, e.metadata, e.trace_id as "traceId",
  e.session_id as "sessionId", e.happened_at as "happenedAt", e.created_at as "createdAt"`;

const insertEventStatement = statement(
  'insert_user_event',
  `with made as (
     insert into user_events as e (key, project_id, id, user_key, user_id, event, value, metadata, trace_key, trace_id,
                                   session_id, happened_at)
     values (:key, :projectId, :id, :userKey, :userId, :event, :value::float8, :metadata, :traceKey::uuid, :traceId,
             :sessionId, :happenedAt::timestamptz)
     on conflict (key) do nothing returning ${eventColumns}, e.user_key
   ), summed as (
     insert into user_event_sums (user_key, event, events, value, first_at, last_at)
     select user_key, event, 1, coalesce(value, 0)::numeric, "happenedAt", "happenedAt" from made
     on conflict (user_key, event) do update
        set events = user_event_sums.events + 1, value = user_event_sums.value + excluded.value,
            first_at = least(user_event_sums.first_at, excluded.first_at),
            last_at = greatest(user_event_sums.last_at, excluded.last_at)
   )
   select * from made`,
);

export type NewUserEvent = Omit<UserEventRow, 'createdAt' | 'happenedAt'> & {
  key: string;
  projectId: string;
  userKey: string;
  traceKey: string | null;
  happenedAt: string;
};

/** Inserts an event and adds it to the counts. Returns undefined if an event with this id exists already. */
export const insertUserEvent = async (
  db: Queryable,
  event: NewUserEvent,
): Promise<UserEventRow | undefined> =>
  (await db.query<UserEventRow>(insertEventStatement, event))[0];

const findEventStatement = statement(
  'find_user_event',
  `select ${eventColumns} from user_events e where e.key = $1`,
);

export const findUserEvent = async (
  db: Queryable,
  key: string,
): Promise<UserEventRow | undefined> =>
  (await db.query<UserEventRow>(findEventStatement, [key]))[0];

/** Lists a page of events, latest first. Conditions refer to the event as `e`. */
export const listUserEvents = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<UserEventRow[]> =>
  listPage<UserEventRow>(
    db,
    {
      name: 'list_user_events',
      columns: eventColumns,
      from: 'user_events e',
      order: 'e.happened_at desc, e.key desc',
    },
    conditions,
    page,
  );

export const countUserEvents = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> => countUpTo(db, 'count_user_events', 'user_events e', conditions, most);
