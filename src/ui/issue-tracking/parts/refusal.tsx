/** Shows the tracker's error, in its own words, next to the action that failed. */
import { faultsOf } from '../api/vendor.ts';

type RefusalProps = {
  error: Error | null;
  /** Fields whose errors are shown at their inputs, and therefore not here. */
  elsewhere?: readonly string[];
};

export const Refusal = ({ error, elsewhere = [] }: RefusalProps) => {
  if (error === null) return null;
  const faults = Object.entries(faultsOf(error));
  const others = faults.filter(([name]) => !elsewhere.includes(name));
  const isTold = faults.length > 0 && others.length === 0;
  return (
    <div role="alert" className="form-fault">
      {isTold ? <p>Something is wrong with what was filled in.</p> : null}
      {faults.length === 0 ? <p>{error.message}</p> : null}
      {others.map(([name, words]) => (
        <p key={name}>{words}</p>
      ))}
    </div>
  );
};
