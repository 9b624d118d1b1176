/** Profiles of users, updated member by member, and events of users. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { parseTimeUs } from '#observability/iso-time.ts';
import { cleanText } from '#observability/read-value.ts';
import type {
  UserEventBody,
  UserEventView,
  UserProfileBody,
  UserProfileView,
} from '#wire/public-api/observability/user.ts';
import { JsonText, jsonText } from '../base/json/json-text.ts';
import type { Database, Queryable } from '../db/core/database.ts';
import type { Condition } from '../db/core/where.ts';
import { keyOf } from '../db/observability/trace-keys.ts';
import {
  countUserEvents,
  type EventSumRow,
  findProfile,
  findUserEvent,
  insertProfile,
  insertUserEvent,
  listEventSums,
  listUserEvents,
  lockProfile,
  type ProfileRow,
  type ProfileWrite,
  type UserEventRow,
  updateProfile,
} from '../db/observability/users.ts';
import { before, equals, on, since } from '../platform/lists/conditions.ts';
import { openNumberedPage, walkedItems } from '../platform/lists/numbered.ts';
import { invalidParameter, type RawQuery, textIn } from '../platform/lists/query.ts';

/** Maximum wait for other writers of the same profile, in milliseconds. */
const lockWaitMs = 10_000;
const mostAttributeChars = 256 * 1024;

const textOf = (given: string | undefined, known: string | null): string | null =>
  given === undefined ? known : cleanText(given);

/** Returns the attributes to store: the given ones merged over the stored ones, or replacing them. */
const attributesOf = (
  { attributes, mergeAttributes }: UserProfileBody,
  known: string | undefined,
): string => {
  const there = known ?? '{}';
  if (attributes === undefined) return there;
  const text = JSON.stringify(
    mergeAttributes === false ? attributes : { ...JSON.parse(there), ...attributes },
  );
  if (text.length <= mostAttributeChars) return text;
  throw invalidParameter('attributes', `have more than ${mostAttributeChars} characters together`);
};

const viewProfile = (
  projectId: string,
  userId: string,
  profile: ProfileRow | undefined,
  events: readonly EventSumRow[],
): UserProfileView => ({
  userId,
  projectId,
  displayName: profile?.displayName ?? null,
  email: profile?.email ?? null,
  // Passed through as stored.
  attributes: new JsonText(profile?.attributes ?? '{}') as unknown as Record<string, unknown>,
  notes: profile?.notes ?? null,
  createdAt: profile?.createdAt.toISOString() ?? null,
  updatedAt: profile?.updatedAt.toISOString() ?? null,
  events: events.map(({ firstAt, lastAt, ...sums }) => ({
    ...sums,
    firstAt: firstAt.toISOString(),
    lastAt: lastAt.toISOString(),
  })),
});

/** Returns the profile of a user and the sums over the user's events. Throws `not_found` if the user has neither. */
export const readProfile = async (
  db: Queryable,
  projectId: string,
  given: string,
): Promise<UserProfileView> => {
  const userId = cleanText(given);
  const key = keyOf(projectId, userId);
  const profile = await findProfile(db, key);
  const events = await listEventSums(db, key);
  if (profile === undefined && events.length === 0) {
    throw new AppError('not_found', 'User profile not found');
  }
  return viewProfile(projectId, userId, profile, events);
};

/**
 * Creates or changes a profile. Writers of one profile are serialized, so that each reads the result of the previous
 * one. Throws `invalid`, and `unavailable` after a wait of 10 s.
 */
export const putProfile = (
  db: Database,
  projectId: string,
  body: UserProfileBody,
): Promise<UserProfileView> => {
  const userId = cleanText(body.userId);
  const key = keyOf(projectId, userId);
  const laidOver = (known: ProfileRow | undefined): ProfileWrite => ({
    ...{ key, projectId, userId },
    displayName: textOf(body.displayName, known?.displayName ?? null),
    email: textOf(body.email, known?.email ?? null),
    attributes: attributesOf(body, known?.attributes),
    notes: textOf(body.notes, known?.notes ?? null),
  });
  const put = async (tx: Queryable): Promise<UserProfileView> => {
    const made =
      (await findProfile(tx, key)) === undefined
        ? await insertProfile(tx, laidOver(undefined))
        : undefined;
    const written = made ?? (await updateProfile(tx, laidOver(await lockProfile(tx, key))));
    return viewProfile(projectId, userId, written, await listEventSums(tx, key));
  };
  return db.transaction(put, 'usual', { rowsMs: lockWaitMs });
};

const viewEvent = (event: UserEventRow, projectId: string): UserEventView => ({
  id: event.id,
  projectId,
  userId: event.userId,
  event: event.event,
  value: event.value,
  metadata: jsonText(event.metadata),
  traceId: event.traceId,
  sessionId: event.sessionId,
  timestamp: event.happenedAt.toISOString(),
  createdAt: event.createdAt.toISOString(),
});

const timeOf = (given: string | undefined): string => {
  if (given === undefined) return new Date().toISOString();
  const us = parseTimeUs(given);
  if (us === undefined) {
    throw invalidParameter('timestamp', 'must be an ISO 8601 time with its offset');
  }
  return new Date(us / 1_000).toISOString();
};

const orNull = (given: string | undefined): string | null =>
  given === undefined || given === '' ? null : cleanText(given);

/** Stores an event; if an event with this id exists, returns it unchanged. Throws `invalid`. */
export const addUserEvent = async (
  db: Database,
  projectId: string,
  body: UserEventBody,
): Promise<UserEventView> => {
  const id = orNull(body.id) ?? newId('evt');
  const userId = cleanText(body.userId);
  const traceId = orNull(body.traceId);
  const key = keyOf(projectId, id);
  const event = {
    ...{ key, projectId, id, userKey: keyOf(projectId, userId), userId, traceId },
    event: cleanText(body.event),
    value: body.value ?? null,
    metadata: body.metadata === undefined ? null : JSON.stringify(body.metadata),
    traceKey: traceId === null ? null : keyOf(projectId, traceId),
    sessionId: orNull(body.sessionId),
    happenedAt: timeOf(body.timestamp),
  };
  const made = (await insertUserEvent(db, event)) ?? (await findUserEvent(db, key));
  if (made === undefined) throw new Error(`the event ${id} was not written`);
  return viewEvent(made, projectId);
};

/** Returns a page of events. */
export const readUserEvents = async (db: Database, projectId: string, query: RawQuery) => {
  const page = openNumberedPage(query, projectId, { time: 'e.happened_at', key: 'e.key' });
  const userId = textIn(query, 'userId');
  const conditions = [
    (bind: (value: unknown) => string) => `e.project_id = ${bind(projectId)}`,
    on(userId && keyOf(projectId, userId), (key) => `e.user_key = ${key}::uuid`),
    equals(query, 'event', 'e.event'),
    since(query, 'fromTimestamp', 'e.happened_at'),
    before(query, 'toTimestamp', 'e.happened_at'),
  ].filter((condition): condition is Condition => condition !== undefined);
  const [rows, count] = await Promise.all([
    listUserEvents(db, [...conditions, ...page.conditions], page.range),
    countUserEvents(db, conditions, walkedItems),
  ]);
  const { shown, meta } = page.show(rows, count, ({ happenedAt, id }) => [happenedAt, id]);
  return { data: shown.map((event) => viewEvent(event, projectId)), meta };
};
