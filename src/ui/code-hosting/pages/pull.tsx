/** Page of a pull request: its timeline, reviews, and the merge. */

import type { Choice } from '../../pieces/picker.tsx';
import { Side } from '../../pieces/side.tsx';
import type { Review } from '../api/bodies.ts';
import { useAssignable, useReviews } from '../api/reading.ts';
import { changeReviewers, useAct } from '../api/writing.ts';
import { loginOf, Person } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { IssueSide } from './issue-side.tsx';
import { MergeBox } from './merge.tsx';
import { PullFrame, type WholePull } from './pull-frame.tsx';
import { Reply } from './reply.tsx';
import { useMayWrite } from './repository.tsx';
import { ReviewForm } from './review.tsx';
import { Timeline } from './timeline.tsx';

const verdicts: Record<string, string> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'asks for changes',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
};

/**
 * Returns the last verdict of each reviewer. A review without a verdict, which only comments, does not replace an
 * earlier verdict.
 */
const lastVerdicts = (reviews: readonly Review[]): Map<string, string> => {
  const last = new Map<string, string>();
  for (const { user, state } of reviews) {
    const login = loginOf(user);
    if (state === 'PENDING' || (state === 'COMMENTED' && last.has(login))) continue;
    last.set(login, verdicts[state] ?? state.toLowerCase());
  }
  return last;
};

const Reviewers = ({ pull, issue, target }: WholePull) => {
  const { data: reviews = [] } = useReviews(target.place, target.number);
  const { data: people } = useAssignable(target.place);
  const mayWrite = useMayWrite(target.place);
  const act = useAct(target, (choice: Choice) => changeReviewers(target, choice), 'Asked.');
  const asked = pull.requested_reviewers;
  const edit = {
    options: people
      ?.filter(({ login }) => login !== issue.user?.login)
      .map((user) => ({ value: user.login, name: user.login, mark: <Person user={user} /> })),
    chosen: asked.map(({ login }) => login),
    isPending: act.isPending,
    refusal: <Refusal error={act.error} />,
    onApply: act.mutate,
  };
  const said = [...lastVerdicts(reviews)].map(([login, verdict]) => (
    <span key={login} className="reviewer">
      <Person user={{ login, type: 'User' }} /> <span className="hint">{verdict}</span>
    </span>
  ));
  const waited = [
    ...asked.map((user) => <Person key={user.login} user={user} />),
    ...pull.requested_teams.map(({ slug, name }) => <span key={slug}>{name}</span>),
  ].map((who) => (
    <span key={who.key} className="reviewer">
      {who} <span className="hint">waited for</span>
    </span>
  ));
  return (
    <Side
      title="Reviewers"
      none="No one"
      edit={mayWrite && issue.state === 'open' ? edit : undefined}
    >
      {[...said, ...waited]}
    </Side>
  );
};

const Conversation = (whole: WholePull) => {
  const { issue, target, mayWrite } = whole;
  const maySort = useMayWrite(target.place);
  return (
    <div className="columns">
      <aside className="beside" aria-label="Of this pull request">
        <Reviewers {...whole} />
        <IssueSide issue={issue} target={target} mayWrite={maySort} />
      </aside>
      <div className="middle">
        <Timeline issue={issue} target={target} mayWrite={maySort} />
        <MergeBox {...whole} />
        {issue.state === 'open' ? <ReviewForm target={target} /> : null}
        <Reply key={issue.number} issue={issue} target={target} mayWrite={mayWrite} />
      </div>
    </div>
  );
};

export const PullPage = () => <PullFrame show={(whole) => <Conversation {...whole} />} />;
