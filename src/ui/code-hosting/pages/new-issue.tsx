/** Form for a new issue. Errors are shown at the field that they concern. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useAnnounce } from '../../pieces/announce.tsx';
import { Side } from '../../pieces/side.tsx';
import { useAssignable, useLabels, useMilestones } from '../api/reading.ts';
import { createIssue, type NewIssue } from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { LabelMark, Person } from '../parts/marks.tsx';
import { faultAt, Refusal } from '../parts/refusal.tsx';
import { useTitle } from '../parts/title.ts';
import { useMayWrite, usePlace } from './repository.tsx';

type Given = { assignees: string[]; labels: string[]; milestone: string[] };

type GivenProps = { given: Given; onChange: (given: Given) => void };

const GivenSide = ({ given, onChange }: GivenProps) => {
  const place = usePlace();
  const { data: people } = useAssignable(place);
  const { data: labels } = useLabels(place);
  const { data: milestones } = useMilestones(place);
  const choice = (name: keyof Given) => ({
    chosen: given[name],
    isPending: false,
    onApply: ({ after }: { after: readonly string[] }) =>
      onChange({ ...given, [name]: [...after] }),
  });
  const chosenLabels = labels?.filter(({ name }) => given.labels.includes(name)) ?? [];
  const milestone = milestones?.find(({ number }) => given.milestone[0] === String(number));
  return (
    <>
      <Side
        title="Assignees"
        none="No one"
        edit={{
          ...choice('assignees'),
          options: people?.map((user) => ({
            value: user.login,
            name: user.login,
            mark: <Person user={user} />,
          })),
        }}
      >
        {given.assignees.map((login) => (
          <Person key={login} user={{ login, type: 'User' }} />
        ))}
      </Side>
      <Side
        title="Labels"
        none="None"
        edit={{
          ...choice('labels'),
          options: labels?.map((label) => ({
            value: label.name,
            name: label.name,
            mark: <LabelMark {...label} />,
            hint: label.description,
          })),
        }}
      >
        {chosenLabels.map((label) => (
          <LabelMark key={label.name} {...label} />
        ))}
      </Side>
      <Side
        title="Milestone"
        none="None"
        edit={{
          ...choice('milestone'),
          isSingle: true,
          options: milestones?.map(({ number, title }) => ({
            value: String(number),
            name: title,
            mark: title,
          })),
        }}
      >
        {milestone === undefined ? [] : <span>{milestone.title}</span>}
      </Side>
    </>
  );
};

const useCreate = () => {
  const place = usePlace();
  const client = useQueryClient();
  const navigate = useNavigate();
  const announce = useAnnounce();
  return useMutation({
    mutationFn: (fields: NewIssue) => createIssue(place, fields),
    async onSuccess({ number }) {
      announce(`Opened #${number}.`);
      await client.invalidateQueries({ queryKey: ['list', place] });
      const to = '/$owner/$repo/issues/$number';
      await navigate({ to, params: { ...place, number: String(number) } });
    },
  });
};

export const NewIssuePage = () => {
  const place = usePlace();
  const id = useId();
  const [title, setTitle] = useState('');
  const [body, setBody] = useState('');
  const [given, setGiven] = useState<Given>({ assignees: [], labels: [], milestone: [] });
  const maySort = useMayWrite(place);
  const creating = useCreate();
  useTitle('New issue', `${place.owner}/${place.repo}`);
  const send = (): void => {
    const { assignees, labels, milestone } = given;
    const number = milestone[0] === undefined ? null : Number(milestone[0]);
    if (!creating.isPending) creating.mutate({ title, body, assignees, labels, milestone: number });
  };
  const fault = faultAt(creating.error, 'title');
  return (
    <div className="page">
      <div className="issue-head">
        <h1>New issue</h1>
      </div>
      <form
        className="columns"
        aria-label="New issue"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div className="middle">
          <div className="field">
            <label htmlFor={id}>
              Title <span className="needed">required</span>
            </label>
            <input
              id={id}
              value={title}
              aria-invalid={fault !== undefined}
              aria-describedby={`${id}-fault`}
              onChange={({ target }) => setTitle(target.value)}
            />
            <p id={`${id}-fault`} className="fault">
              {fault}
            </p>
          </div>
          <Editor
            label="Description"
            text={body}
            onChange={setBody}
            place={place}
            rows={12}
            fault={faultAt(creating.error, 'body')}
            onSend={send}
          />
          <Refusal error={creating.error} elsewhere={['title', 'body']} />
          <div className="buttons">
            <button type="submit" className="primary" disabled={creating.isPending}>
              {creating.isPending ? 'Opening…' : 'Open issue'}
            </button>
          </div>
        </div>
        {maySort ? (
          <aside className="beside" aria-label="Of this issue">
            <GivenSide given={given} onChange={setGiven} />
          </aside>
        ) : null}
      </form>
    </div>
  );
};
