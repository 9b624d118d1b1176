/** Request and answer schemas of annotation queues, their items and their assigned users. */
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { pageOf } from '../lists.ts';
import { LongId, Param } from '../observability/trace.ts';
import { cursorParams } from './dataset.ts';

export const objectTypes = ['TRACE', 'OBSERVATION', 'SESSION'] as const;
export const queueStates = ['PENDING', 'COMPLETED'] as const;

export const QueueView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  scoreConfigIds: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type QueueView = Static<typeof QueueView>;

export const QueueItemView = Type.Object({
  id: Type.String(),
  queueId: Type.String(),
  objectId: Type.String(),
  objectType: oneOf(objectTypes),
  status: oneOf(queueStates),
  completedAt: nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type QueueItemView = Static<typeof QueueItemView>;

export const AssignmentView = Type.Object({
  userId: Type.String(),
  queueId: Type.String(),
  projectId: Type.String(),
});

export const QueueBody = Type.Object({
  name: Type.String({ maxLength: 10_000 }),
  description: Type.Optional(Type.String({ maxLength: 100_000 })),
  scoreConfigIds: Type.Array(Type.String({ maxLength: 800 }), { minItems: 1, maxItems: 100 }),
});

export const QueueItemBody = Type.Object({
  objectId: LongId,
  objectType: oneOf(objectTypes),
  status: Type.Optional(oneOf(queueStates)),
});

export const QueueItemChange = Type.Object({ status: Type.Optional(oneOf(queueStates)) });
export const AssignmentBody = Type.Object({
  userId: Type.String({ minLength: 1, maxLength: 200 }),
});

export const QueueParams = Type.Object({ queueId: LongId });
export const QueueItemParams = Type.Object({ queueId: LongId, itemId: LongId });
export const QueueQuery = Type.Object(cursorParams);
export const QueueItemQuery = Type.Object({
  ...cursorParams,
  status: Param('status of the items: PENDING or COMPLETED'),
});

export const QueueList = pageOf(QueueView);
export const QueueItemList = pageOf(QueueItemView);
export const Removed = Type.Object({ success: Type.Literal(true), message: Type.String() });
export const Unassigned = Type.Object({ success: Type.Literal(true) });
