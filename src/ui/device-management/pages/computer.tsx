/** Page of a computer: its inventory, its location, and the commands that can be sent to it. */
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { CopyText } from '../../pieces/copy.tsx';
import { Failure, Loading } from '../../pieces/states.tsx';
import { When } from '../../pieces/when.tsx';
import { type Command, type Computer, type Page, useRead, useWrite } from '../api/vendor.ts';
import { Pairs, PlaceChoice, Refusal, textOf, textsOf, useTitle } from './pieces.tsx';

type Wanted = { kind: string; words: string; needsPin: boolean; isHarmful: boolean };

const commands: Wanted[] = [
  { kind: 'DEVICE_LOCK', words: 'Lock', needsPin: true, isHarmful: false },
  { kind: 'RESTART_DEVICE', words: 'Restart', needsPin: false, isHarmful: false },
  { kind: 'ERASE_DEVICE', words: 'Erase', needsPin: true, isHarmful: true },
];

const CommandForm = ({
  computer,
  wanted,
  onDone,
}: {
  computer: Computer;
  wanted: Wanted;
  onDone: () => void;
}) => {
  const write = useWrite();
  const { managementId, name } = computer.general;
  return (
    <form
      className="device-form"
      onSubmit={(event) => {
        event.preventDefault();
        const { pin } = textsOf(event.currentTarget);
        const commandData = { commandType: wanted.kind, ...(pin === undefined ? {} : { pin }) };
        const body = { clientData: [{ managementId }], commandData };
        write.mutate(
          { method: 'POST', path: '/api/v2/mdm/commands', body, said: `${wanted.words} was sent` },
          { onSuccess: onDone },
        );
      }}
    >
      <p>
        {wanted.words} <strong>{name}</strong>?
        {wanted.isHarmful ? ' Everything on it is deleted.' : null}
      </p>
      {wanted.needsPin ? (
        <label>
          PIN of six digits
          <input name="pin" inputMode="numeric" pattern="[0-9]{6}" maxLength={6} required />
        </label>
      ) : null}
      <div className="buttons">
        <button type="submit" className="button primary" disabled={write.isPending}>
          Send
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      <Refusal error={write.error} />
    </form>
  );
};

const EditForm = ({ computer, onDone }: { computer: Computer; onDone: () => void }) => {
  const write = useWrite();
  const { general, id, userAndLocation } = computer;
  return (
    <form
      className="device-form"
      onSubmit={(event) => {
        event.preventDefault();
        const { name, assetTag, username, room, buildings, departments } = textsOf(
          event.currentTarget,
        );
        const place = { username, room, buildingId: buildings, departmentId: departments };
        const body = { general: { name, assetTag }, userAndLocation: place };
        const path = `/api/v1/computers-inventory-detail/${id}`;
        write.mutate({ method: 'PATCH', path, body, said: 'Saved' }, { onSuccess: onDone });
      }}
    >
      <label>
        Name
        <input name="name" defaultValue={general.name} maxLength={255} required />
      </label>
      <label>
        Asset tag
        <input name="assetTag" defaultValue={textOf(general, 'assetTag')} maxLength={255} />
      </label>
      <label>
        Username
        <input name="username" defaultValue={textOf(userAndLocation, 'username')} maxLength={255} />
      </label>
      <label>
        Room
        <input name="room" defaultValue={textOf(userAndLocation, 'room')} maxLength={255} />
      </label>
      <PlaceChoice kind="buildings" label="Building" value={userAndLocation.buildingId} />
      <PlaceChoice kind="departments" label="Department" value={userAndLocation.departmentId} />
      <div className="buttons">
        <button type="submit" className="button primary" disabled={write.isPending}>
          Save
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      <Refusal error={write.error} />
    </form>
  );
};

