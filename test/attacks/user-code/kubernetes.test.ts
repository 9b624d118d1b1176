/**
 * The kernel boundary of user code in a pod of the level "restricted", under the node's own seccomp
 * profile.
 */
import { describe, expect, it } from 'vitest';
import { containerName } from '../../../orchestrator/driver/labels.ts';
import {
  behindInContainer,
  expectHeld,
  languages,
  programs,
  type Report,
} from '../../support/host/kernel-attacks.ts';
import {
  execIn,
  findTestCluster,
  type TestCluster,
} from '../../support/orchestrator/kubernetes.ts';
import { usePods } from '../../support/orchestrator/kubernetes-pods.ts';

const found = await findTestCluster();
if ('missing' in found) console.info(`user code in pods is not tested: ${found.missing}`);

describe.skipIf('missing' in found)('user code in the pod of a host', () => {
  const pods = usePods(found as TestCluster);

  it('can compute and nothing else', async () => {
    const hostId = await pods.launch();
    await pods.isWarm(hostId);
    const inside = (...command: string[]): Promise<string> =>
      execIn(pods.cluster, pods.namespace(), containerName(hostId), ...command);
    const shell = async (script: string): Promise<string> =>
      (await inside('sh', '-c', script)).trim();
    const search =
      'for each in /proc/[0-9]*; do grep -qs image/[m]ain.mjs $each/cmdline && basename $each; done; true';
    const host = Number((await shell(search)).split('\n')[0]);
    const filters =
      'for pid in $(cat /proc/%/task/*/children); do grep -h Seccomp_filters /proc/$pid/status; done';
    const own = await shell(`grep Seccomp_filters /proc/${host}/status`);
    const theirs = (await shell(filters.replace('%', String(host)))).split('\n');
    const count = (line: string): number => Number(line.split('\t')[1]);
    expect(theirs.map(count)).toEqual([count(own) + 1]);
    const folder = '/tmp/attacked';
    const secret = `${folder}/secret`;
    await shell(`mkdir ${folder} && echo secret >${secret}`);
    for (const language of languages) {
      const targets = { host, secret, folder, abstract: 'unused', socket: `${folder}/socket` };
      const program = programs('/usr/bin/python3', '/usr/local/bin/node', targets)[language] ?? [];
      const packages = '/opt/svc/world-host-image/usercode/python';
      const launch = { python: 'python3', packages, readable: [], program };
      // The output also contains what the program wrote to its standard error.
      const said = await inside(...behindInContainer(launch));
      expectHeld(JSON.parse(said.slice(said.indexOf('{"said"'))) as Report);
    }
    expect(await shell(`cat ${secret}; ls ${folder}`)).toBe('secret\nsecret');
  });
});
