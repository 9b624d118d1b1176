/** A control plane for the tests of one file. It has a database of its own, which is removed when it stops. */
import { createWorld } from '#wire/public-api/operations.ts';
import { testDatabase } from '../database/postgres.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';
import {
  type StartedControl,
  startTestControl,
  type TestControl,
  type TestControlOptions,
} from './control.ts';

export type OwnControl = StartedControl;

/** Starts a control plane on an empty database. */
export const startOwnControl = async (
  options: Omit<TestControlOptions, 'databaseUrl'> = {},
): Promise<OwnControl> => {
  const database = await testDatabase();
  const control = await startTestControl({ ...options, databaseUrl: database.url });
  return {
    ...control,
    async stop() {
      await control.stop();
      await database.drop();
    },
  };
};

/** Creates the world `notes`. */
export const createNotes = (control: TestControl): Promise<unknown> =>
  control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });

/** Starts a control plane with the world `notes`. */
export const startNotesControl = async (
  options: Omit<TestControlOptions, 'databaseUrl'> = {},
): Promise<OwnControl> => {
  const control = await startOwnControl(options);
  await createNotes(control);
  return control;
};
