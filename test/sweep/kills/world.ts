/** The world of the sweep: the notes of other tests, and an API that adds folders to them. */
import type { TreeFile } from '#domain/world.ts';
import { notesWorld } from '../../support/worlds/worlds.ts';

const connector = `[connector]
slug = "notes"
base_url = "https://notes.example"

[auth]
scheme = "none"

[api]

[[operations]]
name = "add_folder"
method = "POST"
path = "/folders"
entity = "folders"
[operations.api]
action = "create"
`;

export const sweepWorld = (): TreeFile[] => [
  ...notesWorld(),
  { path: 'connector.toml', content: new TextEncoder().encode(connector) },
];
