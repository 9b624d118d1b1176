/**
 * Builds the text of `docs/internals/licences.md`: every package of the lock file with its licence and the images that
 * contain it. A package is a fault if its licence is not allowed or the lock file does not pin it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readImageInputs } from '../../orchestrator/images/image-inputs.ts';
import { imageRecipes } from '../../orchestrator/images/image-recipes.ts';

const root = join(import.meta.dirname, '../..');

/** The fields that are read from an entry of package-lock.json. */
export type LockedPackage = {
  version?: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  dev?: boolean;
  optionalDependencies?: Record<string, string>;
};

export type LockedPackages = Record<string, LockedPackage>;

/** Allowed licences: they require no more than attribution. */
const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Packages with another licence, and the reason why they may be used. */
const exceptions: Record<string, { licence: string; why: string }> = {
  argparse: { licence: 'PSF-2.0', why: "Python's own licence, which asks to be named" },
  'axe-core': {
    licence: 'MPL-2.0',
    why: 'used by the tests as it is, and not passed on',
  },
  lightningcss: {
    licence: 'MPL-2.0',
    why: 'used by the tests as it is, and not passed on',
  },
};

/** Licences of packages for which the lock file has none, and where each package states it. */
const statedElsewhere: Record<string, { licence: string; where: string }> = {
  buildcheck: { licence: 'MIT', where: '"licenses" in its package.json' },
  busboy: { licence: 'MIT', where: '"licenses" in its package.json' },
  'cpu-features': { licence: 'MIT', where: '"licenses" in its package.json' },
  'humanize-number': { licence: 'MIT', where: 'its Readme.md' },
  khroma: { licence: 'MIT', where: 'its file license' },
  ssh2: { licence: 'MIT', where: '"licenses" in its package.json' },
  streamsearch: { licence: 'MIT', where: '"licenses" in its package.json' },
};

/** Returns the package that a package belongs to: a binary for one platform belongs to its main package. */
const familyOf = (name: string): string =>
  name.startsWith('lightningcss-') ? 'lightningcss' : name;

export type Licensed = {
  name: string;
  version: string;
  licence: string;
  /** Names of images. */
  images: string[];
  isForTests: boolean;
};

const nameOf = (place: string): string =>
  place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/**
 * Returns true if a licence is allowed. Of a choice such as `(MPL-2.0 OR Apache-2.0)`, one licence must be allowed; of
 * licences joined by `AND`, all must be.
 */
const isAllowed = (name: string, licence: string): boolean =>
  exceptions[familyOf(name)]?.licence === licence ||
  licence
    .replace(/^\(|\)$/g, '')
    .split(' OR ')
    .some((one) => one.split(' AND ').every((part) => allowed.has(part)));

/** Returns the faults of the packages in a lock file, each with the name of its package. */
export const lockFaults = (packages: LockedPackages): string[] =>
  Object.entries(packages).flatMap(([place, { version, integrity, resolved, license }]) => {
    if (place === '') return [];
    const name = nameOf(place);
    const licence = license ?? statedElsewhere[name]?.licence;
    const faults = [
      integrity?.startsWith('sha512-') === true ? undefined : 'is not pinned by a digest',
      resolved === undefined ? undefined : `names where it comes from (${resolved})`,
      licence === undefined ? 'tells no licence' : undefined,
      licence === undefined || isAllowed(name, licence) ? undefined : `has the licence ${licence}`,
    ];
    return faults.flatMap((fault) => (fault === undefined ? [] : `${name} ${version} ${fault}`));
  });

/** Returns the faults of installed packages: a licence that differs from the lock file. */
export const installedFaults = (packages: LockedPackages): string[] =>
  Object.entries(packages).flatMap(([place, { license }]) => {
    const file = join(root, place, 'package.json');
    if (place === '' || license === undefined || !existsSync(file)) return [];
    const result = (JSON.parse(readFileSync(file, 'utf8')) as { license?: unknown }).license;
    const isSame =
      result === license || (result as { type?: unknown } | undefined)?.type === license;
    return isSame
      ? []
      : [`${nameOf(place)} says ${JSON.stringify(result)}, the lock file ${license}`];
  });

export const readLock = (): LockedPackages =>
  (
    JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: LockedPackages;
    }
  ).packages;

