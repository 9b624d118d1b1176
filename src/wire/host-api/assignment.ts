/**
 * Assignments and load directives that the control plane sends to a host, and the host's report of the version that it
 * holds.
 */
import { SessionClock } from '../public-api/sessions/session.ts';
import { TaskSpec } from '../public-api/worlds/task-spec.ts';
import { DigestText, nullable } from '../schemas.ts';
import { type Static, Type } from '../type.ts';

const Generation = Type.Integer({ minimum: 0 });

/** Version that a host has loaded: its bundle and the digest of its base rows. */
export const Holding = Type.Object({ bundle: DigestText, stateDigest: DigestText });
export type Holding = Static<typeof Holding>;

/** Members from which a host loads a world version. */
const sources = {
  bundle: DigestText,
  snapshot: DigestText,
  blobs: Type.Record(Type.String(), Type.String(), {
    description:
      'base64 of the bundle and the snapshot by digest, where these are small; the host fetches the others',
  }),
};
export const WorldSources = Type.Object(sources);
export type WorldSources = Static<typeof WorldSources>;

/** Directive to load a world version before any session needs it. */
export const LoadDirective = Type.Object({ generation: Generation, ...sources });
export type LoadDirective = Static<typeof LoadDirective>;

/** A linked world: the session also serves its tools, over rows of its own. */
export const LinkedWorld = Type.Object({
  alias: Type.String(),
  worldSlug: Type.String(),
  ...sources,
  task: nullable(TaskSpec),
  tools: Type.Array(Type.String(), {
    description: 'names of the tools of the linked world that the session serves',
  }),
});
export type LinkedWorld = Static<typeof LinkedWorld>;

/** Session that a host is to serve, and the files that it loads for it. */
export const Assignment = Type.Object({
  sessionId: Type.String(),
  generation: Generation,
  sessionToken: Type.String({ description: "bearer token that the session's API surface accepts" }),
  worldSlug: Type.String(),
  ...sources,
  task: nullable(TaskSpec),
  surfaces: Type.Array(Type.String()),
  address: Type.Optional(
    Type.String({
      description: "address of the session's API surface for clients, with a scheme and no path",
    }),
  ),
  clock: SessionClock,
  seed: nullable(Type.Integer({ minimum: 0 })),
  ui: Type.Optional(
    Type.Object(
      {
        files: Type.Array(
          Type.Object({
            path: Type.String({ description: 'path below the served directory' }),
            sha256: DigestText,
            sizeBytes: Type.Integer({ minimum: 0 }),
          }),
        ),
      },
      { description: 'files that its surface `ui` serves; the host fetches them as blobs' },
    ),
  ),
  links: Type.Optional(Type.Array(LinkedWorld)),
});
export type Assignment = Static<typeof Assignment>;
