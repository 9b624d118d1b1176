/** Shows the code host's error, in its own words, next to the action that failed. */
import { AskError } from '../../host/ask.ts';
import { type Complaint, complaintsOf } from '../api/vendor.ts';

type RefusalProps = {
  error: Error | null;
  /** Fields whose errors are shown at their inputs, and therefore not here. */
  elsewhere?: readonly string[];
};

const mustWait = (error: Error): string | undefined =>
  error instanceof AskError && [403, 429].includes(error.status) ? error.hint : undefined;

export const Refusal = ({ error, elsewhere = [] }: RefusalProps) => {
  if (error === null) return null;
  const others = complaintsOf(error).filter(({ field }) => !elsewhere.includes(field));
  const hint = mustWait(error);
  return (
    <div role="alert" className="form-fault">
      <p>{error.message}</p>
      {others.map(({ field, words }) => (
        <p key={`${field} ${words}`}>{words}</p>
      ))}
      {hint === undefined ? null : <p>{hint}</p>}
    </div>
  );
};

export const faultAt = (error: Error | null, field: string): string | undefined =>
  complaintsOf(error).find((complaint: Complaint) => complaint.field === field)?.words;
