/**
 * The bundled worlds answer as their contracts say: every operation that can be called is called.
 */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runSvc } from '../../support/cli/svc.ts';

it.each(['code-hosting', 'issue-tracking', 'device-management'])(
  '%s answers as its contract says',
  async (name) => {
    const folder = fileURLToPath(new URL(`../../../src/templates/${name}`, import.meta.url));
    const { status, out, err } = await runSvc(['worlds', 'connector', 'conform', folder], {});
    expect(status, out + err).toBe(0);
    expect(out).toMatch(/fidelity 100 %: 0 differences in \d\d comparisons/);
  },
);
