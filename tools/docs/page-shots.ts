/**
 * Takes screenshots of the shipped pages: the generated page, with the rows of the template `code-hosting` and with a
 * list of 100,000 rows, and the pages of the templates. Each is taken in light and dark and at three widths. `make
 * screens` writes those that the docs show to docs/screens/ and the others to dist/screens/. It is not part of `make
 * docs`, because the bytes of a screenshot differ each time. `ONLY=row-360` takes only those whose name begins so.
 */
import type { TreeFile } from '#domain/world.ts';
import { startChromium } from '../../test/support/browser/chromium.ts';
import { type ServedPage, servePage } from '../../test/support/browser/ui-page.ts';
import { templateTree } from '../../test/support/worlds/worlds.ts';
import { fillOrders, ordersTree } from '../bench/ui-world.ts';
import { screenPath } from './screen-path.ts';

/** Returns the files of a template with a generated page in place of its own. */
const withGenerated = (files: readonly TreeFile[]): TreeFile[] =>
  files.map(({ path, content }) => {
    if (path !== 'connector.toml') return { path, content };
    const text = new TextDecoder().decode(content);
    return {
      path,
      content: new TextEncoder().encode(text.replace('generated = false', 'generated = true')),
    };
  });

const issue = '/entities/issues/rows/northquay,berth,12';

/** Name, path and width of each screenshot; each is taken in light and in dark. */
const shots = [
  ['entities', '/', 1440],
  ['list', '/entities/issues', 1440],
  ['list-360', '/entities/issues', 360],
  ['list-768', '/entities/issues?sort=-number', 768],
  ['filtered', '/entities/issues?where={"state":"open"}&search=berth', 1440],
  ['empty', '/entities/hooks', 1440],
  ['error', '/entities/issues?sort=titel', 1440],
  ['row', issue, 1440],
  ['row-360', issue, 360],
  ['form', `${issue}?form=edit`, 1440],
  ['delete', `${issue}?form=delete`, 768],
] as const;

const berth = '/northquay/berth';
type Shot = readonly [name: string, path: string, width: number];

const widths = [360, 768, 1440] as const;

type Pages = readonly (readonly [name: string, path: string])[];

/** Returns the screenshots of a template's own pages, one per width; the name of the widest has no number. */
const ownShots = (pages: Pages): Shot[] =>
  pages.flatMap(([name, path]) =>
    widths.map((width) => [width === 1440 ? name : `${name}-${width}`, path, width] as const),
  );

const own: Readonly<Record<string, Pages>> = {
  'code-hosting': [
    ['code-repositories', '/'],
    ['code-issues', `${berth}/issues`],
    ['code-filtered', `${berth}/issues?q=reminder&labels=area%3A+emails&sort=updated-desc`],
    ['code-empty', `${berth}/issues?q=crane`],
    ['code-issue', `${berth}/issues/139`],
    ['code-new-issue', `${berth}/issues/new`],
    ['code-pulls', `${berth}/pulls?state=all`],
    ['code-pull', `${berth}/pull/150`],
    ['code-commits', `${berth}/pull/150/commits`],
    ['code-files', `${berth}/pull/123/files`],
    ['code-error', `${berth}/issues/9999`],
  ],
  'issue-tracking': [
    ['tracker-projects', '/'],
    ['tracker-board', '/projects/BERTH/board'],
    ['tracker-issues', '/projects/BERTH/issues'],
    ['tracker-query', `/issues?jql=${encodeURIComponent('project = SUP AND resolution IS EMPTY')}`],
    ['tracker-empty', '/projects/BERTH/issues?q=volcano'],
    ['tracker-issue', '/browse/BERTH-101'],
    ['tracker-versions', '/projects/BERTH/versions'],
    ['tracker-new-issue', '/create?project=BERTH'],
    ['tracker-error', '/browse/BERTH-9999'],
  ],
  'device-management': [
    ['devices-computers', '/computers'],
    ['devices-computer', '/computers/1'],
    ['devices-mobile-devices', '/mobile-devices'],
    ['devices-mobile-device', '/mobile-devices/1'],
    ['devices-groups', '/groups'],
    ['devices-group', '/groups/computers/2'],
    ['devices-policies', '/policies'],
    ['devices-policy', '/policies/5'],
    ['devices-empty', '/computers?q=volcano'],
    ['devices-error', '/computers/9999'],
  ],
};

const only = process.argv[2] ?? '';

const browser = await startChromium();

const takeAll = async (world: ServedPage, shots: readonly Shot[]): Promise<void> => {
  const context = await browser.newContext();
  await world.enter(context);
  const page = await context.newPage();
  for (const [name, path, width] of shots) {
    await page.setViewportSize({ width, height: width < 500 ? 720 : 860 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${world.page}${path}`);
      await page.getByRole('heading').or(page.getByRole('alert')).first().waitFor();
      await page.locator('.spinner, .waiting').first().waitFor({ state: 'hidden' });
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: screenPath(`${name}-${colorScheme}`) });
    }
  }
};

type Fill = (world: ServedPage) => Promise<void>;

/** Serves the tree and takes its screenshots, if any of them are wanted. */
const take = async (tree: readonly TreeFile[], all: readonly Shot[], fill?: Fill) => {
  const wanted = all.filter(([name]) => name.startsWith(only));
  if (wanted.length === 0) return;
  const world = await servePage(tree);
  await fill?.(world);
  await takeAll(world, wanted);
  await world.stop();
};

const fillMany: Fill = (world) => fillOrders(world.session.world.store, 100_000);

try {
  await take(withGenerated(templateTree('code-hosting')), shots);
  for (const [name, pages] of Object.entries(own)) await take(templateTree(name), ownShots(pages));
  await take(ordersTree(), [['many', '/entities/orders?sort=-total', 1440]], fillMany);
} finally {
  await browser.close();
}
