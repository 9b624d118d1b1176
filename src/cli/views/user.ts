/** Formats end users, their activity, and comments for a person. */
import type { CommentView } from '#wire/public-api/observability/comment.ts';
import type { UserEventView, UserProfileView } from '#wire/public-api/observability/user.ts';
import type { View } from '../terminal/context.ts';
import { cutLine, formatAgo, formatFields } from '../terminal/print.ts';
import { formatFitted } from './fitted-table.ts';

export const describeProfile = (profile: UserProfileView, view: View): string => {
  const fields = formatFields([
    ['user', profile.userId],
    ['name', profile.displayName],
    ['email', profile.email],
    ['attributes', JSON.stringify(profile.attributes)],
    ['notes', profile.notes],
  ]);
  if (profile.events.length === 0) return fields;
  const events = profile.events.map(({ event, count, value, lastAt }) => [
    ...[event, String(count), String(value), formatAgo(lastAt)],
  ]);
  return [fields, '', formatFitted(['EVENT', 'TIMES', 'WORTH', 'LAST'], events, view)].join('\n');
};

export const listUserEvents = (events: readonly UserEventView[], view: View): string =>
  formatFitted(
    ['EVENT', 'USER', 'WORTH', 'TRACE', 'HAPPENED'],
    events.map(({ event, userId, value, traceId, timestamp }) => [
      ...[event, cutLine(userId)],
      ...[String(value ?? '-'), cutLine(traceId ?? '-'), formatAgo(timestamp)],
    ]),
    view,
    { none: 'no events of users', cut: ['USER'] },
  );

const onOf = ({ objectType, objectId }: CommentView): string =>
  `${objectType.toLowerCase()} ${objectId}`;

export const listComments = (comments: readonly CommentView[], view: View): string =>
  formatFitted(
    ['COMMENT', 'ON', 'TEXT', 'BY', 'MADE'],
    comments.map((comment) => [
      ...[comment.id, cutLine(onOf(comment)), cutLine(comment.content)],
      ...[cutLine(comment.authorUserId ?? '-'), formatAgo(comment.createdAt)],
    ]),
    view,
    { none: 'no comments', leftOut: ['BY'], cut: ['TEXT'] },
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
