/** Select box that filters a list. */
export type Options = readonly (readonly [value: string, words: string])[];

type ListChoiceProps = {
  label: string;
  value: string;
  /** Text of the option that does not filter. */
  any: string;
  options: Options;
  onChoose: (value: string) => void;
};

export const ListChoice = ({ label, value, any, options, onChoose }: ListChoiceProps) => (
  <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
    <option value="">{any}</option>
    {/* The value in the address stays an option even if it no longer exists. */}
    {value === '' || options.some(([one]) => one === value) ? null : (
      <option value={value}>{value}</option>
    )}
    {options.map(([one, words]) => (
      <option key={one} value={one}>
        {words}
      </option>
    ))}
  </select>
);
