/** Shows whether a pull request can be merged, and offers the merge. The code host itself reports the obstacles. */
import { useState } from 'react';
import { When } from '../../pieces/when.tsx';
import type { Repository } from '../api/bodies.ts';
import { useChecks, useHasBranch, useRepository, type Verdict } from '../api/reading.ts';
import { deleteBranch, type MergeMethod, mergePull, useAct } from '../api/writing.ts';
import { loginOf } from '../parts/marks.tsx';
import { Refusal } from '../parts/refusal.tsx';
import type { WholePull } from './pull-frame.tsx';
import { useMayWrite } from './repository.tsx';

const methods: Record<MergeMethod, string> = {
  merge: 'Create a merge commit',
  squash: 'Squash and merge',
  rebase: 'Rebase and merge',
};

const allowedIn = (repository: Repository | undefined): MergeMethod[] => {
  const settings = {
    merge: repository?.allow_merge_commit,
    squash: repository?.allow_squash_merge,
    rebase: repository?.allow_rebase_merge,
  };
  const names = Object.keys(methods) as MergeMethod[];
  return names.filter((name) => settings[name] !== false);
};

const states: Record<string, string> = {
  clean: 'This can be merged.',
  unstable: 'Some checks have not passed. This can still be merged.',
  has_hooks: 'This can be merged.',
  behind: 'The branch is behind the one that it wants to be merged into.',
  blocked: 'A review by a person with write access is needed.',
  dirty: 'The branches conflict.',
  draft: 'This is a draft.',
  unknown: 'Whether this can be merged is not known yet.',
};

const marks: Record<Verdict['state'], string> = {
  good: 'passed',
  bad: 'failed',
  waiting: 'not done yet',
};

const Checks = ({ target, pull }: WholePull) => {
  const { data = [], error } = useChecks(target.place, pull.head.sha);
  if (error !== null) return <Refusal error={error} />;
  if (data.length === 0) return null;
  return (
    <ul className="checks" aria-label="Checks">
      {data.map(({ name, state }) => (
        <li key={`${name} ${state}`}>
          <span className={`check ${state}`} aria-hidden="true" /> {name}{' '}
          <span className="hint">{marks[state]}</span>
        </li>
      ))}
    </ul>
  );
};

const Merge = ({ pull, target }: WholePull) => {
  const { data: repository } = useRepository(target.place);
  const allowed = allowedIn(repository);
  const [chosen, setChosen] = useState<MergeMethod>();
  const method = chosen ?? allowed[0] ?? 'merge';
  const act = useAct(target, () => mergePull(target, method, pull.head.sha), 'Merged.');
  return (
    <form
      aria-label="Merge"
      onSubmit={(event) => {
        event.preventDefault();
        if (!act.isPending) act.mutate(undefined);
      }}
    >
      <Refusal error={act.error} />
      <div className="buttons">
        <select
          aria-label="Method"
          value={method}
          onChange={({ target: select }) => setChosen(select.value as MergeMethod)}
        >
          {allowed.map((name) => (
            <option key={name} value={name}>
              {methods[name]}
            </option>
          ))}
        </select>
        <button type="submit" className="primary" disabled={act.isPending}>
          {act.isPending ? 'Merging…' : 'Merge pull request'}
        </button>
      </div>
    </form>
  );
};

/** Offers to delete the branch of a merged pull request. */
const DeleteBranch = ({ pull, target }: WholePull) => {
  const { ref } = pull.head;
  const { data: isThere } = useHasBranch(target.place, ref);
  const act = useAct(target, () => deleteBranch(target, ref), 'Branch deleted.');
  if (isThere !== true) return null;
  return (
    <>
      <Refusal error={act.error} />
      <div className="buttons">
        <button type="button" disabled={act.isPending} onClick={() => act.mutate(undefined)}>
          {act.isPending ? 'Deleting…' : 'Delete branch'}
        </button>
      </div>
    </>
  );
};

export const MergeBox = (whole: WholePull) => {
  const { pull, issue, target } = whole;
  const mayMerge = useMayWrite(target.place);
  if (pull.merged) {
    return (
      <section className="merge-box merged" aria-label="Merge">
        <p>
          <b>{loginOf(pull.merged_by)}</b> merged this into <code>{pull.base.ref}</code>{' '}
          <When at={pull.merged_at} />.
        </p>
        {mayMerge ? <DeleteBranch {...whole} /> : null}
      </section>
    );
  }
  if (issue.state === 'closed') return null;
  return (
    <section className={`merge-box ${pull.mergeable_state}`} aria-label="Merge">
      <p>{states[pull.mergeable_state] ?? `Its state is ${pull.mergeable_state}.`}</p>
      <Checks {...whole} />
      {mayMerge ? <Merge {...whole} /> : null}
    </section>
  );
};
