/** Comments on telemetry: request and answer schemas, and the operations. */
import { getOperation, operation } from '../../operation.ts';
import { nullable, oneOf, Timestamp } from '../../schemas.ts';
import { type Static, Type } from '../../type.ts';
import { cursorParams } from '../evaluation/dataset.ts';
import { pageOf } from '../lists.ts';
import { LongId, Made, Param } from './trace.ts';

export const commentedTypes = ['TRACE', 'OBSERVATION', 'SESSION', 'PROMPT'] as const;

export const CommentView = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  objectType: oneOf(commentedTypes),
  objectId: Type.String(),
  content: Type.String(),
  authorUserId: nullable(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type CommentView = Static<typeof CommentView>;

export const CommentBody = Type.Object({
  projectId: Type.Optional(
    Type.String({
      maxLength: 200,
      description: "id of the project; it must be that of the key's project",
    }),
  ),
  objectType: oneOf(commentedTypes),
  objectId: LongId,
  content: Type.String({ minLength: 1, maxLength: 5_000 }),
  authorUserId: Type.Optional(Type.String({ maxLength: 800 })),
});
export type CommentBody = Static<typeof CommentBody>;

const CommentParams = Type.Object({ commentId: LongId });
const CommentList = pageOf(CommentView);

export const createComment = operation({
  id: 'createComment',
  summary: 'Comment on a trace, an observation, a session or a prompt',
  method: 'POST',
  path: '/comments',
  access: 'write',
  unknown: 'ignored',
  body: CommentBody,
  answers: { 200: Made },
});

export const listComments = getOperation({
  id: 'listComments',
  summary: 'Comments, newest first, optionally only those on the object with a given type and id',
  path: '/comments',
  access: 'inspect',
  unknown: 'ignored',
  query: Type.Object({
    ...cursorParams,
    objectType: Param(commentedTypes.join(', ')),
    objectId: Param('id of the object; only with `objectType`'),
    authorUserId: Param(),
  }),
  answer: CommentList,
});

export const getComment = getOperation({
  id: 'getComment',
  summary: 'A comment',
  path: '/comments/{commentId}',
  access: 'inspect',
  unknown: 'ignored',
  params: CommentParams,
  answer: CommentView,
});
