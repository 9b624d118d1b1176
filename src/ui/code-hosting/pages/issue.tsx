/** Page of an issue: its timeline, its sidebar, and all actions on it. */
import { Link, Navigate, useParams } from '@tanstack/react-router';
import { Failure, Loading } from '../../pieces/states.tsx';
import { useIssue, useViewer } from '../api/reading.ts';
import { useTitle } from '../parts/title.ts';
import { IssueHead } from './issue-head.tsx';
import { IssueSide } from './issue-side.tsx';
import { Reply } from './reply.tsx';
import { useMayWrite, usePlace } from './repository.tsx';
import { Timeline } from './timeline.tsx';

export const IssuePage = () => {
  const place = usePlace();
  const { number: text } = useParams({ from: '/$owner/$repo/issues/$number' });
  const number = Number(text);
  const { data: issue, error, refetch } = useIssue(place, number);
  const { data: viewer } = useViewer();
  const maySort = useMayWrite(place);
  useTitle(
    issue === undefined ? `#${text}` : `${issue.title} #${text}`,
    `${place.owner}/${place.repo}`,
  );
  if (error !== null && issue === undefined) {
    return (
      <Failure error={error} retry={() => void refetch()}>
        <Link to="/$owner/$repo/issues" params={place}>
          All issues of the repository
        </Link>
      </Failure>
    );
  }
  if (issue === undefined) return <Loading what={`#${text}`} />;
  if (issue.pull_request !== undefined) {
    return <Navigate to="/$owner/$repo/pull/$number" params={{ ...place, number: text }} replace />;
  }
  const target = { place, number };
  const isOwn = issue.user?.login === viewer?.login;
  const parts = { issue, target, mayWrite: maySort || isOwn };
  return (
    <div className="page">
      <IssueHead {...parts} />
      <div className="columns">
        <aside className="beside" aria-label="Of this issue">
          <IssueSide issue={issue} target={target} mayWrite={maySort} />
        </aside>
        <div className="middle">
          <Timeline issue={issue} target={target} mayWrite={maySort} />
          <Reply key={number} {...parts} />
        </div>
      </div>
    </div>
  );
};
