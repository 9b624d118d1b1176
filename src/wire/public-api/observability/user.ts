/** Request and answer schemas of users of agents: profiles, events, and values of events. */
import { nullable, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { cursorParams } from '../evaluation/dataset.ts';
import { pageOf } from '../lists.ts';
import { LongId, Param } from './trace.ts';

const Text = nullable(Type.String());
const Json = Type.Unknown({ description: 'any JSON' });
const Attributes = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 1_000 });

export const UserProfileView = Type.Object({
  userId: Type.String(),
  projectId: Type.String(),
  displayName: Text,
  email: Text,
  attributes: Type.Record(Type.String(), Type.Unknown()),
  notes: Text,
  createdAt: nullable(Timestamp),
  updatedAt: nullable(Timestamp),
  events: Type.Array(
    Type.Object({
      event: Type.String(),
      count: Type.Number(),
      value: Type.Number({ description: 'sum of the values of the events of this name' }),
      firstAt: Timestamp,
      lastAt: Timestamp,
    }),
    { description: 'counts by name of the event, most frequent first, at most 1,000' },
  ),
});
export type UserProfileView = Static<typeof UserProfileView>;

export const UserProfileBody = Type.Object({
  userId: LongId,
  displayName: Type.Optional(Type.String({ maxLength: 1_000 })),
  email: Type.Optional(Type.String({ maxLength: 1_000 })),
  attributes: Type.Optional(Attributes),
  notes: Type.Optional(Type.String({ maxLength: 100_000 })),
  mergeAttributes: Type.Optional(
    Type.Boolean({
      description:
        'whether the attributes are merged into the existing ones; false: they replace them',
    }),
  ),
});
export type UserProfileBody = Static<typeof UserProfileBody>;

export const UserEventView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  userId: Type.String(),
  event: Type.String(),
  value: nullable(Type.Number()),
  metadata: Json,
  traceId: Text,
  sessionId: Text,
  timestamp: Timestamp,
  createdAt: Timestamp,
});
export type UserEventView = Static<typeof UserEventView>;

export const UserEventBody = Type.Object({
  id: Type.Optional(
    Type.String({
      maxLength: 800,
      description: 'id of the event; an event with a known id is ignored',
    }),
  ),
  userId: LongId,
  event: Type.String({ minLength: 1, maxLength: 500 }),
  value: Type.Optional(
    Type.Number({
      minimum: -1e15,
      maximum: 1e15,
      description: "value of the event, in a unit of the caller's choice",
    }),
  ),
  metadata: Type.Optional(Json),
  traceId: Type.Optional(Type.String({ maxLength: 800 })),
  sessionId: Type.Optional(Type.String({ maxLength: 1_000 })),
  timestamp: Type.Optional(
    Type.String({ maxLength: 64, description: 'time of the event; default: now' }),
  ),
});
export type UserEventBody = Static<typeof UserEventBody>;

export const UserParams = Type.Object({ userId: LongId });
export const UserEventQuery = Type.Object({
  ...cursorParams,
  userId: Param(),
  event: Param('its name'),
  fromTimestamp: Param(),
  toTimestamp: Param(),
});
export const UserEventList = pageOf(UserEventView);
