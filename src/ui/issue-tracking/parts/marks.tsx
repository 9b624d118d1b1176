/** Small elements used in many places: people, issue types, priorities and statuses. */
import { Link } from '@tanstack/react-router';
import type { IssueType, Named, ShortIssue, Status, User } from '../api/bodies.ts';

export const nameOf = (user: User | null | undefined): string => user?.displayName ?? 'No one';

export const Person = ({ user }: { user: User | null | undefined }) => (
  <span className="person">
    <span className="initial" aria-hidden="true">
      {user === null || user === undefined ? '–' : [...user.displayName][0]?.toUpperCase()}
    </span>
    {nameOf(user)}
  </span>
);

const kinds = ['bug', 'story', 'epic', 'sub-task'];

/** Shows a square in the colour of the type, with its name. */
export const TypeMark = ({ type }: { type: IssueType }) => {
  const kind = kinds.find((one) => one === type.name.toLowerCase()) ?? 'task';
  return (
    <span className="type-mark">
      <span className={`type-square ${kind}`} aria-hidden="true" />
      {type.name}
    </span>
  );
};

const urgencies = new Map([
  ['Highest', '⇈'],
  ['High', '↑'],
  ['Medium', '='],
  ['Low', '↓'],
  ['Lowest', '⇊'],
]);

export const PriorityMark = ({ priority }: { priority: Named | null | undefined }) =>
  priority === null || priority === undefined ? null : (
    <span className={`priority ${priority.name.toLowerCase().startsWith('high') ? 'high' : ''}`}>
      <span aria-hidden="true">{urgencies.get(priority.name) ?? '='}</span> {priority.name}
    </span>
  );

const categories = ['new', 'indeterminate', 'done'];

export const categoryOf = ({ statusCategory }: Status): string =>
  categories.find((one) => one === statusCategory.key) ?? 'new';

export const StatusMark = ({ status }: { status: Status }) => (
  <span className={`status-mark ${categoryOf(status)}`}>{status.name}</span>
);

/** Shows an issue that another one names, on one line. */
export const IssueLine = ({ issue }: { issue: ShortIssue }) => (
  <>
    <Link to="/browse/$key" params={{ key: issue.key }} className="issue-key">
      {issue.key}
    </Link>
    <span className="line-summary">{issue.fields.summary}</span>
    <StatusMark status={issue.fields.status} />
  </>
);
