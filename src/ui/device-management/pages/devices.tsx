/** Lists of computers and of mobile devices, with search and pages. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useListKeys } from '../../pieces/list-keys.ts';
import { Pager } from '../../pieces/pager.tsx';
import { SearchBox } from '../../pieces/search.tsx';
import { When } from '../../pieces/when.tsx';
import {
  anyOf,
  type Computer,
  type MobileDevice,
  type Page,
  perPage,
  useRead,
} from '../api/vendor.ts';
import { List, textOf, useTitle } from './pieces.tsx';

type Search = { q?: string; page?: number };

export const readSearch = ({ q, page }: Record<string, unknown>): Search => ({
  ...(q === undefined || q === '' ? {} : { q: String(q) }),
  ...(Number.isInteger(page) && Number(page) > 1 ? { page: Number(page) } : {}),
});

const computerFields = [
  'general.name',
  'general.assetTag',
  'hardware.serialNumber',
  'hardware.model',
  'userAndLocation.realname',
  'userAndLocation.username',
];
const mobileFields = ['displayName', 'assetTag', 'serialNumber', 'model', 'fullName', 'username'];

const ComputerRow = ({ computer }: { computer: Computer }) => {
  const { id, general, hardware, operatingSystem, userAndLocation } = computer;
  const isEncrypted = operatingSystem.fileVault2Status === 'ALL_ENCRYPTED';
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/computers/$id" params={{ id }} className="item-title" data-row="">
          {general.name}
        </Link>{' '}
        {isEncrypted ? null : <span className="choice">Not encrypted</span>}
        <p className="item-more">
          <span>{textOf(userAndLocation, 'realname') || 'No one'}</span>
          <span>{hardware.model}</span>
          <span>macOS {operatingSystem.version}</span>
          <span>{general.site.name}</span>
        </p>
      </div>
      <span className="item-count">
        seen <When at={textOf(general, 'lastContactTime')} />
      </span>
    </li>
  );
};

const MobileRow = ({ device }: { device: MobileDevice }) => {
  const { mobileDeviceId: id, general, hardware, security, userAndLocation } = device;
  return (
    <li className="item">
      <div className="item-main">
        <Link to="/mobile-devices/$id" params={{ id }} className="item-title" data-row="">
          {general.displayName}
        </Link>{' '}
        {security.lostModeEnabled === true ? <span className="choice">Lost</span> : null}
        <p className="item-more">
          <span>{textOf(userAndLocation, 'realName') || 'No one'}</span>
          <span>{hardware.model}</span>
          <span>{general.osVersion}</span>
          <span>{general.supervised === true ? 'supervised' : 'not supervised'}</span>
        </p>
      </div>
      <span className="item-count">
        seen <When at={textOf(general, 'lastInventoryUpdateDate')} />
      </span>
    </li>
  );
};

type FrameProps = {
  title: string;
  what: string;
  search: Search;
  total: number | undefined;
  onSearch: (search: Search) => void;
  children: React.ReactNode;
};

const Frame = ({ title, what, search, total, onSearch, children }: FrameProps) => {
  const { q = '', page = 1 } = search;
  useTitle(title);
  useListKeys();
  return (
    <section className="page" aria-labelledby="title">
      <div className="page-head">
        <h1 id="title">{title}</h1>
        <span className="total" role="status">
          {total?.toLocaleString('en') ?? ''}
        </span>
        <SearchBox
          label={`Search ${what}`}
          value={q}
          onSearch={(text) => onSearch(text === '' ? {} : { q: text })}
        />
      </div>
      {children}
      <Pager
        page={page}
        hasMore={page * perPage < (total ?? 0)}
        onPage={(next) => onSearch({ ...(q === '' ? {} : { q }), page: next })}
      />
    </section>
  );
};

export const ComputersPage = () => {
  const search = useSearch({ from: '/computers' });
  const navigate = useNavigate({ from: '/computers' });
  const onSearch = (next: Search) => void navigate({ search: next });
  const { data, error, refetch, isPlaceholderData } = useRead<Page<Computer>>(
    '/api/v1/computers-inventory',
    {
      section: 'GENERAL,HARDWARE,OPERATING_SYSTEM,USER_AND_LOCATION',
      page: (search.page ?? 1) - 1,
      'page-size': perPage,
      sort: 'general.name:asc',
      filter: search.q === undefined ? '' : anyOf(search.q, computerFields),
    },
  );
  const read = {
    data: data?.results,
    error,
    isStale: isPlaceholderData,
    retry: () => void refetch(),
  };
  const frame = {
    title: 'Computers',
    what: 'computers',
    search,
    onSearch,
    total: data?.totalCount,
  };
  return (
    <Frame {...frame}>
      <List
        what="computers"
        read={read}
        onAll={search.q === undefined ? undefined : () => onSearch({})}
        row={(computer) => <ComputerRow key={computer.id} computer={computer} />}
      />
    </Frame>
  );
};

export const MobileDevicesPage = () => {
  const search = useSearch({ from: '/mobile-devices' });
  const navigate = useNavigate({ from: '/mobile-devices' });
  const onSearch = (next: Search) => void navigate({ search: next });
  const { data, error, refetch, isPlaceholderData } = useRead<Page<MobileDevice>>(
    '/api/v2/mobile-devices/detail',
    {
      section: 'GENERAL,HARDWARE,SECURITY,USER_AND_LOCATION',
      page: (search.page ?? 1) - 1,
      'page-size': perPage,
      sort: 'displayName:asc',
      filter: search.q === undefined ? '' : anyOf(search.q, mobileFields),
    },
  );
  const read = {
    data: data?.results,
    error,
    isStale: isPlaceholderData,
    retry: () => void refetch(),
  };
  const what = 'mobile devices';
  const frame = { title: 'Mobile devices', what, search, onSearch, total: data?.totalCount };
  return (
    <Frame {...frame}>
      <List
        what={what}
        read={read}
        onAll={search.q === undefined ? undefined : () => onSearch({})}
        row={(device) => <MobileRow key={device.mobileDeviceId} device={device} />}
      />
    </Frame>
  );
};
