/**
 * Data folder of `svc up`: everything that survives a restart, and nothing else. The folder is checked before anything
 * is written, so that a folder with other contents stays unchanged.
 * Other users may enter the folder (PostgreSQL may have to run as another user) but not read it. Its files have mode
 * 0600 and its folders 0700, except the public certificates of the authority.
 */
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { newId, newSecret } from '#domain/id.ts';
import { makeFoldersSync } from '#runtime/folders.ts';
import { type Credentials, credentialsName, secretsName } from '../service/connection.ts';

/** Secrets that identify an installation and let its programs authenticate one another. */
export type Secrets = {
  version: 1;
  /** Name of the installation. Everything that the installation starts is labelled with it. */
  installation: string;
  databasePassword: string;
  /** Secret from which the control plane derives tokens. */
  tokenSecret: string;
  poolToken: string;
  publicKey: string;
  secretKey: string;
  /** Key pair of the organization; absent in a folder that an earlier release created. */
  organizationPublicKey?: string;
  organizationSecretKey?: string;
  /** Port that `--port 0` last chose; the next start tries it first. */
  port?: number;
  /** Last port of the internal APIs, which operators' commands use. */
  internalPort?: number;
};

export type DataFolder = {
  path: string;
  postgresDir: string;
  blobDir: string;
  logDir: string;
  /** Folder of the authority of `svc up --tls`, which the first start with that option creates. */
  tlsDir: string;
  lockFile: string;
  credentialsFile: string;
};

const lockName = 'up.lock';
const ownNames =
  /^(?:pg|pg\.(?:new|password)|blobs|logs|tls|(?:secrets|credentials)\.json(?:\.new)?|up\.lock.*|\.gitignore)$/;

/** State of the data folder's path, before anything is written. */
type FolderState =
  | { kind: 'absent' }
  | { kind: 'not_a_folder' }
  | { kind: 'folder'; writable: boolean; names: string[] };

/** Returns why a folder cannot be used as the data folder; undefined if it can. */
export const judgeFolder = (path: string, state: FolderState): string | undefined => {
  if (state.kind === 'absent') return undefined;
  if (state.kind === 'not_a_folder') return `${path} is a file, not a folder`;
  if (!state.writable) return `${path} cannot be written to`;
  const foreign = state.names.filter((name) => !ownNames.test(name)).sort();
  if (foreign.length > 0) {
    return `${path} already contains other files (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''})`;
  }
  if (state.names.includes('pg') && !state.names.includes(secretsName)) {
    return `${path} contains a database but no ${secretsName}, without which the database cannot be opened`;
  }
  return undefined;
};

const mebibyte = 2 ** 20;
/**
 * Minimum free disk space, in bytes. A new, empty database takes 50 MiB, and a running service writes logs and blobs.
 */
const leastMiB = { new: 128, known: 16 } as const;

/** Returns why a disk with this much free space is too small for the data; undefined if it is not. */
export const judgeDiskSpace = (
  path: string,
  { hasDatabase, freeBytes }: { hasDatabase: boolean; freeBytes: number },
): string | undefined => {
  const least = hasDatabase ? leastMiB.known : leastMiB.new;
  const free = Math.floor(freeBytes / mebibyte);
  return free >= least
    ? undefined
    : `the disk of ${path} has ${free} MiB free, but svc up needs ${least} MiB there`;
};

/** Returns the free bytes of a folder's disk, or of the nearest folder above it that exists. */
const freeBytesAt = (path: string): number => {
  const above = dirname(path);
  if (!existsSync(path) && above !== path) return freeBytesAt(above);
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
};

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const readFolderState = (path: string): FolderState => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return { kind: 'absent' };
    if (!stat.isDirectory()) return { kind: 'not_a_folder' };
    return { kind: 'folder', writable: isWritable(path), names: readdirSync(path) };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return { kind: 'absent' };
    throw new AppError('unavailable', `cannot use the data folder ${path}`, {
      cause,
      detail: { hint: 'choose another with --data <folder>' },
    });
  }
};

const unusable = (reason: string, hint = 'choose another with --data <folder>'): AppError =>
  new AppError('conflict', `cannot use the data folder: ${reason}`, { detail: { hint } });

/** Hint for a full disk. */
export const freeSpaceHint =
  'free space on its disk, or choose a folder on another disk with --data <folder>';

/** Builds the error for a file of the data folder that could not be written, with the reason and a hint. */
export const cannotWrite = (file: string, cause: unknown): AppError => {
  const { code = 'for an unknown reason' } = cause as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  const hint = isFull ? freeSpaceHint : 'choose another folder with --data <folder>';
  return new AppError('unavailable', `cannot write ${file} (${code})`, { cause, detail: { hint } });
};

