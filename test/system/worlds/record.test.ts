/** Tests `svc worlds connector record`: requests of a client become a draft, then captures, without its credentials. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readTree } from '#runtime/tree.ts';
import { runSvc, startSvc } from '../../support/cli/svc.ts';
import { startStandInVendor } from '../../support/worlds/stand-in-vendor.ts';

const home = mkdtempSync(join(tmpdir(), 'svc-record-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const secret = 'canary-token-2024';

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describe('record', () => {
  it('drafts a world from the first requests, and captures later ones', async () => {
    const vendor = await startStandInVendor({ scheme: 'bearer', secret, echo: true });
    const folder = join(home, 'board');
    const texts = (): string =>
      readTree(folder)
        .map(({ content }) => Buffer.from(content).toString())
        .join('\n');
    const session = async (words: string[], looks: string[]) => {
      const port = await freePort();
      const svc = startSvc([
        'worlds',
        'connector',
        'record',
        folder,
        '--port',
        String(port),
        ...words,
      ]);
      await svc.prints('instead of');
      const statuses = [];
      for (const look of looks) {
        const answer = await fetch(`http://127.0.0.1:${port}${look}`, {
          headers: { authorization: `Bearer ${secret}` },
        });
        await answer.text();
        statuses.push(answer.status);
      }
      svc.signal('SIGTERM');
      return { ...(await svc.ended()), statuses };
    };
    const looks = ['/boards', '/boards/1/cards', '/cards/1001', '/cards/2002'];
    const first = await session(['--to', vendor.url], looks);
    expect(first.statuses, first.err).toEqual([200, 200, 200, 200]);
    expect(first.out).toContain('also stored: 4 captures');
    expect(readFileSync(join(folder, 'connector.toml'), 'utf8')).toContain(
      `base_url = "${vendor.url}"`,
    );
    const later = await session([], ['/cards/3001', '/elsewhere', '/boards/2/cards']);
    await vendor.stop();
    expect(later.out).toMatch(/200 {2}GET {2}captures\/get_cards_by_card_id\//);
    expect(later.out).toContain('404  GET  not stored: no operation matches it');
    expect(texts() + first.out + later.out + later.err).not.toContain(secret);
    const extracted = await runSvc(['worlds', 'data', 'extract', folder]);
    expect(extracted.status, extracted.err).toBe(0);
    expect(extracted.out).toContain('"id":3001');
  });
});
