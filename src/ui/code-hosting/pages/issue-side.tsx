/** Sidebar of an issue or a pull request: assignees, labels and milestone. */
import type { Choice } from '../../pieces/picker.tsx';
import { Side } from '../../pieces/side.tsx';
import type { Issue } from '../api/bodies.ts';
import { useAssignable, useLabels, useMilestones } from '../api/reading.ts';
import { changeAssignees, changeLabels, type Target, updateIssue, useAct } from '../api/writing.ts';
import { LabelMark, Person } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';

type SideProps = { issue: Issue; target: Target; mayWrite: boolean };

const Assignees = ({ issue, target, mayWrite }: SideProps) => {
  const { data } = useAssignable(target.place);
  const act = useAct(target, (choice: Choice) => changeAssignees(target, choice), 'Assigned.');
  const edit = {
    options: data?.map((user) => ({
      value: user.login,
      name: user.login,
      mark: <Person user={user} />,
    })),
    chosen: issue.assignees.map(({ login }) => login),
    isPending: act.isPending,
    refusal: <Refusal error={act.error} />,
    onApply: act.mutate,
  };
  return (
    <Side title="Assignees" none="No one" edit={mayWrite ? edit : undefined}>
      {issue.assignees.map((user) => (
        <Person key={user.login} user={user} />
      ))}
    </Side>
  );
};

const Labels = ({ issue, target, mayWrite }: SideProps) => {
  const { data } = useLabels(target.place);
  const act = useAct(target, (choice: Choice) => changeLabels(target, choice), 'Labels changed.');
  const edit = {
    options: data?.map((label) => ({
      value: label.name,
      name: label.name,
      mark: <LabelMark {...label} />,
      hint: label.description,
    })),
    chosen: issue.labels.map(({ name }) => name),
    isPending: act.isPending,
    refusal: <Refusal error={act.error} />,
    onApply: act.mutate,
  };
  return (
    <Side title="Labels" none="None" edit={mayWrite ? edit : undefined}>
      {issue.labels.map((label) => (
        <LabelMark key={label.name} {...label} />
      ))}
    </Side>
  );
};

const MilestoneSide = ({ issue, target, mayWrite }: SideProps) => {
  const { data } = useMilestones(target.place);
  const { milestone } = issue;
  const change = ({ after: [number] }: Choice) =>
    updateIssue(target, { milestone: number === undefined ? null : Number(number) });
  const act = useAct(target, change, 'Milestone changed.');
  const edit = {
    options: data?.map(({ number, title }) => ({
      value: String(number),
      name: title,
      mark: title,
    })),
    chosen: milestone === null ? [] : [String(milestone.number)],
    isSingle: true,
    isPending: act.isPending,
    refusal: <Refusal error={act.error} />,
    onApply: act.mutate,
  };
  return (
    <Side title="Milestone" none="None" edit={mayWrite ? edit : undefined}>
      {milestone === null ? [] : <span>{milestone.title}</span>}
    </Side>
  );
};

export const IssueSide = (props: SideProps) => (
  <>
    <Assignees {...props} />
    <Labels {...props} />
    <MilestoneSide {...props} />
  </>
);
