/** Page of a mobile device: its inventory, lost mode, lock and passcode. */
import { useParams } from '@tanstack/react-router';
import { CopyText } from '../../pieces/copy.tsx';
import { Empty, Failure, Loading } from '../../pieces/states.tsx';
import { type MobileDevice, type Page, useRead, useWrite } from '../api/vendor.ts';
import { CommandsOf } from './computer.tsx';
import { Pairs, PlaceChoice, Refusal, textsOf, useTitle } from './pieces.tsx';

const Known = ({ device }: { device: MobileDevice }) => {
  const { applications, general, hardware, network, profiles, security, userAndLocation } = device;
  return (
    <>
      <Pairs
        title="General"
        pairs={[
          ['Last inventory', general.lastInventoryUpdateDate],
          ['Supervised', general.supervised],
          ['System', general.osVersion],
          ['Model', hardware.model],
          ['Battery (%)', hardware.batteryLevel],
          ['Free space (MB)', hardware.availableSpaceMb],
          ['Carrier', network.currentCarrierNetwork],
        ]}
      />
      <Pairs
        title="Person and place"
        pairs={[
          ['Name', userAndLocation.realName],
          ['Email', userAndLocation.emailAddress],
          ['Phone', userAndLocation.phoneNumber],
          ['Room', userAndLocation.room],
        ]}
      />
      <Pairs
        title="Security"
        pairs={[
          ['Passcode', security.passcodePresent],
          ['Compliant', security.passcodeCompliant],
          ['Activation lock', security.activationLockEnabled],
          ['Lost mode', security.lostModeEnabled],
          ['Message', security.lostModeMessage],
        ]}
      />
      <Pairs title="Apps" pairs={applications.map(({ name, version }) => [name, version])} />
      <Pairs
        title="Profiles"
        pairs={profiles.map(({ displayName }, at) => [displayName, `profile ${at + 1}`])}
      />
    </>
  );
};

const Place = ({ device }: { device: MobileDevice }) => {
  const write = useWrite();
  const { mobileDeviceId: id, userAndLocation } = device;
  return (
    <form
      className="device-form"
      onSubmit={(event) => {
        event.preventDefault();
        const { buildings, departments } = textsOf(event.currentTarget);
        const body = { location: { buildingId: buildings, departmentId: departments } };
        write.mutate({
          method: 'PATCH',
          path: `/api/v2/mobile-devices/${id}`,
          body,
          said: 'Saved',
        });
      }}
    >
      <PlaceChoice kind="buildings" label="Building" value={userAndLocation.buildingId} />
      <PlaceChoice kind="departments" label="Department" value={userAndLocation.departmentId} />
      <div className="buttons">
        <button type="submit" disabled={write.isPending}>
          Save the place
        </button>
      </div>
      <Refusal error={write.error} />
    </form>
  );
};

export const MobileDevicePage = () => {
  const { id } = useParams({ from: '/mobile-devices/$id' });
  const { data, error, refetch } = useRead<Page<MobileDevice>>('/api/v2/mobile-devices/detail', {
    section: 'ALL',
    filter: `mobileDeviceId=="${id.replaceAll(/["\\]/g, '')}"`,
  });
  const write = useWrite();
  const device = data?.results[0];
  useTitle(device?.general.displayName ?? 'Mobile device');
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="the device" />;
  if (device === undefined) return <Empty title="There is no such device." />;
  const { displayName, managementId } = device.general;
  const isLost = device.security.lostModeEnabled === true;
  const send = (commandType: string, words: string, more = {}) =>
    write.mutate({
      method: 'POST',
      path: '/api/v2/mdm/commands',
      body: { clientData: [{ managementId }], commandData: { commandType, ...more } },
      said: `${words} was sent`,
    });
  const lost = { lostModeMessage: 'This device is lost. Please call us.' };
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{displayName}</h1>
        <CopyText text={device.hardware.serialNumber} />
        <div className="buttons device-buttons">
          <button type="button" onClick={() => send('DEVICE_LOCK', 'Lock')}>
            Lock
          </button>
          <button type="button" onClick={() => send('CLEAR_PASSCODE', 'Clear passcode')}>
            Clear passcode
          </button>
          <button
            type="button"
            onClick={() =>
              isLost
                ? send('DISABLE_LOST_MODE', 'The end of lost mode')
                : send('ENABLE_LOST_MODE', 'Lost mode', lost)
            }
          >
            {isLost ? 'End lost mode' : 'Lost mode'}
          </button>
        </div>
      </div>
      <Refusal error={write.error} />
      <Place key={device.mobileDeviceId} device={device} />
      <CommandsOf managementId={managementId} />
      <Known device={device} />
    </section>
  );
};
