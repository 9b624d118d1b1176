/** Frame of every page of a pull request: its header, and links to its conversation and its changes. */
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Failure, Loading } from '../../pieces/states.tsx';
import type { Issue, Pull } from '../api/bodies.ts';
import { useIssue, usePull, useViewer } from '../api/reading.ts';
import type { Target } from '../api/writing.ts';
import { loginOf } from '../parts/marks.tsx';
import { useTitle } from '../parts/title.ts';
import { IssueHead } from './issue-head.tsx';
import { useMayWrite, usePlace } from './repository.tsx';

export type WholePull = { issue: Issue; pull: Pull; target: Target; mayWrite: boolean };

const Head = ({ issue, pull, target, mayWrite }: WholePull) => {
  const verb = pull.merged ? 'was merged' : 'wants to be merged';
  const params = { ...target.place, number: String(target.number) };
  const options = { exact: true };
  return (
    <>
      <IssueHead issue={issue} target={target} mayWrite={mayWrite}>
        <span>
          <b>{loginOf(issue.user)}</b>’s <code>{pull.head.ref}</code> {verb} into{' '}
          <code>{pull.base.ref}</code>
        </span>
      </IssueHead>
      <nav aria-label="Pull request" className="tabs">
        <Link to="/$owner/$repo/pull/$number" params={params} activeOptions={options}>
          Conversation
        </Link>
        <Link to="/$owner/$repo/pull/$number/commits" params={params} activeOptions={options}>
          Commits <span className="count">{pull.commits}</span>
        </Link>
        <Link to="/$owner/$repo/pull/$number/files" params={params} activeOptions={options}>
          Files <span className="count">{pull.changed_files}</span>
        </Link>
      </nav>
    </>
  );
};

export const PullFrame = ({ show }: { show: (whole: WholePull) => ReactNode }) => {
  const place = usePlace();
  const { number: text = '' } = useParams({ strict: false });
  const target = { place, number: Number(text) };
  const issue = useIssue(place, target.number);
  const pull = usePull(place, target.number);
  const { data: viewer } = useViewer();
  const maySort = useMayWrite(place);
  useTitle(
    issue.data === undefined ? `#${text}` : `${issue.data.title} #${text}`,
    `${place.owner}/${place.repo}`,
  );
  const isWhole = issue.data !== undefined && pull.data !== undefined;
  const error = issue.error ?? pull.error;
  if (error !== null && !isWhole) {
    const again = () => void Promise.all([issue.refetch(), pull.refetch()]);
    return (
      <Failure error={error} retry={again}>
        <Link to="/$owner/$repo/pulls" params={place}>
          All pull requests of the repository
        </Link>
      </Failure>
    );
  }
  if (!isWhole) return <Loading what={`#${text}`} />;
  const isOwn = issue.data.user?.login === viewer?.login;
  const whole = { issue: issue.data, pull: pull.data, target, mayWrite: maySort || isOwn };
  return (
    <div className="page">
      <Head {...whole} />
      {show(whole)}
    </div>
  );
};
