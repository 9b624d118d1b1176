/** Comments of users on traces, observations, sessions and prompts. */
import { type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, countUpTo, listPage } from '../core/where.ts';

export type CommentRow = {
  id: string;
  objectType: 'TRACE' | 'OBSERVATION' | 'SESSION' | 'PROMPT';
  objectId: string;
  content: string;
  authorUserId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `c.id, c.object_type as "objectType", c.object_id as "objectId", c.content,
  c.author_user_id as "authorUserId", c.created_at as "createdAt", c.updated_at as "updatedAt"`;

export type NewComment = Omit<CommentRow, 'createdAt' | 'updatedAt'> & {
  key: string;
  projectId: string;
  objectKey: string;
};

const insertStatement = statement(
  'insert_comment',
  `insert into comments (key, project_id, id, object_type, object_key, object_id, content, author_user_id)
   values (:key, :projectId, :id, :objectType, :objectKey, :objectId, :content, :authorUserId)`,
);

export const insertComment = async (db: Queryable, comment: NewComment): Promise<void> => {
  await db.query(insertStatement, comment);
};

const findStatement = statement(
  'find_comment',
  `select ${columns} from comments c where c.key = $1`,
);

export const findComment = async (db: Queryable, key: string): Promise<CommentRow | undefined> =>
  (await db.query<CommentRow>(findStatement, [key]))[0];

/** Lists a page of comments, newest first. Conditions refer to the comment as `c`. */
export const listComments = (
  db: Queryable,
  conditions: readonly Condition[],
  page: { limit: number; offset: number },
): Promise<CommentRow[]> =>
  listPage<CommentRow>(
    db,
    { name: 'list_comments', columns, from: 'comments c', order: 'c.created_at desc, c.key desc' },
    conditions,
    page,
  );

export const countComments = (
  db: Queryable,
  conditions: readonly Condition[],
  most: number,
): Promise<Count> => countUpTo(db, 'count_comments', 'comments c', conditions, most);
