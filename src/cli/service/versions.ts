/** Reads versions of worlds by address, and the contents of their files. */
import pMap from 'p-map';
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import type { Client } from '#wire/client.ts';
import { getVersion, getWorldFile } from '#wire/public-api/operations.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import { sha256Of } from '../files/digest.ts';

/** Maximum number of concurrent downloads of files. */
const filesAtOnce = 8;

/** Parses `crm@3` into slug and version; without a version, the head is meant. */
export const parseAddress = (address: string): { slug: string; version: string } => {
  const at = address.indexOf('@');
  return at === -1
    ? { slug: address, version: 'latest' }
    : { slug: address.slice(0, at), version: address.slice(at + 1) };
};

/** Returns the version that an address names. */
export const findVersion = async (client: Client, address: string): Promise<VersionDetail> =>
  (await client.send(getVersion, { params: parseAddress(address) })).body;

/** Returns the version with an id; undefined if the world on this service does not have such a version. */
export const findNoted = async (
  client: Client,
  slug: string,
  id: string,
): Promise<VersionDetail | undefined> => {
  try {
    return (await client.send(getVersion, { params: { slug, version: id } })).body;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
};

/** Downloads a file of a version and checks its digest. */
export const readFile = async (
  client: Client,
  { slug, id }: VersionDetail,
  { path, sha256 }: { path: string; sha256: string },
): Promise<Uint8Array> => {
  const params = { slug: `${slug}@${id}`, sha256 };
  const { body } = await client.send(getWorldFile, { params });
  if (sha256Of(body) === sha256) return body;
  throw new AppError('internal', `the downloaded bytes of ${path} do not match the file's digest`);
};

/** Downloads the given files of a version, in order. */
export const readFiles = (
  client: Client,
  version: VersionDetail,
  files: readonly { path: string; sha256: string }[],
): Promise<TreeFile[]> =>
  pMap(
    files,
    async (file) => ({ path: file.path, content: await readFile(client, version, file) }),
    { concurrency: filesAtOnce },
  );
