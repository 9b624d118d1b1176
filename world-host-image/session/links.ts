/**
 * Linked worlds of a session's world. Each is loaded in the same host and seeded by the task that the link names. A
 * linked world works as a session of its own, but has the same token, clock, ids and ledger as the main session. To
 * callers, its names are prefixed with the link's alias: `crm.list_contacts`, `crm.contacts`.
 */
import { AppError, describeError } from '#domain/error.ts';
import { linkedTool } from '#language/contract.ts';
import type { Assignment, LinkedWorld } from '#wire/host-api/assignment.ts';
import type { WorldLoader } from './load-world.ts';
import { createOutbox } from './outbox.ts';
import { seedTask } from './seed-task.ts';
import type { LoadedWorld, Session } from './session.ts';

/** Linked world, loaded and seeded. */
export type LoadedLink = { link: LinkedWorld; world: LoadedWorld };

/** Loads the linked worlds one after the other, since each may be as large as the session's own. */
export const loadLinks = async (
  worlds: WorldLoader,
  { links = [] }: Pick<Assignment, 'links'>,
): Promise<LoadedLink[]> => {
  const loaded: LoadedLink[] = [];
  for (const link of links) {
    try {
      const world = await worlds.loadLinked(link);
      await seedTask(world, link.task);
      world.store.mark('task');
      loaded.push({ link, world });
    } catch (error) {
      throw new AppError(
        error instanceof AppError ? error.code : 'internal',
        `the linked world "${link.alias}" cannot be loaded: ${describeError(error)}`,
        { cause: error },
      );
    }
  }
  return loaded;
};

/** Returns the linked worlds as sessions, by alias. `parts` are the parts of the main session that they share. */
export const openLinks = (
  loaded: readonly LoadedLink[],
  parts: Omit<Session, 'world' | 'task' | 'outbox' | 'links' | 'answer' | 'faults'>,
  faultsOf: (world: LoadedWorld) => Session['faults'],
): Map<string, Session> =>
  new Map(
    loaded.map(({ link: { alias, task, tools }, world }) => [
      alias,
      {
        ...parts,
        alias,
        world,
        task: { ...task, tools },
        outbox: createOutbox(),
        faults: faultsOf(world),
        // The API of a linked world is not served, so it has no address.
        address: null,
        formerAddresses: [],
        links: new Map(),
        answer: null,
      },
    ]),
  );

/** Returns the linked session whose alias a name begins with, and the rest of the name. */
export const findLinked = (
  { links }: Pick<Session, 'links'>,
  name: string,
): { alias: string; linked: Session; rest: string } | undefined => {
  for (const [alias, linked] of links) {
    const start = linkedTool(alias, '');
    if (name.startsWith(start)) return { alias, linked, rest: name.slice(start.length) };
  }
  return undefined;
};

/** Returns the object with the alias put before each of its entity names. */
export const underAlias = <Value>(
  alias: string,
  members: Readonly<Record<string, Value>>,
): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(members).map(([entity, value]) => [linkedTool(alias, entity), value]),
  );
