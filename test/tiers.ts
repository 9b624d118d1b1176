/**
 * The three tiers of the proof. A tier runs its own files and those of the tiers before it:
 *
 * - `fast`: pure tests, the world host without browsers, the architecture. On each save.
 * - `usual`: all that a change of ours can break, on processes of this machine, a real PostgreSQL, one Docker host and
 *   one installation of the chart. `make test`, and what lands a change.
 * - `full`: every runtime of each contract, kills and pauses by the hundred, random requests, clients in other languages,
 *   upgrades and restores. Before a change is called done.
 *
 * A suite that is held against several runtimes takes those of the run's tier (`test/support/run/tier.ts`).
 */
import { matchesGlob } from 'node:path';

export const tierNames = ['fast', 'usual', 'full'] as const;
export type Tier = (typeof tierNames)[number];

/** Files of the full tier, with the reason why the usual one does without them. */
export const fullOnly: Readonly<Record<string, string>> = {
  'test/attacks/browsers/egress.test.ts': 'browsers in containers',
  'test/attacks/user-code/docker.test.ts': 'hosts in containers',
  'test/attacks/user-code/kubernetes.test.ts': 'hosts in pods',
  'test/contract/clients/clients.test.ts': 'clients in Python and Go',
  'test/contract/clients/device-sdk.test.ts': 'clients in Python',
  'test/contract/clients/issue-tracker.test.ts': 'clients in Python',
  'test/contract/clients/metrics-sdk.test.ts': 'clients in Python',
  'test/contract/clients/schemathesis.test.ts': 'random requests',
  'test/contract/clients/trace-clients.test.ts': 'clients in Python',
  'test/system/kubernetes/backup.test.ts': 'a backup and a restore of an installation of the chart',
  'test/system/kubernetes/chart-browser.test.ts': 'browsers in pods',
  'test/system/kubernetes/faults.test.ts': 'faults of a cluster',
  'test/system/sessions/load.test.ts': 'load that disturbs other tests',
  'test/system/installation/rolling-upgrade.test.ts': 'load that disturbs other tests',
  'test/contract/drivers/browser-image.test.ts': 'browsers in containers',
  'test/contract/drivers/docker-driver.test.ts': 'hosts in containers',
  'test/contract/drivers/docker-isolation.test.ts': 'hosts in containers',
  'test/contract/drivers/kubernetes-around-pods.test.ts': 'hosts in pods',
  'test/contract/drivers/kubernetes-pods.test.ts': 'hosts in pods',
  'test/contract/drivers/kubernetes-rights.test.ts': 'hosts in pods',
  'test/system/worlds/capture-kills.test.ts': 'kills by the dozen',
  'test/sweep/bodies/bodies.test.ts': 'random requests',
  'test/sweep/kills/browsers.test.ts': 'kills by the dozen',
  'test/sweep/kills/imports.test.ts': 'kills by the dozen',
  'test/sweep/kills/ingestion.test.ts': 'kills by the dozen',
  'test/sweep/kills/ledgers.test.ts': 'kills by the dozen',
  'test/sweep/kills/losses.test.ts': 'kills by the dozen',
  'test/sweep/kills/runs.test.ts': 'kills by the dozen',
  'test/sweep/kills/stops.test.ts': 'kills by the dozen',
  'test/sweep/kills/sweep.test.ts': 'kills by the dozen',
  'test/sweep/kills/webhooks.test.ts': 'kills by the dozen',
};

/** Files beside the code that are of the usual tier, as globs, with the reason why the fast one does without them. */
export const usualOnly: Readonly<Record<string, string>> = {
  'browser-image/**/*.test.ts': 'a real Chromium',
  'src/data/import/killed.test.ts': 'kills by the dozen',
  'test/repository/{chart,chart-pods}.test.ts': 'Helm, once for each set of values',
  'world-host-image/*/{end-states,page,proofs}.test.ts': 'whole templates, some in a real Chromium',
  'world-host-image/testing/suite.test.ts': 'tests of whole worlds',
  'world-host-image/ui/generated-page.test.ts': 'a real Chromium',
  'world-host-image/verifier/verifier.test.ts': 'whole worlds',
};

/** Folders of the other tiers; a file of the tables above is of their tier wherever it stands. */
const folders: Readonly<Record<'fast' | 'usual', readonly string[]>> = {
  fast: [
    '{src,orchestrator,world-host-image,browser-image}/**/*.test.ts',
    'test/{*,repository/*}.test.ts',
  ],
  usual: ['test/{api,attacks,contract,system,sweep/simulation}/**/*.test.ts'],
};

/** Returns the tier of a test file, named by its path from the root; undefined where it is in none. */
export const tierOf = (file: string): Tier | undefined => {
  if (Object.hasOwn(fullOnly, file)) return 'full';
  if (Object.keys(usualOnly).some((glob) => matchesGlob(file, glob))) return 'usual';
  return (['fast', 'usual'] as const).find((tier) =>
    folders[tier].some((glob) => matchesGlob(file, glob)),
  );
};

/** Returns what a run of a tier leaves out, as globs. */
export const leftOutOf = (tier: Tier): string[] => {
  if (tier === 'full') return [];
  const notFast = tier === 'fast' ? [...Object.keys(usualOnly), ...folders.usual] : [];
  return [...Object.keys(fullOnly), ...notFast];
};

/** Reads the name of a tier. Throws for another word. */
export const readTier = (name: string | undefined): Tier => {
  const tier = tierNames.find((known) => known === (name ?? 'full'));
  if (tier === undefined) {
    throw new Error(`SVC_TEST_TIER is "${name}"; it is one of ${tierNames.join(', ')}`);
  }
  return tier;
};
