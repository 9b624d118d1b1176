/** List of policies, and page of one policy: its settings, its scope, and whether it is switched on. */
import { Link, useParams } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Failure, Loading } from '../../pieces/states.tsx';
import { type Group, type Named, type Policy, useRead, useWrite } from '../api/vendor.ts';
import { List, Pairs, Refusal, textsOf, useTitle } from './pieces.tsx';

export const PoliciesPage = () => {
  const { data, error, refetch, isPlaceholderData } = useRead<{ policies: Named[] }>(
    '/JSSResource/policies',
  );
  const read = {
    data: data?.policies,
    error,
    isStale: isPlaceholderData,
    retry: () => void refetch(),
  };
  useTitle('Policies');
  useListKeys();
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Policies</h1>
        <span className="total" role="status">
          {data?.policies.length.toLocaleString('en') ?? ''}
        </span>
      </div>
      <List
        what="policies"
        read={read}
        row={({ id, name }) => (
          <li className="item" key={id}>
            <Link to="/policies/$id" params={{ id: String(id) }} className="item-title" data-row="">
              {name}
            </Link>
          </li>
        )}
      />
    </section>
  );
};

const namesOf = (value: unknown): string =>
  Array.isArray(value) ? (value as Named[]).map(({ name }) => name).join(', ') : '';

/** Scopes a policy to one group only, or to all computers. */
const ScopeForm = ({ policy, onScope }: { policy: Policy; onScope: (scope: object) => void }) => {
  const { data } = useRead<{ computer_groups: Group[] }>('/JSSResource/computergroups');
  const emptyScope = { all_computers: false, computers: [], buildings: [], departments: [] };
  return (
    <form
      className="device-form"
      onSubmit={(event) => {
        event.preventDefault();
        const { group } = textsOf(event.currentTarget);
        onScope(
          group === 'all'
            ? { ...emptyScope, all_computers: true, computer_groups: [] }
            : { ...emptyScope, computer_groups: [{ id: Number(group) }] },
        );
      }}
    >
      <label>
        Reaches
        <select name="group" defaultValue={policy.scope.all_computers ? 'all' : undefined}>
          <option value="all">All computers</option>
          {(data?.computer_groups ?? []).map(({ id, name }) => (
            <option key={id} value={id}>
              {name} alone
            </option>
          ))}
        </select>
      </label>
      <div className="buttons">
        <button type="submit">Set the scope</button>
      </div>
    </form>
  );
};

export const PolicyPage = () => {
  const { id } = useParams({ from: '/policies/$id' });
  const address = `/JSSResource/policies/id/${encodeURIComponent(id)}`;
  const { data, error, refetch } = useRead<{ policy: Policy }>(address);
  const write = useWrite();
  useTitle(data?.policy.general.name ?? 'Policy');
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the policy" />;
  const { general, package_configuration: packages, scope, scripts } = data.policy;
  const put = (policy: object, said: string) =>
    write.mutate({ method: 'PUT', path: address, body: { policy }, said });
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{general.name}</h1>
        <span className="choice">{general.enabled ? 'On' : 'Off'}</span>
        <div className="buttons device-buttons">
          <button
            type="button"
            disabled={write.isPending}
            onClick={() =>
              put(
                { general: { enabled: !general.enabled } },
                general.enabled ? 'Switched off' : 'Switched on',
              )
            }
          >
            {general.enabled ? 'Switch off' : 'Switch on'}
          </button>
        </div>
      </div>
      <Refusal error={write.error} />
      <ScopeForm
        policy={data.policy}
        onScope={(next) => put({ scope: next }, 'The scope is set')}
      />
      <Pairs
        title="Scope"
        pairs={[
          ['All computers', scope.all_computers],
          ['Groups', namesOf(scope.computer_groups)],
          ['Computers', namesOf(scope.computers)],
          ['Buildings', namesOf(scope.buildings)],
          ['Departments', namesOf(scope.departments)],
          [
            'Excluded groups',
            namesOf((scope.exclusions as Record<string, unknown>).computer_groups),
          ],
        ]}
      />
      <Pairs
        title="What it does"
        pairs={[
          ['Category', general.category.name],
          ['How often', general.frequency],
          ['Packages', namesOf(packages.packages)],
          ['Scripts', namesOf(scripts)],
        ]}
      />
    </section>
  );
};
