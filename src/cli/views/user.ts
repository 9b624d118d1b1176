/** Users, what they did, and comments, as a person reads them. */
import type { CommentView } from '#wire/public-api/comment.ts';
import type { UserEventView, UserProfileView } from '#wire/public-api/user.ts';
import { cutLine, formatAgo, formatFields, formatTable } from '../terminal/print.ts';
import { orNone } from './trace.ts';

const nameChars = 50;

export const describeProfile = (profile: UserProfileView): string => {
  const fields = formatFields([
    ['user', profile.userId],
    ['name', profile.displayName],
    ['email', profile.email],
    ['attributes', JSON.stringify(profile.attributes)],
    ['notes', profile.notes],
  ]);
  if (profile.events.length === 0) return fields;
  const events = profile.events.map(({ event, count, value, lastAt }) => [
    ...[cutLine(event, nameChars), String(count), String(value), formatAgo(lastAt)],
  ]);
  return [fields, '', formatTable([['EVENT', 'TIMES', 'WORTH', 'LAST'], ...events])].join('\n');
};

export const listUserEvents = (events: readonly UserEventView[]): string =>
  orNone(
    [
      ['EVENT', 'USER', 'WORTH', 'TRACE', 'HAPPENED'],
      ...events.map(({ event, userId, value, traceId, timestamp }) => [
        ...[cutLine(event, nameChars), cutLine(userId, nameChars)],
        ...[String(value ?? '-'), cutLine(traceId ?? '-', nameChars), formatAgo(timestamp)],
      ]),
    ],
    'no events of users',
  );

const onOf = ({ objectType, objectId }: CommentView): string =>
  `${objectType.toLowerCase()} ${objectId}`;

export const listComments = (comments: readonly CommentView[]): string =>
  orNone(
    [
      ['COMMENT', 'ON', 'TEXT', 'BY', 'MADE'],
      ...comments.map((comment) => [
        ...[comment.id, cutLine(onOf(comment), nameChars), cutLine(comment.content, nameChars)],
        ...[cutLine(comment.authorUserId ?? '-', nameChars), formatAgo(comment.createdAt)],
      ]),
    ],
    'no comments',
  );

export const describeComment = (comment: CommentView): string =>
  [
    formatFields([
      ['comment', comment.id],
      ['on', onOf(comment)],
      ['by', comment.authorUserId],
      ['made', comment.createdAt],
    ]),
    '',
    comment.content,
  ].join('\n');
