/**
 * Media that items of datasets refer to. A client that sends media writes a text in its place,
 * `@@@langfuseMedia:type=image/png|id=…|source=bytes@@@`; the SDKs of the field put the media back by the path to that
 * text. A longer text that mentions a reference is not listed, as they would replace all of it.
 */
import { isObject } from '#domain/json.ts';
import type { MediaReference } from '#wire/public-api/evaluation/dataset.ts';

/** Media whose bytes are there, with an address to read them at. */
export type KnownMedia = MediaReference['media'];

/** Finds media of a project by their ids; those whose bytes are not there are left out. */
export type FindMedia = (
  projectId: string,
  mediaIds: readonly string[],
) => Promise<ReadonlyMap<string, KnownMedia>>;

const mark = '@@@langfuseMedia:';
const form = /^@@@langfuseMedia:type=[^|@]{1,255}\|id=([\w-]{1,100})\|source=\w{1,40}@@@$/;

/** References of one field that are looked up; an item with more shows the first of them. */
const mostReferences = 100;

export type FoundReference = Pick<MediaReference, 'referenceString' | 'jsonPath'> & {
  mediaId: string;
};

/** The path as the SDKs of the field read it: names are not escaped, and those of digits alone are numbers. */
const pathTo = (path: string, name: string): string =>
  /^\d+$/.test(name) ? `${path}[${name}]` : `${path}['${name}']`;

/** The texts of a JSON value that are references, in their order. It may be nested as deep as a body may. */
export const referencesIn = (json: string | null): FoundReference[] => {
  if (json === null || !json.includes(mark)) return [];
  const found: FoundReference[] = [];
  const look = (value: unknown, jsonPath: string): void => {
    if (found.length >= mostReferences) return;
    if (typeof value === 'string') {
      const mediaId = form.exec(value)?.[1];
      if (mediaId !== undefined) found.push({ mediaId, referenceString: value, jsonPath });
    } else if (isObject(value) || Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) look(inner, pathTo(jsonPath, name));
    }
  };
  look(JSON.parse(json), '$');
  return found;
};
