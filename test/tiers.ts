/**
 * The three tiers of the proof. A tier runs its own files and those of the tiers before it:
 *
 * - `fast`: pure tests, the world host without browsers, the architecture. On each save.
 * - `usual`: all that a change of ours can break, on processes of this machine, a real PostgreSQL, one Docker host and
 *   one installation of the chart. `make test`, and what lands a change.
 * - `full`: every runtime of each contract, kills and pauses by the hundred, random requests, clients in other languages,
 *   upgrades and restores. Before a change is called done.
 *
 * A suite that is held against several runtimes takes those of the run's tier (`test/support/tier.ts`).
 */
import { matchesGlob } from 'node:path';

export const tierNames = ['fast', 'usual', 'full'] as const;
export type Tier = (typeof tierNames)[number];

/** Files of the full tier, with the reason why the usual one does without them. */
export const fullOnly: Readonly<Record<string, string>> = {
  'test/attacks/browser-fence.test.ts': 'browsers in containers',
  'test/attacks/user-code-docker.test.ts': 'hosts in containers',
  'test/attacks/user-code-kubernetes.test.ts': 'hosts in pods',
  'test/clients/clients.test.ts': 'clients in Python and Go',
  'test/clients/device-sdk.test.ts': 'clients in Python',
  'test/clients/issue-tracker.test.ts': 'clients in Python',
  'test/clients/metrics-sdk.test.ts': 'clients in Python',
  'test/clients/schemathesis.test.ts': 'random requests',
  'test/clients/trace-clients.test.ts': 'clients in Python',
  'test/cluster/backup.test.ts': 'a backup and a restore of an installation of the chart',
  'test/cluster/chart-browser.test.ts': 'browsers in pods',
  'test/cluster/kubernetes-faults.test.ts': 'faults of a cluster',
  'test/cluster/load.test.ts': 'load that disturbs other tests',
  'test/cluster/roll.test.ts': 'load that disturbs other tests',
  'test/contract/browser-image.test.ts': 'browsers in containers',
  'test/contract/docker-driver.test.ts': 'hosts in containers',
  'test/contract/docker-isolation.test.ts': 'hosts in containers',
  'test/contract/kubernetes-around-pods.test.ts': 'hosts in pods',
  'test/contract/kubernetes-pods.test.ts': 'hosts in pods',
  'test/contract/kubernetes-rights.test.ts': 'hosts in pods',
  'test/e2e/capture-kills.test.ts': 'kills by the dozen',
  'test/fuzz/bodies.test.ts': 'random requests',
  'test/sweep/browsers.test.ts': 'kills by the dozen',
  'test/sweep/imports.test.ts': 'kills by the dozen',
  'test/sweep/ingestion.test.ts': 'kills by the dozen',
  'test/sweep/ledgers.test.ts': 'kills by the dozen',
  'test/sweep/losses.test.ts': 'kills by the dozen',
  'test/sweep/runs.test.ts': 'kills by the dozen',
  'test/sweep/stops.test.ts': 'kills by the dozen',
  'test/sweep/sweep.test.ts': 'kills by the dozen',
  'test/sweep/webhooks.test.ts': 'kills by the dozen',
};

/** Files beside the code that are of the usual tier, as globs, with the reason why the fast one does without them. */
export const usualOnly: Readonly<Record<string, string>> = {
  'browser-image/**/*.test.ts': 'a real Chromium',
  'src/data/import/killed.test.ts': 'kills by the dozen',
  'test/{chart,chart-pods}.test.ts': 'Helm, once for each set of values',
  'test/corpus.test.ts': 'all worlds of the corpus, compiled',
  'world-host-image/*/{end-states,page,proofs}.test.ts': 'whole templates, some in a real Chromium',
  'world-host-image/testing/suite.test.ts': 'tests of whole worlds',
  'world-host-image/ui/generated-page.test.ts': 'a real Chromium',
  'world-host-image/verifier/verifier.test.ts': 'whole worlds',
};

/** Folders of the other tiers; a file of the tables above is of their tier wherever it stands. */
const folders: Readonly<Record<'fast' | 'usual', readonly string[]>> = {
  fast: ['{src,orchestrator,world-host-image,browser-image}/**/*.test.ts', 'test/*.test.ts'],
  usual: ['test/{api,attacks,clients,cluster,contract,e2e,simulation}/**/*.test.ts'],
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
