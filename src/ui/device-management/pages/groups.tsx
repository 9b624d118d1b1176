/** Groups of both kinds, and one group: its criteria and its members, which can be added and removed. */
import { Link, useParams } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Failure, Loading } from '../../pieces/states.tsx';
import { type Group, type Member, useRead, useWrite, type WholeGroup } from '../api/vendor.ts';
import { List, Refusal, textsOf, useTitle } from './pieces.tsx';

const kinds = {
  computers: {
    path: 'computergroups',
    many: 'computer_groups',
    one: 'computer_group',
    item: 'computer',
  },
  'mobile-devices': {
    path: 'mobiledevicegroups',
    many: 'mobile_device_groups',
    one: 'mobile_device_group',
    item: 'mobile_device',
  },
} as const;
type Kind = keyof typeof kinds;

const kindOf = (text: string): Kind => (text === 'mobile-devices' ? text : 'computers');

const Groups = ({ kind, title }: { kind: Kind; title: string }) => {
  const { many, path } = kinds[kind];
  const { data, error, refetch, isPlaceholderData } = useRead<Record<string, Group[]>>(
    `/JSSResource/${path}`,
  );
  const read = {
    data: data?.[many],
    error,
    isStale: isPlaceholderData,
    retry: () => void refetch(),
  };
  return (
    <section aria-label={title}>
      <h2 className="device-section">{title}</h2>
      <List
        what="groups"
        read={read}
        row={({ id, name, is_smart }) => (
          <li className="item" key={id}>
            <div className="item-main">
              <Link
                to="/groups/$kind/$id"
                params={{ kind, id: String(id) }}
                className="item-title"
                data-row=""
              >
                {name}
              </Link>
            </div>
            <span className="item-count">{is_smart ? 'smart' : 'static'}</span>
          </li>
        )}
      />
    </section>
  );
};

export const GroupsPage = () => {
  useTitle('Groups');
  useListKeys();
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">Groups</h1>
      </div>
      <Groups kind="computers" title="Of computers" />
      <Groups kind="mobile-devices" title="Of mobile devices" />
    </section>
  );
};

const MemberRow = ({
  member,
  kind,
  onRemove,
}: {
  member: Member;
  kind: Kind;
  onRemove?: (() => void) | undefined;
}) => (
  <li className="item">
    <div className="item-main">
      <Link
        to={kind === 'computers' ? '/computers/$id' : '/mobile-devices/$id'}
        params={{ id: String(member.id) }}
        className="item-title"
        data-row=""
      >
        {member.name}
      </Link>
      <p className="item-more">{member.serial_number}</p>
    </div>
    {onRemove === undefined ? null : (
      <button
        type="button"
        className="plain"
        onClick={onRemove}
        aria-label={`Take out ${member.name}`}
      >
        Take out
      </button>
    )}
  </li>
);

export const GroupPage = () => {
  const params = useParams({ from: '/groups/$kind/$id' });
  const kind = kindOf(params.kind);
  const { item, one, path } = kinds[kind];
  const address = `/JSSResource/${path}/id/${encodeURIComponent(params.id)}`;
  const { data, error, refetch } = useRead<Record<string, WholeGroup>>(address);
  const write = useWrite();
  const group = data?.[one];
  useTitle(group?.name ?? 'Group');
  useListKeys();
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (group === undefined) return <Loading what="the group" />;
  const members = (kind === 'computers' ? group.computers : group.mobile_devices) ?? [];
  const change = (body: object, said: string) =>
    write.mutate({ method: 'PUT', path: address, body: { [one]: body }, said });
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{group.name}</h1>
        <span className="total" role="status">
          {members.length.toLocaleString('en')}
        </span>
      </div>
      {group.is_smart ? (
        <p className="device-criteria">
          {group.criteria.map(({ name, search_type, value, and_or }, at) => (
            <span key={`${name} ${search_type} ${value}`}>
              {at === 0 ? '' : `${and_or} `}
              <strong>{name}</strong> {search_type} <code>{value}</code>
            </span>
          ))}
        </p>
      ) : (
        <form
          className="device-form"
          onSubmit={(event) => {
            event.preventDefault();
            const { serial_number } = textsOf(event.currentTarget);
            change({ [`${item}_additions`]: [{ serial_number }] }, 'Added');
            event.currentTarget.reset();
          }}
        >
          <label>
            Serial number
            <input name="serial_number" maxLength={40} required />
          </label>
          <div className="buttons">
            <button type="submit" disabled={write.isPending}>
              Add to the group
            </button>
          </div>
        </form>
      )}
      <Refusal error={write.error} />
      <List
        what="members"
        read={{ data: members, error: null, isStale: false, retry: () => undefined }}
        row={(member) => (
          <MemberRow
            key={member.id}
            member={member}
            kind={kind}
            onRemove={
              group.is_smart
                ? undefined
                : () =>
                    change(
                      { [`${item}_deletions`]: [{ id: member.id }] },
                      `${member.name} was taken out`,
                    )
            }
          />
        )}
      />
    </section>
  );
};
