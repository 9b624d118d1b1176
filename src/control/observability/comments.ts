/** Creates, lists and reads comments. The object that a comment is about need not exist yet. */
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import { cleanText } from '#observability/read-value.ts';
import {
  type CommentBody,
  type CommentView,
  commentedTypes,
} from '#wire/public-api/observability/comment.ts';
import type { Database, Queryable } from '../db/core/database.ts';
import type { Condition } from '../db/core/where.ts';
import {
  type CommentRow,
  countComments,
  findComment,
  insertComment,
  listComments,
} from '../db/observability/comments.ts';
import { keyOf } from '../db/observability/trace-keys.ts';
import { equals, keyed, oneOf } from '../platform/lists/conditions.ts';
import { openNumberedPage, walkedItems } from '../platform/lists/numbered.ts';
import { invalidParameter, type RawQuery, textIn } from '../platform/lists/query.ts';

const viewComment = ({ createdAt, updatedAt, ...comment }: CommentRow, projectId: string) =>
  ({
    ...comment,
    projectId,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }) satisfies CommentView;

/** Creates a comment and returns its id. Throws `invalid` for a comment that is malformed or too long. */
export const createComment = async (
  db: Database,
  projectId: string,
  body: CommentBody,
): Promise<string> => {
  if (body.projectId !== undefined && body.projectId !== projectId) {
    throw invalidParameter('projectId', 'is not the project of the key');
  }
  const content = cleanText(body.content);
  if (content.trim() === '') throw invalidParameter('content', 'must have some text');
  const id = newId('cmt');
  const objectId = cleanText(body.objectId);
  await insertComment(db, {
    ...{ key: keyOf(projectId, id), projectId, id, content },
    ...{ objectType: body.objectType, objectId, objectKey: keyOf(projectId, objectId) },
    authorUserId: body.authorUserId === undefined ? null : cleanText(body.authorUserId),
  });
  return id;
};

/** Returns a comment; throws `not_found`. */
export const readComment = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<CommentView> => {
  const comment = await findComment(db, keyOf(projectId, id));
  if (comment === undefined) throw new AppError('not_found', 'Comment not found');
  return viewComment(comment, projectId);
};

/** Returns a page of comments. */
export const readComments = async (db: Database, projectId: string, query: RawQuery) => {
  if (textIn(query, 'objectId') !== undefined && textIn(query, 'objectType') === undefined) {
    throw invalidParameter('objectType', 'is required with objectId');
  }
  const page = openNumberedPage(query, projectId, { time: 'c.created_at', key: 'c.key' });
  const conditions = [
    (bind: (value: unknown) => string) => `c.project_id = ${bind(projectId)}`,
    oneOf(query, 'objectType', commentedTypes, 'c.object_type'),
    keyed(query, projectId, 'objectId', 'c.object_key'),
    equals(query, 'authorUserId', 'c.author_user_id'),
  ].filter((condition): condition is Condition => condition !== undefined);
  const [rows, count] = await Promise.all([
    listComments(db, [...conditions, ...page.conditions], page.range),
    countComments(db, conditions, walkedItems),
  ]);
  const { shown, meta } = page.show(rows, count, ({ createdAt, id }) => [createdAt, id]);
  return { data: shown.map((comment) => viewComment(comment, projectId)), meta };
};
