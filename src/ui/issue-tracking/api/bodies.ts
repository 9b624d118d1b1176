/** Types of the vendor's answers, as far as the page reads them. Rows are untrusted: texts may contain anything. */

/** Node of a rich text. It is untrusted and may contain anything. */
export type Node = {
  type: string;
  text?: string;
  content?: Node[];
  marks?: { type: string; attrs?: Record<string, unknown> }[];
  attrs?: Record<string, unknown>;
};

export type User = { accountId: string; displayName: string; active?: boolean };

export type Named = { id: string; name: string };

/** Status of an issue. `key` of the category is `new`, `indeterminate` or `done`. */
export type Status = Named & { statusCategory: { key: string; name: string } };

export type IssueType = Named & { subtask: boolean; hierarchyLevel?: number };

export type Project = Named & { key: string; projectTypeKey?: string; lead?: User };

export type Version = Named & {
  description?: string;
  archived: boolean;
  released: boolean;
  overdue?: boolean;
  releaseDate?: string;
  startDate?: string;
};

/** Issue as another issue refers to it. */
export type ShortIssue = {
  id: string;
  key: string;
  fields: { summary: string; status: Status; issuetype: IssueType; priority?: Named | null };
};

export type Link = {
  id: string;
  type: { name: string; inward: string; outward: string };
  /** Issue at the other end of the link; a link has either `inwardIssue` or `outwardIssue`. */
  inwardIssue?: ShortIssue;
  outwardIssue?: ShortIssue;
};

export type Attachment = { id: string; filename: string; size: number; mimeType: string };

/** Fields that lists and boards show. */
export type ListFields = {
  summary: string;
  status: Status;
  issuetype: IssueType;
  priority: Named | null;
  assignee: User | null;
  labels: string[];
  updated: string;
  duedate: string | null;
  resolution: Named | null;
};

export type ListIssue = { id: string; key: string; fields: ListFields };

export type Found = { startAt: number; maxResults: number; total: number; issues: ListIssue[] };

export type IssueFields = ListFields & {
  project: Project;
  description: Node | null;
  reporter: User | null;
  created: string;
  parent?: ShortIssue;
  subtasks: ShortIssue[];
  issuelinks: Link[];
  attachment: Attachment[];
  watches: { watchCount: number; isWatching: boolean };
  votes: { votes: number; hasVoted: boolean };
  timetracking: { originalEstimate?: string; remainingEstimate?: string; timeSpent?: string };
  [field: string]: unknown;
};

export type Issue = { id: string; key: string; fields: IssueFields };

/** Metadata of a field, from the edit and create screens. */
export type FieldMeta = {
  key: string;
  name: string;
  required: boolean;
  schema: { type: string; items?: string; system?: string; custom?: string };
  allowedValues?: { id: string; name?: string; value?: string }[];
};

export type Transition = {
  id: string;
  name: string;
  to: Status;
  fields?: Record<string, FieldMeta>;
};

export type Comment = {
  id: string;
  author: User | null;
  body: Node;
  created: string;
  updated: string;
};

export type Work = {
  id: string;
  author: User | null;
  comment?: Node;
  started: string;
  timeSpent: string;
};

export type Change = {
  id: string;
  author: User | null;
  created: string;
  items: { field: string; fromString: string | null; toString: string | null }[];
};

export type LinkType = Named & { inward: string; outward: string };

export type Filter = Named & { jql: string };
