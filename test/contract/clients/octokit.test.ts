/**
 * The vendor's client for JavaScript follows the URLs in answers. Every URL in the answers of
 * everyday routes can be fetched, except those of parts that `code-hosting` does not have.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { on, pull, repository, serveCodeHost } from '../../support/templates/code-hosting.ts';

const world = await serveCodeHost();

/** Routes that the template does not have, by the part of the README that names them as absent. */
const absent: Record<string, string[]> = {
  'blobs, trees and commits that are put together by hand': [
    '/repos/{owner}/{repo}/git/blobs 404',
    '/repos/{owner}/{repo}/git/commits 404',
    '/repos/{owner}/{repo}/git/trees 404',
  ],
  'annotated tags': ['/repos/{owner}/{repo}/git/tags 404'],
  'downloads and archives (`tarball`, `zipball`)': [
    '/repos/{owner}/{repo}/downloads 404',
    '/repos/{owner}/{repo}/tarball/{ref} 404',
    '/repos/{owner}/{repo}/zipball/{ref} 404',
  ],
  forks: ['/repos/{owner}/{repo}/forks 404'],
  'commenting on commits': ['/repos/{owner}/{repo}/comments 404'],
  deployments: ['/repos/{owner}/{repo}/deployments 404'],
  'stars and watching (`subscribers`, `subscription`)': [
    '/repos/{owner}/{repo}/stargazers 404',
    '/repos/{owner}/{repo}/subscribers 404',
    '/repos/{owner}/{repo}/subscription 404',
    '/users/{name}/starred 404',
    '/users/{name}/subscriptions 404',
  ],
  'followers and following': ['/users/{name}/followers 404', '/users/{name}/following 404'],
  'the feeds of events': [
    '/orgs/{name}/events 404',
    '/repos/{owner}/{repo}/events 404',
    '/users/{name}/events 404',
    '/users/{name}/received_events 404',
  ],
  keys: ['/repos/{owner}/{repo}/keys 404'],
  'the hooks of organizations': ['/orgs/{name}/hooks 404'],
  gists: ['/users/{name}/gists 404'],
  'A known path answers 405 to a method that it does not serve': [
    '/repos/{owner}/{repo}/hooks/{number}/pings 405',
    '/repos/{owner}/{repo}/hooks/{number}/test 405',
    '/repos/{owner}/{repo}/merges 405',
  ],
};

const names: [RegExp, string][] = [
  [/[0-9a-f]{40}/g, '{sha}'],
  [/^\/repos\/[^/]+\/[^/]+/, '/repos/{owner}/{repo}'],
  [/^\/(users|orgs)\/[^/]+/, '/$1/{name}'],
  [/\/(tarball|zipball)\/.+/, '/$1/{ref}'],
  [/\/(labels|branches|contents|collaborators|teams)\/.+/, '/$1/{name}'],
  [/\/\d+(?=\/|$)/g, '/{number}'],
];

/** Returns the route of a URL, exact enough to distinguish routes. */
const routeOf = (address: string): string =>
  names.reduce((path, [of, name]) => path.replace(of, name), new URL(address).pathname);

/**
 * Returns the session's URLs anywhere in an answer; optional parts of URL templates are removed.
 */
const addressesIn = (value: unknown): string[] => {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(addressesIn);
  }
  if (typeof value !== 'string' || !value.startsWith(world.url)) return [];
  const address = value.replaceAll(/\{[/?+][^}]*\}/g, '');
  return address.includes('{') ? [] : [address];
};

/** Returns the answers of everyday routes. */
const answers = async (): Promise<unknown[]> => {
  const { issues, pulls, repos, search, git, orgs, users } = world.client();
  const config = { url: 'https://hooks.example/in', secret: 's3' };
  const hook = await repos.createWebhook({ ...repository, config });
  const asked = await Promise.all([
    users.getAuthenticated(),
    orgs.get({ org: 'northquay' }),
    repos.get(repository),
    repos.listBranches(repository),
    repos.getBranch({ ...repository, branch: 'main' }),
    repos.getCommit({ ...repository, ref: 'main' }),
    repos.listReleases(repository),
    repos.listTags(repository),
    repos.getContent({ ...repository, path: '' }),
    git.getRef({ ...repository, ref: 'heads/main' }),
    issues.get(on(139)),
    issues.listComments(on(139)),
    issues.listEvents(on(139)),
    issues.listEventsForTimeline(on(150)),
    issues.listLabelsForRepo(repository),
    issues.listMilestones(repository),
    pulls.get(pull(150)),
    pulls.listCommits(pull(150)),
    pulls.listFiles(pull(150)),
    pulls.listReviews(pull(150)),
    pulls.listReviewComments(pull(150)),
    search.issuesAndPullRequests({ q: 'reminder' }),
    search.repos({ q: 'berth' }),
    search.users({ q: 'okafor' }),
  ]);
  return [hook, ...asked].map(({ data }) => data);
};

const readme = readFileSync(
  join(import.meta.dirname, '../../../src/templates/code-hosting/README.md'),
  'utf8',
);

describe('URLs in answers', () => {
  it('can be fetched, except for parts that the template does not have', async () => {
    const octokit = world.octokit();
    const byRoute = new Map((await answers()).flatMap(addressesIn).map((at) => [routeOf(at), at]));
    expect(byRoute.size).toBeGreaterThan(60);
    const failed = await Promise.all(
      [...byRoute].map(async ([route, at]) => {
        const { status } = await octokit.request(at).catch((error: { status: number }) => error);
        return status < 300 ? [] : [`${route} ${status}`];
      }),
    );
    expect(failed.flat().sort()).toEqual(Object.values(absent).flat().sort());
  });

  it('that cannot be fetched belong to parts that the README names as absent', () => {
    const [, said = ''] =
      /(The vendor does the following and this world does not[\s\S]+?)\n\n/.exec(readme) ?? [];
    const words = said.replaceAll(/\s+/g, ' ');
    expect(Object.keys(absent).filter((part) => !words.includes(part))).toEqual([]);
  });
});
