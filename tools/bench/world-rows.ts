/**
 * The data for comparing `code-hosting` with its peers: a repository with 1,000 issues, of which every third is
 * closed, with labels and comments; and the version of the template that has them.
 */
import type { Row } from '../../src/language/contract.ts';
import { templateTree } from '../../test/support/worlds/worlds.ts';
import { type BuiltVersion, buildVersion, file } from './host-world.ts';

export const issueCount = 1_000;
export const owner = 'northquay';
export const repo = 'berth';
export const path = `/repos/${owner}/${repo}`;

/** User of the template's token, who sends the requests. */
export const viewer = 'quay-triage';

const authors = ['tobias-wendt', 'priyaraman', viewer];
const labelNames = ['bug', 'enhancement', 'question', 'regression'];

const topics = [
  'anchor',
  'ballast',
  'bilge',
  'bollard',
  'bowline',
  'breaker',
  'bulkhead',
  'buoy',
  'capstan',
  'cargo',
  'cleat',
  'compass',
  'crane',
  'davit',
  'dinghy',
  'dredger',
  'fender',
  'ferry',
  'galley',
  'gangway',
  'halyard',
  'hawser',
  'helm',
  'hull',
  'jetty',
  'keel',
  'lantern',
  'launch',
  'lighthouse',
  'mast',
  'mooring',
  'outboard',
  'paddle',
  'pilot',
  'pontoon',
  'quayside',
  'rudder',
  'sextant',
  'slipway',
  'tiller',
];

export type BenchIssue = {
  number: number;
  title: string;
  body: string;
  author: string;
  labels: string[];
  isClosed: boolean;
  comments: string[];
};

const pick = <Value>(values: readonly Value[], index: number): Value =>
  values[index % values.length] as Value;

/**
 * Returns the topic of the issue at an index: a word in its title. The topics repeat in a cycle, so neighbouring issues
 * have different topics, and a search for a topic finds 25 issues.
 */
export const topicOf = (index: number): string => pick(topics, index);

const issueAt = (index: number): BenchIssue => ({
  number: index + 1,
  title: `The ${topicOf(index)} at pier ${index % 47} is shown twice`,
  body:
    `Seen on the day plan of week ${(index % 52) + 1}: the same entry stands there twice, and only one of them ` +
    `can be opened.\n\n1. Open the plan\n2. Filter by pier ${index % 47}\n3. Count the rows\n`,
  author: pick(authors, index),
  labels: [pick(labelNames, index), ...(index % 4 === 0 ? [pick(labelNames, index + 1)] : [])],
  isClosed: index % 3 === 0,
  comments: index % 2 === 0 ? [] : [`It is the same at pier ${index % 31}, since last week.`],
});

/** Issues that every compared server gets. */
export const issues: readonly BenchIssue[] = Array.from({ length: issueCount }, (_, index) =>
  issueAt(index),
);

const timeOf = (index: number): string =>
  new Date(Date.UTC(2025, 0, 1) + index * 3_600_000).toISOString().replace('.000Z', 'Z');

const here = { owner, repo };

const rowOf = (issue: BenchIssue): Row => ({
  ...here,
  id: 5_000_000 + issue.number,
  number: issue.number,
  title: issue.title,
  body: issue.body,
  user: issue.author,
  author_association: 'MEMBER',
  state: issue.isClosed ? 'closed' : 'open',
  state_reason: issue.isClosed ? 'completed' : null,
  locked: false,
  created_at: timeOf(issue.number),
  updated_at: timeOf(issue.number),
  closed_at: issue.isClosed ? timeOf(issue.number) : null,
  closed_by: issue.isClosed ? viewer : null,
  milestone: null,
});

const labelsOf = ({ number, labels }: BenchIssue): Row[] =>
  labels.map((label) => ({ ...here, issue_number: number, label }));

const commentsOf = ({ number, author, comments }: BenchIssue): Row[] =>
  comments.map((body) => ({
    ...here,
    id: 7_000_000 + number,
    issue_number: number,
    user: author,
    author_association: 'MEMBER',
    body,
    created_at: timeOf(number),
    updated_at: timeOf(number),
  }));

/** Rows of the template that the compared version keeps: people, and repositories with their labels. */
const keptData = ['users', 'repositories', 'memberships', 'labels'].map(
  (name) => `data/${name}.json`,
);

const rows = {
  issues: issues.map(rowOf),
  issue_labels: issues.flatMap(labelsOf),
  comments: issues.flatMap(commentsOf),
};

/** Builds the version that is served: the template with these issues in place of its own, and without its tasks. */
export const buildCodeHost = (): BuiltVersion =>
  buildVersion([
    ...templateTree('code-hosting').filter(
      ({ path }) =>
        !path.startsWith('scenarios/') && (!path.startsWith('data/') || keptData.includes(path)),
    ),
    ...Object.entries(rows).map(([name, list]) => file(`data/${name}.json`, JSON.stringify(list))),
  ]);
