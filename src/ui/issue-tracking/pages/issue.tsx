/** Page of an issue: its parts, its sidebar, and all actions on it. */
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { Failure, Loading } from '../../pieces/states.tsx';
import { useIssue } from '../api/reading.ts';
import { useTitle } from '../parts/title.ts';
import { Activity } from './activity.tsx';
import { IssueHead } from './issue-head.tsx';
import { Attachments, Description, Links, Subtasks } from './issue-parts.tsx';
import { IssueSide } from './issue-side.tsx';

const Whole = ({ issueKey }: { issueKey: string }) => {
  const { data: issue, error, refetch } = useIssue(issueKey);
  useTitle(issue === undefined ? issueKey : `${issueKey} ${issue.fields.summary}`);
  if (error !== null && issue === undefined) {
    return (
      <Failure error={error} retry={() => void refetch()}>
        <Link to="/issues">All issues</Link>
      </Failure>
    );
  }
  if (issue === undefined) return <Loading what={issueKey} />;
  // The address may name an id, or the former key of a moved issue.
  if (issue.key !== issueKey) {
    return <Navigate to="/browse/$key" params={{ key: issue.key }} replace />;
  }
  return (
    <div className="page">
      <IssueHead issue={issue} />
      <div className="columns issue-columns">
        <aside className="beside" aria-label="Of this issue">
          <IssueSide issue={issue} />
        </aside>
        <div className="middle">
          <Description issue={issue} />
          <Attachments issue={issue} />
          <Subtasks issue={issue} />
          <Links issue={issue} />
          <Activity issueKey={issueKey} />
        </div>
      </div>
    </div>
  );
};

export const IssuePage = () => {
  const { key } = useParams({ from: '/browse/$key' });
  return <Whole key={key} issueKey={key} />;
};
