/**
 * Finds the media that items of datasets refer to. A client that sends media writes a reference in place of the media,
 * `@@@langfuseMedia:type=image/png|id=…|source=bytes@@@`. The service lists the JSON path of each reference, and the
 * established SDKs replace the whole text at that path by the media. A longer text that contains a reference is
 * therefore not listed.
 */
import { isObject } from '#domain/json.ts';
import type { MediaReference } from '#wire/public-api/evaluation/dataset.ts';

/** Media whose bytes are uploaded, with an address to download them from. */
export type KnownMedia = MediaReference['media'];

/** Finds media of a project by their ids; those whose bytes are not uploaded are left out. */
export type FindMedia = (
  projectId: string,
  mediaIds: readonly string[],
) => Promise<ReadonlyMap<string, KnownMedia>>;

const mark = '@@@langfuseMedia:';
const form = /^@@@langfuseMedia:type=[^|@]{1,255}\|id=([\w-]{1,100})\|source=\w{1,40}@@@$/;

/** Maximum number of references of one field that are looked up; further references are not shown. */
const mostReferences = 100;

export type FoundReference = Pick<MediaReference, 'referenceString' | 'jsonPath'> & {
  mediaId: string;
};

/**
 * Extends a path in the form that the established SDKs parse: names are not escaped, and names that consist of digits
 * are indexes.
 */
const pathTo = (path: string, name: string): string =>
  /^\d+$/.test(name) ? `${path}[${name}]` : `${path}['${name}']`;

/**
 * Returns the texts in a JSON value that are references, in the order of the value. The recursion is bounded, because
 * request bodies have a maximum depth.
 */
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