export const CommandsOf = ({ managementId }: { managementId: string }) => {
  const { data } = useRead<Page<Command>>('/api/v2/mdm/commands', {
    filter: `clientManagementId==${managementId}`,
    sort: 'dateSent:desc',
    'page-size': 20,
  });
  if (data === undefined || data.results.length === 0) return null;
  return (
    <section aria-label="Commands">
      <h2 className="device-section">Commands</h2>
      <ul className="items">
        {data.results.map(({ uuid, commandType, commandState, dateSent }) => (
          <li className="item" key={uuid}>
            <span className="item-main">{commandType.toLowerCase().replaceAll('_', ' ')}</span>
            <span className="item-count">
              {commandState.toLowerCase()} · <When at={dateSent} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};

const Known = ({ computer }: { computer: Computer }) => {
  const { applications, general, groupMemberships, hardware, operatingSystem, security } = computer;
  const { configurationProfiles, purchasing, storage, userAndLocation } = computer;
  return (
    <>
      <Pairs
        title="General"
        pairs={[
          ['Site', general.site.name],
          ['Managed', (general.remoteManagement as { managed?: boolean } | null)?.managed],
          ['Last check-in', general.lastContactTime],
          ['Last inventory', general.reportDate],
          ['IP address', general.lastReportedIp],
          ['Asset tag', general.assetTag],
        ]}
      />
      <Pairs
        title="Person and place"
        pairs={[
          ['Name', userAndLocation.realname],
          ['Email', userAndLocation.email],
          ['Position', userAndLocation.position],
          ['Room', userAndLocation.room],
        ]}
      />
      <Pairs
        title="Hardware and system"
        pairs={[
          ['Model', hardware.model],
          ['Chip', hardware.processorType],
          ['Memory (MB)', hardware.totalRamMegabytes],
          ['macOS', `${operatingSystem.version} (${textOf(operatingSystem, 'build')})`],
          ['Disk encryption', operatingSystem.fileVault2Status],
          ['Free space (MB)', storage.bootDriveAvailableSpaceMegabytes],
          ['Firewall', security.firewallEnabled],
          ['Warranty until', purchasing.warrantyDate],
        ]}
      />
      <Pairs
        title="Applications"
        pairs={applications.map(({ name, version }) => [name, version])}
      />
      <section aria-label="Groups">
        <h2 className="device-section">Groups</h2>
        <p className="device-line">
          {groupMemberships.map(({ groupId, groupName }) => (
            <Link key={groupId} to="/groups/$kind/$id" params={{ kind: 'computers', id: groupId }}>
              {groupName}
            </Link>
          ))}
        </p>
      </section>
      <Pairs
        title="Profiles"
        pairs={configurationProfiles.map(({ id, displayName }) => [displayName, `profile ${id}`])}
      />
    </>
  );
};

export const ComputerPage = () => {
  const { id } = useParams({ from: '/computers/$id' });
  const { data, error, refetch } = useRead<Computer>(
    `/api/v1/computers-inventory-detail/${encodeURIComponent(id)}`,
  );
  const [doing, setDoing] = useState<Wanted | 'edit'>();
  useTitle(data?.general.name ?? 'Computer');
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the computer" />;
  const onDone = () => setDoing(undefined);
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{data.general.name}</h1>
        <CopyText text={data.hardware.serialNumber} />
        <div className="buttons device-buttons">
          <button type="button" onClick={() => setDoing('edit')}>
            Edit
          </button>
          {commands.map((wanted) => (
            <button
              type="button"
              key={wanted.kind}
              className={wanted.isHarmful ? 'danger' : ''}
              onClick={() => setDoing(wanted)}
            >
              {wanted.words}
            </button>
          ))}
        </div>
      </div>
      {doing === 'edit' ? <EditForm computer={data} onDone={onDone} /> : null}
      {doing === undefined || doing === 'edit' ? null : (
        <CommandForm key={doing.kind} computer={data} wanted={doing} onDone={onDone} />
      )}
      <CommandsOf managementId={data.general.managementId} />
      <Known computer={data} />
    </section>
  );
};
