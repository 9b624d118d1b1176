/** Reads the contract of a world on the service from the generated files of its version. */
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
import type { Contract } from '#language/contract.ts';
import type { Client } from '#wire/client.ts';
import type { VersionDetail } from '#wire/public-api/worlds/version.ts';
import { findVersion, readFile } from './versions.ts';

const contractFile = 'schema/runtime.json';

/** Returns the version that an address names, or else the head of the world, together with its contract. */
export const findContract = async (
  client: Client,
  address: string,
): Promise<{ version: VersionDetail; contract: Contract }> => {
  const version = await findVersion(client, address);
  const file = version.files.find(({ path }) => path === contractFile);
  const bytes = file === undefined ? undefined : await readFile(client, version, file);
  const contract: unknown =
    bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
  if (!isObject(contract) || !Array.isArray(contract.entities)) {
    throw new AppError(
      'internal',
      `version ${version.number} of ${address} has no ${contractFile}`,
    );
  }
  return { version, contract: contract as Contract };
};