/** Returns the images by the path of each package in them, including packages for other platforms. */
const imagesByPlace = async (packages: LockedPackages): Promise<Map<string, string[]>> => {
  const images = new Map<string, string[]>();
  const note = (place: string, image: string): void => {
    const noted = images.get(place) ?? [];
    if (!noted.includes(image)) images.set(place, [...noted, image]);
  };
  for (const recipe of imageRecipes) {
    const { context } = await readImageInputs(root, undefined, recipe);
    for (const place of context.filter((path) => path.startsWith('node_modules/'))) {
      note(place, recipe.repository);
      for (const name of Object.keys(packages[place]?.optionalDependencies ?? {})) {
        if (packages[`node_modules/${name}`] !== undefined) {
          note(`node_modules/${name}`, recipe.repository);
        }
      }
    }
  }
  return images;
};

const listPackages = async (packages: LockedPackages): Promise<Licensed[]> => {
  const images = await imagesByPlace(packages);
  const byIdentity = new Map<string, Licensed>();
  for (const [place, { version = '', license, dev = false }] of Object.entries(packages)) {
    if (place === '') continue;
    const name = nameOf(place);
    const known = byIdentity.get(`${name} ${version}`);
    byIdentity.set(`${name} ${version}`, {
      name,
      version,
      licence: license ?? statedElsewhere[name]?.licence ?? '',
      images: [...new Set([...(known?.images ?? []), ...(images.get(place) ?? [])])].sort(),
      isForTests: dev && (known?.isForTests ?? true),
    });
  }
  return [...byIdentity.values()].sort((a, b) =>
    `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1,
  );
};

/** Packages that are bundled into the application of generated pages: `<name> <version>`. */
const builtIn: ReadonlySet<string> = new Set(
  readFileSync(join(root, 'src/language/artifacts/page/built/licences.txt'), 'utf8')
    .split('\n')
    .flatMap((line) => /^\* (.*)$/.exec(line)?.[1] ?? []),
);

const row = ({ name, version, licence, images, isForTests }: Licensed): string => {
  const places = builtIn.has(`${name} ${version}`) ? [...images, 'generated pages'] : images;
  const where = places.map((place) => (place.includes(' ') ? place : `\`${place}\``)).join(', ');
  return `| ${name} | ${version} | ${licence} | ${where || (isForTests ? 'tests only' : 'a checkout only')} |`;
};

const count = (packages: readonly Licensed[]): string[] => {
  const counts = new Map<string, number>();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return sorted.map(([licence, times]) => `| ${licence} | ${times} |`);
};

const intro = `\
# Licences

<!-- Made by \`make docs\` from package-lock.json; what is allowed is in tools/docs/licences.ts. -->

This page is for people who check the licences of the product. It lists the npm packages of the lock file, which
pins each by a digest, and the images that contain each package.

Images also contain Node (MIT, with the licences of its parts), Python (PSF-2.0) and packages of Debian, whose
licences are in \`/usr/share/doc\`. \`svc-postgres\` contains PostgreSQL (the PostgreSQL licence). A test fails if this
page is out of date, or if a package has a licence that \`tools/docs/licences.ts\` does not allow.
`;

/** Returns the text of the page. */
export const licencesPage = async (): Promise<string> => {
  const locked = readLock();
  const packages = await listPackages(locked);
  const names = new Set(packages.map(({ name }) => familyOf(name)));
  const excepted = Object.entries(exceptions)
    .filter(([name]) => names.has(name))
    .map(([name, { licence, why }]) => `| ${name} | ${licence} | ${why} |`);
  const result = Object.entries(statedElsewhere)
    .filter(([name]) => names.has(name))
    .map(([name, { licence, where }]) => `| ${name} | ${licence} | ${where} |`);
  return [
    intro,
    '| Licence | Packages |\n| - | - |',
    ...count(packages),
    '\n## Exceptions\n\n| Package | Licence | Why it may be used |\n| - | - | - |',
    ...excepted,
    '\n## Licences stated elsewhere\n\nThe lock file states no licence for these packages.\n\n| Package | Licence | Where it is stated |\n| - | - | - |',
    ...result,
    '\n## Packages\n\n| Package | Version | Licence | In |\n| - | - | - | - |',
    ...packages.map(row),
    '',
  ].join('\n');
};
