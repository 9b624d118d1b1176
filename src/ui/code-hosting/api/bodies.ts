/** Types of the vendor's answers, as far as the pages read them. Rows are untrusted: texts may contain anything. */

export type User = { login: string; type: string; name?: string | null };

export type Label = { name: string; color: string; description: string | null };

export type Milestone = { number: number; title: string; state: string };

export type Repository = {
  name: string;
  full_name: string;
  owner: User;
  description: string | null;
  private: boolean;
  archived: boolean;
  default_branch: string;
  open_issues_count: number;
  updated_at: string;
  permissions?: { push: boolean; triage?: boolean };
  allow_merge_commit?: boolean;
  allow_squash_merge?: boolean;
  allow_rebase_merge?: boolean;
};

export type Reason = 'completed' | 'not_planned' | 'duplicate';

export type Issue = {
  number: number;
  title: string;
  body: string | null;
  user: User | null;
  state: 'open' | 'closed';
  state_reason: string | null;
  labels: Label[];
  assignees: User[];
  milestone: Milestone | null;
  comments: number;
  locked: boolean;
  created_at: string;
  closed_at: string | null;
  /** Address of the repository in the API. In a search result, it shows which repository the issue belongs to. */
  repository_url: string;
  draft?: boolean;
  pull_request?: { merged_at: string | null };
};

type End = { ref: string; sha: string };

export type Pull = {
  number: number;
  state: 'open' | 'closed';
  draft: boolean;
  merged: boolean;
  merged_at: string | null;
  merged_by: User | null;
  mergeable: boolean | null;
  mergeable_state: string;
  head: End;
  base: End;
  requested_reviewers: User[];
  requested_teams: { name: string; slug: string }[];
  commits: number;
  changed_files: number;
  additions: number;
  deletions: number;
};

export type Review = {
  id: number;
  user: User | null;
  state: string;
  body: string;
  submitted_at?: string;
};

export type ReviewComment = {
  pull_request_review_id: number;
  id: number;
  user: User | null;
  path: string;
  line?: number | null;
  body: string;
  created_at: string;
};

export type Commit = {
  sha: string;
  author: User | null;
  commit: { message: string; author: { name: string; date: string } };
};

export type ChangedFile = {
  filename: string;
  previous_filename?: string;
  status: string;
  additions: number;
  deletions: number;
  patch?: string;
};

export type Check = { id: number; name: string; status: string; conclusion: string | null };
export type Status = { context: string; state: string; description: string | null };

/** Entry of an issue's timeline: an event or a comment. `event` decides which other members it has. */
export type Moment = {
  event: string;
  id?: number;
  sha?: string;
  actor?: User | null;
  user?: User | null;
  author?: { name: string; date: string };
  created_at?: string;
  submitted_at?: string;
  body?: string;
  state?: string;
  state_reason?: string | null;
  commit_id?: string | null;
  message?: string;
  label?: { name: string; color: string };
  assignee?: User | null;
  requested_reviewer?: User | null;
  milestone?: { title: string };
  rename?: { from: string; to: string };
  dismissed_review?: { dismissal_message: string | null };
  source?: { issue: Issue };
};
