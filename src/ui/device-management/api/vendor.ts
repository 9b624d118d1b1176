/**
 * Client of the world's own API, below the prefix that `[ui] api_path` names, with a cache of answers. Rows are
 * untrusted: texts may contain anything.
 */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ask } from '../../host/ask.ts';
import { useAnnounce } from '../../pieces/announce.tsx';

const apiPath = '/__world-api';

export const perPage = 50;

export type Values = Record<string, unknown>;
export type Page<T> = { totalCount: number; results: T[] };
export type Named = { id: string | number; name: string };

export type Computer = {
  id: string;
  udid: string;
  general: Values & { name: string; managementId: string; site: Named };
  hardware: Values & { model: string; serialNumber: string };
  operatingSystem: Values & { version: string; fileVault2Status: string };
  userAndLocation: Values;
  security: Values;
  storage: Values;
  purchasing: Values;
  applications: { name: string; version: string; bundleId: string }[];
  groupMemberships: { groupId: string; groupName: string; smartGroup: boolean }[];
  configurationProfiles: { id: string; displayName: string }[];
};

export type MobileDevice = {
  mobileDeviceId: string;
  deviceType: string;
  general: Values & { displayName: string; managementId: string; osVersion: string };
  hardware: Values & { model: string; serialNumber: string };
  userAndLocation: Values;
  security: Values;
  network: Values;
  applications: { name: string; version: string; identifier: string }[];
  profiles: { displayName: string }[];
};

export type Command = { uuid: string; commandType: string; commandState: string; dateSent: string };
export type Group = { id: number; name: string; is_smart: boolean };
export type Criterion = { name: string; and_or: string; search_type: string; value: string };
export type WholeGroup = Group & {
  criteria: Criterion[];
  computers?: Member[];
  mobile_devices?: Member[];
};
export type Member = { id: number; name: string; serial_number: string };
export type Policy = {
  general: Values & {
    id: number;
    name: string;
    enabled: boolean;
    frequency: string;
    category: Named;
  };
  scope: Values & { all_computers: boolean };
  package_configuration: { packages: (Named & { action: string })[] };
  scripts: Named[];
};

/** Builds the filter of a list which requires that one of the fields contains the words (`*` is the wildcard). */
export const anyOf = (words: string, fields: readonly string[]): string => {
  const text = words.replaceAll(/["\\]/g, '');
  return fields.map((field) => `${field}=="*${text}*"`).join(',');
};

const pathWith = (path: string, query: Record<string, string | number>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  const texts = given.map(([name, value]) => [name, String(value)]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(texts)}`;
};

/** Reads the answer to a path, and caches the answer under that path. */
export const useRead = <T>(path: string, query: Record<string, string | number> = {}) => {
  const asked = pathWith(path, query);
  return useQuery({
    queryKey: [asked],
    queryFn: async () => (await ask('GET', `${apiPath}${asked}`)) as T,
    placeholderData: keepPreviousData,
  });
};

type Write = { method: string; path: string; body: unknown; said: string };

/** Returns a mutation. After it succeeds, it announces the change and reloads what the page shows. */
export const useWrite = () => {
  const client = useQueryClient();
  const announce = useAnnounce();
  return useMutation({
    mutationFn: ({ method, path, body }: Write) => ask(method, `${apiPath}${path}`, body),
    async onSuccess(_, { said }) {
      announce(said);
      await client.invalidateQueries();
    },
  });
};