const writeIn = (file: string, text: string, options: { mode?: number } = {}): void => {
  try {
    writeFileSync(file, text, options);
  } catch (cause) {
    throw cannotWrite(file, cause);
  }
};

const reasons: Readonly<Record<string, string>> = {
  EROFS: 'its file system is read-only',
  EACCES: 'the folder above it cannot be written to',
  EPERM: 'the folder above it cannot be written to',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a part of its path is a file',
};

export const makeFolder = (path: string, mode: number): void => {
  try {
    makeFoldersSync(path, { mode });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw unusable(
      `${path} cannot be created: ${reasons[code] ?? 'the system refuses it'} (${code})`,
    );
  }
};

/**
 * Checks the folder, and creates what is missing. If the folder cannot be used, throws `conflict` with a message of one
 * line.
 */
export const openDataFolder = (path: string): DataFolder => {
  const reason = judgeFolder(path, readFolderState(path));
  if (reason !== undefined) throw unusable(reason);
  const hasDatabase = existsSync(join(path, 'pg'));
  const lack = judgeDiskSpace(path, { hasDatabase, freeBytes: freeBytesAt(path) });
  if (lack !== undefined) throw unusable(lack, freeSpaceHint);
  const folder: DataFolder = {
    path,
    postgresDir: join(path, 'pg'),
    blobDir: join(path, 'blobs'),
    logDir: join(path, 'logs'),
    tlsDir: join(path, 'tls'),
    lockFile: join(path, lockName),
    credentialsFile: join(path, credentialsName),
  };
  makeFolder(path, 0o711);
  makeFolder(folder.blobDir, 0o700);
  makeFolder(folder.logDir, 0o700);
  writeIn(join(path, '.gitignore'), '*\n');
  return folder;
};

/** Writes a file with mode 600, completely or not at all. */
const writePrivately = (file: string, value: unknown): void => {
  const draft = `${file}.new`;
  try {
    writeIn(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
};

const newOrganizationKeys = () => ({
  organizationPublicKey: newSecret('pk'),
  organizationSecretKey: newSecret('sk'),
});

const newSecrets = (): Secrets => ({
  version: 1,
  installation: newId('ins'),
  databasePassword: newSecret('pg'),
  tokenSecret: newSecret('ts'),
  poolToken: newSecret('pt'),
  publicKey: newSecret('pk'),
  secretKey: newSecret('sk'),
  ...newOrganizationKeys(),
});

const secretWords = [
  'installation',
  'databasePassword',
  'tokenSecret',
  'poolToken',
  'publicKey',
  'secretKey',
] as const;

const isSecrets = (value: unknown): value is Secrets => {
  const known = value as Partial<Secrets> | null;
  return known?.version === 1 && secretWords.every((name) => typeof known[name] === 'string');
};

const readSecrets = (file: string): Secrets => {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new AppError('conflict', `cannot read ${file}`, {
      cause,
      detail: {
        hint: 'restore it from a copy, since the data cannot be opened without it, or choose another folder with --data <folder>',
      },
    });
  }
  if (isSecrets(value)) return value;
  throw unusable(`${file} was not written by this version of svc`);
};

/** Returns the secrets of the installation. Creates and stores those that are missing. */
export const loadSecrets = (folder: DataFolder): Secrets => {
  const file = join(folder.path, secretsName);
  const known = existsSync(file) ? readSecrets(file) : undefined;
  if (known?.organizationSecretKey !== undefined) return known;
  const secrets = known === undefined ? newSecrets() : { ...known, ...newOrganizationKeys() };
  writePrivately(file, secrets);
  return secrets;
};

/** Stores the chosen ports. */
export const rememberPorts = (
  folder: DataFolder,
  secrets: Secrets,
  found: Required<Pick<Secrets, 'port' | 'internalPort'>>,
): void => {
  const isKnown = secrets.port === found.port && secrets.internalPort === found.internalPort;
  if (!isKnown) writePrivately(join(folder.path, secretsName), { ...secrets, ...found });
};

/**
 * Writes the file from which the CLI reads how to reach the service. `caFile` is the certificate of the authority to
 * trust.
 */
export const writeCredentials = (
  folder: DataFolder,
  { url, caFile }: { url: string; caFile: string | undefined },
  secrets: Secrets,
): void => {
  const { publicKey, secretKey, organizationPublicKey, organizationSecretKey } = secrets;
  const organization =
    organizationPublicKey === undefined || organizationSecretKey === undefined
      ? {}
      : { organization: { publicKey: organizationPublicKey, secretKey: organizationSecretKey } };
  const trusted = caFile === undefined ? {} : { caFile };
  const credentials: Credentials = { url, publicKey, secretKey, ...organization, ...trusted };
  writePrivately(folder.credentialsFile, credentials);
};
