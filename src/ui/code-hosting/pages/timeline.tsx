/** Timeline of an issue: comments and events in their order. */
import { type ReactNode, useState } from 'react';
import { Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import type { Issue, Moment, ReviewComment } from '../api/bodies.ts';
import { useReviewComments, useTimeline, useViewer } from '../api/reading.ts';
import { placeIn } from '../api/vendor.ts';
import { type Target, updateComment, updateIssue } from '../api/writing.ts';
import { IssueLink } from '../parts/markdown.tsx';
import { LabelMark, loginOf } from '../parts/marks.tsx';
import { LineComments } from './line-comments.tsx';
import { UserText } from './user-text.tsx';

const Source = ({ issue }: { issue: Issue }) => {
  const place = placeIn(issue.repository_url);
  const words = `${issue.title} #${issue.number}`;
  return place === undefined ? (
    words
  ) : (
    <IssueLink place={place} number={issue.number}>
      {words}
    </IssueLink>
  );
};

/** Text of each event, which follows the name of the user who caused the event. */
const wordsOf: Record<string, (moment: Moment) => ReactNode> = {
  closed: ({ state_reason, commit_id }) =>
    typeof commit_id === 'string'
      ? `closed this with ${commit_id.slice(0, 7)}`
      : `closed this${state_reason ? ` as ${state_reason.replaceAll('_', ' ')}` : ''}`,
  reopened: () => 'reopened this',
  labeled: ({ label }) => <>added {label === undefined ? 'a label' : <LabelMark {...label} />}</>,
  unlabeled: ({ label }) => (
    <>removed {label === undefined ? 'a label' : <LabelMark {...label} />}</>
  ),
  assigned: ({ assignee }) => `assigned ${loginOf(assignee)}`,
  unassigned: ({ assignee }) => `unassigned ${loginOf(assignee)}`,
  milestoned: ({ milestone }) => `added this to ${milestone?.title}`,
  demilestoned: ({ milestone }) => `took this out of ${milestone?.title}`,
  renamed: ({ rename }) => (
    <>
      renamed this from <s>{rename?.from}</s> to <b>{rename?.to}</b>
    </>
  ),
  merged: ({ commit_id }) => `merged this${commit_id ? ` as ${commit_id.slice(0, 7)}` : ''}`,
  'cross-referenced': ({ source }) => (
    <>mentioned this in {source === undefined ? 'an issue' : <Source issue={source.issue} />}</>
  ),
  review_requested: ({ requested_reviewer: reviewer }) =>
    `asked ${reviewer ? loginOf(reviewer) : 'a team'} for a review`,
  review_request_removed: ({ requested_reviewer: reviewer }) =>
    `asks ${reviewer ? loginOf(reviewer) : 'a team'} for a review no more`,
  review_dismissed: ({ dismissed_review: review }) =>
    `dismissed a review: ${review?.dismissal_message ?? ''}`,
  head_ref_deleted: () => 'deleted the branch',
  committed: ({ sha, message }) => (
    <>
      committed <code>{sha?.slice(0, 7)}</code> {message?.split('\n', 1)[0]}
    </>
  ),
};

const Event = ({ moment }: { moment: Moment }) => {
  const { event, actor, author, created_at } = moment;
  const at = created_at ?? author?.date;
  const words = wordsOf[event]?.(moment) ?? event.replaceAll('_', ' ');
  return (
    <p className="event">
      <b>{event === 'committed' ? author?.name : loginOf(actor)}</b> {words} <When at={at} />
    </p>
  );
};

const verdicts: Record<string, string> = {
  approved: 'approved',
  changes_requested: 'asked for changes',
  commented: 'reviewed',
  dismissed: 'reviewed, and was dismissed,',
};

type AroundMoment = {
  target: Target;
  mayWrite: boolean;
  viewer: string | undefined;
  /** Comments on lines, by the id of their review. */
  lines: Map<number, ReviewComment[]>;
};

const MomentItem = ({ moment, around }: { moment: Moment; around: AroundMoment }) => {
  const { target, mayWrite, viewer, lines } = around;
  const { event, id = 0, user, body = '' } = moment;
  if (event === 'commented') {
    const save = (text: string) => updateComment(target.place, id, text);
    const isOwn = user?.login === viewer;
    return (
      <UserText
        target={target}
        by={user}
        at={moment.created_at}
        did="commented"
        text={body}
        save={mayWrite || isOwn ? save : undefined}
      />
    );
  }
  if (event !== 'reviewed') return <Event moment={moment} />;
  const said = lines.get(id) ?? [];
  const did = verdicts[moment.state ?? ''] ?? 'reviewed';
  if (body === '' && said.length === 0) {
    return (
      <p className={`event ${moment.state}`}>
        <b>{loginOf(user)}</b> {did} <When at={moment.submitted_at} />
      </p>
    );
  }
  return (
    <UserText target={target} by={user} at={moment.submitted_at} did={did} text={body || ' '}>
      <LineComments comments={said} place={target.place} />
    </UserText>
  );
};

const byReview = (comments: readonly ReviewComment[]): Map<number, ReviewComment[]> =>
  Map.groupBy(comments, ({ pull_request_review_id: review }) => review);

type TimelineProps = { issue: Issue; target: Target; mayWrite: boolean };

/** Returns a key that is unique among the entries of an issue's timeline. */
const keyOf = ({ event, id, sha, source, created_at }: Moment): string => {
  const from = source === undefined ? '' : `${source.issue.repository_url} ${source.issue.number}`;
  return `${event} ${id ?? sha ?? `${from} ${created_at}`}`;
};

const NoLines: ReviewComment[] = [];

const Moments = (props: TimelineProps & { comments: readonly ReviewComment[] }) => {
  const { target, mayWrite, comments } = props;
  const [pages, setPages] = useState(1);
  const { data: viewer } = useViewer();
  const { data, error, refetch, isFetching } = useTimeline(target.place, target.number, pages);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="what was said" />;
  const around = { target, mayWrite, viewer: viewer?.login, lines: byReview(comments) };
  return (
    <>
      {data.items.map((moment) => (
        <MomentItem key={keyOf(moment)} moment={moment} around={around} />
      ))}
      {data.hasMore ? (
        <button type="button" disabled={isFetching} onClick={() => setPages(pages + 1)}>
          {isFetching ? 'Loading…' : 'Show more'}
        </button>
      ) : null}
    </>
  );
};

const PullMoments = (props: TimelineProps) => {
  const { data = NoLines } = useReviewComments(props.target.place, props.target.number);
  return <Moments {...props} comments={data} />;
};

/** Shows the timeline, with the issue's description first. */
export const Timeline = (props: TimelineProps) => {
  const { issue, target, mayWrite } = props;
  const { data: viewer } = useViewer();
  const isOwn = issue.user?.login === viewer?.login;
  const save = (body: string) => updateIssue(target, { body });
  return (
    <div className="timeline">
      <UserText
        target={target}
        by={issue.user}
        at={issue.created_at}
        did="opened this"
        text={issue.body}
        save={mayWrite || isOwn ? save : undefined}
      />
      {issue.pull_request === undefined ? (
        <Moments {...props} comments={NoLines} />
      ) : (
        <PullMoments {...props} />
      )}
    </div>
  );
};
