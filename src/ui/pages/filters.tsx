/** Conditions of a list, and a form to add one. */
import { useId, useState } from 'react';
import {
  describeFilters,
  type Operator,
  operatorsOf,
  operatorWords,
  readFilter,
  takesValue,
  withFilter,
  withoutFilter,
} from '../world/filters.ts';
import { fieldOf, type PageEntity, type PageField, type Row } from '../world/model.ts';

type FilterProps = { entity: PageEntity; where: Row; onChange: (where: Row) => void };

export const FilterChips = ({ entity, where, onChange }: FilterProps) => {
  const conditions = describeFilters(entity, where);
  if (conditions.length === 0) return null;
  return (
    <ul className="chips" aria-label="Filters">
      {conditions.map(({ field, operator, words }) => (
        <li key={`${field} ${operator}`}>
          <button
            type="button"
            className="chip"
            aria-label={`Remove filter: ${words}`}
            onClick={() => onChange(withoutFilter(where, field, operator))}
          >
            {words} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
};

type InputProps = {
  field: PageField;
  value: string;
  id: string;
  onChange: (value: string) => void;
};

const ValueInput = ({ field, value, id, onChange }: InputProps) => {
  const choices = field.kind === 'boolean' ? [true, false] : field.choices;
  if (choices === undefined) {
    return <input id={id} value={value} onChange={({ target }) => onChange(target.value)} />;
  }
  return (
    <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">Choose…</option>
      {choices.map((choice) => (
        <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
          {typeof choice === 'boolean' ? (choice ? 'yes' : 'no') : String(choice)}
        </option>
      ))}
    </select>
  );
};

export const FilterForm = ({ entity, where, onChange }: FilterProps) => {
  const id = useId();
  const [name, setName] = useState(entity.fields[0]?.name ?? '');
  const field = fieldOf(entity, name) ?? entity.fields[0];
  const [chosen, setOperator] = useState<Operator>();
  const [value, setValue] = useState('');
  const [fault, setFault] = useState<string>();
  if (field === undefined) return null;
  const operators = operatorsOf(field);
  const operator = operators.find((one) => one === chosen) ?? operators[0] ?? 'eq';
  const add = (): void => {
    const read = readFilter(field, operator, value);
    setFault('fault' in read ? read.fault : undefined);
    if ('fault' in read) return;
    setValue('');
    onChange(withFilter(where, field.name, read.condition));
  };
  return (
    <form
      className="filter-form"
      aria-label="Add a filter"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <select
        aria-label="Field"
        value={field.name}
        onChange={({ target }) => {
          setName(target.value);
          setValue('');
        }}
      >
        {entity.fields.map((one) => (
          <option key={one.name} value={one.name}>
            {one.label}
          </option>
        ))}
      </select>
      <select
        aria-label="Comparison"
        value={operator}
        onChange={({ target }) => setOperator(target.value as Operator)}
      >
        {operators.map((one) => (
          <option key={one} value={one}>
            {operatorWords[one]}
          </option>
        ))}
      </select>
      {takesValue(operator) ? (
        <>
          <label className="off-screen" htmlFor={id}>
            Value
          </label>
          <ValueInput field={field} value={value} id={id} onChange={setValue} />
        </>
      ) : null}
      <button type="submit">Add filter</button>
      {fault === undefined ? null : (
        <span role="alert" className="fault">
          {fault}
        </span>
      )}
    </form>
  );
};
