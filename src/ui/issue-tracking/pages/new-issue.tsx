/** Form for a new issue, built from the fields that the tracker declares for the project and the type. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { Loading } from '../../pieces/states.tsx';
import type { FieldMeta } from '../api/bodies.ts';
import { useCreateFields, useCreateTypes, usePeople, useProjects } from '../api/reading.ts';
import { faultsOf } from '../api/vendor.ts';
import { createIssue, type Fields, useAct } from '../api/writing.ts';
import { Editor } from '../parts/editor.tsx';
import { IssueChoice } from '../parts/issue-choice.tsx';
import { Refusal } from '../parts/refusal.tsx';
import { useTitle } from '../parts/title.ts';
import { bodyOf, type Item, type Kind, kindOf, optionsOf } from '../text/fields.ts';

type Search = { project?: string; parent?: string };

export const readNewSearch = ({ project, parent }: Record<string, unknown>): Search => ({
  ...(project === undefined || project === '' ? {} : { project: String(project) }),
  ...(parent === undefined || parent === '' ? {} : { parent: String(parent) }),
});

type FieldProps = {
  meta: FieldMeta;
  kind: Kind;
  people: readonly Item[];
  fault?: string | undefined;
};

const Checks = ({ meta, options }: { meta: FieldMeta; options: readonly Item[] }) => (
  <fieldset className="checks-field">
    <legend>{meta.name}</legend>
    {options.length === 0 ? <span className="nothing">None</span> : null}
    {options.map(({ value, name }) => (
      <label key={value}>
        <input type="checkbox" name={meta.key} value={value} />
        {name}
      </label>
    ))}
  </fieldset>
);

const Field = ({ meta, kind, people, fault }: FieldProps) => {
  const id = useId();
  const isOfPeople = kind === 'person' || kind === 'people';
  const options = isOfPeople ? people : optionsOf(meta);
  if (kind === 'choices' || kind === 'people') return <Checks meta={meta} options={options} />;
  const isChosen = kind === 'choice' || kind === 'person';
  const about = {
    id,
    name: meta.key,
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : `${id}-fault`,
  };
  return (
    <div className="field">
      <label htmlFor={id}>{meta.name}</label>
      {isChosen ? (
        <select {...about}>
          {/* A field without a choice gets the default of the tracker. */}
          <option value="">{isOfPeople ? 'No one chosen' : 'Not chosen'}</option>
          {options.map(({ value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...about}
          type={kind === 'number' || kind === 'date' ? kind : 'text'}
          step="any"
          maxLength={255}
          placeholder={kind === 'labels' ? 'Words with spaces between' : undefined}
        />
      )}
      {fault === undefined ? null : (
        <p id={`${id}-fault`} className="fault">
          {fault}
        </p>
      )}
    </div>
  );
};

/** Returns the entered values by field name. Empty fields are left out. */
const filledIn = (form: HTMLFormElement, metas: readonly FieldMeta[]): Fields => {
  const given = new FormData(form);
  const entries = metas.flatMap((meta) => {
    const kind = kindOf(meta);
    const chosen = given
      .getAll(meta.key)
      .map(String)
      .filter((text) => text.trim() !== '');
    return kind === undefined || chosen.length === 0 ? [] : [[meta.key, bodyOf(kind, chosen)]];
  });
  return Object.fromEntries(entries);
};

type FormProps = {
  project: string;
  type: string;
  isSubtask: boolean;
  parent: string;
  onMade: (key: string) => void;
};

const NewForm = ({ project, type, isSubtask, parent: given, onMade }: FormProps) => {
  const id = useId();
  const [summary, setSummary] = useState('');
  const [description, setDescription] = useState('');
  const [parent, setParent] = useState(given);
  const { data } = useCreateFields(project, type);
  const { data: users = [] } = usePeople(project);
  const creating = useAct(createIssue, 'The issue is made.');
  const faults = faultsOf(creating.error);
  const people = users.map(({ accountId, displayName }) => ({
    value: accountId,
    name: displayName,
  }));
  const metas = data?.fields ?? [];
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = {
      ...filledIn(event.currentTarget, metas),
      project: { key: project },
      issuetype: { id: type },
      summary,
      ...(description.trim() === '' ? {} : { description }),
      ...(parent.trim() === '' ? {} : { parent: { key: parent.trim().toUpperCase() } }),
    };
    creating.mutate(fields, { onSuccess: ({ key }) => onMade(key) });
  };
  if (data === undefined) return <Loading what="the form" />;
  const shown = metas.flatMap((meta) => {
    const kind = kindOf(meta);
    return kind === undefined ? [] : [{ meta, kind }];
  });
  return (
    <form className="columns" aria-label="New issue" onSubmit={send}>
      <div className="middle">
        <div className="field">
          <label htmlFor={id}>Summary</label>
          <input
            id={id}
            value={summary}
            maxLength={1_000}
            aria-invalid={faults.summary !== undefined}
            aria-describedby={faults.summary === undefined ? undefined : `${id}-fault`}
            onChange={({ target }) => setSummary(target.value)}
          />
          {faults.summary === undefined ? null : (
            <p id={`${id}-fault`} className="fault">
              {faults.summary}
            </p>
          )}
        </div>
        <Editor
          label="Description"
          rows={10}
          text={description}
          onChange={setDescription}
          fault={faults.description}
        />
        {isSubtask ? <IssueChoice label="Parent" value={parent} onChange={setParent} /> : null}
        <Refusal
          error={creating.error}
          elsewhere={['summary', 'description', ...shown.map(({ meta }) => meta.key)]}
        />
        <div className="buttons">
          <button type="submit" className="primary" disabled={creating.isPending}>
            {creating.isPending ? 'Creating…' : 'Create'}
          </button>
        </div>
      </div>
      <div className="beside new-fields">
        {shown.map(({ meta, kind }) => (
          <Field key={meta.key} meta={meta} kind={kind} people={people} fault={faults[meta.key]} />
        ))}
      </div>
    </form>
  );
};

export const NewIssuePage = () => {
  const { project: given, parent = '' } = useSearch({ from: '/create' });
  const navigate = useNavigate({ from: '/create' });
  const { data: projects } = useProjects('', 1);
  const project = given ?? projects?.values[0]?.key ?? '';
  const { data } = useCreateTypes(project);
  const types = (data?.issueTypes ?? []).filter(({ subtask }) => parent === '' || subtask);
  const [chosen, setChosen] = useState('');
  // The default is a type at the usual level, neither one that spans issues nor a sub-task.
  const usual = types.find(({ subtask, hierarchyLevel }) => !subtask && hierarchyLevel === 0);
  const type = types.find(({ id }) => id === chosen) ?? usual ?? types[0];
  useTitle('New issue');
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">New issue</h1>
        <label className="line-field">
          Project
          <select
            value={project}
            onChange={({ target }) => void navigate({ search: { project: target.value } })}
          >
            {projects?.values.map(({ key, name }) => (
              <option key={key} value={key}>
                {name} ({key})
              </option>
            ))}
          </select>
        </label>
        <label className="line-field">
          Type
          <select value={type?.id ?? ''} onChange={({ target }) => setChosen(target.value)}>
            {types.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {type === undefined ? (
        <Loading what="what issues can be" />
      ) : (
        <NewForm
          project={project}
          type={type.id}
          isSubtask={type.subtask}
          parent={parent}
          onMade={(key) => void navigate({ to: '/browse/$key', params: { key } })}
        />
      )}
    </section>
  );
};
