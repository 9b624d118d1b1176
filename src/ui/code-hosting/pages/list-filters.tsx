/** Active filters of a list, and the choices to change them. */
import { ListChoice } from '../../pieces/list-choice.tsx';
import { useAssignable, useLabels, useMilestones } from '../api/reading.ts';
import type { Place } from '../api/vendor.ts';
import { type ListSearch, sorts } from '../text/list-search.ts';

type FilterProps = { search: ListSearch; onChange: (search: ListSearch) => void };

type Single = 'assignee' | 'author' | 'milestone';

const withOne = (search: ListSearch, name: Single, value: string): ListSearch => {
  const { [name]: _, ...rest } = search;
  return value === '' ? rest : { ...rest, [name]: value };
};

const withLabels = ({ labels: _, ...rest }: ListSearch, labels: string[]): ListSearch =>
  labels.length === 0 ? rest : { ...rest, labels };

export const Filters = ({ place, search, onChange }: FilterProps & { place: Place }) => {
  const { data: labels = [] } = useLabels(place);
  const { data: people = [] } = useAssignable(place);
  const { data: milestones = [] } = useMilestones(place);
  const chosen = search.labels ?? [];
  const logins = people.map(({ login }) => [login, login] as const);
  const titles = milestones.map(({ title }) => [title, title] as const);
  return (
    <div className="filters">
      <ListChoice
        label="Label"
        value=""
        any="Label"
        options={labels
          .filter(({ name }) => !chosen.includes(name))
          .map(({ name }) => [name, name] as const)}
        onChoose={(name) => onChange(withLabels(search, [...chosen, name]))}
      />
      <ListChoice
        label="Assignee"
        value={search.assignee ?? ''}
        any="Assignee"
        options={[['none', 'No one'], ...logins]}
        onChoose={(value) => onChange(withOne(search, 'assignee', value))}
      />
      <ListChoice
        label="Author"
        value={search.author ?? ''}
        any="Author"
        options={logins}
        onChoose={(value) => onChange(withOne(search, 'author', value))}
      />
      <ListChoice
        label="Milestone"
        value={search.milestone ?? ''}
        any="Milestone"
        options={[['none', 'No milestone'], ...titles]}
        onChoose={(value) => onChange(withOne(search, 'milestone', value))}
      />
      <select
        aria-label="Sort"
        value={search.sort ?? 'created-desc'}
        onChange={({ target }) => onChange({ ...search, sort: target.value })}
      >
        {Object.entries(sorts).map(([sort, words]) => (
          <option key={sort} value={sort}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
};

type Chip = { words: string; without: ListSearch };

const singles: readonly Single[] = ['assignee', 'author', 'milestone'];

const chipsOf = (search: ListSearch): Chip[] => {
  const labels = search.labels ?? [];
  const { q, ...withoutWords } = search;
  return [
    ...(q === undefined ? [] : [{ words: `“${q}”`, without: withoutWords }]),
    ...labels.map((label) => ({
      words: `label ${label}`,
      without: withLabels(
        search,
        labels.filter((one) => one !== label),
      ),
    })),
    ...singles.flatMap((name) => {
      const value = search[name];
      return value === undefined
        ? []
        : [{ words: `${name} ${value}`, without: withOne(search, name, '') }];
    }),
  ];
};

export const Chips = ({ search, onChange }: FilterProps) => {
  const chips = chipsOf(search);
  if (chips.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {chips.map(({ words, without }) => (
        <li key={words}>
          <button
            type="button"
            className="chip"
            aria-label={`Remove filter: ${words}`}
            onClick={() => onChange(without)}
          >
            {words} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
};
