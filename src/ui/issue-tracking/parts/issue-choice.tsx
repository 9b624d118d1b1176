/** Input for the key of an issue, which suggests issues whose key or summary contains the text. */
import { useId } from 'react';
import { usePickedIssues } from '../api/reading.ts';

type IssueChoiceProps = { label: string; value: string; onChange: (key: string) => void };

export const IssueChoice = ({ label, value, onChange }: IssueChoiceProps) => {
  const id = useId();
  const { data } = usePickedIssues(value);
  const found = data?.sections.flatMap(({ issues }) => issues) ?? [];
  return (
    <label className="line-field">
      {label}
      <input
        value={value}
        list={id}
        required
        autoComplete="off"
        placeholder="Key or words"
        maxLength={200}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {found.map(({ key, summaryText }) => (
          <option key={key} value={key}>
            {summaryText}
          </option>
        ))}
      </datalist>
    </label>
  );
};
