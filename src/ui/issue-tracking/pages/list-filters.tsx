/** Filters of a list as choices, and an input for queries in the tracker's language. */
import { useId, useRef, useState } from 'react';
import { ListChoice, type Options } from '../../pieces/list-choice.tsx';
import { useSlash } from '../../pieces/slash.ts';
import {
  useFilters,
  useIssueTypes,
  usePeople,
  usePriorities,
  useSiteStatuses,
  useStatuses,
} from '../api/reading.ts';
import { jqlOf, type ListSearch, sorts } from '../text/jql.ts';

type FilterProps = {
  project: string;
  search: ListSearch;
  onChange: (search: ListSearch) => void;
};

type Single = 'status' | 'type' | 'assignee' | 'priority' | 'sort';

const names = (all: readonly { name: string }[] = []): Options =>
  [...new Set(all.map(({ name }) => name))].map((name) => [name, name] as const);

/** Returns the statuses of a project, or of the whole site. */
const useStatusNames = (project: string): Options => {
  const { data: site } = useSiteStatuses(project === '');
  const { data: own } = useStatuses(project);
  return names(project === '' ? site : own);
};

export const Filters = ({ project, search, onChange }: FilterProps) => {
  const statuses = useStatusNames(project);
  const { data: types } = useIssueTypes();
  const { data: people = [] } = usePeople(project);
  const { data: priorities } = usePriorities();
  const choice = (name: Single, label: string, options: Options) => (
    <ListChoice
      label={label}
      any={label}
      value={search[name] ?? ''}
      options={options}
      onChoose={(value) => onChange({ ...search, [name]: value })}
    />
  );
  return (
    <div className="filters">
      {choice('status', 'Status', statuses)}
      {choice('type', 'Type', names(types))}
      {choice('assignee', 'Assignee', [
        ['none', 'No one'],
        ...people.map(({ accountId, displayName }) => [accountId, displayName] as const),
      ])}
      {choice('priority', 'Priority', names(priorities))}
      {choice(
        'sort',
        'Sort',
        Object.entries(sorts).map(([name, [words]]) => [name, words] as const),
      )}
    </div>
  );
};

/** Shows an input for a query in the tracker's language, and the saved queries. */
export const QueryBox = ({ project, search, onChange }: FilterProps) => {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const { data: saved } = useFilters();
  const query = jqlOf(project, search);
  const [text, setText] = useState(query);
  useSlash(input);
  return (
    <form
      className="query-box"
      onSubmit={(event) => {
        event.preventDefault();
        onChange({ jql: text.trim() });
      }}
    >
      <label htmlFor={id}>JQL</label>
      <input
        id={id}
        ref={input}
        type="search"
        className="mono"
        value={text}
        spellCheck={false}
        maxLength={4_000}
        onChange={({ target }) => setText(target.value)}
      />
      <button type="submit">Search</button>
      <select
        aria-label="Saved filters"
        value=""
        onChange={({ target }) => onChange({ jql: target.value })}
      >
        <option value="">Saved filters</option>
        {saved?.values.map((filter) => (
          <option key={filter.id} value={filter.jql}>
            {filter.name}
          </option>
        ))}
      </select>
    </form>
  );
};
